//! Long work that Ctrl-C ends.
//! Python hears signals on its main thread alone, so the work moves to another while the caller waits and listens.

use crate::errors::Result;
use graphmill::ingest::{self, Observer, Progress};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the caller listens.
const LISTENING: Duration = Duration::from_millis(20);

/// Does the work without the GIL; an exception that a signal raises cancels it and is raised in its place.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(Observer<'_>) -> ingest::Result<T> + Send,
) -> Result<T> {
    let stop = AtomicBool::new(false);
    let observer = &|_: Progress| !stop.load(Ordering::Relaxed);
    let (outcome, interrupt) = py.detach(|| {
        std::thread::scope(|scope| {
            let caller = std::thread::current();
            let worker = scope.spawn(move || {
                let outcome = work(observer);
                caller.unpark();
                outcome
            });
            let mut interrupt = None;
            while !worker.is_finished() {
                std::thread::park_timeout(LISTENING);
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    stop.store(true, Ordering::Relaxed);
                    interrupt.get_or_insert(error);
                }
            }
            let outcome = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (outcome, interrupt)
        })
    });
    match interrupt {
        Some(interrupt) => Err(interrupt.into()),
        None => Ok(outcome?),
    }
}
