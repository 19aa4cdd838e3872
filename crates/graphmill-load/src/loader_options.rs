//! What a loader shall deliver, and how.
//! Users fill it in, [`NeighborLoader::new`](crate::NeighborLoader::new) checks it against the dataset. It holds
//! choices only and knows no dataset.

use crate::{EpochKey, EpochOrder, Reading, Result, SeedTimes};
use graphmill_format::Direction;
use graphmill_sample::{FanoutOptions, Method, Strategy, Subgraph};

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
    /// Which of the processes that share the seeds of an epoch this is.
    pub rank: u64,
    /// How many processes share the seeds of an epoch.
    pub world_size: u64,
    /// Whether one edge may be picked several times.
    pub replace: bool,
    /// Whether edges are picked in proportion to their stored weights.
    pub weighted: bool,
    /// Whether every seed grows a tree of its own.
    pub disjoint: bool,
    /// How edges are picked.
    pub method: Method,
    /// The time of each seed: no edge later than it enters its tree, and trees are disjoint.
    pub times: Option<SeedTimes>,
    /// The node table of times by which edges are as old as the node they lead to; None uses the stored times of edges.
    pub node_times: Option<String>,
    /// Which of the edges that are old enough are picked.
    pub strategy: Strategy,
    /// How much older than its seed an edge may be.
    pub time_window: Option<u64>,
    /// Which edges a batch holds.
    pub subgraph: Subgraph,
    /// Which edges of a node lead to its neighbours: `In` for message passing.
    pub direction: Direction,
    /// The node tables whose rows are delivered; None delivers all.
    pub columns: Option<Vec<String>>,
    /// The edge tables whose rows are delivered; None delivers all if edge ids are stored, else none.
    pub edge_columns: Option<Vec<String>>,
    /// Finished batches that wait for the consumer; with 0, a batch is made when it is asked for.
    pub prefetch: usize,
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
            rank: 0,
            world_size: 1,
            replace: false,
            weighted: false,
            disjoint: false,
            method: Method::Uniform,
            times: None,
            node_times: None,
            strategy: Strategy::Uniform,
            time_window: None,
            subgraph: Subgraph::Directional,
            direction: Direction::In,
            columns: None,
            edge_columns: None,
            prefetch: 2,
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

    /// Delivers the share of one of several processes; see [`EpochOrder::share`].
    pub fn share(self, rank: u64, world_size: u64) -> Self {
        LoaderOptions { rank, world_size, ..self }
    }

    /// Lets an edge be picked several times.
    pub fn replace(self, replace: bool) -> Self {
        LoaderOptions { replace, ..self }
    }

    /// Picks edges in proportion to their weights.
    pub fn weighted(self, weighted: bool) -> Self {
        LoaderOptions { weighted, ..self }
    }

    /// Gives every seed a tree of its own.
    pub fn disjoint(self, disjoint: bool) -> Self {
        LoaderOptions { disjoint, ..self }
    }

    /// Sets how edges are picked.
    pub fn method(self, method: Method) -> Self {
        LoaderOptions { method, ..self }
    }

    /// Gives seeds times, so that no later edge enters their trees.
    pub fn times(self, times: Option<SeedTimes>) -> Self {
        LoaderOptions { times, ..self }
    }

    /// Lets edges be as old as the node they lead to, by this node table.
    pub fn node_times(self, node_times: Option<String>) -> Self {
        LoaderOptions { node_times, ..self }
    }

    /// Sets which of the edges that are old enough are picked.
    pub fn strategy(self, strategy: Strategy) -> Self {
        LoaderOptions { strategy, ..self }
    }

    /// Limits how much older than its seed an edge may be.
    pub fn time_window(self, time_window: Option<u64>) -> Self {
        LoaderOptions { time_window, ..self }
    }

    /// Sets which edges a batch holds.
    pub fn subgraph(self, subgraph: Subgraph) -> Self {
        LoaderOptions { subgraph, ..self }
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

    /// Sets how many finished batches wait for the consumer.
    pub fn prefetch(self, prefetch: usize) -> Self {
        LoaderOptions { prefetch, ..self }
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

    /// The key of an epoch with the seed and the share of the options.
    pub(crate) fn key(&self, epoch: u64) -> EpochKey {
        EpochKey { seed: self.seed, epoch, rank: self.rank, world_size: self.world_size }
    }

    /// The order of `seeds` seeds in an epoch, not shuffled yet.
    pub(crate) fn order(&self, seeds: usize, key: EpochKey) -> Result<EpochOrder> {
        let order = EpochOrder::new(seeds, self.batch_size)?.drop_last(self.drop_last);
        order.share(key.rank, key.world_size)
    }

    /// What is asked of the sampler, for any batch of any seed.
    pub(crate) fn fanout(&self) -> FanoutOptions {
        FanoutOptions::new(self.fanouts.as_slice())
            .replace(self.replace)
            .weighted(self.weighted)
            .disjoint(self.disjoint)
            .method(self.method)
            .strategy(self.strategy)
            .window(self.time_window)
            .subgraph(self.subgraph)
            .threads(self.threads)
    }
}
