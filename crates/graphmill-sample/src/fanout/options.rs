//! What is asked of a fan-out.
//! Callers fill [`FanoutOptions`], which holds for many batches, and [`Seeds`], which is one batch's; both are checked
//! before anything is sampled. How the wishes are fulfilled is not known here.

use super::excluded::ExcludedEdges;
use crate::{Error, Result, Topology};
use graphmill_format::Direction;

/// More threads than this are not started, whoever asks for them.
pub(super) const MOST_THREADS: usize = 256;

/// How edges are picked from a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Every list by itself, every subset of its edges equally likely (or by weight).
    #[default]
    Uniform,
    /// LABOR-0: lists of a hop share one random number per neighbour, so that they tend to pick the same nodes.
    Labor {
        /// Whether hops share the numbers too.
        layer_dependency: bool,
    },
}

/// Which of the edges that are old enough are picked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// All of them alike.
    #[default]
    Uniform,
    /// The latest.
    Last,
}

/// Which edges a sample holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subgraph {
    /// Those that were followed.
    #[default]
    Directional,
    /// Those that were followed and their reverses, each pair of nodes once.
    Bidirectional,
    /// All stored edges among the nodes found.
    Induced,
}

/// What to sample. `seed`, `epoch` and `batch` address the random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FanoutOptions {
    /// Neighbours picked per node in each hop; -1 takes all of them.
    pub fanouts: Vec<i64>,
    /// Whether one edge may be picked several times; then a node with neighbours always gets its full number.
    pub replace: bool,
    /// Whether edges are picked in proportion to their stored weights.
    pub weighted: bool,
    /// Whether every seed grows a tree of its own.
    pub disjoint: bool,
    /// How edges are picked.
    pub method: Method,
    /// Which edges are picked when seeds have times.
    pub strategy: Strategy,
    /// How much older than its seed an edge may be, when seeds have times.
    pub window: Option<u64>,
    /// Which edges the result holds.
    pub subgraph: Subgraph,
    /// The seed of all randomness.
    pub seed: u64,
    /// Which pass over the data this is.
    pub epoch: u64,
    /// Which batch of the epoch this is.
    pub batch: u64,
    /// How many threads may share the work of one large hop; results do not depend on it.
    pub threads: usize,
}

impl Default for FanoutOptions {
    fn default() -> Self {
        Self::new([])
    }
}

impl FanoutOptions {
    /// Picks so many distinct edges per node in each hop, on one thread; everything else is off or 0.
    pub fn new(fanouts: impl Into<Vec<i64>>) -> Self {
        FanoutOptions {
            fanouts: fanouts.into(),
            replace: false,
            weighted: false,
            disjoint: false,
            method: Method::Uniform,
            strategy: Strategy::Uniform,
            window: None,
            subgraph: Subgraph::Directional,
            seed: 0,
            epoch: 0,
            batch: 0,
            threads: 1,
        }
    }

    /// Lets an edge be picked several times.
    pub fn replace(self, replace: bool) -> Self {
        FanoutOptions { replace, ..self }
    }

    /// Picks edges in proportion to their weights.
    pub fn weighted(self, weighted: bool) -> Self {
        FanoutOptions { weighted, ..self }
    }

    /// Gives every seed a tree of its own.
    pub fn disjoint(self, disjoint: bool) -> Self {
        FanoutOptions { disjoint, ..self }
    }

    /// Sets how edges are picked.
    pub fn method(self, method: Method) -> Self {
        FanoutOptions { method, ..self }
    }

    /// Sets which of the edges that are old enough are picked.
    pub fn strategy(self, strategy: Strategy) -> Self {
        FanoutOptions { strategy, ..self }
    }

    /// Limits how much older than its seed an edge may be.
    pub fn window(self, window: Option<u64>) -> Self {
        FanoutOptions { window, ..self }
    }

    /// Sets which edges the result holds.
    pub fn subgraph(self, subgraph: Subgraph) -> Self {
        FanoutOptions { subgraph, ..self }
    }

    /// Sets the seed of all randomness.
    pub fn seed(self, seed: u64) -> Self {
        FanoutOptions { seed, ..self }
    }

    /// Sets the epoch.
    pub fn epoch(self, epoch: u64) -> Self {
        FanoutOptions { epoch, ..self }
    }

    /// Sets the batch.
    pub fn batch(self, batch: u64) -> Self {
        FanoutOptions { batch, ..self }
    }

    /// Lets so many threads, at most 256, share the work of one large hop.
    pub fn threads(self, threads: usize) -> Self {
        FanoutOptions { threads: threads.clamp(1, MOST_THREADS), ..self }
    }

    /// Fails if two wishes contradict each other.
    pub fn check(&self) -> Result<()> {
        check_fanouts(&self.fanouts)?;
        let labor = matches!(self.method, Method::Labor { .. });
        let last = self.strategy == Strategy::Last;
        let contradictions = [
            (labor && self.replace, "LABOR with replacement", "leave out one of them"),
            (labor && self.weighted, "LABOR by weight", "leave out one of them"),
            (labor && last, "LABOR of the last edges", "choose the uniform strategy"),
            (last && self.replace, "the last edges with replacement", "leave out one of them"),
            (last && self.weighted, "the last edges by weight", "leave out one of them"),
        ];
        match contradictions.into_iter().find(|(found, ..)| *found) {
            Some((_, what, remedy)) => Err(Error::Contradiction { what, remedy }),
            None => Ok(()),
        }
    }
}

/// Where one sample starts, and what belongs to its start.
///
/// A plain slice of ids will do; the rest is for temporal sampling and for links.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seeds<'a> {
    pub(super) ids: &'a [i64],
    pub(super) times: Option<&'a [i64]>,
    pub(super) node_times: Option<&'a [i64]>,
    pub(super) excluded: Option<&'a ExcludedEdges>,
}

impl<'a> Seeds<'a> {
    /// Nodes to start from; one given twice is kept twice.
    pub fn new(ids: &'a [i64]) -> Self {
        Seeds { ids, ..Self::default() }
    }

    /// The time of each seed: no edge later than it enters its tree. Implies disjoint trees.
    pub fn times(self, times: &'a [i64]) -> Self {
        Seeds { times: Some(times), ..self }
    }

    /// The time of every node of the graph; an edge is then as old as the node it leads to, whatever is stored.
    pub fn node_times(self, node_times: &'a [i64]) -> Self {
        Seeds { node_times: Some(node_times), ..self }
    }

    /// Edges that must not be sampled.
    pub fn excluded(self, excluded: &'a ExcludedEdges) -> Self {
        Seeds { excluded: Some(excluded), ..self }
    }

    /// Fails unless `topology` can be sampled from these seeds in that way.
    pub(super) fn check<T: Topology + ?Sized>(
        &self,
        topology: &T,
        options: &FanoutOptions,
        follow: Direction,
    ) -> Result<()> {
        options.check()?;
        check_seeds(self.ids, topology.num_nodes())?;
        if follow == Direction::Both {
            return Err(Error::Direction { found: follow });
        }
        if options.weighted && topology.weights(0..0).is_none() {
            return Err(Error::NotStored {
                what: "weights",
                remedy: "build the graph with --weight-column, or sample without weights",
            });
        }
        let Some(times) = self.times else {
            let timely = self.node_times.is_some()
                || options.window.is_some()
                || options.strategy == Strategy::Last;
            return if timely { Err(Error::NoSeedTimes) } else { Ok(()) };
        };
        let count = |what, found: usize, expected: u64| match found as u64 == expected {
            true => Ok(()),
            false => Err(Error::Times { what, found: found as u64, expected }),
        };
        count("seed times", times.len(), self.ids.len() as u64)?;
        match self.node_times {
            Some(node_times) => count("node times", node_times.len(), topology.num_nodes()),
            None if topology.edge_times(0..0).is_some() => Ok(()),
            None => Err(Error::NotStored {
                what: "edge times",
                remedy: "build the graph with --time-column, or give the time of every node",
            }),
        }
    }
}

impl<'a> From<&'a [i64]> for Seeds<'a> {
    fn from(ids: &'a [i64]) -> Self {
        Seeds::new(ids)
    }
}

impl<'a, const N: usize> From<&'a [i64; N]> for Seeds<'a> {
    fn from(ids: &'a [i64; N]) -> Self {
        Seeds::new(ids)
    }
}

impl<'a> From<&'a Vec<i64>> for Seeds<'a> {
    fn from(ids: &'a Vec<i64>) -> Self {
        Seeds::new(ids)
    }
}

/// Fails unless every fan-out is at least -1.
pub fn check_fanouts(fanouts: &[i64]) -> Result<()> {
    match fanouts.iter().position(|&fanout| fanout < -1) {
        Some(hop) => Err(Error::Fanout { hop, found: fanouts[hop] }),
        None => Ok(()),
    }
}

/// Fails unless every seed is a node.
pub fn check_seeds(seeds: &[i64], num_nodes: u64) -> Result<()> {
    // A negative seed is a huge one when its bits are read without a sign.
    match seeds.iter().position(|&seed| seed as u64 >= num_nodes) {
        Some(position) => Err(Error::Seed { position, found: seeds[position], num_nodes }),
        None => Ok(()),
    }
}
