//! Long work that Ctrl-C ends, and that says how far it is.
//! Python hears signals on its main thread alone, so the work moves to another while the caller waits, listens, and
//! passes the stages of the work on to the logger `graphmill`.

use crate::errors::Result;
use graphmill::ingest::{self, Observer, Progress};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the caller listens.
const LISTENING: Duration = Duration::from_millis(20);
/// How often a stage that goes on is logged again.
const LOGGING: Duration = Duration::from_secs(10);
/// `logging.DEBUG`.
const DEBUG: u8 = 10;

/// Does the work without the GIL; an exception that a signal raises cancels it and is raised in its place.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(Observer<'_>) -> ingest::Result<T> + Send,
) -> Result<T> {
    let stop = AtomicBool::new(false);
    let latest = Mutex::new(None);
    let observer = &|progress: Progress| {
        // What cannot be noted at once is noted by the next batch.
        if let Ok(mut latest) = latest.try_lock() {
            *latest = Some(progress);
        }
        !stop.load(Ordering::Relaxed)
    };
    let mut log = StageLog::new(py)?;
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
                let progress = *latest.lock().unwrap_or_else(PoisonError::into_inner);
                let heard = Python::attach(|py| {
                    py.check_signals()?;
                    log.note(py, progress)
                });
                if let Err(error) = heard {
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

/// Stages on their way to `logging`; does nothing unless somebody listens at the level of debugging.
struct StageLog {
    logger: Option<Py<PyAny>>,
    last: Option<(&'static str, Instant)>,
}

impl StageLog {
    fn new(py: Python<'_>) -> PyResult<Self> {
        let logger = py.import("logging")?.call_method1("getLogger", ("graphmill",))?;
        let listens: bool = logger.call_method1("isEnabledFor", (DEBUG,))?.extract()?;
        Ok(StageLog { logger: listens.then(|| logger.unbind()), last: None })
    }

    fn note(&mut self, py: Python<'_>, progress: Option<Progress>) -> PyResult<()> {
        let (Some(logger), Some(Progress { stage, done, total })) = (&self.logger, progress) else {
            return Ok(());
        };
        let is_new = self.last.is_none_or(|(last, at)| last != stage || at.elapsed() >= LOGGING);
        if is_new {
            self.last = Some((stage, Instant::now()));
            logger.call_method1(py, "debug", ("%s: %d of %d", stage, done, total))?;
        }
        Ok(())
    }
}
