//! A part of a file, copied into memory of our own.
//! Stores that are told to stay in memory read from it instead of from a map: nothing can evict it, and it lies on huge
//! pages, so that reads at random find their addresses. It must not know what the bytes mean.

use std::ops::Range;

use memmap2::MmapMut;

use crate::budget::{Budget, Reservation};
use crate::error::{Error, Result};
use crate::read::{Mapped, Pread, ReadAt};

/// What one thread reads at once.
const PIECE: usize = 4 << 20;

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
        let failed = |source| Error::io("copy to memory", mapped.path(), source);
        // It fits: it is at most the length of a map that exists.
        let mut memory = MmapMut::map_anon(bytes as usize).map_err(failed)?;
        #[cfg(target_os = "linux")]
        // Small pages hold the same bytes.
        let _ = memory.advise(memmap2::Advice::HugePage);
        let file = Pread::of(mapped)?;
        let mut outcomes: Vec<Result<()>> = Vec::new();
        outcomes.resize_with(memory.len().div_ceil(PIECE), || Ok(()));
        crate::pool()?.in_place_scope(|scope| {
            let pieces = memory.chunks_mut(PIECE).zip(&mut outcomes).enumerate();
            for (number, (piece, outcome)) in pieces {
                let (file, start) = (&file, range.start + (number * PIECE) as u64);
                scope.spawn(move |_| *outcome = file.read_exact_at(start, piece));
            }
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(MemoryCopy { memory: Some(memory), _held: held })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.memory.as_deref().unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_holds_its_range_and_its_bytes_of_the_budget() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..PIECE + 70_001).map(|at| (at % 251) as u8).collect();
        std::fs::write(file.path(), &bytes).unwrap();
        let mapped = Mapped::open(file.path()).unwrap();
        let budget = Budget::new(bytes.len() as u64);
        let end = bytes.len() as u64;
        for range in [0..end, 0..0, 5..5, 1..end - 1, 4096..4097, end..end] {
            let copy = MemoryCopy::read(&mapped, range.clone(), &budget, "a test").unwrap();
            assert_eq!(copy.bytes(), &bytes[range.start as usize..range.end as usize]);
            assert_eq!(budget.used(), range.end - range.start);
        }
        assert_eq!(budget.used(), 0);
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
