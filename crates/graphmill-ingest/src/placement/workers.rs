//! Numbered pieces of work, shared by the threads of the pool.
//! Copying and filling hand out their pieces here; each thread has something of its own to work
//! with, and the first failure ends all of them. It must not know what the work is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Result;
use crate::progress::Stage;

/// Reports that a thread has done `more`.
pub(super) fn advance(stage: &Mutex<Stage<'_>>, more: u64) -> Result<()> {
    stage.lock().unwrap_or_else(PoisonError::into_inner).advance(more)
}

/// Calls `work` for the pieces from 0 to `pieces`, in this order but on several threads at once.
///
/// `start` makes what a thread needs for all its pieces.
pub(super) fn each_piece<S>(
    workers: usize,
    pieces: u64,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, u64) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let run = || {
        let mut own = None;
        while !failed.load(Ordering::Relaxed) {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                break;
            }
            if let Err(error) = work(own.get_or_insert_with(&start), piece) {
                failed.store(true, Ordering::Relaxed);
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    let pool = graphmill_disk::pool()?;
    if workers <= 1 || pieces <= 1 {
        run();
    } else {
        pool.broadcast(|context| {
            if context.index() < workers {
                run();
            }
        });
    }
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn every_piece_is_worked_on_once_and_a_failure_ends_the_work() {
        for workers in [1, 2, 5] {
            let seen: Vec<AtomicU64> = (0..500).map(|_| AtomicU64::new(0)).collect();
            let count = |_: &mut (), piece: u64| {
                seen[piece as usize].fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            each_piece(workers, 500, || (), count).unwrap();
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            let fail =
                |_: &mut (), piece| if piece == 250 { Err(Error::Cancelled) } else { Ok(()) };
            assert!(matches!(each_piece(workers, 500, || (), fail), Err(Error::Cancelled)));
            each_piece(workers, 0, || (), fail).unwrap();
        }
    }
}
