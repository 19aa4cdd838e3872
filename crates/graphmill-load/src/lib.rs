//! From node lists to batches.
//!
//! A [`NeighborLoader`] joins the rooms above: [`Seeds`] say where to start, [`EpochOrder`] says which seeds make up a batch, the sampler finds their
//! neighbourhood, [`Rows`] fetches the rows of every node and edge found, and a [`Batch`] holds the result. What a batch
//! holds depends on the seed, the epoch, its index and the options alone, never on when or by whom it is made. All
//! memory is taken from the dataset's budget first. Python is unknown here.
#![forbid(unsafe_code)]

mod batch;
mod columns;
mod epoch;
mod error;
mod gather;
mod loader;
mod loader_options;
mod rows;
mod seeds;

pub use batch::{Batch, BatchMemory, Column};
pub use epoch::{BatchSeeds, EpochOrder};
pub use error::{Error, Result};
pub use gather::{GatherStats, gather, gather_memory};
pub use loader::NeighborLoader;
pub use loader_options::LoaderOptions;
pub use rows::Rows;
pub use seeds::Seeds;
