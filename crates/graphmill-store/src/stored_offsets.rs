//! Offsets of a file that is read in pieces instead of being mapped.
//! Verification and whoever wants the degrees of all nodes go through them from front to back, plain or packed alike.
//! Whether they make sense is the caller's to decide.

use crate::{Error, Result};
use graphmill_disk::{PageBuffer, ReadAt};
use graphmill_format::packed::{ENTRY_LENGTH, PackedWindow, VALUES_PER_ENTRY};
use graphmill_format::{DirectionSections, Section};
use std::ops::Range;

/// Offsets read together; anything packed is read in whole entries.
const PIECE: u64 = 1 << 13;

/// The offsets of one direction; keeps its memory between reads.
#[derive(Debug)]
pub struct StoredOffsets<'a> {
    file: &'a dyn ReadAt,
    section: Section,
    count: u64,
    is_packed: bool,
    bytes: PageBuffer,
    window: PackedWindow,
    values: Vec<u64>,
}

impl<'a> StoredOffsets<'a> {
    /// The offsets of the lists of so many nodes.
    pub fn new(file: &'a dyn ReadAt, lists: &DirectionSections, num_nodes: u64) -> Self {
        StoredOffsets {
            file,
            section: lists.offsets,
            count: num_nodes + 1,
            is_packed: lists.is_packed(),
            bytes: PageBuffer::new(if lists.is_packed() { 0 } else { PIECE as usize * 8 }),
            window: PackedWindow::new(),
            values: Vec::new(),
        }
    }

    /// Bytes of memory that reading takes.
    pub fn memory() -> u64 {
        (PIECE * 8 + PageBuffer::MARGIN).max(PackedWindow::memory(PIECE)) + PIECE * 8
    }

    /// How many there are: one more than nodes.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// One of them.
    pub fn at(&mut self, index: u64) -> Result<u64> {
        let mut found = 0;
        self.read(index..index + 1, |values| found = values[0])?;
        Ok(found)
    }

    /// Hands over some of them, a few thousand at a time.
    pub fn read(&mut self, range: Range<u64>, mut take: impl FnMut(&[u64])) -> Result<()> {
        let mut values = std::mem::take(&mut self.values);
        let mut first = range.start;
        while first < range.end {
            let some = first..range.end.min((first / PIECE + 1) * PIECE);
            first = some.end;
            values.clear();
            if self.is_packed {
                self.unpack(some, &mut values)?;
            } else {
                let bytes = &mut self.bytes[..(some.end - some.start) as usize * 8];
                self.file.read_exact_at(self.section.offset + some.start * 8, bytes)?;
                let words = bytes.as_chunks().0.iter();
                values.extend(words.map(|word| u64::from_le_bytes(*word)));
            }
            take(&values);
        }
        self.values = values;
        Ok(())
    }

    fn unpack(&mut self, range: Range<u64>, values: &mut Vec<u64>) -> Result<()> {
        let size = (self.count, self.section.length());
        let is_filled = self.window.fill(size, range.clone(), |at, bytes| {
            self.file.read_exact_at(self.section.offset + at, bytes)
        })?;
        if is_filled && self.window.read(range.clone(), |value| values.push(value)) {
            return Ok(());
        }
        Err(Error::Corrupt {
            path: self.file.path().to_path_buf(),
            byte: self.section.offset + range.start / VALUES_PER_ENTRY * ENTRY_LENGTH,
            what: "the directory of the offsets",
            found: "one that leads nowhere".to_owned(),
            expected: "places of blocks".to_owned(),
        })
    }
}
