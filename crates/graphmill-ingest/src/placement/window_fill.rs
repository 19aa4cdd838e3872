//! Windows of rows into the file.
//! Each thread takes a window, puts the rows of its stream to their places, fills what never came,
//! and writes the window to its place. It must not know how the streams came about.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use graphmill_disk::{OutputFile, PageBuffer};

use super::Recode;
use super::books::Books;
use super::plan::{PlacementReport, PlannedRows};
use super::records::{NOTHING, Placer};
use super::row_sink::RowSink;
use super::scratch::Scratch;
use super::sizing::Sizing;
use super::slabs::Slabs;
use super::stream::Stream;
use super::workers::{advance, each_piece};
use crate::Result;
use crate::progress::{Observer, Stage};
use crate::table_writer::Written;

const PAGE: usize = 4096;

/// Everything that all windows have in common.
pub(super) struct WindowFill<'f> {
    pub(super) rows: &'f PlannedRows,
    pub(super) sizing: Sizing,
    pub(super) slabs: Slabs,
    pub(super) scratch: Scratch,
    pub(super) recode: Option<Recode<'f>>,
    pub(super) observer: Option<Observer<'f>>,
}

/// What a thread fills windows in.
struct Workspace {
    bytes: PageBuffer,
    sources: Vec<u64>,
}

impl WindowFill<'_> {
    /// Writes a table of `count` rows.
    pub(super) fn run(
        &self,
        streams: Vec<Mutex<Stream>>,
        file: &dyn OutputFile,
        count: u64,
        books: &Books,
    ) -> Result<(Written, PlacementReport)> {
        let WindowFill { rows, sizing, .. } = self;
        let shape = rows.plan.shape(count, file.path())?;
        let sink = RowSink::new(file, rows.plan.layout, sizing.gathered);
        books.claim(sink.known_memory(shape.length()))?;
        let stage = Mutex::new(Stage::new(self.observer, "placing rows", count));
        let (filled, duplicates) = (AtomicU64::new(0), AtomicU64::new(0));
        let most = sizing.window_rows.min(count) as usize;
        let start = || Workspace {
            bytes: PageBuffer::new(most * rows.stride + PAGE),
            sources: vec![NOTHING; most * rows.parts.len()],
        };
        let windows = count.div_ceil(sizing.window_rows);
        each_piece(sizing.workers, windows, start, |workspace, window| {
            let first = window * sizing.window_rows;
            let here = sizing.window_rows.min(count - first);
            let from = first * rows.stride as u64;
            // Copies are fast where bytes lie in memory as they lie in the pages of the file.
            let lead = sink.place_in_page(from);
            let bytes = &mut workspace.bytes[lead..lead + here as usize * rows.stride];
            let sources = &mut workspace.sources[..here as usize * rows.parts.len()];
            let stream = match streams.get(window as usize) {
                Some(stream) => {
                    std::mem::take(&mut *stream.lock().unwrap_or_else(PoisonError::into_inner))
                }
                None => Stream::default(),
            };
            let mut placer = Placer::new(rows, first, bytes, sources);
            let free = stream.read(window, sizing, &self.scratch, |piece| placer.take(piece))?;
            self.scratch.done(window, windows);
            self.slabs.give_back(free);
            duplicates.fetch_add(placer.duplicates, Ordering::Relaxed);
            if let Some(recode) = self.recode {
                self.recode(recode, bytes, sources);
            }
            filled.fetch_add(self.fill(bytes, sources), Ordering::Relaxed);
            sink.write(from, bytes)?;
            // The next window may lie elsewhere in its pages, and its padding has to be zero.
            if rows.stride > rows.length {
                bytes.fill(0);
            }
            advance(&stage, here)
        })?;
        let report =
            PlacementReport { filled: filled.into_inner(), duplicates: duplicates.into_inner() };
        Ok((sink.finish(&shape)?, report))
    }

    /// Maps what came, in pieces as long as possible.
    fn recode(&self, recode: Recode<'_>, bytes: &mut [u8], sources: &[u64]) {
        let (rows, parts) = (self.rows, self.rows.parts.len());
        if parts > 1 || rows.stride != rows.length {
            for (slot, source) in sources.iter().enumerate() {
                let part = &rows.parts[slot % parts];
                if *source != NOTHING && !part.is_empty() {
                    let start = slot / parts * rows.stride;
                    recode(&mut bytes[start + part.start..start + part.end]);
                }
            }
            return;
        }
        let mut row = 0;
        for run in sources.chunk_by(|one, other| (*one == NOTHING) == (*other == NOTHING)) {
            let end = row + run.len();
            if run[0] != NOTHING && rows.stride > 0 {
                recode(&mut bytes[row * rows.stride..end * rows.stride]);
            }
            row = end;
        }
    }

    /// Fills what never came and counts the rows that it is missing from.
    fn fill(&self, bytes: &mut [u8], sources: &[u64]) -> u64 {
        let rows = self.rows;
        let byte = rows.plan.fill.byte();
        let mut filled = 0;
        for (row, sources) in sources.chunks_exact(rows.parts.len()).enumerate() {
            if !sources.contains(&NOTHING) {
                continue;
            }
            filled += 1;
            let missing = rows.parts.iter().zip(sources).filter(|(_, from)| **from == NOTHING);
            for (part, _) in missing {
                let start = row * rows.stride;
                bytes[start + part.start..start + part.end].fill(byte);
            }
        }
        filled
    }
}
