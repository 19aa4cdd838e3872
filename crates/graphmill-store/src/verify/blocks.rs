//! Reads a section block by block on all cores, compares digests and hands the bytes to a check.
//!
//! A block is read in pieces that stay in a core's own cache while they are digested and checked: a profile showed that
//! the second and third look at a whole block cost as much as reading it.

use super::{Digests, Fault, Report};
use crate::Result;
use graphmill_disk::{PageBuffer, Pread, ReadAt, pool};
use graphmill_format::{Section, digest};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are read, digested and checked together; divides a block.
const PIECE: usize = 1 << 18;

/// A piece of a section, as a check sees it.
pub(super) struct Piece<'a> {
    /// The file, for checks that need a little more than the piece.
    pub file: &'a Pread,
    pub section: &'a Section,
    /// Position of the first byte in the section.
    pub start: u64,
    pub bytes: &'a [u8],
    /// What a check wants to remember until the next piece that its thread reads.
    pub memory: &'a Cell<u64>,
}

impl Piece<'_> {
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

    /// The threads that read.
    pub fn pool(&self) -> &'static rayon::ThreadPool {
        self.pool
    }

    /// Reads every block of a section; `check` finds what is wrong inside, digests find the rest.
    pub fn check(
        &self,
        section: &Section,
        report: &mut Report,
        check: impl Fn(&Piece) -> Result<Option<Fault>> + Sync,
    ) -> Result<()> {
        let expected = self.digests.map(|digests| digests.of(section));
        let one_block = |buffer: &mut PageBuffer, memory: &Cell<u64>, index: u64| -> Result<_> {
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
                    inside = check(&Piece { file: self.file, section, start, bytes, memory })?;
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
        let next = AtomicU64::new(0);
        // One buffer per thread, and blocks by turns, so that the file is read nearly in order.
        let found = self.pool.broadcast(|_| -> Result<Vec<(u64, Vec<Fault>)>> {
            let mut buffer = PageBuffer::new(PIECE);
            let memory = Cell::new(0);
            let mut found = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return Ok(found);
                }
                let faults = one_block(&mut buffer, &memory, index)?;
                if !faults.is_empty() {
                    found.push((index, faults));
                }
            }
        });
        let mut found = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
        found.sort_by_key(|(index, _)| *index);
        found.into_iter().flat_map(|(_, faults)| faults).for_each(|fault| report.add(fault));
        Ok(())
    }
}
