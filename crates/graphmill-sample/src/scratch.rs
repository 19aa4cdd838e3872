//! Memory that samplers use again and again.
//! One scratch serves one call at a time and is handed to the next; it holds what the largest batch so far needed, and
//! asks the budget before it grows. What is left in it never changes a result.

use crate::fanout::Picker;
use crate::labels::Labels;
use crate::sweep::Sweep;
use crate::{Result, Sample};
use graphmill_disk::{Budget, Reservation};
use std::ops::Range;

/// Spare lists that are kept: those of one result.
const LISTS: usize = 4;

/// Reusable memory of one call of a sampler.
#[derive(Debug)]
pub struct Scratch {
    /// Labels of graphs whose ids fit into 32 bits, in one tree.
    pub(crate) narrow: Labels<u64>,
    /// Labels of any graph.
    pub(crate) wide: Labels<u128>,
    /// The lists of the nodes that a hop expands.
    pub(crate) lists: Vec<Range<usize>>,
    /// Looks them up if they are on a disk.
    pub(crate) sweep: Sweep,
    /// One for each thread that has worked on a hop.
    pub(crate) pickers: Vec<Picker>,
    /// Lists of results that nobody needs any more, the shortest first.
    spare: Vec<Vec<i64>>,
    /// Holds labels, lists and spare lists; pickers hold their own.
    pub(crate) memory: Reservation,
    budget: Budget,
}

impl Scratch {
    /// A scratch that no budget limits.
    pub fn new() -> Self {
        Self::within(&Budget::unlimited()).expect("nothing is asked of an unlimited budget yet")
    }

    /// A scratch whose memory is taken from a budget, and given back when it is dropped.
    pub fn within(budget: &Budget) -> Result<Self> {
        Ok(Scratch {
            narrow: Labels::default(),
            wide: Labels::default(),
            lists: Vec::new(),
            sweep: Sweep::default(),
            pickers: Vec::new(),
            spare: Vec::new(),
            memory: budget.reserve(0, "the work memory of sampling")?,
            budget: budget.clone(),
        })
    }

    /// Bytes held now.
    pub fn bytes(&self) -> u64 {
        self.own_bytes() + self.pickers.iter().map(Picker::bytes).sum::<u64>()
    }

    fn own_bytes(&self) -> u64 {
        let lists = self.lists.capacity() * size_of::<Range<usize>>();
        let spare: u64 = self.spare.iter().map(bytes_of).sum();
        self.narrow.bytes() + self.wide.bytes() + lists as u64 + self.sweep.bytes() + spare
    }

    /// Whether the next call could use more lists than it has.
    pub fn wants_lists(&self) -> bool {
        self.spare.len() < LISTS
    }

    /// Takes a list of a result that nobody needs any more, to be filled again by the next call. It is freed if the
    /// budget has no room for it.
    ///
    /// Memory that is fresh from the system is much slower to fill than the processor finds what to fill it with.
    pub fn recycle(&mut self, list: Vec<i64>) {
        if self.wants_lists() && self.memory.grow(bytes_of(&list)).is_ok() {
            let place = self.spare.partition_point(|spare| spare.capacity() < list.capacity());
            self.spare.insert(place, list);
        }
    }

    /// A result to be filled, of spare lists as far as there are any; `memory` then holds their bytes.
    pub(crate) fn empty_sample(&mut self, memory: &mut Reservation) -> Sample {
        let mut sample = Sample::default();
        // There are fewer nodes than edges.
        let lists = [&mut sample.row, &mut sample.col, &mut sample.edge_ids, &mut sample.nodes];
        for list in lists {
            let Some(mut spare) = self.spare.pop() else { break };
            self.memory.shrink(bytes_of(&spare));
            // Without room for it, a list is freed, and the sampler asks for as much as it needs.
            if memory.grow(bytes_of(&spare)).is_ok() {
                spare.clear();
                *list = spare;
            }
        }
        sample
    }

    /// Pickers for so many threads.
    pub(crate) fn pickers(&mut self, threads: usize) -> Result<&mut [Picker]> {
        while self.pickers.len() < threads {
            self.pickers.push(Picker::within(&self.budget)?);
        }
        Ok(&mut self.pickers[..threads])
    }

    /// Gives back what was held for growing.
    pub(crate) fn settle(&mut self) {
        let unused = self.memory.bytes().saturating_sub(self.own_bytes());
        self.memory.shrink(unused);
        self.pickers.iter_mut().for_each(Picker::settle);
    }
}

fn bytes_of(list: &Vec<i64>) -> u64 {
    8 * list.capacity() as u64
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_made_of_recycled_lists_which_the_budget_counts_once() {
        let budget = Budget::new(1000);
        let mut scratch = Scratch::within(&budget).unwrap();
        for capacity in [10, 40, 20, 30, 5, 1000] {
            let mut list = Vec::with_capacity(capacity);
            list.push(7);
            scratch.recycle(list);
        }
        assert!(!scratch.wants_lists());
        assert_eq!((budget.used(), scratch.bytes()), (800, 800));
        let mut memory = budget.reserve(0, "a sample").unwrap();
        let sample = scratch.empty_sample(&mut memory);
        assert_eq!((memory.bytes(), sample.bytes(), scratch.bytes()), (800, 800, 0));
        assert_eq!((sample.row.capacity(), sample.nodes.capacity()), (40, 10));
        assert_eq!(sample, Sample::default());

        scratch.recycle(Vec::with_capacity(1000));
        assert!(scratch.wants_lists());
        assert_eq!(budget.used(), 800);
    }
}
