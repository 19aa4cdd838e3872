//! A finished batch: a sampled neighbourhood and the rows of its nodes and edges.
//! Loaders make it, the user's training step consumes it. Its memory stays counted in the dataset's budget as long as
//! its [`BatchMemory`] lives; who consumes it is unknown here.

use graphmill_disk::Reservation;
use graphmill_format::TableShape;
use graphmill_sample::Sample;

/// One batch.
#[derive(Debug)]
pub struct Batch {
    /// Number of seeds: the first so many nodes of the sample.
    pub batch_size: usize,
    /// The sampled neighbourhood; its nodes are numbers, or ids of the source if the loader was asked for those.
    pub sample: Sample,
    /// Where each seed stands among the seeds that the loader was given.
    pub input_positions: Vec<i64>,
    /// The rows of every node of the sample, in its order.
    pub columns: Vec<Column>,
    /// The rows of every edge of the sample, in its order.
    pub edge_columns: Vec<Column>,
    /// What the above takes from the budget; keep it as long as any of them.
    pub memory: BatchMemory,
}

/// The gathered rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The name of the table.
    pub name: String,
    /// The shape of the gathered rows, without padding.
    pub shape: TableShape,
    /// The rows, little-endian and C-contiguous.
    pub bytes: Vec<u8>,
}

/// The part of the budget that a batch takes, given back on drop.
#[derive(Debug)]
pub struct BatchMemory {
    pub(crate) parts: [Reservation; 3],
}

impl BatchMemory {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Reservation::bytes).sum()
    }
}
