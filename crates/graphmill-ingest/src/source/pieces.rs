//! Rows that are known by their number, read in pieces by all threads.
//! Arrays, compiled files and memory say how the next piece is had and how it becomes rows; here
//! pieces are shared out, numbered in order and handed over, within the budget. It must not know
//! what rows are or where they come from.

use std::ops::Range;
use std::path::Path;

use graphmill_disk::Budget;

use super::chunk::{Chunk, ReadReport};
use super::faults::Faults;
use super::options::OnBadRow;
use super::turns::Turns;
use crate::Result;
use crate::progress::{Observer, Stage};

/// A source of numbered rows.
pub(crate) trait Pieces: Sync {
    /// What rows are handed over in.
    type Chunk: Chunk;
    /// What one thread works with.
    type Own;

    /// Makes what a thread works with.
    fn own(&self) -> Result<Self::Own>;

    /// Takes the next rows of the source, in order and without gaps; what can be had only in order
    /// is read here, by one thread at a time.
    fn take(&self, own: &mut Self::Own) -> Result<Option<Range<u64>>>;

    /// Makes rows of what was taken; bad ones go to `faults` instead.
    fn fill(
        &self,
        own: &mut Self::Own,
        rows: Range<u64>,
        chunk: &mut Self::Chunk,
        faults: &mut Faults<'_>,
    ) -> Result<()>;
}

/// How pieces are read.
pub(crate) struct PieceReading<'a> {
    /// Rows of the source.
    pub(crate) rows: u64,
    /// The number that the first row has.
    pub(crate) first_row: u64,
    /// Bytes that one thread keeps, its chunk included.
    pub(crate) memory: u64,
    /// What an error of the budget calls them.
    pub(crate) what: &'static str,
    pub(crate) stage: &'static str,
    /// Whether chunks are handed over one at a time, in the order of the rows.
    pub(crate) ordered: bool,
    pub(crate) on_bad_row: OnBadRow,
    /// The file that messages name; None for memory.
    pub(crate) file: Option<&'a Path>,
    pub(crate) budget: &'a Budget,
    pub(crate) observer: Option<Observer<'a>>,
}

impl PieceReading<'_> {
    /// Hands all rows to `consume`, which may keep a chunk's buffers or leave them for reuse.
    pub(crate) fn run<P: Pieces>(
        &self,
        pieces: &P,
        consume: &(dyn Fn(&mut P::Chunk) -> Result<()> + Sync),
    ) -> Result<ReadReport> {
        let threads = graphmill_disk::pool()?.current_num_threads() as u64;
        let affordable = self.budget.free() / 2 / self.memory.max(1);
        let workers = affordable.clamp(1, threads) as usize;
        let stage = Stage::new(self.observer, self.stage, self.rows);
        let turns = Turns::new((stage, ReadReport::default()));
        let (_, report) = turns.run(workers, |turns| self.work(pieces, turns, consume))?;
        Ok(report)
    }

    fn work<P: Pieces>(
        &self,
        pieces: &P,
        turns: &Turns<(Stage<'_>, ReadReport)>,
        consume: &(dyn Fn(&mut P::Chunk) -> Result<()> + Sync),
    ) -> Result<()> {
        let _reserved = self.budget.reserve(self.memory, self.what)?;
        let mut own = pieces.own()?;
        let mut chunk = P::Chunk::default();
        while !turns.stopped() {
            let Some(rows) = pieces.take(&mut own)? else { break };
            chunk.clear();
            let mut faults = Faults::new(self.on_bad_row, self.file);
            let filled = pieces.fill(&mut own, rows.clone(), &mut chunk, &mut faults);
            let kept = chunk.rows();
            let taken = rows.end - rows.start;
            let passed = turns.pass(rows, |(stage, report)| {
                filled?;
                faults.report(report);
                let before = report.rows;
                report.rows += kept;
                stage.advance(taken)?;
                Ok(before)
            });
            let Some((before, turn)) = passed else { break };
            chunk.set_first_row(self.first_row + before);
            if !self.ordered {
                turn.end();
                if kept > 0 {
                    consume(&mut chunk)?;
                }
                continue;
            }
            if kept > 0 {
                consume(&mut chunk)?;
            }
            turn.end();
        }
        Ok(())
    }
}

/// Hands out the numbers of rows, a few at a time.
#[derive(Debug)]
pub(crate) struct RowCounter {
    next: std::sync::atomic::AtomicU64,
    rows: u64,
    step: u64,
}

impl RowCounter {
    pub(crate) fn new(rows: u64, step: u64) -> Self {
        RowCounter { next: 0.into(), rows, step: step.max(1) }
    }

    /// The next rows, `step` of them or what is left.
    pub(crate) fn take(&self) -> Option<Range<u64>> {
        let first = self.next.fetch_add(self.step, std::sync::atomic::Ordering::Relaxed);
        (first < self.rows).then(|| first..self.rows.min(first + self.step))
    }
}
