//! A batch between sampling and reading.
//! Loaders sample several ahead; each waits here with its part of the budget until its rows have come. It holds
//! results only and makes nothing.

use crate::{Batch, BatchMemory, Column};
use graphmill_sample::Sample;

/// The lists of a batch whose rows are still missing.
#[derive(Debug)]
pub(crate) struct SampledBatch {
    pub(crate) index: u64,
    pub(crate) batch_size: usize,
    pub(crate) sample: Sample,
    pub(crate) input_positions: Vec<i64>,
    pub(crate) seed_times: Option<Vec<i64>>,
    pub(crate) link_ends: Option<Vec<i64>>,
    pub(crate) memory: BatchMemory,
}

impl SampledBatch {
    /// The finished batch.
    pub(crate) fn with_rows(self, columns: Vec<Column>, edge_columns: Vec<Column>) -> Batch {
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
