//! The windows of rows that wait into the file, once all rows have come.
//! Each thread takes a window, puts the rows of its stream to their places, fills what never came,
//! and writes the window to its place. It must not know how the streams came about.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Recode;
use super::books::Books;
use super::plan::{PlacementReport, PlannedRows};
use super::records::NOTHING;
use super::row_sink::RowSink;
use super::scratch::Scratch;
use super::sizing::Sizing;
use super::slabs::Slabs;
use super::windows::Window;
use super::workers::{advance, each_piece};
use super::workspace::{WindowPlace, Workspace};
use crate::Result;
use crate::progress::{Observer, Stage};
use crate::table_writer::Written;

/// Everything that all windows have in common.
pub(super) struct WindowFill<'f> {
    pub(super) rows: &'f PlannedRows,
    pub(super) sizing: Sizing,
    pub(super) slabs: Slabs,
    pub(super) scratch: Scratch,
    pub(super) sink: RowSink<'f>,
    pub(super) workspaces: Vec<Mutex<Option<Workspace>>>,
    pub(super) recode: Option<Recode<'f>>,
    pub(super) observer: Option<Observer<'f>>,
}

impl WindowFill<'_> {
    /// Writes what is not written yet of a table of `count` rows.
    pub(super) fn run(
        self,
        windows: Vec<Mutex<Window>>,
        count: u64,
        books: &Books,
    ) -> Result<(Written, PlacementReport)> {
        let WindowFill { rows, sizing, .. } = self;
        let shape = rows.plan.shape(count, self.sink.file().path())?;
        self.sink.pay(shape.length(), books)?;
        let stage = Mutex::new(Stage::new(self.observer, "placing rows", count));
        let (filled, duplicates) = (AtomicU64::new(0), AtomicU64::new(0));
        let all = count.div_ceil(sizing.window_rows);
        each_piece(
            sizing.workers,
            all,
            || self.workspace(count),
            |workspace, number| {
                let first = number * sizing.window_rows;
                let here = sizing.window_rows.min(count - first);
                let Window { stream, is_written, .. } = match windows.get(number as usize) {
                    Some(window) => {
                        std::mem::take(&mut *window.lock().unwrap_or_else(PoisonError::into_inner))
                    }
                    None => Window::default(),
                };
                if is_written {
                    self.scratch.done(number, all);
                    return advance(&stage, here);
                }
                let from = first * rows.stride as u64;
                let place =
                    WindowPlace { first, rows: here, in_page: self.sink.place_in_page(from) };
                let placed = workspace
                    .place(rows, place, |take| stream.read(number, &sizing, &self.scratch, take))?;
                self.scratch.done(number, all);
                self.slabs.give_back(stream.into_slabs());
                duplicates.fetch_add(placed.duplicates, Ordering::Relaxed);
                if let Some(recode) = self.recode {
                    self.recode(recode, placed.bytes, placed.sources);
                }
                filled.fetch_add(self.fill(placed.bytes, placed.sources), Ordering::Relaxed);
                self.sink.write(from, placed.bytes)?;
                placed.clear(rows);
                advance(&stage, here)
            },
        )?;
        let report =
            PlacementReport { filled: filled.into_inner(), duplicates: duplicates.into_inner() };
        Ok((self.sink.finish(&shape)?, report))
    }

    /// One that was used before, or a new one.
    fn workspace(&self, count: u64) -> Workspace {
        let mut used = self.workspaces.iter();
        let used = used.find_map(|workspace| workspace.try_lock().ok()?.take());
        used.unwrap_or_else(|| Workspace::new(self.rows, self.sizing.window_rows.min(count)))
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
