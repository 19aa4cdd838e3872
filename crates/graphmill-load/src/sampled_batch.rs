//! A batch between sampling and reading.
//! Loaders sample several ahead; each waits here with its part of the budget until its rows have come. It holds
//! results only and makes nothing.

use crate::narrow_edges::NarrowEdges;
use crate::{Batch, BatchMemory, Column, Result};
use graphmill_sample::Sample;

/// The lists of a batch whose rows are still missing.
#[derive(Debug)]
pub(crate) struct SampledBatch {
    pub(crate) index: u64,
    pub(crate) batch_size: usize,
    /// Without what is narrow.
    pub(crate) sample: Sample,
    pub(crate) narrow: NarrowEdges,
    pub(crate) input_positions: Vec<i64>,
    pub(crate) seed_times: Option<Vec<i64>>,
    pub(crate) link_ends: Option<Vec<i64>>,
    pub(crate) memory: BatchMemory,
}

impl SampledBatch {
    /// Takes less memory until [`widen`](Self::widen). Edge ids that are `wanted` meanwhile stay as they are.
    pub(crate) fn narrow(&mut self, wanted: bool) {
        if self.narrow.len() == 0 {
            let [_, lists] = &mut self.memory.parts;
            self.narrow = NarrowEdges::take(&mut self.sample, lists, wanted);
        }
    }

    /// Makes all lists what they were; can be tried again after an error for lack of memory.
    pub(crate) fn widen(&mut self) -> Result<()> {
        let [_, lists] = &mut self.memory.parts;
        self.narrow.give_back(&mut self.sample, lists)
    }

    /// Number of edges.
    pub(crate) fn num_edges(&self) -> usize {
        self.sample.row.len() + self.narrow.len()
    }

    /// The finished batch.
    pub(crate) fn with_rows(self, columns: Vec<Column>, edge_columns: Vec<Column>) -> Batch {
        debug_assert_eq!(self.narrow.len(), 0, "delivered lists are wide");
        let SampledBatch { batch_size, sample, input_positions, seed_times, .. } = self;
        let (link_ends, memory) = (self.link_ends, self.memory);
        Batch {
            batch_size,
            sample,
            input_positions,
            seed_times,
            link_ends,
            columns,
            edge_columns,
            memory,
        }
    }
}
