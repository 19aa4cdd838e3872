//! Rows that come as ranges, each once: straight to the file.
//! Chunks go to their place from whichever thread has them, and only digest blocks that several
//! chunks share are held until they are whole. Rows behind the last are filled in the end. It must
//! not know where rows come from.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use graphmill_disk::{Budget, OutputFile, PageBuffer, Reservation};

use super::books::Books;
use super::plan::{PlacementReport, PlannedRows, Put, Targets};
use super::row_sink::RowSink;
use super::workers::each_piece;
use crate::progress::{Observer, Stage};
use crate::shared_section::SharedSection;
use crate::table_writer::Written;
use crate::{Error, Result};

/// Bytes of rows that are padded or filled at a time.
const PIECE: usize = 64 << 10;
/// The books' share of the memory.
const BOOKS: u64 = 64 << 10;
/// What the books may take besides: enough for tables of 40 GB.
const LEAST_FOR_LISTS: u64 = 1 << 20;
/// Blocks held for every thread at most; more are not incomplete at once when rows come in order.
const GATHERED: usize = 6;

/// The rows of a table, on their way to the file.
pub(super) struct InOrder<'a> {
    sink: RowSink<'a>,
    books: Books,
    /// Rows that came.
    come: AtomicU64,
    _reserved: Reservation,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(
        rows: &PlannedRows,
        budget: &Budget,
        file: &'a dyn OutputFile,
        memory: u64,
    ) -> Result<Self> {
        let threads = graphmill_disk::pool()?.current_num_threads();
        let padded = threads as u64 * (PIECE + rows.stride + 4096) as u64;
        let one = SharedSection::gathered_memory();
        let gathered = memory.saturating_sub(padded + BOOKS) / one;
        let gathered = gathered.min((GATHERED * threads) as u64);
        let reserved = budget.reserve(padded + BOOKS + gathered * one, "rows of a table")?;
        Ok(InOrder {
            sink: RowSink::new(file, rows.plan.layout, gathered as usize),
            books: Books::new(BOOKS, memory.max(LEAST_FOR_LISTS), budget)?,
            come: AtomicU64::new(0),
            _reserved: reserved,
        })
    }

    pub(super) fn put(&self, rows: &PlannedRows, put: &Put<'_>) -> Result<()> {
        let Targets::Range(targets) = &put.targets else {
            let problem = "rows for places of their own do not come in the order of the file";
            return Err(Error::request("table", problem));
        };
        self.come.fetch_add(put.count as u64, Ordering::Relaxed);
        self.sink.pay(targets.end * rows.stride as u64, &self.books)?;
        let stride = rows.stride as u64;
        if rows.stride == rows.length {
            return self.sink.write(targets.start * stride, put.bytes);
        }
        let step = (PIECE / rows.stride).max(1);
        let mut padded = PageBuffer::new(step.min(put.count) * rows.stride);
        for (piece, bytes) in put.bytes.chunks(step * rows.length).enumerate() {
            for (row, into) in bytes.chunks(rows.length).zip(padded.chunks_exact_mut(rows.stride)) {
                into[..rows.length].copy_from_slice(row);
            }
            let first = targets.start + (piece * step) as u64;
            let length = bytes.len() / rows.length * rows.stride;
            self.sink.write(first * stride, &padded[..length])?;
        }
        Ok(())
    }

    /// Fills the rows behind `end` and completes the file.
    pub(super) fn finish(
        self,
        rows: &PlannedRows,
        end: u64,
        count: u64,
        observer: Option<Observer<'_>>,
    ) -> Result<(Written, PlacementReport)> {
        let come = self.come.load(Ordering::Relaxed);
        if come != end {
            let problem = format!("{come} rows came for the {end} rows up to the last");
            return Err(Error::request("table", problem));
        }
        let file = self.sink.file();
        let shape = rows.plan.shape(count, file.path())?;
        self.sink.pay(shape.length(), &self.books)?;
        self.fill(rows, end..count, observer)?;
        let written = self.sink.finish(&shape)?;
        Ok((written, PlacementReport { filled: count - end, duplicates: 0 }))
    }

    fn fill(
        &self,
        rows: &PlannedRows,
        missing: Range<u64>,
        observer: Option<Observer<'_>>,
    ) -> Result<()> {
        if missing.is_empty() || rows.stride == 0 {
            return Ok(());
        }
        let stage = Mutex::new(Stage::new(observer, "filling rows", missing.end - missing.start));
        let step = (PIECE / rows.stride).max(1) as u64;
        let stride = rows.stride as u64;
        let start = || {
            let mut buffer = PageBuffer::new(step as usize * rows.stride);
            for row in buffer.chunks_exact_mut(rows.stride) {
                row[..rows.length].fill(rows.plan.fill.byte());
            }
            buffer
        };
        let workers = graphmill_disk::pool()?.current_num_threads();
        let pieces = (missing.end - missing.start).div_ceil(step);
        each_piece(workers, pieces, start, |buffer, piece| {
            let first = missing.start + piece * step;
            let count = step.min(missing.end - first);
            self.sink.write(first * stride, &buffer[..(count * stride) as usize])?;
            super::workers::advance(&stage, count)
        })
    }
}
