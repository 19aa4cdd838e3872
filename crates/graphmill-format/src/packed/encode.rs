//! Writing a packed sequence.
//! A first pass over the values measures the blocks and makes the [`Directory`], which tells how long the sequence is and
//! where each block goes; a second one writes them, in any order and on several threads.

use super::bits::low_mask;
use super::block::Plan;
use super::{
    BLOCK, BLOCKS_PER_ENTRY, END_BITS, ENDS_AT, ENTRY_LENGTH, START_BITS, TAIL_LENGTH,
    VALUES_PER_ENTRY, directory_length,
};
use crate::{Error, Result};

/// The entries of some values of a sequence, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// The entries as they are stored, but without their starts, and the bytes of the blocks of each.
    entries: Vec<([u64; 4], u64)>,
}

/// How the values of one entry are stored.
pub(super) struct EntryPlan {
    blocks: [Plan; BLOCKS_PER_ENTRY as usize],
    count: usize,
    pub(super) base_length: usize,
}

impl EntryPlan {
    /// Plans at most 512 values.
    pub(super) fn of(values: &[u64]) -> Result<Self> {
        debug_assert!(values.len() <= VALUES_PER_ENTRY as usize);
        let mut planned = EntryPlan { blocks: Default::default(), count: 0, base_length: 0 };
        for (values, block) in values.chunks(BLOCK as usize).zip(&mut planned.blocks) {
            *block = Plan::of(values).ok_or_else(|| {
                let largest = values.iter().max().copied().unwrap_or_default();
                Error::impossible("packed value", format!("{largest} is not below 2^48"))
            })?;
            planned.count += 1;
            planned.base_length = planned.base_length.max(block.base_length());
        }
        Ok(planned)
    }

    /// The plans of its blocks.
    pub(super) fn blocks(&self) -> &[Plan] {
        &self.blocks[..self.count]
    }

    /// The entry as it is stored, but without its start, and the bytes of its blocks.
    fn entry(&self) -> ([u64; 4], u64) {
        let mut entry = [(self.base_length as u64) << START_BITS, 0, 0, 0];
        let mut end = 0;
        for (place, block) in self.blocks().iter().enumerate() {
            end += block.length(self.base_length) as u64;
            debug_assert!(end <= low_mask(END_BITS as u32));
            let bit = ENDS_AT + place * END_BITS;
            entry[bit / 64] |= end << (bit % 64);
            if bit % 64 + END_BITS > 64 {
                entry[bit / 64 + 1] |= end >> (64 - bit % 64);
            }
        }
        (entry, end)
    }
}

impl Directory {
    /// Measures the next values of the sequence: whole entries, unless they are the last.
    pub fn measure(&mut self, values: &[u64]) -> Result<()> {
        for values in values.chunks(VALUES_PER_ENTRY as usize) {
            self.entries.push(EntryPlan::of(values)?.entry());
        }
        Ok(())
    }

    /// Adds the entries of the values that follow.
    pub fn append(&mut self, mut following: Directory) {
        self.entries.append(&mut following.entries);
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing has been measured.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of memory for the entries of a sequence.
    pub fn memory(count: u64) -> u64 {
        count.div_ceil(VALUES_PER_ENTRY) * size_of::<([u64; 4], u64)>() as u64
    }

    /// Bytes of the blocks of one entry.
    pub fn entry_length(&self, entry: usize) -> u64 {
        self.entries[entry].1
    }

    /// Bytes of the whole sequence.
    pub fn sequence_length(&self) -> u64 {
        let blocks: u64 = self.entries.iter().map(|(_, length)| length).sum();
        self.entries.len() as u64 * ENTRY_LENGTH + blocks + TAIL_LENGTH
    }

    /// The directory as it is stored, entry by entry.
    pub fn encode(&self) -> impl Iterator<Item = [u8; ENTRY_LENGTH as usize]> + '_ {
        let mut start = 0;
        self.entries.iter().map(move |&(mut entry, length)| {
            entry[0] |= start;
            start += length;
            let mut bytes = [0; ENTRY_LENGTH as usize];
            for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(entry) {
                *bytes = word.to_le_bytes();
            }
            bytes
        })
    }
}

/// Adds the blocks of some values to bytes, one after the other: whole entries, unless they are the last.
pub fn append_blocks(values: &[u64], bytes: &mut Vec<u8>) -> Result<()> {
    for values in values.chunks(VALUES_PER_ENTRY as usize) {
        let entry = EntryPlan::of(values)?;
        for (block, values) in entry.blocks().iter().zip(values.chunks(BLOCK as usize)) {
            block.append(values, entry.base_length, bytes);
        }
    }
    Ok(())
}

/// A whole sequence in memory.
pub fn encode(values: &[u64]) -> Result<Vec<u8>> {
    let mut directory = Directory::default();
    directory.measure(values)?;
    let mut bytes = Vec::with_capacity(directory.sequence_length() as usize);
    bytes.extend(directory.encode().flatten());
    debug_assert_eq!(bytes.len() as u64, directory_length(values.len() as u64));
    append_blocks(values, &mut bytes)?;
    bytes.resize(bytes.len() + TAIL_LENGTH as usize, 0);
    debug_assert_eq!(bytes.len() as u64, directory.sequence_length());
    Ok(bytes)
}

const _: () = assert!(ENDS_AT + BLOCKS_PER_ENTRY as usize * END_BITS == 256);
