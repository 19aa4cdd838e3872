//! Part of a packed sequence, read from wherever it lies.
//! Those who go through a whole sequence in a file, without a map of it, take one window after the other. How bytes are
//! read is the caller's business.

use super::entry::{MOST_OF_ENTRY, borders, set_start, start};
use super::{BLOCK, ENTRY_LENGTH, PackedSequence, TAIL_LENGTH, VALUES_PER_ENTRY, directory_length};
use std::ops::Range;

/// Some entries of a directory and their blocks; keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct PackedWindow {
    bytes: Vec<u8>,
    values: Range<u64>,
    blocks: Range<u64>,
}

impl PackedWindow {
    /// An empty window.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes of memory that a window of so many values takes at most.
    pub fn memory(values: u64) -> u64 {
        let entries = values.div_ceil(VALUES_PER_ENTRY) + 1;
        entries * (ENTRY_LENGTH + MOST_OF_ENTRY) + TAIL_LENGTH
    }

    /// Fills the window with the entries that hold some values of a sequence of `count` values in `length` bytes; `read`
    /// fills a slice with bytes of the sequence. False if the directory cannot be one.
    pub fn fill<E>(
        &mut self,
        (count, length): (u64, u64),
        values: Range<u64>,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let entries = values.start / VALUES_PER_ENTRY..values.end.div_ceil(VALUES_PER_ENTRY);
        let directory = ((entries.end - entries.start) * ENTRY_LENGTH) as usize;
        self.values = entries.start * VALUES_PER_ENTRY..(entries.end * VALUES_PER_ENTRY).min(count);
        self.blocks = 0..0;
        self.bytes.clear();
        self.bytes.resize(directory, 0);
        read(entries.start * ENTRY_LENGTH, &mut self.bytes)?;
        let Some(blocks) = self.move_to_front() else { return Ok(false) };
        let blocks_at = directory_length(count);
        let most = directory as u64 / ENTRY_LENGTH * MOST_OF_ENTRY;
        let end = blocks_at.checked_add(blocks.end).and_then(|end| end.checked_add(TAIL_LENGTH));
        if blocks.end - blocks.start > most || end.is_none_or(|end| end > length) {
            return Ok(false);
        }
        let taken = (blocks.end - blocks.start) as usize;
        self.bytes.resize(directory + taken, 0);
        read(blocks_at + blocks.start, &mut self.bytes[directory..])?;
        self.bytes.resize(directory + taken + TAIL_LENGTH as usize, 0);
        self.blocks = blocks;
        Ok(true)
    }

    /// Makes the entries say where blocks are in the window; gives where they are among all blocks.
    fn move_to_front(&mut self) -> Option<Range<u64>> {
        let last = (self.values.end - self.values.start).wrapping_sub(1) / BLOCK;
        let (entries, _) = self.bytes.as_chunks_mut();
        let (Some(first), Some(behind)) = (
            entries.first().map(start),
            entries.last().map(|entry| borders(entry, last as usize).1),
        ) else {
            return Some(0..0);
        };
        let mut end = first;
        for entry in entries {
            let found = start(entry);
            set_start(entry, found.checked_sub(first)?);
            end = end.max(found);
        }
        Some(first..end + behind)
    }

    /// The values that it holds, by their place in the whole sequence.
    pub fn values(&self) -> Range<u64> {
        self.values.clone()
    }

    /// The bytes after the directory that it holds.
    pub fn blocks(&self) -> Range<u64> {
        self.blocks.clone()
    }

    /// The values as a sequence that begins with the first of them; None before the window has been filled.
    pub fn sequence(&self) -> Option<PackedSequence<'_>> {
        PackedSequence::new(&self.bytes, self.values.end - self.values.start)
    }

    /// Hands out values of the whole sequence that are in the window; false if they are not or cannot be read.
    pub fn read(&self, values: Range<u64>, take: impl FnMut(u64)) -> bool {
        let first = self.values.start;
        values.start >= first
            && values.end <= self.values.end
            && self
                .sequence()
                .is_some_and(|all| all.read(values.start - first..values.end - first, take))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::encode;
    use std::convert::Infallible;

    fn read(bytes: &[u8]) -> impl FnMut(u64, &mut [u8]) -> Result<(), Infallible> {
        |at, into| {
            into.copy_from_slice(&bytes[at as usize..at as usize + into.len()]);
            Ok(())
        }
    }

    #[test]
    fn windows_hold_what_the_sequence_holds() {
        for count in [0_u64, 1, 63, 64, 1023, 1024, 1025, 5000] {
            let values: Vec<u64> = (0..count).map(|at| at * at % 10_007).collect();
            let bytes = encode(&values).unwrap();
            let size = (count, bytes.len() as u64);
            let mut window = PackedWindow::new();
            let (mut all, mut end) = (Vec::new(), 0);
            for first in (0..count).step_by(2048) {
                let wanted = first..count.min(first + 2048);
                assert_eq!(window.fill(size, wanted.clone(), read(&bytes)), Ok(true));
                assert_eq!(window.blocks().start, end);
                end = window.blocks().end;
                assert!(window.read(wanted, |value| all.push(value)));
                assert_eq!(window.sequence().unwrap().first_bad_block(), None);
            }
            assert_eq!(all, values);
            assert_eq!(directory_length(count) + end + TAIL_LENGTH, size.1);
            if count > 1024 {
                assert_eq!(window.fill(size, 1030..1031, read(&bytes)), Ok(true));
                assert!(!window.read(1000..1031, |_| ()));
                let mut one = Vec::new();
                assert!(window.read(1024..1025, |value| one.push(value)));
                assert_eq!(one, values[1024..1025]);
            }
        }
    }

    #[test]
    fn a_lying_directory_is_refused_before_it_is_believed() {
        let values: Vec<u64> = (0..5000).collect();
        let bytes = encode(&values).unwrap();
        let size = (5000, bytes.len() as u64);
        for (at, lie) in [(0, [255; 6]), (64, [255; 6]), (256, [255; 6]), (128, [0; 6])] {
            let mut lying = bytes.clone();
            lying[at..at + 6].copy_from_slice(&lie);
            assert_eq!(PackedWindow::new().fill(size, 0..5000, read(&lying)), Ok(at == 128));
        }
        // Room for less than the directory asks for.
        assert_eq!(PackedWindow::new().fill((5000, size.1 - 1), 0..5000, read(&bytes)), Ok(false));
    }
}
