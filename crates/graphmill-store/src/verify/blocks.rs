//! Reads a section block by block on all cores, compares digests and hands the bytes to a check.

use super::{Digests, Fault, Report};
use crate::Result;
use graphmill_disk::{PageBuffer, Pread, ReadAt, pool};
use graphmill_format::{Section, digest};
use std::sync::atomic::{AtomicU64, Ordering};

/// One block of a section, as a check sees it.
pub(super) struct Block<'a> {
    /// The file, for checks that need a little more than the block.
    pub file: &'a Pread,
    pub section: &'a Section,
    /// Position of the block's first byte in the section.
    pub start: u64,
    pub bytes: &'a [u8],
}

impl Block<'_> {
    /// A fault at element `index` of the block.
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
        check: impl Fn(&Block) -> Result<Option<Fault>> + Sync,
    ) -> Result<()> {
        let expected = self.digests.map(|digests| digests.of(section));
        let one_block = |buffer: &mut PageBuffer, index: u64| -> Result<Vec<Fault>> {
            let range = digest::block_range(section, index);
            let buffer = &mut buffer[..(range.end - range.start) as usize];
            self.file.read_exact_at(range.start, buffer)?;
            let mut faults = Vec::new();
            if let Some(expected) = expected.map(|digests| digests[index as usize]) {
                let found = digest::digest(buffer);
                if found != expected {
                    faults.push(Fault {
                        path: self.file.path().to_path_buf(),
                        bytes: range.clone(),
                        place: format!("{section} block {index}"),
                        problem: format!(
                            "digest {found:#018x}, expected {expected:#018x}: damaged"
                        ),
                    });
                }
            }
            let start = range.start - section.offset;
            faults.extend(check(&Block { file: self.file, section, start, bytes: buffer })?);
            Ok(faults)
        };
        let count = digest::block_count(section.length());
        let next = AtomicU64::new(0);
        // One buffer per thread, and blocks by turns, so that the file is read nearly in order.
        let found = self.pool.broadcast(|_| -> Result<Vec<(u64, Vec<Fault>)>> {
            let mut buffer = PageBuffer::new(digest::BLOCK_LENGTH.min(section.length()) as usize);
            let mut found = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return Ok(found);
                }
                let faults = one_block(&mut buffer, index)?;
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
