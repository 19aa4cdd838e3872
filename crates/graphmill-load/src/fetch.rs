//! The requests of a plan, on all threads at once.
//! Each thread takes a contiguous share of the sorted ranges and keeps its own queue full; what arrives goes to
//! whoever wants it. It knows neither rows nor their places.

use crate::read_plan::ReadPlan;
use crate::{Error, Result};
use graphmill_disk::ReadAt;
use std::ops::Range;

/// Whether whoever wanted the bytes still does.
pub(crate) type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// Fewer requests are not worth waking another thread.
const WORTH_SHARING: usize = 32;

/// Requests that are made before it is asked whether to go on: some tenths of a second of a fast disk, and so many that
/// letting the queue run empty in between costs nothing.
const PORTION: usize = 1 << 14;

/// Bytes of memory that [`fetch`] takes at most for so many requests, none of them longer than `longest`.
pub(crate) fn fetch_memory(reader: &dyn ReadAt, requests: usize, longest: u64) -> u64 {
    let all = || graphmill_disk::reading_pool().map_or(1, |pool| pool.current_num_threads() as u64);
    let threads = if requests < WORTH_SHARING { 1 } else { all() };
    reader.read_memory(longest).saturating_mul(threads)
}

/// Reads every range of a plan and gives it to `deliver` with its number, from any thread and in any order. Ends early, with
/// an error, when `go_on` says no.
///
/// Takes as much memory as [`fetch_memory`] says.
pub(crate) fn fetch(
    reader: &dyn ReadAt,
    plan: &ReadPlan,
    deliver: &(dyn Fn(usize, &[u8]) + Sync),
    go_on: GoOn<'_>,
) -> Result<()> {
    let read = |share: Range<usize>| -> Result<()> {
        for first in share.clone().step_by(PORTION) {
            if !go_on() {
                return Err(Error::Stopped);
            }
            let take = &mut |read: usize, bytes: &[u8]| deliver(first + read, bytes);
            let end = share.end.min(first + PORTION);
            reader.read_each(&plan.ranges[first..end], take)?;
        }
        Ok(())
    };
    if plan.ranges.len() < WORTH_SHARING {
        return read(0..plan.ranges.len());
    }
    let pool = graphmill_disk::reading_pool()?;
    let shares = plan.shares(pool.current_num_threads());
    let mut outcomes: Vec<_> = shares.iter().map(|_| Ok(())).collect();
    pool.in_place_scope(|scope| {
        for (share, outcome) in shares.into_iter().zip(&mut outcomes) {
            let read = &read;
            scope.spawn(move |_| *outcome = read(share));
        }
    });
    outcomes.into_iter().collect()
}
