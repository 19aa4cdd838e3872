//! Flags that every verb that writes files has.
//! Each becomes the type that the crates below want as soon as it is parsed. It must not know what is written.

use clap::{Args, ValueEnum};
use graphmill::disk::{self, Budget};
use graphmill::ingest::{self, Directions};

/// Where memory and progress are limited.
#[derive(Debug, Args)]
pub struct WorkFlags {
    /// Memory to work in, such as 512MiB [default: a quarter of the machine's or cgroup's]
    #[arg(long, value_name = "SIZE", value_parser = disk::parse_size)]
    memory: Option<u64>,
    /// Threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Replace what is there already
    #[arg(long)]
    pub overwrite: bool,
    /// Say nothing unless something fails
    #[arg(long, short)]
    pub quiet: bool,
}

impl WorkFlags {
    /// The budget that was asked for.
    pub fn budget(&self) -> Budget {
        Budget::new(self.memory.unwrap_or_else(disk::default_budget))
    }

    /// Does the work on as many threads as were asked for.
    pub fn install<T: Send>(
        &self,
        work: impl FnOnce() -> ingest::Result<T> + Send,
    ) -> anyhow::Result<T> {
        match self.threads {
            None => Ok(work()?),
            Some(_) => Ok(disk::with_threads(self.threads.map(Into::into))?.install(work)?),
        }
    }
}

/// Which neighbour lists are stored.
#[derive(Debug, Args)]
pub struct DirectionFlags {
    /// Neighbour lists to store: in serves message passing, out serves walks
    #[arg(long, value_enum, conflicts_with = "undirected")]
    direction: Option<DirectionName>,
    /// Store every edge both ways, in one set of lists
    #[arg(long)]
    undirected: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DirectionName {
    In,
    Out,
    Both,
}

impl DirectionFlags {
    /// What was asked for, if anything was.
    pub fn directions(&self) -> Option<Directions> {
        match self.direction {
            _ if self.undirected => Some(Directions::Undirected),
            Some(DirectionName::In) => Some(Directions::In),
            Some(DirectionName::Out) => Some(Directions::Out),
            Some(DirectionName::Both) => Some(Directions::OutAndIn),
            None => None,
        }
    }
}
