//! Work done by all threads and handed over in order.
//! Every thread takes the next piece, works on it by itself, and waits for its turn to learn what
//! all pieces before it came to; so rows have exact numbers, the fault that is reported is the
//! first of the source, and nothing is counted beforehand. It must not know what the pieces are.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// Who is next, and what all pieces before came to.
pub(crate) struct Turns<S> {
    inner: Mutex<Inner<S>>,
    changed: Condvar,
}

struct Inner<S> {
    next: u64,
    stopped: bool,
    error: Option<Error>,
    state: S,
}

impl<S: Send> Turns<S> {
    /// The piece that starts at 0 is the first.
    pub(crate) fn new(state: S) -> Self {
        let inner = Inner { next: 0, stopped: false, error: None, state };
        Turns { inner: Mutex::new(inner), changed: Condvar::new() }
    }

    /// Lets some threads of the current pool work until all have returned, and gives what the
    /// pieces came to, or the error that ended the work.
    pub(crate) fn run(
        self,
        workers: usize,
        work: impl Fn(&Self) -> Result<()> + Sync,
    ) -> Result<S> {
        graphmill_disk::pool()?.broadcast(|context| {
            if context.index() < workers {
                let guard = StopOnPanic(&self);
                if let Err(error) = work(&self) {
                    self.stop(error);
                }
                drop(guard);
            }
        });
        let inner = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        inner.error.map_or(Ok(inner.state), Err)
    }

    /// Whether the work has ended before its time.
    pub(crate) fn stopped(&self) -> bool {
        lock(&self.inner).stopped
    }

    /// Ends the work; the first error is the one that counts.
    fn stop(&self, error: Error) {
        let mut inner = lock(&self.inner);
        inner.stopped = true;
        inner.error.get_or_insert(error);
        self.changed.notify_all();
    }

    /// Waits for the turn of a piece and adds it to the state; None if the work has ended.
    ///
    /// Pieces follow each other without gaps: the next one starts where this one ends.
    pub(crate) fn pass<T>(
        &self,
        piece: Range<u64>,
        add: impl FnOnce(&mut S) -> Result<T>,
    ) -> Option<(T, Turn<'_, S>)> {
        let mut inner = lock(&self.inner);
        while inner.next != piece.start && !inner.stopped {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        if inner.stopped {
            return None;
        }
        let added = add(&mut inner.state);
        drop(inner);
        match added {
            Ok(value) => Some((value, Turn { turns: self, end: piece.end })),
            Err(error) => {
                self.stop(error);
                None
            }
        }
    }
}

/// The right to be the one whose piece comes next.
#[must_use]
pub(crate) struct Turn<'t, S> {
    turns: &'t Turns<S>,
    end: u64,
}

impl<S> Turn<'_, S> {
    /// Lets the piece behind this one have its turn.
    pub(crate) fn end(self) {
        lock(&self.turns.inner).next = self.end;
        self.turns.changed.notify_all();
    }
}

/// Lets nobody wait for the turn of a thread that has panicked.
struct StopOnPanic<'t, S>(&'t Turns<S>);

impl<S> Drop for StopOnPanic<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.inner).stopped = true;
            self.0.changed.notify_all();
        }
    }
}

/// Locks even what a panicking thread left locked: all states here are sound between statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn count_to(end: u64, fail_at: Option<u64>) -> Result<Vec<u64>> {
        let next = AtomicU64::new(0);
        let pool = graphmill_disk::with_threads(Some(3)).unwrap();
        pool.install(|| {
            Turns::new(Vec::new()).run(3, |turns| {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= end {
                        return Ok(());
                    }
                    let passed = turns.pass(piece..piece + 1, |seen: &mut Vec<u64>| {
                        seen.push(piece);
                        if fail_at.is_some_and(|at| piece >= at) {
                            return Err(Error::request("piece", piece.to_string()));
                        }
                        Ok(())
                    });
                    match passed {
                        Some(((), turn)) => turn.end(),
                        None => return Ok(()),
                    }
                }
            })
        })
    }

    #[test]
    fn pieces_are_added_in_order_and_the_first_failure_is_reported() {
        assert_eq!(count_to(1000, None).unwrap(), (0..1000).collect::<Vec<_>>());
        let error = count_to(1000, Some(500)).unwrap_err().to_string();
        assert_eq!(error, "piece: 500");
    }
}
