//! From names to their ranks, and back to a file of names.
//! A name is found by its hash, and what is found is compared byte by byte: a name that nobody
//! collected may share a hash with one that somebody did. It must not know what names belong to.

use graphmill_disk::{Budget, OutputFile};
use graphmill_format::{ElementType, TableShape};

use super::batches::{Batch, Batches, Block};
use super::key_index::KeyIndex;
use super::name_collector::{DistinctNames, Ranks};
use super::name_set::NameHash;
use super::number_table::NumberTable;
use super::scratch_array::{IO_BYTES, PAGE, ScratchArray, Stored};
use crate::source::TextCells;
use crate::table_writer::{TableWriter, Written};
use crate::{Error, Result};

/// Names, ascending, and a way to find them.
#[derive(Debug)]
pub(super) struct Dictionary {
    hash: NameHash,
    text: ScratchArray<u8>,
    ends: ScratchArray<u64>,
    hashes: KeyIndex,
    ranks: NumberTable,
}

impl Dictionary {
    /// Loads hashes and ranks as far as the budget lets them be in memory.
    pub(super) fn new(names: DistinctNames, budget: &Budget) -> Result<Self> {
        let DistinctNames { hash, text, ends, hashes, ranks } = names;
        let hashes = KeyIndex::new(hashes, budget)?;
        let ranks = match ranks {
            Ranks::Narrow(ranks) => NumberTable::narrow(ranks, budget)?,
            Ranks::Wide(ranks) => NumberTable::wide(ranks, budget)?,
        };
        Ok(Dictionary { hash, text, ends, hashes, ranks })
    }

    pub(super) fn count(&self) -> u64 {
        self.ends.count()
    }

    /// Replaces hashes by ranks; fails with the place of the first that no name has.
    pub(super) fn ranks_of_hashes(
        &self,
        hashes: &mut [u64],
        batches: Option<&Batches>,
    ) -> Result<std::result::Result<(), usize>> {
        if let Err(place) = self.hashes.places(hashes, batches)? {
            return Ok(Err(place));
        }
        self.ranks.look_up(hashes, batches)?;
        Ok(Ok(()))
    }

    /// Appends the ranks of names; fails with the place of the first that was not collected.
    pub(super) fn ranks_of_names(
        &self,
        names: &TextCells,
        batches: &Batches,
        into: &mut Vec<u64>,
    ) -> Result<std::result::Result<(), usize>> {
        let before = into.len();
        into.extend(names.iter().map(|name| self.hash.of(name.as_bytes())));
        let ranks = &mut into[before..];
        // A name before the first unknown hash may yet turn out to be another one.
        let known = match self.ranks_of_hashes(ranks, Some(batches))? {
            Ok(()) => names.len(),
            Err(place) => {
                let again = names.iter().take(place).zip(&mut *ranks);
                again.for_each(|(name, rank)| *rank = self.hash.of(name.as_bytes()));
                match self.ranks_of_hashes(&mut ranks[..place], Some(batches))? {
                    Ok(()) => place,
                    earlier => return Ok(earlier),
                }
            }
        };
        let stranger = self.first_stranger(names, &mut ranks[..known], batches)?;
        let unknown = stranger.or((known < names.len()).then_some(known));
        Ok(unknown.map_or(Ok(()), Err))
    }

    /// The place of the first name that is not the one of its rank.
    fn first_stranger(
        &self,
        names: &TextCells,
        ranks: &mut [u64],
        batches: &Batches,
    ) -> Result<Option<usize>> {
        let mut stranger: Option<usize> = None;
        batches.run(ranks, |first, batch, _| {
            let Batch { sorted, block, .. } = batch;
            let (ends, text) = block.split_at_mut(IO_BYTES / 2);
            let mut ends = Block::new(&self.ends, ends, sorted.len());
            let mut text = TextWindow::new(&self.text, text, sorted.len());
            for &(rank, place) in &*sorted {
                let start = match rank.checked_sub(1) {
                    Some(before) => ends.value(before)?,
                    None => 0,
                };
                let end = ends.value(rank)?;
                let place = first + place as usize;
                let name = names.get(place).unwrap_or_default().as_bytes();
                if end - start != name.len() as u64 || !text.is_at(start, name)? {
                    stranger = Some(stranger.map_or(place, |other| other.min(place)));
                }
            }
            Ok(())
        })?;
        Ok(stranger)
    }

    /// Writes all names, one after the other, and where each of them ends.
    pub(super) fn write(
        &self,
        text_file: &dyn OutputFile,
        ends_file: &dyn OutputFile,
    ) -> Result<(Written, Written)> {
        let text = write_vector(&self.text, text_file, ElementType::U8, |bytes| bytes.to_vec())?;
        let ends = write_vector(&self.ends, ends_file, ElementType::I64, |ends| {
            ends.iter().flat_map(|end| end.to_le_bytes()).collect()
        })?;
        Ok((text, ends))
    }
}

fn write_vector<T: Stored>(
    array: &ScratchArray<T>,
    file: &dyn OutputFile,
    element: ElementType,
    encode: impl Fn(&[T]) -> Vec<u8>,
) -> Result<Written> {
    let shape = TableShape::vector(array.count(), element).map_err(Error::format(file.path()))?;
    let mut writer = TableWriter::new(file, shape)?;
    let mut reader = array.reader();
    loop {
        let piece = reader.next_piece()?;
        if piece.is_empty() {
            return writer.finish();
        }
        writer.write_rows(&encode(piece))?;
    }
}

/// A stretch of the text that is looked at by ascending places.
struct TextWindow<'a> {
    text: &'a ScratchArray<u8>,
    buffer: &'a mut [u8],
    first: u64,
    length: usize,
    step: usize,
}

impl<'a> TextWindow<'a> {
    fn new(text: &'a ScratchArray<u8>, buffer: &'a mut [u8], questions: usize) -> Self {
        let few = (questions as u64) < text.count() / PAGE as u64 / 4;
        let step = if few { PAGE } else { buffer.len() };
        TextWindow { text, buffer, first: 0, length: 0, step }
    }

    /// Whether the text has these bytes from place `at` on.
    fn is_at(&mut self, mut at: u64, mut bytes: &[u8]) -> Result<bool> {
        while !bytes.is_empty() {
            if at < self.first || at >= self.first + self.length as u64 {
                self.length = 0;
                self.first = at / PAGE as u64 * PAGE as u64;
                let left = self.text.count() - self.first;
                let length = usize::try_from(left).unwrap_or(usize::MAX).min(self.step);
                self.text.read(self.first, &mut self.buffer[..length])?;
                self.length = length;
            }
            let held = &self.buffer[(at - self.first) as usize..self.length];
            let count = held.len().min(bytes.len());
            if held[..count] != bytes[..count] {
                return Ok(false);
            }
            at += count as u64;
            bytes = &bytes[count..];
        }
        Ok(true)
    }
}
