//! Work shared by the threads of the pool.
//! Every phase of sorting hands out numbered pieces to a few threads that each have something of
//! their own to work with; the first failure ends all of them. It must not know what the work is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::Result;

/// Calls `work` for the pieces from 0 to `pieces`, in this order but several at once.
///
/// `start` makes what a thread needs for all its pieces.
pub(crate) fn share_out<S>(
    workers: usize,
    pieces: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
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
    if workers.min(pieces) <= 1 {
        // Not by way of the pool: whoever holds a lock must not be given other work in between.
        run();
    } else {
        graphmill_disk::pool()?.scope(|scope| {
            for _ in 0..workers.min(pieces) {
                scope.spawn(|_| run());
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
    fn every_piece_is_worked_on_once_and_a_failure_is_reported() {
        let seen: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        let count = |_: &mut (), piece: usize| {
            seen[piece].fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        share_out(3, seen.len(), || (), count).unwrap();
        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        let fail = |_: &mut (), piece| if piece == 500 { Err(Error::Cancelled) } else { Ok(()) };
        assert!(matches!(share_out(3, 1000, || (), fail), Err(Error::Cancelled)));
        share_out(3, 0, || (), fail).unwrap();
    }
}
