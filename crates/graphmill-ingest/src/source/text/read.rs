//! Blocks of lines, parsed by all threads and numbered in order.
//! Every thread takes a block, parses it into its own chunk, waits for its turn to learn how many
//! rows came before, and hands the chunk over. So row numbers are exact without counting lines
//! first, the error that is reported is the first of the file, and memory is bounded by the number
//! of threads. It must not know what rows are.

use graphmill_disk::Budget;

use super::blocks::{Block, Blocks, Taken, TextFile};
use super::dialect::Dialect;
use super::edge_lines::{KEPT_FAULTS, Parsed};
use crate::Result;
use crate::progress::{Observer, Stage};
use crate::source::chunk::{BadRow, Chunk, ReadReport};
use crate::source::turns::Turns;

/// The largest block; it and what it becomes fit into the cache of a core.
const LARGEST_BLOCK: usize = 512 << 10;
/// The smallest block: what a tight budget leads to.
const SMALLEST_BLOCK: usize = 64 << 10;

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
        let threads = graphmill_disk::pool()?.current_num_threads();
        let (workers, length) = self.plan(threads, lines.expansion());
        let blocks = Blocks::new(self.files, length, self.budget);
        let total = self.files.iter().map(|file| file.file.len()).sum();
        let stage = Stage::new(self.observer, self.stage, total);
        let turns = Turns::new(Passed { file: 0, lines: 0, stage, report: ReadReport::default() });
        let work = |turns: &Turns<_>| self.work(&blocks, length, lines, turns, consume);
        Ok(turns.run(workers, work)?.report)
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
        turns: &Turns<Passed<'_>>,
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
            let turn = block.index..block.index + 1;
            let passed = turns.pass(turn, |passed| self.add(passed, &block, parsed?));
            let Some((first_row, turn)) = passed else { return Ok(()) };
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
        let starts_at = dialect.starts_at();
        if at <= starts_at && end > 0 {
            // What lies before the first line that counts is comments and blank lines.
            let mut before = end.min((starts_at - at) as usize);
            if before < end && dialect.header_at.is_some() {
                let rest = &text[before..end];
                before += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            }
            parsed.lines += memchr::memchr_iter(b'\n', &text[..before]).count() as u64;
            (text, end) = (&text[before..], end - before);
        }
        lines.parse(block.file, text, end, chunk, &mut parsed);
        parsed
    }

    /// Adds a block to what was read, and gives the number of its first row.
    fn add(&self, passed: &mut Passed<'_>, block: &Block, parsed: Parsed) -> Result<u64> {
        if passed.file != block.file {
            passed.file = block.file;
            passed.lines = 0;
        }
        let path = self.files[block.file].file.path();
        let mut faults = parsed.faults.into_iter();
        if parsed.stopped
            && let Some(fault) = faults.next()
        {
            return Err(fault.into_error(path, passed.lines));
        }
        let report = &mut passed.report;
        let first_row = report.rows;
        report.rows += parsed.rows;
        report.skipped += parsed.skipped;
        report.bytes += block.consumed;
        for fault in faults {
            if report.bad_examples.len() < KEPT_FAULTS {
                let place = fault.place(passed.lines);
                let (file, found, expected) = (path.to_path_buf(), fault.found, fault.expected);
                report.bad_examples.push(BadRow { file, place, found, expected });
            }
        }
        passed.lines += parsed.lines;
        passed.stage.advance(block.consumed)?;
        Ok(first_row)
    }
}

/// What the blocks so far came to.
struct Passed<'a> {
    file: usize,
    /// Lines of that file.
    lines: u64,
    stage: Stage<'a>,
    report: ReadReport,
}
