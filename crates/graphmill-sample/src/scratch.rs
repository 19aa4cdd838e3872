//! Memory that samplers use again and again.
//! One scratch serves one call at a time and is handed to the next; it holds what the largest batch so far needed, and
//! asks the budget before it grows. What is left in it never changes a result.

use crate::Result;
use crate::fanout::Picker;
use crate::labels::Labels;
use crate::sweep::Sweep;
use graphmill_disk::{Budget, Reservation};
use std::ops::Range;

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
    /// Holds labels and lists; pickers hold their own.
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
        self.narrow.bytes() + self.wide.bytes() + lists as u64 + self.sweep.bytes()
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

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}
