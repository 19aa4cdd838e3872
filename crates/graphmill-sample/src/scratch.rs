//! Memory that samplers use again and again.
//! One scratch serves one call at a time and is handed to the next; it holds what the largest batch so far needed, and
//! asks the budget before it grows. What is left in it never changes a result.

use crate::choose::Chooser;
use crate::{Error, Result};
use graphmill_disk::{Budget, Reservation};
use hashbrown::HashMap;
use std::ops::Range;

/// Reusable memory of one call of a sampler.
#[derive(Debug)]
pub struct Scratch {
    pub(crate) chooser: Chooser,
    pub(crate) picks: Vec<u64>,
    /// The lists of the nodes that a hop expands.
    pub(crate) lists: Vec<Range<usize>>,
    /// The local id of every node of the batch.
    locals: HashMap<u64, i64>,
    memory: Reservation,
}

impl Scratch {
    /// A scratch that no budget limits.
    pub fn new() -> Self {
        Self::within(&Budget::unlimited()).expect("nothing is asked of an unlimited budget yet")
    }

    /// A scratch whose memory is taken from a budget, and given back when it is dropped.
    pub fn within(budget: &Budget) -> Result<Self> {
        Ok(Scratch {
            chooser: Chooser::default(),
            picks: Vec::new(),
            lists: Vec::new(),
            locals: HashMap::new(),
            memory: budget.reserve(0, "the work memory of sampling")?,
        })
    }

    /// Bytes held now.
    pub fn bytes(&self) -> u64 {
        let lists = self.lists.capacity() * size_of::<Range<usize>>();
        let picks = self.picks.capacity() * size_of::<u64>();
        self.chooser.bytes() + (self.locals.allocation_size() + lists + picks) as u64
    }

    /// Forgets the last batch and makes room for a batch that starts with `seeds` nodes.
    pub(crate) fn begin(&mut self, seeds: usize) -> Result<()> {
        self.locals.clear();
        if self.locals.capacity() < seeds {
            self.hold(table_bytes(seeds as u64, 16))?;
            self.locals.reserve(seeds);
        }
        Ok(())
    }

    /// Makes room for the lists of `nodes` nodes.
    pub(crate) fn begin_lists(&mut self, nodes: usize) -> Result<()> {
        self.lists.clear();
        if self.lists.capacity() < nodes {
            self.hold((nodes * size_of::<Range<usize>>()) as u64)?;
            self.lists.reserve_exact(nodes);
        }
        Ok(())
    }

    /// Makes room for choosing `count` edges of one list.
    pub(crate) fn begin_picks(&mut self, count: usize) -> Result<()> {
        self.picks.clear();
        let picks = if self.picks.capacity() < count { count * size_of::<u64>() } else { 0 };
        self.hold((picks as u64).saturating_add(Chooser::bytes_for(count as u64)))?;
        self.picks.reserve_exact(count);
        Ok(())
    }

    /// The local id of a node; a node not seen before gets `next` and is reported as new.
    #[inline]
    pub(crate) fn local(&mut self, node: u64, next: usize) -> Result<(i64, bool)> {
        if self.locals.len() == self.locals.capacity() {
            self.grow_locals()?;
        }
        let next = next as i64;
        let local = *self.locals.entry(node).or_insert(next);
        Ok((local, local == next))
    }

    #[cold]
    fn grow_locals(&mut self) -> Result<()> {
        let more = self.locals.capacity().max(8);
        self.hold(table_bytes(2 * more as u64, 16))?;
        self.locals.reserve(more);
        Ok(())
    }

    /// Holds what there is and `more`: an old table lives until the new one is filled.
    fn hold(&mut self, more: u64) -> Result<()> {
        let bytes = self.bytes().saturating_add(more);
        self.memory.resize(bytes).map_err(Error::Memory)
    }

    /// Gives back what was held for growing.
    pub(crate) fn settle(&mut self) {
        let unused = self.memory.bytes().saturating_sub(self.bytes());
        self.memory.shrink(unused);
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// The most that a hash table for so many entries of `width` bytes allocates: a power of two of slots, seven eighths of
/// them used, one control byte for each and a group of them more.
pub(crate) fn table_bytes(entries: u64, width: u64) -> u64 {
    let slots = (entries.saturating_mul(8) / 7 + 1).checked_next_power_of_two();
    slots.map_or(u64::MAX, |slots| slots.max(16).saturating_mul(width + 1).saturating_add(64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_never_takes_more_than_was_asked_for() {
        for entries in (0..5000).chain([1 << 16, 57_344, 57_345, 100_000]) {
            let pairs: HashMap<u64, i64> = HashMap::with_capacity(entries);
            assert!(pairs.allocation_size() as u64 <= table_bytes(entries as u64, 16), "{entries}");
        }
        assert_eq!(table_bytes(u64::MAX, 16), u64::MAX);
    }

    #[test]
    fn growing_asks_first_and_settling_gives_back() {
        let budget = Budget::new(1 << 20);
        let mut scratch = Scratch::within(&budget).unwrap();
        scratch.begin(3).unwrap();
        let mut next = 0;
        let refused = loop {
            match scratch.local(next as u64, next) {
                Ok((local, true)) => assert_eq!(local, next as i64),
                Ok(_) => panic!("{next} was never there"),
                Err(error) => break error,
            }
            assert!(scratch.bytes() <= budget.used());
            next += 1;
        };
        assert!(matches!(refused, Error::Memory(graphmill_disk::Error::Budget { .. })));
        assert!(next > 1000);
        scratch.settle();
        assert_eq!(budget.used(), scratch.bytes());
        drop(scratch);
        assert_eq!(budget.used(), 0);
    }
}
