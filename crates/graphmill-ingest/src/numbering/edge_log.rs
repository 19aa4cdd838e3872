//! Edges as they were written down, to be read as often as it takes.
//! The writer of the log makes it; the order by heat counts in it, and the sorter gets its edges out
//! of it once nodes have numbers. It must not know what the ids mean.

use std::sync::{Mutex, PoisonError};

use graphmill_disk::Reservation;

use super::extent::{Extent, ExtentShape, Layout, LogColumns};
use super::lanes::{Lane, Lanes};
use super::workspace::LazyScratch;
use crate::Result;
use crate::edge_sort::EdgeChunk;
use crate::edge_sort::workers::share_out;
use crate::progress::Stage;

/// An extent and where it is.
#[derive(Debug)]
pub(super) enum StoredExtent {
    Memory(Extent),
    File { offset: u64, shape: ExtentShape },
}

/// All edges of a source, with their rows, in no particular order.
#[derive(Debug)]
pub(crate) struct EdgeLog {
    pub(super) columns: LogColumns,
    pub(super) extents: Vec<StoredExtent>,
    pub(super) scratch: LazyScratch,
    /// Bytes of an extent.
    pub(super) extent_bytes: usize,
    /// Extents that are read into again and again, one for each thread.
    pub(super) readers: Lanes<Extent>,
    pub(super) rows: u64,
    pub(super) id_limit: u64,
    pub(super) spilled: u64,
    /// Whether ids have been replaced by ranks.
    pub(super) holds_ranks: bool,
    pub(super) memory: u64,
    pub(super) _reserved: (Reservation, Reservation),
}

impl EdgeLog {
    /// Number of edges.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The largest id and 1; 0 without edges.
    pub(crate) fn id_limit(&self) -> u64 {
        self.id_limit
    }

    /// Bytes that lie in the scratch file.
    pub(crate) fn bytes(&self) -> u64 {
        self.spilled
    }

    /// Hands all edges to `consume`, from several threads at once.
    pub(crate) fn replay(
        &self,
        stage: &Mutex<Stage<'_>>,
        consume: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
    ) -> Result<()> {
        self.replay_with(stage, || (), |(), chunk| consume(chunk))
    }

    /// Threads that replay at once.
    pub(super) fn workers(&self) -> usize {
        self.readers.most()
    }

    /// Replays with something that every thread has of its own, made by `start`.
    pub(super) fn replay_with<S>(
        &self,
        stage: &Mutex<Stage<'_>>,
        start: impl Fn() -> S + Sync,
        consume: impl Fn(&mut S, EdgeChunk<'_>) -> Result<()> + Sync,
    ) -> Result<()> {
        let prepare = || (None::<Lane<'_, Extent>>, start());
        share_out(self.workers(), self.extents.len(), prepare, |(reader, own), index| {
            let extent = match &self.extents[index] {
                StoredExtent::Memory(extent) => extent,
                StoredExtent::File { offset, shape } => {
                    let reader = reader.get_or_insert_with(|| self.readers.take(|| self.reader()));
                    reader.load(self.scratch.file()?, *offset, *shape)?;
                    reader
                }
            };
            extent.chunks().try_for_each(|chunk| consume(own, chunk))?;
            let edges = extent.shape().edges as u64;
            stage.lock().unwrap_or_else(PoisonError::into_inner).advance(edges)
        })
    }

    fn reader(&self) -> Extent {
        Extent::new(self.extent_bytes, Layout::new(self.extent_bytes, false, self.columns))
    }
}
