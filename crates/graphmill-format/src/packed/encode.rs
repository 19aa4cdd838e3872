//! Writing a packed sequence.
//! A first pass over the values measures the blocks and makes the [`Directory`], which tells how long the sequence is and
//! where each block goes; a second one writes them, in any order and on several threads.

use super::entry::{EntryBytes, EntryPlan, set_start};
use super::{BLOCK, ENTRY_LENGTH, TAIL_LENGTH, VALUES_PER_ENTRY, directory_length};
use crate::Result;

/// The entries of some values of a sequence, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// The entries as they are stored, but without their starts, and the bytes of the blocks of each.
    entries: Vec<(EntryBytes, u64)>,
}

impl Directory {
    /// Measures the next values of the sequence: whole entries, unless they are the last.
    pub fn measure(&mut self, values: &[u64]) -> Result<()> {
        for values in values.chunks(VALUES_PER_ENTRY as usize) {
            let plan = EntryPlan::of(values)?;
            self.entries.push((plan.encode(), plan.length()));
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
        count.div_ceil(VALUES_PER_ENTRY) * size_of::<(EntryBytes, u64)>() as u64
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
            set_start(&mut entry, start);
            start += length;
            entry
        })
    }
}

/// Adds the blocks of some values to bytes, one after the other: whole entries, unless they are the last.
pub fn append_blocks(values: &[u64], bytes: &mut Vec<u8>) -> Result<()> {
    for values in values.chunks(VALUES_PER_ENTRY as usize) {
        let plan = EntryPlan::of(values)?;
        for (block, values) in plan.blocks().iter().zip(values.chunks(BLOCK as usize)) {
            block.append(values, bytes);
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
