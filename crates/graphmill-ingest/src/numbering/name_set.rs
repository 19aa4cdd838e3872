//! Distinct names, as many as fit.
//! A thread that reads names puts each into one of these, found by its hash; when it is full its
//! names are sorted by their bytes and written as a run. It must not know ranks.

use graphmill_disk::PageBuffer;
use twox_hash::XxHash3_64;

use super::runs::{Run, RunFile};
use super::scratch_array::{ArrayWriter, IO_BYTES, PAGE};
use crate::Result;

/// The longest name.
pub(super) const LONGEST_NAME: usize = 64 << 10;
/// The least memory in which a set can be: room for the longest name and a buffer.
pub(super) const LEAST_SET: usize = 256 << 10;
/// Names lie in memory by 32-bit places.
const LARGEST_SET: usize = 3 << 30;
/// A slot without a name.
const EMPTY: u32 = u32::MAX;

/// How names become the keys that edges carry until names have ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameHash {
    seed: u64,
    mask: u64,
}

impl NameHash {
    pub(super) fn new(seed: u64) -> Self {
        NameHash { seed, mask: u64::MAX }
    }

    /// So few bits that names share hashes.
    #[cfg(test)]
    pub(super) fn narrow(seed: u64, bits: u32) -> Self {
        NameHash { seed, mask: (1 << bits) - 1 }
    }

    /// Never the largest number, which is no key.
    #[inline]
    pub(super) fn of(&self, name: &[u8]) -> u64 {
        let hash = XxHash3_64::oneshot_with_seed(self.seed, name) & self.mask;
        if hash == u64::MAX { 0 } else { hash }
    }
}

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// The set has it.
    Held,
    /// There is no room.
    Full,
    /// Another name has the same hash.
    Collided,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    start: u32,
    length: u32,
}

/// A set that refuses to grow beyond its memory.
#[derive(Debug)]
pub(super) struct NameSet {
    text: Vec<u8>,
    entries: Vec<Entry>,
    /// A power of two of places in `entries`.
    slots: Vec<u32>,
    text_room: usize,
    entry_room: usize,
    buffer: PageBuffer,
}

impl NameSet {
    pub(super) fn new(memory: usize) -> Self {
        let memory = memory.clamp(LEAST_SET, LARGEST_SET) - IO_BYTES - PAGE;
        let slot = size_of::<u32>() + size_of::<Entry>() * 5 / 8;
        let slots = (memory / 8 * 3 / slot + 1).next_power_of_two() / 2;
        let (text_room, entry_room) = (memory / 8 * 5, slots / 8 * 5);
        NameSet {
            text: Vec::with_capacity(text_room),
            entries: Vec::with_capacity(entry_room),
            slots: vec![EMPTY; slots],
            text_room,
            entry_room,
            buffer: PageBuffer::new(IO_BYTES),
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, hash: u64, name: &[u8]) -> Inserted {
        let mask = self.slots.len() - 1;
        let mut at = (hash ^ (hash >> 32)) as usize;
        loop {
            let held = self.slots[at & mask];
            if held == EMPTY {
                return self.add(hash, name, at & mask);
            }
            let entry = self.entries[held as usize];
            if entry.hash == hash {
                let is_same = self.name(entry) == name;
                return if is_same { Inserted::Held } else { Inserted::Collided };
            }
            at += 1;
        }
    }

    fn add(&mut self, hash: u64, name: &[u8], at: usize) -> Inserted {
        let (start, length) = (self.text.len(), name.len());
        if self.entries.len() == self.entry_room || length > self.text_room - start {
            return Inserted::Full;
        }
        self.text.extend_from_slice(name);
        self.slots[at] = self.entries.len() as u32;
        self.entries.push(Entry { hash, start: start as u32, length: length as u32 });
        Inserted::Held
    }

    fn name(&self, entry: Entry) -> &[u8] {
        let start = entry.start as usize;
        &self.text[start..start + entry.length as usize]
    }

    /// Writes all names, sorted, as a run and forgets them.
    pub(super) fn spill(&mut self, runs: &RunFile) -> Result<()> {
        let NameSet { text, entries, buffer, .. } = self;
        let name = |entry: &Entry| {
            let start = entry.start as usize;
            &text[start..start + entry.length as usize]
        };
        entries.sort_unstable_by(|one, other| name(one).cmp(name(other)));
        let bytes = text.len() + entries.len() * size_of::<u32>();
        let offset = runs.allocate(bytes as u64);
        let mut writer = ArrayWriter::new(runs.file(), offset, buffer);
        for entry in &*entries {
            writer.extend(&entry.length.to_le_bytes())?;
            writer.extend(name(entry))?;
        }
        let count = writer.finish()?;
        runs.add(Run { offset, count })?;
        self.text.clear();
        self.entries.clear();
        self.slots.fill(EMPTY);
        Ok(())
    }
}
