//! Blocks of lines, parsed by all threads and numbered in order.
//! Every thread takes a block, parses it into its own chunk, waits for its turn to learn how many
//! rows came before, and hands the chunk over. So row numbers are exact without counting lines
//! first, the error that is reported is the first of the file, and memory is bounded by the number
//! of threads. It must not know what rows are.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use graphmill_disk::Budget;

use super::blocks::{Block, Blocks, Taken, TextFile};
use super::dialect::Dialect;
use super::edge_lines::{KEPT_FAULTS, Parsed};
use crate::progress::{Observer, Stage};
use crate::source::chunk::{BadRow, EdgeChunk, ReadReport, TableChunk};
use crate::{Error, Result};

/// The largest block; it and what it becomes fit into the cache of a core.
const LARGEST_BLOCK: usize = 512 << 10;
/// The smallest block: what a tight budget leads to.
const SMALLEST_BLOCK: usize = 64 << 10;

/// Rows that are filled again and again.
pub(crate) trait Chunk: Default + Send {
    fn clear(&mut self);
    fn set_first_row(&mut self, row: u64);
}

impl Chunk for EdgeChunk {
    fn clear(&mut self) {
        EdgeChunk::clear(self);
    }

    fn set_first_row(&mut self, row: u64) {
        self.first_row = row;
    }
}

impl Chunk for TableChunk {
    fn clear(&mut self) {
        TableChunk::clear(self);
    }

    fn set_first_row(&mut self, row: u64) {
        self.first_row = row;
    }
}

/// Turns lines into rows.
pub(crate) trait Lines: Sync {
    type Chunk: Chunk;

    /// Adds the rows of the lines in `text[..end]`, which belong to the file numbered `file`.
    fn parse(
        &self,
        file: usize,
        text: &[u8],
        end: usize,
        chunk: &mut Self::Chunk,
        parsed: &mut Parsed,
    );

    /// Bytes that the rows of one byte of text may take.
    fn expansion(&self) -> u64;
}

/// Where and how text is read.
pub(crate) struct TextReading<'a> {
    pub(crate) files: &'a [TextFile],
    pub(crate) dialects: &'a [Dialect],
    pub(crate) budget: &'a Budget,
    pub(crate) observer: Option<Observer<'a>>,
    pub(crate) stage: &'static str,
    /// Whether chunks are handed over one at a time, in the order of the rows.
    pub(crate) ordered: bool,
}

impl TextReading<'_> {
    /// Hands all rows to `consume`, which may keep a chunk's buffers or leave them for reuse.
    pub(crate) fn run<L: Lines>(
        &self,
        lines: &L,
        consume: &(dyn Fn(&mut L::Chunk) -> Result<()> + Sync),
    ) -> Result<ReadReport> {
        let pool = graphmill_disk::pool()?;
        let (workers, length) = self.plan(pool.current_num_threads(), lines.expansion());
        let blocks = Blocks::new(self.files, length);
        let total = self.files.iter().map(|file| file.file.len()).sum();
        let stage = Stage::new(self.observer, self.stage, total);
        let turns = Turns::new(self.files, stage);
        pool.broadcast(|context| {
            if context.index() < workers {
                let guard = StopOnPanic(&turns);
                if let Err(error) = self.work(&blocks, length, lines, &turns, consume) {
                    turns.stop(error);
                }
                drop(guard);
            }
        });
        let outcome = turns.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match outcome.error {
            Some(error) => Err(error),
            None => Ok(outcome.report),
        }
    }

    /// How many threads work, with blocks of which length, within half of what is free.
    fn plan(&self, threads: usize, expansion: u64) -> (usize, usize) {
        let need = |length: usize| Block::memory(length) + length as u64 * expansion;
        let affordable = self.budget.free() / 2;
        let mut length = LARGEST_BLOCK;
        while length > SMALLEST_BLOCK && need(length) * threads as u64 > affordable {
            length /= 2;
        }
        let workers = (affordable / need(length)).clamp(1, threads as u64) as usize;
        (workers, length)
    }

    fn work<L: Lines>(
        &self,
        blocks: &Blocks<'_>,
        length: usize,
        lines: &L,
        turns: &Turns<'_>,
        consume: &(dyn Fn(&mut L::Chunk) -> Result<()> + Sync),
    ) -> Result<()> {
        let expanded = length as u64 * lines.expansion();
        let _reserved = self.budget.reserve(expanded, "rows of text")?;
        let mut block = Block::new(length, self.budget)?;
        let mut chunk = L::Chunk::default();
        while !turns.stopped() {
            chunk.clear();
            let parsed = match blocks.take(&mut block) {
                Taken::End => return Ok(()),
                Taken::Bad(error) => Err(error),
                Taken::TooLong(fault) => {
                    Ok(Parsed { faults: vec![fault], stopped: true, ..Parsed::default() })
                }
                Taken::Block => Ok(self.parse(&block, lines, &mut chunk)),
            };
            let rows = parsed.as_ref().map_or(0, |parsed| parsed.rows);
            let Some((first_row, turn)) = turns.pass(&block, parsed) else { return Ok(()) };
            if !self.ordered {
                turn.end();
                chunk.set_first_row(first_row);
                if rows > 0 {
                    consume(&mut chunk)?;
                }
                continue;
            }
            chunk.set_first_row(first_row);
            if rows > 0 {
                consume(&mut chunk)?;
            }
            turn.end();
        }
        Ok(())
    }

    fn parse<L: Lines>(&self, block: &Block, lines: &L, chunk: &mut L::Chunk) -> Parsed {
        let (mut text, mut end) = block.text();
        let dialect = &self.dialects[block.file];
        let mut at = block.first_byte;
        let mut parsed = Parsed::default();
        if at == 0 && end > 0 {
            let mark = dialect.mark as usize;
            (text, end, at) = (&text[mark..], end - mark, dialect.mark);
        }
        if let Some(header_at) = dialect.header_at
            && (at..at + end as u64).contains(&header_at)
        {
            // What lies before a header is comments.
            let before = (header_at - at) as usize;
            let rest = &text[before..end];
            let header = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            parsed.lines += memchr::memchr_iter(b'\n', &text[..before + header]).count() as u64;
            (text, end) = (&text[before + header..], end - before - header);
        }
        lines.parse(block.file, text, end, chunk, &mut parsed);
        parsed
    }
}

/// Who is next, and what all blocks before came to.
struct Turns<'a> {
    files: &'a [TextFile],
    state: Mutex<State<'a>>,
    changed: Condvar,
}

struct State<'a> {
    next: u64,
    file: usize,
    lines: u64,
    stage: Stage<'a>,
    report: ReadReport,
    stopped: bool,
    error: Option<Error>,
}

impl<'a> Turns<'a> {
    fn new(files: &'a [TextFile], stage: Stage<'a>) -> Self {
        let state = State {
            next: 0,
            file: 0,
            lines: 0,
            stage,
            report: ReadReport::default(),
            stopped: false,
            error: None,
        };
        Turns { files, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    fn stop(&self, error: Error) {
        let mut state = lock(&self.state);
        state.stopped = true;
        state.error.get_or_insert(error);
        self.changed.notify_all();
    }

    /// Waits for the block's turn and adds it to the report: gives the number of its first row, or
    /// None if the reading has ended.
    fn pass(&self, block: &Block, parsed: Result<Parsed>) -> Option<(u64, Turn<'_, 'a>)> {
        let mut state = lock(&self.state);
        while state.next != block.index && !state.stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stopped {
            return None;
        }
        if state.file != block.file {
            state.file = block.file;
            state.lines = 0;
        }
        let first_row = state.report.rows;
        let passed = parsed.and_then(|parsed| self.add(&mut state, block, parsed));
        drop(state);
        match passed {
            Ok(()) => Some((first_row, Turn(self))),
            Err(error) => {
                self.stop(error);
                None
            }
        }
    }

    fn add(&self, state: &mut State<'_>, block: &Block, parsed: Parsed) -> Result<()> {
        let path = self.files[block.file].file.path();
        let mut faults = parsed.faults.into_iter();
        if parsed.stopped
            && let Some(fault) = faults.next()
        {
            return Err(fault.into_error(path, state.lines));
        }
        let report = &mut state.report;
        report.rows += parsed.rows;
        report.skipped += parsed.skipped;
        report.bytes += block.consumed;
        for fault in faults {
            if report.bad_examples.len() < KEPT_FAULTS {
                let place = fault.place(state.lines);
                let (file, found, expected) = (path.to_path_buf(), fault.found, fault.expected);
                report.bad_examples.push(BadRow { file, place, found, expected });
            }
        }
        state.lines += parsed.lines;
        state.stage.advance(block.consumed)
    }
}

/// The right to be the one whose rows come next.
#[must_use]
struct Turn<'t, 'a>(&'t Turns<'a>);

impl Turn<'_, '_> {
    fn end(self) {
        lock(&self.0.state).next += 1;
        self.0.changed.notify_all();
    }
}

/// Lets nobody wait for the turn of a thread that has panicked.
struct StopOnPanic<'t, 'a>(&'t Turns<'a>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.state).stopped = true;
            self.0.changed.notify_all();
        }
    }
}

/// Locks even what a panicking thread left locked: all states here are sound between statements.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
