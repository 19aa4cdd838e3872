//! A part of a file, copied into memory of our own.
//! Stores that are told to stay in memory read from it instead of from a map: nothing can evict it, and it lies on huge
//! pages, so that reads at random find their addresses. It must not know what the bytes mean.

use std::ops::Range;

use memmap2::MmapMut;

use crate::budget::{Budget, Reservation};
use crate::error::{Error, Result};
use crate::read::{Mapped, ReadAt, Ring};
use crate::residency::cached_pages;

/// What one thread reads at once: long, so that its queue rarely runs empty between two.
const PIECE: usize = 32 << 20;
/// What one request asks of the disk.
const REQUEST: usize = 256 << 10;
/// The smallest page there is; larger ones only make more pieces count as not cached.
const PAGE: u64 = 4096;

/// Bytes of a file in anonymous memory, which count as ours until this is dropped.
#[derive(Debug)]
pub struct MemoryCopy {
    /// None for an empty range: there is nothing to map.
    memory: Option<MmapMut>,
    _held: Reservation,
}

impl MemoryCopy {
    /// Reads a range of the very file that `mapped` has open, on all threads of the pool.
    ///
    /// The memory is asked of `budget` first, as `what`. The copy starts on a page.
    pub fn read(
        mapped: &Mapped,
        range: Range<u64>,
        budget: &Budget,
        what: &'static str,
    ) -> Result<Self> {
        let bytes = range.end.saturating_sub(range.start);
        mapped.opened().check_range(range.start, bytes)?;
        let held = budget.reserve(bytes, what)?;
        if bytes == 0 {
            return Ok(MemoryCopy { memory: None, _held: held });
        }
        let file = Ring::of(mapped)?;
        let pool = crate::reading_pool()?;
        let threads = pool.current_num_threads().min((bytes as usize).div_ceil(PIECE));
        let work = file.read_memory(REQUEST as u64).saturating_mul(threads as u64);
        // The page cache needs none of ours.
        let queues = budget.reserve(work, what).ok();
        let failed = |source| Error::io("copy to memory", mapped.path(), source);
        // It fits: it is at most the length of a map that exists.
        let mut memory = MmapMut::map_anon(bytes as usize).map_err(failed)?;
        #[cfg(target_os = "linux")]
        // Small pages hold the same bytes.
        let _ = memory.advise(memmap2::Advice::HugePage);
        let mut outcomes: Vec<Result<()>> = Vec::new();
        outcomes.resize_with(memory.len().div_ceil(PIECE), || Ok(()));
        pool.in_place_scope(|scope| {
            let pieces = memory.chunks_mut(PIECE).zip(&mut outcomes).enumerate();
            for (number, (piece, outcome)) in pieces {
                let (file, start) = (&file, range.start + (number * PIECE) as u64);
                let is_queued = queues.is_some() && !is_cached(file, start, piece.len());
                scope.spawn(move |_| {
                    *outcome = match is_queued {
                        true => read_queued(file, start, piece),
                        false => file.read_exact_at(start, piece),
                    };
                });
            }
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(MemoryCopy { memory: Some(memory), _held: held })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // Aligned for every element type, as the copy of a section without elements must be too.
        static EMPTY: Empty = Empty([]);
        self.memory.as_deref().unwrap_or(&EMPTY.0)
    }
}

#[repr(align(16))]
struct Empty([u8; 0]);

/// Whether most of a piece is in the page cache.
fn is_cached(file: &Ring, start: u64, length: usize) -> bool {
    let cached = cached_pages(file.file(), start..start + length as u64).unwrap_or(0);
    cached * PAGE * 2 > length as u64
}

/// Reads past the page cache with a deep queue: reading ahead by the page cache keeps a fast disk less than half busy, and
/// leaves a second copy behind.
fn read_queued(file: &Ring, start: u64, into: &mut [u8]) -> Result<()> {
    let end = start + into.len() as u64;
    let requests = (start..end).step_by(REQUEST);
    let ranges: Vec<Range<u64>> =
        requests.map(|first| first..end.min(first + REQUEST as u64)).collect();
    file.read_each(&ranges, &mut |place, bytes| {
        into[place * REQUEST..][..bytes.len()].copy_from_slice(bytes);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_its_range_and_its_bytes_of_the_budget() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..PIECE + 70_001).map(|at| (at % 251) as u8).collect();
        std::fs::write(file.path(), &bytes).unwrap();
        file.as_file().sync_all().unwrap();
        let mapped = Mapped::open(file.path()).unwrap();
        let end = bytes.len() as u64;
        // With memory for queues and without, from the page cache and past it.
        for (room, is_cold) in [(0, false), (1 << 30, false), (0, true), (1 << 30, true)] {
            let budget = Budget::new(end + room);
            for range in [0..end, 0..0, 5..5, 1..end - 1, 4096..4097, end..end] {
                if is_cold {
                    crate::drop_page_cache(mapped.file(), 0..end).unwrap();
                }
                let copy = MemoryCopy::read(&mapped, range.clone(), &budget, "a test").unwrap();
                assert_eq!(copy.bytes(), &bytes[range.start as usize..range.end as usize]);
                assert!(copy.bytes().as_ptr().cast::<u128>().is_aligned());
                assert_eq!(budget.used(), range.end - range.start);
            }
            assert_eq!(budget.used(), 0);
        }
    }

    #[test]
    fn what_does_not_fit_or_is_not_there_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [7; 1000]).unwrap();
        let mapped = Mapped::open(file.path()).unwrap();
        let budget = Budget::new(999);
        let copy = |range| MemoryCopy::read(&mapped, range, &budget, "a test");
        assert!(matches!(copy(0..1000), Err(Error::Budget { .. })));
        assert!(matches!(copy(500..1001), Err(Error::Truncated { .. })));
        file.as_file().set_len(100).unwrap();
        assert!(matches!(copy(0..500), Err(Error::Truncated { .. })));
        assert_eq!(budget.used(), 0);
    }
}
