//! What a thread puts the rows of a window to their places in.
//! It holds one window as it will lie in the file, and where each of its rows stood in the source. It
//! must not know where the stream of the window is kept, nor who writes the window.

use graphmill_disk::PageBuffer;

use super::plan::PlannedRows;
use super::records::{NOTHING, Placer};
use crate::Result;

const PAGE: usize = 4096;

/// Memory for one window.
pub(super) struct Workspace {
    bytes: PageBuffer,
    sources: Vec<u64>,
}

/// Which rows a window has, and where its bytes lie.
#[derive(Clone, Copy)]
pub(super) struct WindowPlace {
    pub(super) first: u64,
    pub(super) rows: u64,
    /// Copies are fast where bytes lie in memory as they lie in the pages of the file.
    pub(super) in_page: usize,
}

/// A window whose rows are in their places.
pub(super) struct PlacedWindow<'w> {
    pub(super) bytes: &'w mut [u8],
    /// For every slot, which is a part of a row, the source row that lies in it.
    pub(super) sources: &'w mut [u64],
    pub(super) duplicates: u64,
}

impl Workspace {
    /// For windows of at most so many rows.
    pub(super) fn new(rows: &PlannedRows, most: u64) -> Self {
        let most = most as usize;
        Workspace {
            bytes: PageBuffer::new(most * rows.stride + PAGE),
            sources: vec![NOTHING; most * rows.parts.len()],
        }
    }

    /// Puts the records that `read` hands out to their places.
    pub(super) fn place(
        &mut self,
        rows: &PlannedRows,
        window: WindowPlace,
        read: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<PlacedWindow<'_>> {
        let here = window.rows as usize;
        let bytes = &mut self.bytes[window.in_page..window.in_page + here * rows.stride];
        let sources = &mut self.sources[..here * rows.parts.len()];
        let mut placer = Placer::new(rows, window.first, bytes, sources);
        read(&mut |piece| placer.take(piece))?;
        let duplicates = placer.duplicates;
        Ok(PlacedWindow { bytes, sources, duplicates })
    }
}

impl PlacedWindow<'_> {
    /// Leaves the workspace as the next window wants it, which may lie elsewhere in its pages: padding has to be zero.
    pub(super) fn clear(self, rows: &PlannedRows) {
        if rows.stride > rows.length {
            self.bytes.fill(0);
        }
    }
}
