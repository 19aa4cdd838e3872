//! A finished batch: a sampled neighbourhood and the rows of its nodes and edges.
//! Loaders make it, the user's training step consumes it. Its lists stay counted in the dataset's budget as long as its
//! [`BatchMemory`] lives, its rows as long as their buffers; who consumes it is unknown here.

use crate::buffers::{Buffers, RowBuffer};
use crate::{Result, Rows};
use graphmill_disk::Reservation;
use graphmill_format::TableShape;
use graphmill_sample::Sample;

/// One batch.
#[derive(Debug)]
pub struct Batch {
    /// Number of seeds, which are the first so many nodes of the sample, or of links.
    pub batch_size: usize,
    /// The sampled neighbourhood; its nodes are numbers, or ids of the source if the loader was asked for those.
    pub sample: Sample,
    /// Where each seed stands among the seeds that the loader was given.
    pub input_positions: Vec<i64>,
    /// The time of each seed, if they have any.
    pub seed_times: Option<Vec<i64>>,
    /// Local ids of the ends of links, if those were the seeds: all sources, negative ones included, then all destinations,
    /// then the further destinations of triplets: one of every link, the next of every link, and so on.
    pub link_ends: Option<Vec<i64>>,
    /// The rows of every node of the sample, in its order.
    pub columns: Vec<Column>,
    /// The rows of every edge of the sample, in its order.
    pub edge_columns: Vec<Column>,
    /// What sample and positions take from the budget; keep it as long as any of them.
    pub memory: BatchMemory,
}

impl Batch {
    /// Bytes of the budget that the batch holds with its rows.
    pub fn bytes(&self) -> u64 {
        let columns = self.columns.iter().chain(&self.edge_columns);
        self.memory.bytes() + columns.map(|column| column.bytes.held()).sum::<u64>()
    }
}

/// The gathered rows of one table.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Column {
    /// The name of the table.
    pub name: String,
    /// The shape of the gathered rows, without padding.
    pub shape: TableShape,
    /// The rows, little-endian and C-contiguous. Their memory serves the next batch when this is dropped.
    pub bytes: RowBuffer,
}

impl Column {
    /// Room for `count` rows of a table.
    pub(crate) fn of(name: &str, rows: &Rows, count: usize, buffers: &Buffers) -> Result<Self> {
        let shape = rows.shape_of(count)?;
        // Fits: a shape has at most 2^63 bytes.
        let bytes = buffers.take(shape.length() as usize, &format!("{count} rows of {name:?}"))?;
        Ok(Column { name: name.to_owned(), shape, bytes })
    }
}

/// The part of the budget that the lists of a batch take, given back on drop.
#[derive(Debug)]
pub struct BatchMemory {
    pub(crate) parts: [Reservation; 2],
}

impl BatchMemory {
    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(Reservation::bytes).sum()
    }
}
