//! Rows from memory to memory.
//! Copies rows of a resident map, hot rows and rows of a window to where they are wanted: lines are announced to the
//! processor some rows ahead, and large copies are shared by all threads. It checks nothing; whoever calls has.

use crate::Result;
use crate::row_copy::RowCopy;
use graphmill_disk::{PastCaches, last_cache_bytes, prefetch};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer bytes are copied faster than another thread wakes up.
const WORTH_SHARING: usize = 256 << 10;
/// Rows that are copied between two questions whether to go on.
const PORTION: usize = 256;
/// Bytes that are announced ahead: enough to hide the memory, few enough to stay in the first cache.
const AHEAD: usize = 8 << 10;
/// What the processor loads at once.
const LINE: usize = 64;

/// Copies row after row to `out`, whose rows are `delivered` bytes long; `row_at` gives the bytes of the n-th of them.
///
/// `go_on` is asked by every thread after each portion. Returns the rows that were not copied because it said no, as
/// ranges that ascend.
pub(crate) fn copy_rows<'a>(
    count: usize,
    out: &mut [u8],
    delivered: usize,
    how: RowCopy,
    row_at: impl Fn(usize) -> &'a [u8] + Sync,
    go_on: impl Fn() -> bool + Sync,
) -> Result<Vec<std::ops::Range<usize>>> {
    // Results that no cache holds until somebody reads them are written past the caches.
    let is_streamed = how == RowCopy::Plain && out.len() >= last_cache_bytes();
    let copy = |rows: std::ops::Range<usize>, out: &mut [u8]| -> usize {
        let past_caches = is_streamed.then(PastCaches::new);
        let distance = (AHEAD / delivered.max(1)).clamp(2, 32);
        let mut into = out.chunks_exact_mut(delivered);
        for index in rows.clone() {
            let done = index - rows.start;
            if done > 0 && done.is_multiple_of(PORTION) && !go_on() {
                return index;
            }
            if index + distance < rows.end {
                announce(row_at(index + distance));
            }
            if let Some(into) = into.next() {
                match &past_caches {
                    Some(copying) => copying.copy(row_at(index), into),
                    None => how.copy(row_at(index), into),
                }
            }
        }
        rows.end
    };
    if out.len() < WORTH_SHARING {
        let done = copy(0..count, out);
        return Ok(Vec::from_iter((done < count).then_some(done..count)));
    }
    let pool = graphmill_disk::pool()?;
    // More parts than threads, so that one that is held up does not hold up all.
    let parts = (pool.current_num_threads() * 4).min(out.len() / (WORTH_SHARING / 4)).max(1);
    let part = count.div_ceil(parts);
    let done: Vec<AtomicUsize> =
        (0..count.div_ceil(part)).map(|number| AtomicUsize::new(number * part)).collect();
    pool.in_place_scope(|scope| {
        for (number, (out, done)) in out.chunks_mut(part * delivered).zip(&done).enumerate() {
            let copy = &copy;
            let rows = number * part..count.min((number + 1) * part);
            scope.spawn(move |_| done.store(copy(rows, out), Ordering::Relaxed));
        }
    });
    let ends = (0..done.len()).map(|number| count.min((number + 1) * part));
    let left = done.into_iter().map(AtomicUsize::into_inner).zip(ends);
    Ok(left.filter(|(done, end)| done < end).map(|(done, end)| done..end).collect())
}

#[inline]
fn announce(row: &[u8]) {
    for line in (0..row.len()).step_by(LINE) {
        prefetch(row, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_told_and_everything_else_is_copied() {
        for (count, length) in [(0, 4), (1, 4), (5000, 4), (5000, 512)] {
            let rows: Vec<Vec<u8>> = (0..count).map(|row| vec![row as u8 | 1; length]).collect();
            for allowed in [0, 1, 7, usize::MAX] {
                let asked = AtomicUsize::new(0);
                let mut out = vec![0; count * length];
                let go_on = || asked.fetch_add(1, Ordering::Relaxed) < allowed;
                let row_at = |index: usize| rows[index].as_slice();
                let left =
                    copy_rows(count, &mut out, length, RowCopy::Plain, row_at, go_on).unwrap();
                let is_left = |row: usize| left.iter().any(|range| range.contains(&row));
                for (row, bytes) in out.chunks_exact(length).enumerate() {
                    let expected = if is_left(row) { &vec![0; length] } else { &rows[row] };
                    assert_eq!(bytes, expected);
                }
                let left: usize = left.into_iter().map(|range| range.len()).sum();
                if count * length < WORTH_SHARING {
                    // One thread, which is asked after each portion.
                    let copied = allowed.saturating_add(1).saturating_mul(PORTION);
                    assert_eq!(left, count.saturating_sub(copied));
                }
                assert!(allowed < usize::MAX || left == 0);
            }
        }
    }
}
