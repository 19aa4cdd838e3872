//! Edges on their way into the log.
//! Readers push chunks from several threads while nodes have no numbers yet; every thread fills an
//! extent of its own, and full ones stay in memory until that is used up, then go to a scratch file.
//! It must not know what the ids mean: scattered ids and hashes of names pass alike.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use graphmill_disk::Reservation;

use super::edge_log::{EdgeLog, StoredExtent};
use super::extent::{Extent, LEAST_EXTENT, Layout, LogColumns};
use super::lanes::Lanes;
use super::scratch_array::PAGE;
use super::workspace::{LazyScratch, Workspace};
use crate::edge_sort::{ChunkIds, EdgeChunk};
use crate::{Error, Result};

/// The largest: it, what is read and what it becomes stay in the caches.
const LARGEST_EXTENT: usize = 1 << 20;
/// Extents that a directory has room for at first.
const FIRST_EXTENTS: usize = 16;

/// Takes edges and keeps them until nodes have numbers.
#[derive(Debug)]
pub(crate) struct EdgeLogWriter {
    columns: LogColumns,
    extent_bytes: usize,
    lanes: Lanes<Extent>,
    directory: Mutex<Directory>,
    scratch: LazyScratch,
    rows: AtomicU64,
    id_limit: AtomicU64,
    memory: u64,
    reserved: Reservation,
}

#[derive(Debug)]
struct Directory {
    extents: Vec<StoredExtent>,
    /// How many more may stay in memory.
    may_stay: usize,
    /// The end of the scratch file.
    end: u64,
    spilled: u64,
    reserved: Reservation,
}

impl EdgeLogWriter {
    /// The least memory that a log can do with.
    pub(crate) const LEAST_MEMORY: u64 = (LEAST_EXTENT + PAGE) as u64;

    /// Takes `memory` from the budget, or the least it can do with.
    pub(crate) fn new(workspace: &Workspace, columns: LogColumns, memory: u64) -> Result<Self> {
        let threads = graphmill_disk::pool()?.current_num_threads();
        let memory = memory.max(Self::LEAST_MEMORY);
        let reserved = workspace.budget().reserve(memory, "the log of edges")?;
        let directory = workspace.budget().reserve(0, "the directory of the log of edges")?;
        let bytes = usize::try_from(memory).unwrap_or(usize::MAX) / (4 * threads);
        let extent_bytes = bytes.clamp(LEAST_EXTENT, LARGEST_EXTENT) / PAGE * PAGE;
        let extents = usize::try_from(memory / (extent_bytes + PAGE) as u64).unwrap_or(usize::MAX);
        let lanes = extents.clamp(1, threads);
        Ok(EdgeLogWriter {
            columns,
            extent_bytes,
            lanes: Lanes::new(lanes),
            directory: Mutex::new(Directory {
                extents: Vec::new(),
                may_stay: extents - lanes,
                end: 0,
                spilled: 0,
                reserved: directory,
            }),
            scratch: LazyScratch::new(workspace, "edges"),
            rows: AtomicU64::new(0),
            id_limit: AtomicU64::new(0),
            memory,
            reserved,
        })
    }

    /// Takes a chunk of edges; threads may push at once and rows may come in any order.
    pub(crate) fn push(&self, chunk: &EdgeChunk<'_>) -> Result<()> {
        let edges = self.check(chunk)?;
        let Some(largest) = largest_id(chunk) else { return Ok(()) };
        self.rows.fetch_add(edges as u64, Ordering::Relaxed);
        self.id_limit.fetch_max(largest.saturating_add(1), Ordering::Relaxed);
        let wide = largest > u64::from(u32::MAX);
        let layout = Layout::new(self.extent_bytes, wide, self.columns);
        let mut lane = self.lanes.take(|| Extent::new(self.extent_bytes, layout));
        let mut done = 0;
        while done < edges {
            if lane.shape().edges == 0 {
                lane.restart(layout);
            }
            // A wide extent takes narrow ids too: sources that mix them would only make small ones.
            let room = if wide && !lane.is_wide() { 0 } else { lane.room() };
            if room == 0 {
                self.store(&mut lane)?;
                lane.restart(layout);
                continue;
            }
            let now = done..edges.min(done + room);
            done = now.end;
            lane.add(chunk, now);
        }
        Ok(())
    }

    /// Ends the log.
    pub(crate) fn finish(self) -> Result<EdgeLog> {
        self.finish_with(false)
    }

    /// Ends a log whose ids are ranks.
    pub(super) fn finish_ranks(self) -> Result<EdgeLog> {
        self.finish_with(true)
    }

    fn finish_with(mut self, holds_ranks: bool) -> Result<EdgeLog> {
        let most = self.lanes.most();
        let lanes = std::mem::replace(&mut self.lanes, Lanes::new(1)).into_idle();
        let (open, mut idle): (Vec<_>, Vec<_>) =
            lanes.into_iter().partition(|extent| extent.shape().edges > 0);
        let is_spilled = self.lock().spilled > 0;
        if !is_spilled {
            // Nothing will be read from a file, so nothing is needed to read into.
            idle.clear();
            self.lock().may_stay += open.len();
        }
        for mut extent in open {
            self.store(&mut extent)?;
            if is_spilled {
                idle.push(extent);
            }
        }
        let directory = self.directory.into_inner().unwrap_or_else(PoisonError::into_inner);
        let in_memory = |extent: &&StoredExtent| matches!(extent, StoredExtent::Memory(_));
        let kept = directory.extents.iter().filter(in_memory).count();
        let readers = if is_spilled { most } else { 0 };
        let mut reserved = self.reserved;
        reserved.resize(((kept + readers) * (self.extent_bytes + PAGE)) as u64)?;
        Ok(EdgeLog {
            columns: self.columns,
            extents: directory.extents,
            scratch: self.scratch,
            extent_bytes: self.extent_bytes,
            readers: Lanes::with_idle(most, idle),
            rows: self.rows.into_inner(),
            id_limit: self.id_limit.into_inner(),
            spilled: directory.spilled,
            holds_ranks,
            memory: self.memory,
            _reserved: (reserved, directory.reserved),
        })
    }

    /// Puts away the edges of an extent, which may then be used again.
    fn store(&self, extent: &mut Extent) -> Result<()> {
        let shape = extent.shape();
        let mut directory = self.lock();
        directory.make_room()?;
        if directory.may_stay > 0 {
            directory.may_stay -= 1;
            let layout = Layout::new(self.extent_bytes, false, self.columns);
            let full = std::mem::replace(extent, Extent::new(self.extent_bytes, layout));
            directory.extents.push(StoredExtent::Memory(full));
            return Ok(());
        }
        let offset = directory.end;
        directory.end += self.extent_bytes as u64;
        drop(directory);
        let written = extent.write(self.scratch.file()?, offset)?;
        let mut directory = self.lock();
        directory.make_room()?;
        directory.extents.push(StoredExtent::File { offset, shape });
        directory.spilled += written;
        extent.restart(Layout::new(self.extent_bytes, false, self.columns));
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of edges of a chunk whose columns belong together.
    fn check(&self, chunk: &EdgeChunk<'_>) -> Result<usize> {
        let (sources, destinations) = match chunk.ids {
            ChunkIds::Narrow(sources, destinations) => (sources.len(), destinations.len()),
            ChunkIds::Wide(sources, destinations) => (sources.len(), destinations.len()),
        };
        let weights = chunk.weights.map_or(0, <[f32]>::len);
        let times = chunk.times.map_or(0, <[i64]>::len);
        let place = || format!("chunk of edges from row {}", chunk.first_row);
        for (what, count, wanted) in [
            ("destinations", destinations, true),
            ("weights", weights, self.columns.weights),
            ("times", times, self.columns.times),
            ("rows", chunk.rows.map_or(0, <[u64]>::len), self.columns.rows),
        ] {
            if wanted && count != sources {
                let (found, expected) =
                    (format!("{count} {what}"), format!("{sources}, one for each edge"));
                return Err(Error::source(
                    place(),
                    found,
                    expected,
                    "give one value for every edge",
                ));
            }
        }
        if chunk.first_row.checked_add(sources as u64).is_none() {
            let found = format!("{sources} edges");
            return Err(Error::source(place(), found, "rows below 2^64", "count rows from 0"));
        }
        Ok(sources)
    }
}

impl Directory {
    /// Takes memory for one more entry.
    fn make_room(&mut self) -> Result<()> {
        let Directory { extents, reserved, .. } = self;
        if extents.len() < extents.capacity() {
            return Ok(());
        }
        let bytes = |entries: usize| (entries * size_of::<StoredExtent>()) as u64;
        let (before, after) =
            (extents.capacity(), FIRST_EXTENTS.max(extents.capacity().saturating_mul(2)));
        // Both exist while entries are moved.
        reserved.grow(bytes(after))?;
        extents.reserve_exact(after - extents.len());
        reserved.shrink(bytes(before));
        Ok(())
    }
}

fn largest_id(chunk: &EdgeChunk<'_>) -> Option<u64> {
    match chunk.ids {
        ChunkIds::Narrow(sources, destinations) => {
            sources.iter().max().max(destinations.iter().max()).map(|&id| id.into())
        }
        ChunkIds::Wide(sources, destinations) => {
            sources.iter().max().max(destinations.iter().max()).copied()
        }
    }
}
