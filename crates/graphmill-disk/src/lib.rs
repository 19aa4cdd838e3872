//! The operating system, as graphmill uses it.
//!
//! Reading goes through one trait with several backends ([`mod@read`]), writing through one trait
//! that tests can make fail at any operation ([`mod@write`]); finished files become visible by one
//! rename ([`FileDraft`], [`FolderDraft`]), so a reader sees the old content or the new, complete.
//! [`Budget`] accounts for the memory we allocate, [`mod@pool`] owns the threads and survives a fork.
//! Every OS-level `unsafe` of the project lives here, and nothing in here knows what a graph is.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use graphmill_disk::{Backend, FileDraft, RealFileSystem};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let target = folder.path().join("numbers.bin");
//!
//! let draft = FileDraft::begin(Arc::new(RealFileSystem), &target, false)?;
//! draft.file().write_all_at(0, b"0123456789")?;
//! assert!(!target.exists()); // nothing is visible before it is complete
//! draft.publish()?;
//!
//! let file = graphmill_disk::open(&target, Backend::Mapped)?;
//! let mut middle = [0; 4];
//! file.read_exact_at(3, &mut middle)?;
//! assert_eq!(&middle, b"3456");
//! # Ok(())
//! # }
//! ```

pub mod advice;
mod announce;
pub mod budget;
pub mod device_activity;
pub mod error;
#[cfg(feature = "faults")]
pub mod faults;
pub mod free_space;
pub mod heap;
#[cfg(target_os = "linux")]
pub mod large_blocks;
mod last_cache;
pub mod memory;
pub mod memory_copy;
pub mod page_buffer;
mod past_caches;
mod per_process;
pub mod pool;
pub mod prefetch;
pub mod presence;
pub mod private;
pub mod profile;
pub mod read;
pub mod residency;
pub mod room;
pub mod scatter;
pub mod size;
pub mod write;

pub use advice::{Advice, drop_page_cache, prefer_huge_pages};
pub use budget::{Budget, Keeper, Reservation};
pub use device_activity::DeviceActivity;
pub use error::{Error, Result};
pub use free_space::free_space;
pub use heap::release_heap;
#[cfg(target_os = "linux")]
pub use large_blocks::LargeBlocks;
pub use last_cache::last_cache_bytes;
pub use memory::{
    anonymous_memory, default_budget, file_memory, group_limit, installed_memory, machine_memory,
    peak_memory,
};
pub use memory_copy::MemoryCopy;
pub use page_buffer::PageBuffer;
pub use past_caches::PastCaches;
pub use pool::{pool, reading_pool, with_threads};
pub use prefetch::prefetch;
pub use presence::Presence;
pub use private::PrivateMap;
pub use profile::{DeviceProfile, RandomRate};
pub use read::{Backend, Mapped, Pread, ReadAt, Ring, RingDenied, open, open_same, ring_available};
pub use residency::{Residency, cached_pages, is_resident, residency};
pub use scatter::ScatterBuffer;
pub use size::{format_size, parse_size};
pub use write::{FileDraft, FileSystem, FolderDraft, OutputFile, RealFileSystem};
