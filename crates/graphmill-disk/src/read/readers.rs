//! Threads that wait for the disk so that others need not: many positioned reads in flight without a ring.
//! [`read_each`](super::call::read_each) hands them batches of ranges and takes the bytes back on its own thread. They belong
//! to one process, are started when first needed, and must not know what the bytes are for.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::piece::Piece;
use super::pread::read_once;
use super::source::Source;
use crate::error::{Error, Result};
use crate::page_buffer::PageBuffer;
use crate::per_process::PerProcess;

/// Reads in flight of one process, however many callers there are.
pub(super) const READERS: usize = 64;
/// Enough for a read and an error; the system takes what is touched of it, a few pages.
const STACK_BYTES: usize = 128 << 10;

/// Some ranges on their way to a reader, or back with the bytes.
pub(super) struct Batch {
    pub(super) source: Arc<Source>,
    /// With the place of each in the buffer.
    pub(super) pieces: Vec<(Piece, usize)>,
    pub(super) buffer: PageBuffer,
    pub(super) outcome: Result<()>,
    pub(super) back: Sender<Batch>,
}

impl Batch {
    fn read(&mut self) -> Result<()> {
        let file = self.source.direct().map_or(&self.source.opened.file, |direct| &direct.file);
        for (piece, at) in &self.pieces {
            for number in 0..piece.requests() {
                let request = piece.request(number);
                let into = &mut self.buffer[at + request.at..][..request.length];
                let outcome = read_once(file, request.offset, into);
                self.source.complete(piece, &request, outcome, &mut into[..request.needed])?;
            }
        }
        Ok(())
    }
}

/// The reading threads of a process.
pub(super) struct Readers {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Batch>,
    running: usize,
}

static OF_PROCESS: PerProcess<Readers> = PerProcess::new();

impl Readers {
    pub(super) fn of_process() -> &'static Self {
        let make =
            || Ok::<_, Infallible>(Self { state: Mutex::default(), arrived: Condvar::new() });
        let Ok(readers) = OF_PROCESS.get_or_make(|_| true, make);
        readers
    }

    /// Gives a batch to the next reader that is free; it comes back through its own channel.
    pub(super) fn hand_over(&'static self, batch: Batch) -> Result<()> {
        let mut state = self.lock();
        if state.running == 0 {
            state.running = self.start()?;
        }
        state.waiting.push_back(batch);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Starts as many as the system allows.
    fn start(&'static self) -> Result<usize> {
        for number in 0..READERS {
            let thread = std::thread::Builder::new()
                .name(format!("graphmill-read-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(|| self.run());
            match thread {
                Ok(_) => {}
                Err(error) if number == 0 => {
                    return Err(Error::Threads { wanted: READERS, reason: error.to_string() });
                }
                Err(error) => {
                    tracing::warn!(%error, "reading with {number} threads instead of {READERS}");
                    return Ok(number);
                }
            }
        }
        Ok(READERS)
    }

    fn run(&self) {
        loop {
            let mut batch = self.next();
            batch.outcome = batch.read();
            let back = batch.back.clone();
            // Callers wait for all that they handed over, so somebody receives it.
            drop(back.send(batch));
        }
    }

    fn next(&self) -> Batch {
        let mut state = self.lock();
        loop {
            match state.waiting.pop_front() {
                Some(batch) => return batch,
                None => state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
