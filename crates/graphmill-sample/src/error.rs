//! What can go wrong between a store and a list of nodes.

use graphmill_format::Direction;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of sampling.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The topology could not be read or contradicts itself.
    #[error(transparent)]
    Store(#[from] graphmill_store::Error),
    /// The memory budget cannot cover what was sampled.
    #[error(transparent)]
    Memory(#[from] graphmill_disk::Error),
    /// A seed that is not a node.
    #[error("seed {found} at position {position} is not a node: expected {}", nodes(*num_nodes))]
    Seed {
        /// Where among the seeds.
        position: usize,
        /// The id as given.
        found: i64,
        /// Number of nodes.
        num_nodes: u64,
    },
    /// A fan-out that means nothing.
    #[error(
        "fan-out {found} of hop {hop} is not a number of neighbours: expected 0 or more, or -1 for all"
    )]
    Fanout {
        /// Which hop, from 0.
        hop: usize,
        /// The number as given.
        found: i64,
    },
    /// Sampling follows edges one way.
    #[error(
        "cannot follow {found}-edges: expected in or out, whether the graph is directed or not"
    )]
    Direction {
        /// The direction as given.
        found: Direction,
    },
    /// More edges than this machine can hold.
    #[error(
        "hop {hop} would sample {edges} edges, more than fits into memory: use fewer seeds or smaller fan-outs"
    )]
    TooLarge {
        /// Which hop, from 0.
        hop: usize,
        /// How many edges it would be; `u64::MAX` if even their number is too large.
        edges: u64,
    },
}

fn nodes(num_nodes: u64) -> String {
    match num_nodes {
        0 => "no seed at all in a graph of 0 nodes".to_owned(),
        _ => format!("an id from 0 to {}", num_nodes - 1),
    }
}
