//! From node lists to batches.
//!
//! A [`NeighborLoader`] joins the rooms above: [`Seeds`] say where to start, [`EpochOrder`] says which seeds make up a
//! batch, the sampler finds their neighbourhood, [`Rows`] fetches the rows of every node and edge found, and a [`Batch`]
//! holds the result. [`EpochBatches`] has threads do so ahead, for several batches at a time, so that their rows are read
//! together. What a
//! batch holds depends on the seed, the epoch, its index and the options alone, never on when or by whom it is made, nor
//! on what was read together. All memory is taken from the dataset's budget first. Python is unknown here.
#![forbid(unsafe_code)]

mod batch;
mod buffers;
mod cached_blocks;
mod columns;
mod digest;
mod epoch;
mod epoch_batches;
mod error;
mod estimate;
mod fetch;
mod gather;
mod heat;
mod hot_ids;
mod hot_rows;
mod loader;
mod loader_options;
mod loader_stats;
mod narrow_edges;
mod nodes_by_time;
mod pace;
mod promotion;
mod read_plan;
mod read_stats;
mod reading;
mod resident_copy;
mod rest;
mod row_copy;
mod row_order;
mod rows;
mod sampled_batch;
mod seed_times;
mod seeds;
mod stages;
mod start;
mod trial_epoch;
mod window;
mod window_forming;
mod window_plan;
mod window_rows;
mod window_size;
mod with_unlocked;

pub use batch::{Batch, BatchMemory, Column};
pub use buffers::RowBuffer;
pub use epoch::{EpochKey, EpochOrder};
pub use epoch_batches::{Awaited, EpochBatches};
pub use error::{Error, Result};
pub use estimate::{Estimate, Limit};
pub use loader::NeighborLoader;
pub use loader_options::LoaderOptions;
pub use loader_stats::{Bound, LoaderStats};
pub use read_stats::{ReadStats, StatsSum};
pub use reading::Reading;
pub use rows::Rows;
pub use seed_times::SeedTimes;
pub use seeds::Seeds;
pub use start::{LinkSeeds, Negatives};
