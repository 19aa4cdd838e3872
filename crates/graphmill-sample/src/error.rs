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
    /// More memory than the system gives.
    #[error(
        "{bytes} bytes for the work of sampling are more than the system gives: use fewer seeds or smaller fan-outs"
    )]
    NoMemory {
        /// How much was asked for.
        bytes: u64,
    },
    /// More nodes than one sample can number.
    #[error(
        "a sample of {found} nodes is too large, expected fewer than 2^32 - 1: use fewer seeds or smaller fan-outs"
    )]
    TooManyNodes {
        /// How many there would be, at most.
        found: u64,
    },
    /// Two options that exclude each other.
    #[error("{what} cannot be sampled: {remedy}")]
    Contradiction {
        /// What they would mean together.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Something that the file does not have.
    #[error("the graph has no {what}: {remedy}")]
    NotStored {
        /// What is missing.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A weight that is none.
    #[error(
        "weight {found} of the edge at position {position} cannot be sampled by: expected a finite number of at least 0"
    )]
    Weight {
        /// Where among the stored edges.
        position: usize,
        /// The weight, or the sum up to there, as stored.
        found: f64,
    },
    /// A walk that starts at no node.
    #[error("start {found} at position {position} is not a node: expected {}", nodes(*num_nodes))]
    Start {
        /// Where among the starts.
        position: usize,
        /// The id as given.
        found: i64,
        /// Number of nodes.
        num_nodes: u64,
    },
    /// A number that steers a walk and cannot.
    #[error("{what} is {found}, expected {expected}")]
    Bias {
        /// Which one.
        what: &'static str,
        /// The number as given.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// An array that has not the size of what shall be written to it.
    #[error("the array for {what} has room for {found} ids, expected {expected}")]
    Room {
        /// What it is for.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have; `usize::MAX` if no array is so long.
        expected: usize,
    },
    /// All pairs tried are edges.
    #[error(
        "{tries} pairs drawn for row {row} are all edges or loops: the nodes drawn from are all linked to each other, or nearly so; draw with strict=False"
    )]
    NoNegatives {
        /// Which pair, or source.
        row: usize,
        /// How many pairs were tried for it.
        tries: u32,
    },
    /// Times that do not match what they belong to.
    #[error("{found} {what} were given, expected {expected}")]
    Times {
        /// Whose times.
        what: &'static str,
        /// How many were given.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// A wish about times without any.
    #[error(
        "node times, a window and the last edges mean nothing without the times of the seeds: give them too"
    )]
    NoSeedTimes,
    /// Links with ends that do not pair up.
    #[error(
        "{sources} sources and {destinations} destinations were given, expected as many of one as of the other"
    )]
    Links {
        /// Number of sources.
        sources: usize,
        /// Number of destinations.
        destinations: usize,
    },
}

fn nodes(num_nodes: u64) -> String {
    match num_nodes {
        0 => "no seed at all in a graph of 0 nodes".to_owned(),
        _ => format!("an id from 0 to {}", num_nodes - 1),
    }
}
