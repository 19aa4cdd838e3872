//! Writing a packed sequence.
//! A first pass over the values measures the blocks and makes the [`Directory`], which tells how long the sequence is and
//! where each block goes; a second one writes them, in any order and on several threads.

use super::bits::low_mask;
use super::block::Plan;
use super::{
    BLOCK, BLOCKS_PER_ENTRY, END_BITS, ENDS_AT, ENTRY_LENGTH, TAIL_LENGTH, VALUES_PER_ENTRY,
    directory_length,
};
use crate::{Error, Result};

/// The entries of some values of a sequence, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// The ends of the blocks of each entry, from its first byte on, packed as they are stored, and their length.
    entries: Vec<([u64; 4], u64)>,
}

/// How one block of values will be stored.
#[derive(Clone, Copy, Debug)]
pub struct PackedBlock(Plan);

impl PackedBlock {
    /// Plans a block of 1 to 32 values.
    pub fn of(values: &[u64]) -> Result<Self> {
        Plan::of(values).map(PackedBlock).ok_or_else(|| {
            let largest = values.iter().max().copied().unwrap_or_default();
            Error::impossible("packed value", format!("{largest} is not below 2^48"))
        })
    }

    /// Bytes that it takes.
    pub fn length(&self, count: usize) -> usize {
        self.0.length(count)
    }

    /// Writes it to the first of some bytes, which are zero and at least eight more than it takes.
    pub fn write(&self, values: &[u64], bytes: &mut [u8]) {
        self.0.write(values, bytes);
    }
}

impl Directory {
    /// Measures the next values of the sequence: whole entries, unless they are the last.
    pub fn measure(&mut self, values: &[u64]) -> Result<()> {
        for values in values.chunks(VALUES_PER_ENTRY as usize) {
            let (mut entry, mut end) = ([0_u64; 4], 0);
            for (place, values) in values.chunks(BLOCK as usize).enumerate() {
                end += PackedBlock::of(values)?.length(values.len()) as u64;
                debug_assert!(end <= low_mask(END_BITS as u32));
                let bit = ENDS_AT + place * END_BITS;
                entry[bit / 64] |= end << (bit % 64);
                if bit % 64 + END_BITS > 64 {
                    entry[bit / 64 + 1] |= end >> (64 - bit % 64);
                }
            }
            self.entries.push((entry, end));
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

/// Adds the blocks of some values to bytes, one after the other.
pub fn append_blocks(values: &[u64], bytes: &mut Vec<u8>) -> Result<()> {
    for values in values.chunks(BLOCK as usize) {
        let block = PackedBlock::of(values)?;
        let (start, length) = (bytes.len(), block.length(values.len()));
        bytes.resize(start + length + TAIL_LENGTH as usize, 0);
        block.write(values, &mut bytes[start..]);
        bytes.truncate(start + length);
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
