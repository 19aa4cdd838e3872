//! What can go wrong between node lists and batches.

use std::path::PathBuf;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of loading.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A store could not be read, or has no such table.
    #[error(transparent)]
    Store(#[from] graphmill_store::Error),
    /// The operating system, or the memory budget, said no.
    #[error(transparent)]
    Disk(#[from] graphmill_disk::Error),
    /// Sampling failed. Boxed, because everything else is smaller.
    #[error(transparent)]
    Sample(Box<graphmill_sample::Error>),
    /// A row that the table does not have.
    #[error("id {id} at position {position} is not a row of `{}`: expected {}", path.display(), below(*rows))]
    RowOutOfRange {
        /// The table.
        path: PathBuf,
        /// Where among the ids.
        position: usize,
        /// The id as given.
        id: i64,
        /// Number of rows.
        rows: u64,
    },
    /// The memory for the rows is not as long as the rows.
    #[error("the memory for {ids} rows of `{}` has {found} bytes, expected {expected}", path.display())]
    OutputLength {
        /// The table.
        path: PathBuf,
        /// How many rows were asked for.
        ids: usize,
        /// Bytes given.
        found: u64,
        /// Bytes of the rows; `u64::MAX` if that is not even a number of bytes.
        expected: u64,
    },
    /// A name that is no way to read.
    #[error("`{name}` is not a way to read rows: use auto, mapped, pread or ring")]
    UnknownReading {
        /// The name as given.
        name: String,
    },
    /// A batch of no seeds.
    #[error("a batch size of 0 was asked for, expected at least 1")]
    BatchSize,
    /// A batch that the epoch does not have.
    #[error("batch {index} was asked for, but an epoch has {count}")]
    BatchOutOfRange {
        /// The batch as given.
        index: u64,
        /// Number of batches.
        count: u64,
    },
    /// A table that cannot be one of times.
    #[error("table {name:?} is {found}, expected a vector of int64 to take times from")]
    TimeTable {
        /// The table.
        name: String,
        /// What it holds.
        found: String,
    },
    /// A table tells the times of nodes, not those of pairs.
    #[error("table {name:?} has no times of links: give one time for each link")]
    LinkTimes {
        /// The table.
        name: String,
    },
    /// A number of negative pairs that is none.
    #[error(
        "{found} negative pairs for each link were asked for, expected a finite number above 0"
    )]
    NegativeRatio {
        /// The number as given.
        found: f64,
    },
    /// A link before all nodes, for which no negative can be drawn.
    #[error(
        "no negative can be drawn for a link of time {link}: {}; leave such links out, or correct their times",
        earliest_node(*earliest)
    )]
    NoNodeSoEarly {
        /// The time of the link.
        link: i64,
        /// The earliest time that a node has.
        earliest: Option<i64>,
    },
    /// A process that is not among those that share an epoch.
    #[error(
        "rank {rank} of {world_size} processes was given, expected a rank from 0 and below their number"
    )]
    Rank {
        /// The rank as given.
        rank: u64,
        /// How many processes there are.
        world_size: u64,
    },
    /// Nobody wants what was being read any more; whoever stopped it does not look at this.
    #[error("reading was stopped")]
    Stopped,
    /// The threads of an epoch belong to another process.
    #[error(
        "the epoch was begun before a fork, and its threads stayed with the parent; begin an epoch in the child"
    )]
    Forked,
    /// A thread of ours came to an end that it should not.
    #[error(
        "the thread for {what} panicked: {message}; this is a bug of graphmill, and a new epoch can be begun"
    )]
    Panicked {
        /// What the thread was for.
        what: &'static str,
        /// What it said.
        message: String,
    },
    /// Edge tables are found by edge id.
    #[error("edge table {name:?} was asked for, but `{}` stores no edge ids; build it with edge ids", path.display())]
    NoEdgeIds {
        /// The graph.
        path: PathBuf,
        /// The edge table.
        name: String,
    },
}

impl From<graphmill_sample::Error> for Error {
    fn from(error: graphmill_sample::Error) -> Self {
        Error::Sample(Box::new(error))
    }
}

fn earliest_node(time: Option<i64>) -> String {
    match time {
        Some(time) => format!("the earliest node has time {time}"),
        None => "there are no nodes".to_owned(),
    }
}

fn below(rows: u64) -> String {
    match rows {
        0 => "none, the table is empty".to_owned(),
        _ => format!("0 to {}", rows - 1),
    }
}
