//! Sorted keys that can be searched quickly.
//! Over the keys lie levels of every sixteenth of the level below, so that a search looks at two
//! lines of cache on each level; many searches go down together, and wait for memory together. It
//! must not know what keys stand for.

use super::scratch_array::ScratchArray;
use crate::Result;

/// Keys of a block; a block has one key in the level above.
const BLOCK: usize = 16;
/// Searches that go down together.
pub(super) const GROUP: usize = 64;
/// No key is as large as this, which fills up the last block of a level.
pub(super) const NO_KEY: u64 = u64::MAX;

/// Keys below [`NO_KEY`], ascending and distinct.
#[derive(Debug)]
pub(super) struct KeyTree {
    /// The first level has at most one block, the last one all keys.
    levels: Vec<Vec<[u64; BLOCK]>>,
    count: usize,
}

impl KeyTree {
    /// Bytes of a tree of so many keys.
    pub(super) fn memory(count: u64) -> u64 {
        let mut blocks = count.div_ceil(BLOCK as u64).max(1);
        let mut bytes = 0_u64;
        loop {
            bytes = bytes.saturating_add(blocks.saturating_mul((BLOCK * size_of::<u64>()) as u64));
            if blocks == 1 {
                return bytes;
            }
            blocks = blocks.div_ceil(BLOCK as u64);
        }
    }

    /// Every `step`-th of the keys in a file. Somebody has reserved [`memory`](Self::memory).
    pub(super) fn load(keys: &ScratchArray<u64>, step: usize) -> Result<Self> {
        let count = keys.count().div_ceil(step as u64) as usize;
        let mut level = Vec::with_capacity(count.div_ceil(BLOCK).max(1));
        let mut reader = keys.reader();
        let mut taken = 0;
        // Keys to pass over before the next that is wanted.
        let mut skip = 0;
        loop {
            let piece = reader.next_piece()?;
            if piece.is_empty() {
                break;
            }
            while let Some(&key) = piece.get(skip) {
                if taken % BLOCK == 0 {
                    level.push([NO_KEY; BLOCK]);
                }
                level[taken / BLOCK][taken % BLOCK] = key;
                taken += 1;
                skip += step;
            }
            skip -= piece.len();
        }
        if level.is_empty() {
            level.push([NO_KEY; BLOCK]);
        }
        let mut levels = vec![level];
        while levels[0].len() > 1 {
            let below = &levels[0];
            let mut level = Vec::with_capacity(below.len().div_ceil(BLOCK));
            for blocks in below.chunks(BLOCK) {
                let mut block = [NO_KEY; BLOCK];
                for (key, below) in block.iter_mut().zip(blocks) {
                    *key = below[0];
                }
                level.push(block);
            }
            levels.insert(0, level);
        }
        Ok(KeyTree { levels, count: taken })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The key at a place.
    #[inline]
    pub(super) fn key(&self, place: usize) -> u64 {
        self.levels[self.levels.len() - 1][place / BLOCK][place % BLOCK]
    }

    /// For each of up to [`GROUP`] keys the place of the last key that is not larger; 0 also for
    /// those that are smaller than all.
    #[inline]
    pub(super) fn places(&self, keys: &[u64], places: &mut [usize; GROUP]) {
        places.fill(0);
        for level in &self.levels {
            for (place, &key) in places.iter_mut().zip(keys) {
                // What fills up blocks is larger than every key that is searched.
                let key = key.min(NO_KEY - 1);
                let block = &level[*place];
                // Without a branch, since none could be foretold. If all keys of the block are
                // larger it stays at the first, which happens on the left edge of the tree only.
                let mut within = 0;
                for step in [8, 4, 2, 1] {
                    within += step * usize::from(block[(within + step) % BLOCK] <= key);
                }
                *place = *place * BLOCK + within;
            }
        }
    }
}
