//! Which blocks of a file are in the page cache, asked in the order of the file.
//! `auto` asks for every distinct row of a file of which only a part is cached. Whole regions are asked for first, since
//! what is cached often lies together and a system call costs as much as copying a row. The answer is a guess that
//! changes how a row is read, and never which.

use crate::read_plan::BLOCK;
use graphmill_disk::cached_pages;
use std::fs::File;

/// Blocks that are asked for at once: few enough that counting them takes no longer than the call.
const REGION: u64 = 64;

/// Answers of the page cache, remembered while the questions are near each other.
#[derive(Debug)]
pub(crate) struct CachedBlocks<'a> {
    file: &'a File,
    /// The latest region, and how many of its blocks are cached.
    region: Option<(u64, u64)>,
    /// The latest block of a region that is cached in part.
    block: Option<(u64, bool)>,
}

impl<'a> CachedBlocks<'a> {
    pub(crate) fn new(file: &'a File) -> Self {
        CachedBlocks { file, region: None, block: None }
    }

    /// Whether a block is cached; false where the system does not tell.
    pub(crate) fn contains(&mut self, block: u64) -> bool {
        let number = block / REGION;
        let cached = match self.region {
            Some((known, cached)) if known == number => cached,
            _ => self.region.insert((number, self.count(number * REGION, REGION))).1,
        };
        match (cached, self.block) {
            (0, _) => false,
            (REGION.., _) => true,
            (_, Some((known, is_cached))) if known == block => is_cached,
            _ => self.block.insert((block, self.count(block, 1) > 0)).1,
        }
    }

    fn count(&self, block: u64, blocks: u64) -> u64 {
        cached_pages(self.file, block * BLOCK..(block + blocks) * BLOCK).unwrap_or(0)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn every_block_that_was_written_is_found_and_no_hole() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(400 * BLOCK).unwrap();
        // A whole region, parts of two others, and the first and last block of all.
        let written = |block: u64| {
            block == 0 || (64..128).contains(&block) || (150..170).contains(&block) || block == 399
        };
        for block in (0..400).filter(|block| written(*block)) {
            file.write_all_at(&[1; BLOCK as usize], block * BLOCK).unwrap();
        }
        if cached_pages(&file, 0..BLOCK) != Some(1) {
            // The system does not tell.
            return;
        }
        let mut blocks = CachedBlocks::new(&file);
        for block in (0..400).chain((0..400).rev()) {
            assert_eq!(blocks.contains(block), written(block), "{block}");
        }
    }
}
