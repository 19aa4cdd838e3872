//! Rows that lie in a file already, copied by all threads.
//! Pieces are read by position, digested and written to their place; where rows are padded
//! differently they are moved apart or together on the way. It must not know what the numbers are.

use std::sync::Mutex;

use graphmill_disk::{Budget, OutputFile, PageBuffer};
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::{ElementType, TableShape, content};

use super::plan::{Fill, Layout};
use super::row_sink::RowSink;
use super::table_file::TableFile;
use super::workers::{advance, each_piece};
use crate::progress::{Observer, Stage};
use crate::shared_section::SharedSection;
use crate::table_writer::Written;
use crate::{Error, Result};

const PAGE: usize = 4096;
/// Bytes read at a time: what is read is digested and written while it is in the cache.
const LARGEST_PIECE: u64 = 256 << 10;
const SMALLEST_PIECE: u64 = 16 << 10;
/// Blocks of the file that may be incomplete at once, for every worker.
const GATHERED: u64 = 3;

/// How rows are copied.
#[derive(Clone, Copy)]
pub(crate) struct CopyOptions<'c> {
    /// Rows of the target, at least those of the source.
    pub(crate) rows: u64,
    /// What the rows behind those of the source are.
    pub(crate) fill: Fill,
    /// Whether rows of our layout start on multiples of 512 bytes.
    pub(crate) align_rows: bool,
    pub(crate) budget: &'c Budget,
    pub(crate) observer: Option<Observer<'c>>,
}

/// Copies all rows into an empty file, as a `.gd` that somebody else publishes.
pub(crate) fn copy_table(
    source: &TableFile,
    file: &dyn OutputFile,
    layout: Layout,
    options: &CopyOptions<'_>,
) -> Result<Written> {
    let plain = plain_shape(source, options.rows);
    let aligned = options.align_rows && layout == Layout::Graphmill;
    let shape = if aligned { plain.and_then(TableShape::with_aligned_rows) } else { plain };
    let shape = shape.map_err(Error::format(file.path()))?;
    let copy = Copy::new(source, shape, options)?;
    let sink = RowSink::new(file, layout, copy.gathered);
    let books = sink.known_memory(shape.length());
    let _reserved = options.budget.reserve(books, "digests of a table")?;
    copy.run(&sink, options.observer)?;
    sink.finish(&shape)
}

/// Copies all rows behind a header of somebody else's.
pub(crate) fn copy_plain(
    source: &TableFile,
    file: &dyn OutputFile,
    header: Vec<u8>,
    options: &CopyOptions<'_>,
) -> Result<Written> {
    let shape = plain_shape(source, options.rows).map_err(Error::format(file.path()))?;
    let sink = RowSink::plain(file, header.len() as u64);
    Copy::new(source, shape, options)?.run(&sink, options.observer)?;
    sink.finish_plain(header, shape.length())
}

/// The shape of the source with as many rows and without padding.
fn plain_shape(source: &TableFile, rows: u64) -> graphmill_format::Result<TableShape> {
    let shape = &source.shape;
    match shape.is_vector() {
        true => TableShape::vector(rows, shape.element()),
        false => TableShape::matrix(rows, shape.columns(), shape.element()),
    }
}

struct Copy<'c> {
    source: &'c TableFile,
    shape: TableShape,
    fill: u8,
    workers: usize,
    /// Bytes that a worker reads at a time.
    piece: usize,
    gathered: usize,
    _reserved: graphmill_disk::Reservation,
}

impl<'c> Copy<'c> {
    fn new(source: &'c TableFile, shape: TableShape, options: &CopyOptions<'_>) -> Result<Self> {
        let rows = source.shape.rows();
        if options.rows < rows {
            let expected = format!("at most {}", options.rows);
            let remedy = "leave out the rows of nodes that do not exist";
            let error = Error::source("table", format!("{rows} rows"), expected, remedy);
            return Err(error.in_file(source.file.path()));
        }
        let threads = graphmill_disk::pool()?.current_num_threads() as u64;
        let free = options.budget.free();
        // Two buffers for each worker, for rows that do not fit into their pages or are padded.
        let row = shape.stride().max(source.shape.stride());
        let repacks = !(shape.is_contiguous() && source.shape.is_contiguous());
        let least = if repacks { SMALLEST_PIECE.max(row) } else { SMALLEST_PIECE };
        let memory = |piece: u64| 2 * (piece + 2 * PAGE as u64);
        let workers = (free / 2 / memory(least)).clamp(1, threads);
        let piece = (free / 4 / workers).min(LARGEST_PIECE).max(least) / PAGE as u64 * PAGE as u64;
        let piece = piece.max(least);
        let one = SharedSection::gathered_memory();
        let gathered = match repacks {
            true => {
                (free.saturating_sub(workers * memory(piece)) / 2 / one).min(GATHERED * workers)
            }
            false => 0,
        };
        let memory = workers * memory(piece) + gathered * one;
        Ok(Copy {
            source,
            shape,
            fill: options.fill.byte(),
            workers: workers as usize,
            piece: piece as usize,
            gathered: gathered as usize,
            _reserved: options.budget.reserve(memory, "copying rows")?,
        })
    }

    fn run(&self, sink: &RowSink<'_>, observer: Option<Observer<'_>>) -> Result<()> {
        let stage = Mutex::new(Stage::new(observer, "writing rows", self.shape.rows()));
        if self.shape.stride() == 0 {
            return advance(&stage, self.shape.rows());
        }
        if self.shape.is_contiguous() && self.source.shape.is_contiguous() {
            self.copy_blocks(sink, &stage)
        } else {
            self.copy_rows(sink, &stage)
        }
    }

    /// Copies bytes as they are, one digest block after the other.
    fn copy_blocks(&self, sink: &RowSink<'_>, stage: &Mutex<Stage<'_>>) -> Result<()> {
        let (length, row) = (self.shape.length(), self.shape.stride());
        let stored = self.source.shape.length();
        let start = || (PageBuffer::new(self.piece + PAGE), PageBuffer::new(self.piece + PAGE));
        each_piece(self.workers, length.div_ceil(BLOCK_LENGTH), start, |buffers, number| {
            let begin = number * BLOCK_LENGTH;
            let end = length.min(begin + BLOCK_LENGTH);
            let mut block = sink.block(number);
            let mut at = begin;
            while at < end {
                let count = (end - at).min(self.piece as u64) as usize;
                let here = stored.saturating_sub(at).min(count as u64) as usize;
                let position = self.source.start + at;
                // Copies are fast where bytes lie in memory as they lie in the pages of a file:
                // from one file to the other that takes two places in memory.
                let from = (position % PAGE as u64) as usize;
                let to = sink.place_in_page(at);
                let read = &mut buffers.0[from..from + count];
                self.source.file.read_exact_at(position, &mut read[..here])?;
                read[here..].fill(self.fill);
                self.check(at, &read[..here])?;
                if from == to {
                    block.write(read)?;
                } else {
                    let moved = &mut buffers.1[to..to + count];
                    moved.copy_from_slice(read);
                    block.write(moved)?;
                }
                at += count as u64;
            }
            block.finish()?;
            advance(stage, end / row - begin / row)
        })
    }

    /// Copies rows whose padding differs.
    fn copy_rows(&self, sink: &RowSink<'_>, stage: &Mutex<Stage<'_>>) -> Result<()> {
        let (rows, stride) = (self.shape.rows(), self.shape.stride() as usize);
        let (stored, stored_stride) = (self.source.shape.rows(), self.source.shape.stride());
        let length = self.shape.row_length() as usize;
        let step = (self.piece as u64 / stored_stride.max(stride as u64)).max(1);
        let start = || {
            let read = PageBuffer::new(step as usize * stored_stride as usize);
            (read, PageBuffer::new(step as usize * stride))
        };
        each_piece(self.workers, rows.div_ceil(step), start, |(read, written), piece| {
            let first = piece * step;
            let count = step.min(rows - first) as usize;
            let here = stored.saturating_sub(first).min(count as u64) as usize;
            let read = &mut read[..here * stored_stride as usize];
            self.source.file.read_exact_at(self.source.start + first * stored_stride, read)?;
            let written = &mut written[..count * stride];
            let (copied, filled) = written.split_at_mut(here * stride);
            let pairs =
                read.chunks_exact(stored_stride as usize).zip(copied.chunks_exact_mut(stride));
            for (index, (from, to)) in pairs.enumerate() {
                self.check((first + index as u64) * length as u64, &from[..length])?;
                to[..length].copy_from_slice(&from[..length]);
            }
            filled.chunks_exact_mut(stride).for_each(|row| row[..length].fill(self.fill));
            sink.write(first * stride as u64, written)?;
            advance(stage, count as u64)
        })
    }

    /// Refuses what is stored as a truth value and is none; bytes are counted without padding.
    fn check(&self, from: u64, bytes: &[u8]) -> Result<()> {
        if self.shape.element() != ElementType::Bool {
            return Ok(());
        }
        let Some(at) = content::first_bad_bool(bytes) else { return Ok(()) };
        let row = (from + at as u64) / self.shape.row_length();
        let remedy = "save the array as truth values";
        let error = Error::source(format!("row {row}"), bytes[at], "0 or 1", remedy);
        Err(error.in_file(self.source.file.path()))
    }
}
