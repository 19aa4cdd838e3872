//! The requests of a plan, on all threads at once.
//! Each thread takes a contiguous share of the sorted ranges and keeps its own queue full; what arrives goes to
//! whoever wants it. It knows neither rows nor their places.

use crate::Result;
use crate::read_plan::ReadPlan;
use graphmill_disk::ReadAt;

/// Fewer requests are not worth waking another thread.
const WORTH_SHARING: usize = 32;

/// Bytes of memory that [`fetch`] takes at most for so many requests, none of them longer than `longest`.
pub(crate) fn fetch_memory(reader: &dyn ReadAt, requests: usize, longest: u64) -> u64 {
    let all = || graphmill_disk::reading_pool().map_or(1, |pool| pool.current_num_threads() as u64);
    let threads = if requests < WORTH_SHARING { 1 } else { all() };
    reader.read_memory(longest).saturating_mul(threads)
}

/// Reads every range of a plan and gives it to `deliver` with its number, from any thread and in any order.
///
/// Takes as much memory as [`fetch_memory`] says.
pub(crate) fn fetch(
    reader: &dyn ReadAt,
    plan: &ReadPlan,
    deliver: &(dyn Fn(usize, &[u8]) + Sync),
) -> Result<()> {
    if plan.ranges.len() < WORTH_SHARING {
        return Ok(reader.read_each(&plan.ranges, &mut |read, bytes| deliver(read, bytes))?);
    }
    let pool = graphmill_disk::reading_pool()?;
    let shares = plan.shares(pool.current_num_threads());
    let mut outcomes: Vec<_> = shares.iter().map(|_| Ok(())).collect();
    pool.in_place_scope(|scope| {
        for (share, outcome) in shares.into_iter().zip(&mut outcomes) {
            scope.spawn(move |_| {
                let first = share.start;
                let take = &mut |read: usize, bytes: &[u8]| deliver(first + read, bytes);
                *outcome = reader.read_each(&plan.ranges[share], take);
            });
        }
    });
    Ok(outcomes.into_iter().collect::<graphmill_disk::Result<()>>()?)
}
