//! What a loader shall deliver, and how.
//! Users fill it in, [`NeighborLoader::new`](crate::NeighborLoader::new) checks it against the dataset. It holds
//! choices only and knows no dataset.

use crate::Reading;
use graphmill_format::Direction;

/// The choices of a loader; everything but the fan-outs has a default.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoaderOptions {
    /// Neighbours picked per node in each hop; -1 takes all of them.
    pub fanouts: Vec<i64>,
    /// Seeds per batch.
    pub batch_size: usize,
    /// Whether each epoch visits the seeds in a new order.
    pub shuffle: bool,
    /// Whether a last batch that is not full is left out.
    pub drop_last: bool,
    /// Whether one edge may be picked several times.
    pub replace: bool,
    /// Which edges of a node lead to its neighbours: `In` for message passing.
    pub direction: Direction,
    /// The node tables whose rows are delivered; None delivers all.
    pub columns: Option<Vec<String>>,
    /// The edge tables whose rows are delivered; None delivers all if edge ids are stored, else none.
    pub edge_columns: Option<Vec<String>>,
    /// How rows are read.
    pub backend: Reading,
    /// The most batches that are read together; None reads as many as the memory allows.
    pub window: Option<usize>,
    /// Bytes for rows that are wanted most often and stay in memory; None takes a share of the budget.
    pub hot_memory: Option<u64>,
    /// Whether half floats are delivered as single floats.
    pub widen: bool,
    /// Threads that may share the sampling of a large batch.
    pub threads: usize,
    /// The seed of all randomness.
    pub seed: u64,
    /// Whether the nodes of a batch are told by their ids in the source instead of their numbers.
    pub original: bool,
}

impl LoaderOptions {
    /// Batches of one seed with these fan-outs, in-edges followed, seeds as given, all columns, seed 0.
    pub fn new(fanouts: impl Into<Vec<i64>>) -> Self {
        LoaderOptions {
            fanouts: fanouts.into(),
            batch_size: 1,
            shuffle: false,
            drop_last: false,
            replace: false,
            direction: Direction::In,
            columns: None,
            edge_columns: None,
            backend: Reading::Auto,
            window: None,
            hot_memory: None,
            widen: false,
            threads: 1,
            seed: 0,
            original: false,
        }
    }

    /// Sets the number of seeds per batch.
    pub fn batch_size(self, batch_size: usize) -> Self {
        LoaderOptions { batch_size, ..self }
    }

    /// Visits the seeds in a new order in each epoch.
    pub fn shuffle(self, shuffle: bool) -> Self {
        LoaderOptions { shuffle, ..self }
    }

    /// Leaves out a last batch that is not full.
    pub fn drop_last(self, drop_last: bool) -> Self {
        LoaderOptions { drop_last, ..self }
    }

    /// Lets an edge be picked several times.
    pub fn replace(self, replace: bool) -> Self {
        LoaderOptions { replace, ..self }
    }

    /// Sets which edges are followed, `In` or `Out`.
    pub fn direction(self, direction: Direction) -> Self {
        LoaderOptions { direction, ..self }
    }

    /// Delivers these node tables only.
    pub fn columns(self, columns: Option<Vec<String>>) -> Self {
        LoaderOptions { columns, ..self }
    }

    /// Delivers these edge tables only.
    pub fn edge_columns(self, edge_columns: Option<Vec<String>>) -> Self {
        LoaderOptions { edge_columns, ..self }
    }

    /// Sets how rows are read.
    pub fn backend(self, backend: impl Into<Reading>) -> Self {
        LoaderOptions { backend: backend.into(), ..self }
    }

    /// Sets the most batches that are read together, at least one; None reads as many as the memory allows.
    pub fn window(self, window: Option<usize>) -> Self {
        LoaderOptions { window: window.map(|batches| batches.max(1)), ..self }
    }

    /// Sets how many bytes of rows that are wanted most often stay in memory; None takes a share of the budget.
    pub fn hot_memory(self, hot_memory: Option<u64>) -> Self {
        LoaderOptions { hot_memory, ..self }
    }

    /// Delivers half floats as single floats.
    pub fn widen(self, widen: bool) -> Self {
        LoaderOptions { widen, ..self }
    }

    /// Lets so many threads share the sampling of a large batch.
    pub fn threads(self, threads: usize) -> Self {
        LoaderOptions { threads: threads.max(1), ..self }
    }

    /// Sets the seed of all randomness.
    pub fn seed(self, seed: u64) -> Self {
        LoaderOptions { seed, ..self }
    }

    /// Tells the nodes of a batch by their ids in the source; for ids that were text, by the place of their names.
    pub fn original(self, original: bool) -> Self {
        LoaderOptions { original, ..self }
    }
}
