//! Reads a section block by block on all cores, compares digests and hands the bytes to a check.
//!
//! A block is read in pieces that stay in a core's own cache while they are digested and checked: a profile showed that
//! the second and third look at a whole block cost as much as reading it.

use super::{Digests, Fault, Report};
use crate::Result;
use graphmill_disk::{PageBuffer, Pread, ReadAt, pool};
use graphmill_format::{Section, digest};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are read, digested and checked together; divides a block.
const PIECE: usize = 1 << 18;
/// Most blocks that a thread takes at a time.
const MOST_AT_A_TIME: u64 = 16;

/// A piece of a section, as a check sees it.
pub(super) struct Piece<'a> {
    /// The file, for checks that need a little more than the piece.
    pub file: &'a Pread,
    pub section: &'a Section,
    /// Position of the first byte in the section.
    pub start: u64,
    pub bytes: &'a [u8],
}

impl Piece<'_> {
    /// The numbers of its elements in the section.
    pub fn elements(&self) -> Range<u64> {
        let width = self.section.element.width();
        self.start / width..(self.start + self.bytes.len() as u64) / width
    }

    /// A fault at element `index` of the piece.
    pub fn fault(&self, index: usize, problem: String) -> Fault {
        let width = self.section.element.width();
        let byte = self.section.offset + self.start + index as u64 * width;
        Fault {
            path: self.file.path().to_path_buf(),
            bytes: byte..byte + width,
            place: format!("{} element {}", self.section, self.start / width + index as u64),
            problem,
        }
    }
}

/// Reads blocks of one file.
pub(super) struct BlockReader<'a> {
    pub file: &'a Pread,
    digests: Option<&'a Digests>,
    pool: &'static rayon::ThreadPool,
}

impl<'a> BlockReader<'a> {
    pub fn new(file: &'a Pread, digests: Option<&'a Digests>) -> Result<Self> {
        Ok(BlockReader { file, digests, pool: pool()? })
    }

    /// Reads every block of a section; `check` finds what is wrong inside, digests find the rest.
    pub fn check(
        &self,
        section: &Section,
        report: &mut Report,
        check: impl Fn(&Piece) -> Result<Option<Fault>> + Sync,
    ) -> Result<()> {
        self.check_with(section, report, || (), |piece, ()| check(piece))
    }

    /// The same for a check that keeps something from one piece to the next that its thread reads; `keep` makes it.
    pub fn check_with<Kept>(
        &self,
        section: &Section,
        report: &mut Report,
        keep: impl Fn() -> Kept + Sync,
        check: impl Fn(&Piece, &mut Kept) -> Result<Option<Fault>> + Sync,
    ) -> Result<()> {
        let expected = self.digests.map(|digests| digests.of(section));
        let one_block = |(buffer, kept): &mut (PageBuffer, Kept), index: u64| -> Result<_> {
            let range = digest::block_range(section, index);
            let mut digester = digest::BlockDigester::default();
            let mut inside = None;
            for start in range.clone().step_by(PIECE) {
                let bytes = &mut buffer[..(range.end - start).min(PIECE as u64) as usize];
                self.file.read_exact_at(start, bytes)?;
                if expected.is_some() {
                    digester.update(bytes);
                }
                if inside.is_none() {
                    let start = start - section.offset;
                    inside = check(&Piece { file: self.file, section, start, bytes }, kept)?;
                }
            }
            // A block is one digest's worth of bytes, and never empty.
            let found = digester.finish().first().copied().unwrap_or_default();
            let expected = expected.map(|digests| digests[index as usize]);
            let damaged = expected.filter(|&expected| found != expected).map(|expected| Fault {
                path: self.file.path().to_path_buf(),
                bytes: range,
                place: format!("{section} block {index}"),
                problem: format!("digest {found:#018x}, expected {expected:#018x}: damaged"),
            });
            Ok(damaged.into_iter().chain(inside).collect::<Vec<Fault>>())
        };
        let count = digest::block_count(section.length());
        let found = self.in_turns(count, || (PageBuffer::new(PIECE), keep()), one_block)?;
        found.into_iter().flatten().for_each(|fault| report.add(fault));
        Ok(())
    }

    /// Calls `each` with every number below `count`, on all threads; what it gives comes back in the order of the numbers.
    ///
    /// A thread takes some that follow each other, so that what it keeps of one is of use for the next, and few enough that
    /// the file is read nearly in order.
    pub fn in_turns<Kept, Found: Send>(
        &self,
        count: u64,
        keep: impl Fn() -> Kept + Sync,
        each: impl Fn(&mut Kept, u64) -> Result<Found> + Sync,
    ) -> Result<Vec<Found>> {
        let threads = self.pool.current_num_threads() as u64;
        let at_a_time = (count / (4 * threads)).clamp(1, MOST_AT_A_TIME);
        let next = AtomicU64::new(0);
        let found = self.pool.broadcast(|_| -> Result<Vec<(u64, Found)>> {
            let (mut kept, mut found) = (keep(), Vec::new());
            loop {
                let first = next.fetch_add(at_a_time, Ordering::Relaxed);
                if first >= count {
                    return Ok(found);
                }
                for number in first..count.min(first + at_a_time) {
                    found.push((number, each(&mut kept, number)?));
                }
            }
        });
        let found: Vec<_> = found.into_iter().collect::<Result<_>>()?;
        let mut found: Vec<(u64, Found)> = found.into_iter().flatten().collect();
        found.sort_unstable_by_key(|(number, _)| *number);
        Ok(found.into_iter().map(|(_, found)| found).collect())
    }
}
