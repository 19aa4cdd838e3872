//! Files become stores: opened in microseconds, checked, mapped.
//!
//! This room stands between the bytes on disk and everything that reads a graph: [`Graph`] gives degrees and neighbour
//! lists, [`Table`] gives rows, [`NodeIds`] leads from the ids of the source to the numbers of nodes, [`Dataset`] holds
//! them together with labels and splits, [`verify`] reads every byte and names every fault. It reads our files and GraphZero's alike, and it knows nothing of how files are made.
//!
//! Nothing that comes from a file is used as an index before it has been checked: a lying file costs an error, never a
//! crash.
#![forbid(unsafe_code)]

#[cfg(target_endian = "big")]
compile_error!("graphmill maps little-endian files and runs on little-endian machines only");

mod announce;
mod dataset;
mod error;
mod graph;
pub mod inspect;
mod many_lists;
mod mapped_file;
mod names;
mod node_ids;
mod placement;
mod stored_lists;
mod stored_offsets;
mod table;
mod topology_copy;
pub mod verify;

pub use announce::Announce;
pub use dataset::Dataset;
pub use error::{Error, Result};
pub use graph::{Graph, Lists};
pub use mapped_file::Origin;
pub use node_ids::{IdKind, NodeIds};
pub use placement::Placement;
pub use stored_lists::{Neighbours, prefetch_value};
pub use stored_offsets::StoredOffsets;
pub use table::Table;
