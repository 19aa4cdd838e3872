//! Reading a packed sequence.
//! [`PackedSequence::block`] looks a block up in the directory, [`Block`] reads values of it; whoever reads many values of
//! one block keeps it. None means that the bytes cannot be a sequence; a value that is merely wrong is the caller's
//! to notice.

use super::bits::{Counts, bits_at, low_mask, word_at, words_at};
use super::block::Plan;
use super::{
    BLOCK, BLOCKS_PER_ENTRY, DESCRIPTION_BITS, END_BITS, ENDS_AT, ENTRY_LENGTH, TAIL_LENGTH,
    TURN_BITS, VALUE_BITS, VALUES_PER_ENTRY, WORDS, directory_length, least_length,
};
use std::hint::select_unpredictable;
use std::ops::Range;

/// A sequence of integers below 2^48 in the bytes of a section.
#[derive(Clone, Copy, Debug)]
pub struct PackedSequence<'a> {
    bytes: &'a [u8],
    count: u64,
    blocks_at: usize,
}

/// A block of a sequence: its high parts, and where its low parts are.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    bytes: &'a [u8],
    count: usize,
    base: u64,
    value_bits: u32,
    low_bits: u32,
    /// The first bits of the block; of them those that are no high parts are zeros, except low parts behind all others.
    words: [u64; WORDS],
    /// Where in the words the high parts begin.
    high_at: usize,
    /// Where in the bytes the low parts begin, as a bit.
    low_at: usize,
}

impl<'a> PackedSequence<'a> {
    /// A sequence of `count` values; None if the bytes are fewer than even an empty one's.
    pub fn new(bytes: &'a [u8], count: u64) -> Option<Self> {
        let is_long_enough = bytes.len() as u64 >= least_length(count);
        let blocks_at = directory_length(count) as usize;
        is_long_enough.then_some(PackedSequence { bytes, count, blocks_at })
    }

    /// Number of values.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        self.count.div_ceil(BLOCK)
    }

    /// All bytes, the directory first.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the entry of the directory that a value needs begins among the bytes.
    #[inline]
    pub fn entry_at(&self, index: u64) -> usize {
        (index / VALUES_PER_ENTRY * ENTRY_LENGTH) as usize
    }

    /// The bytes that a block takes, as the directory has it; they may lie anywhere.
    #[inline(always)]
    pub fn block_bytes(&self, block: u64) -> Option<Range<usize>> {
        let entry = (block / BLOCKS_PER_ENTRY * ENTRY_LENGTH) as usize;
        let place = (block % BLOCKS_PER_ENTRY) as usize;
        let mask = low_mask(END_BITS as u32) as usize;
        let first = (word_at(self.bytes, entry)? & low_mask(ENDS_AT as u32)) as usize;
        // Two ends, from a word that lies within the entry, which lies within a line of the cache.
        let bit = ENDS_AT + place * END_BITS - END_BITS;
        let byte = (bit / 8).min(ENTRY_LENGTH as usize - 8);
        let ends = (word_at(self.bytes, entry + byte)? >> (bit - byte * 8)) as usize;
        // What is before the first end is no end.
        let start = if place == 0 { 0 } else { ends & mask };
        let at = self.blocks_at + first;
        Some(at + start..at + (ends >> END_BITS & mask))
    }

    /// A block, for reading values of it.
    #[inline(always)]
    pub fn block(&self, block: u64) -> Option<Block<'a>> {
        self.block_within(block, self.block_bytes(block)?)
    }

    /// A block whose bytes were asked for before.
    #[inline(always)]
    pub fn block_within(&self, block: u64, bytes: Range<usize>) -> Option<Block<'a>> {
        let count = self.count.checked_sub(block * BLOCK)?.min(BLOCK) as usize;
        let Range { start, end } = bytes;
        let mut words = words_at(self.bytes, start)?;
        let description = words[0];
        let low_bits = (description & 63) as u32;
        let value_bits = (description >> 6 & 63) as u32;
        let high_at = (DESCRIPTION_BITS + value_bits) as usize;
        let low_at = (end * 8).checked_sub(count * low_bits as usize)?;
        if value_bits > VALUE_BITS || low_bits > VALUE_BITS + TURN_BITS || end < start {
            return None;
        }
        words[0] = description >> high_at << high_at;
        let base = description >> DESCRIPTION_BITS & low_mask(value_bits);
        let bytes = self.bytes;
        Some(Block { bytes, count, base, value_bits, low_bits, words, high_at, low_at })
    }

    /// The value at an index; None past the end, or if the bytes cannot be a sequence.
    #[inline]
    pub fn get(&self, index: u64) -> Option<u64> {
        if index >= self.count {
            return None;
        }
        self.block(index / BLOCK)?.get((index % BLOCK) as usize)
    }

    /// The value at an index and the one after it.
    #[inline(always)]
    pub fn pair(&self, index: u64) -> Option<(u64, u64)> {
        if index.checked_add(1)? >= self.count {
            return None;
        }
        let place = (index % BLOCK) as usize;
        let block = self.block(index / BLOCK)?;
        if place as u64 == BLOCK - 1 {
            return Some((block.get(place)?, self.block(index / BLOCK + 1)?.get(0)?));
        }
        block.pair(place)
    }

    /// Hands out the values of a range in order; false if there are not that many or the bytes cannot be a sequence.
    #[inline(always)]
    pub fn read(&self, range: Range<u64>, mut take: impl FnMut(u64)) -> bool {
        if range.end > self.count {
            return false;
        }
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at / BLOCK + 1) * BLOCK);
            let Some(block) = self.block(at / BLOCK) else { return false };
            let places = (at % BLOCK) as usize..(at % BLOCK + end - at) as usize;
            if !block.read(places, &mut take) {
                return false;
            }
            at = end;
        }
        true
    }

    /// The first block that does not stand as the encoder writes it: in its place, with no bit that means nothing.
    /// The number of blocks, if what is wrong is what follows the last.
    pub fn first_bad_block(&self) -> Option<u64> {
        self.first_bad_block_of(0..self.blocks(), |_, _| true).err().or_else(|| {
            let end = match self.blocks() {
                0 => Some(self.blocks_at),
                blocks => self.block_bytes(blocks - 1).map(|range| range.end),
            };
            let tail = end.and_then(|end| self.bytes.get(end..));
            let is_whole = tail.is_some_and(|tail| {
                tail.len() as u64 == TAIL_LENGTH && tail.iter().all(|&byte| byte == 0)
            });
            (!is_whole).then_some(self.blocks())
        })
    }

    /// Reads some blocks and checks each against what the encoder makes of its values, then hands them with the index of
    /// the first to `check`; fails with the number of the first block that is not right.
    pub fn first_bad_block_of(
        &self,
        blocks: Range<u64>,
        mut check: impl FnMut(u64, &[u64]) -> bool,
    ) -> Result<(), u64> {
        let mut values = Vec::with_capacity(BLOCK as usize);
        for block in blocks {
            values.clear();
            let is_right = || -> Option<bool> {
                let bytes = self.block_bytes(block)?;
                let before = match block.checked_sub(1) {
                    Some(before) => self.block_bytes(before)?.end,
                    None => self.blocks_at,
                };
                if bytes.start != before || !self.unused_ends_are_zero(block) {
                    return Some(false);
                }
                let found = self.block(block)?;
                if !found.read(0..found.count, |value| values.push(value)) {
                    return Some(false);
                }
                let plan = Plan::of(&values)?;
                if plan.length(values.len()) != bytes.len() {
                    return Some(false);
                }
                let mut again = vec![0; bytes.len() + TAIL_LENGTH as usize];
                plan.write(&values, &mut again);
                Some(self.bytes.get(bytes.clone())? == &again[..bytes.len()])
            };
            let is_right = { is_right }().unwrap_or(false);
            if !is_right || !check(block * BLOCK, &values) {
                return Err(block);
            }
        }
        Ok(())
    }

    /// Whether the entry of the last block says nothing about blocks that are not there.
    fn unused_ends_are_zero(&self, block: u64) -> bool {
        let used = (block % BLOCKS_PER_ENTRY + 1) as usize;
        if block + 1 < self.blocks() || used == BLOCKS_PER_ENTRY as usize {
            return true;
        }
        let entry = self.entry_at(block * BLOCK);
        (used..BLOCKS_PER_ENTRY as usize).all(|place| {
            let end = bits_at(self.bytes, entry * 8 + ENDS_AT + place * END_BITS);
            end.is_some_and(|end| end & low_mask(END_BITS as u32) == 0)
        })
    }
}

impl Block<'_> {
    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none, which no block is.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The value at a place.
    #[inline(always)]
    pub fn get(&self, place: usize) -> Option<u64> {
        self.value(place, self.select(place)?)
    }

    /// The value at a place and the one after it.
    #[inline(always)]
    fn pair(&self, place: usize) -> Option<(u64, u64)> {
        let bit = self.select(place)?;
        // Mostly the next one is in the same word.
        let rest = self.word(bit / 64) & (u64::MAX - 1) << (bit % 64);
        let next = match rest {
            0 => self.select(place + 1)?,
            rest => bit / 64 * 64 + rest.trailing_zeros() as usize,
        };
        Some((self.value(place, bit)?, self.value(place + 1, next)?))
    }

    /// Hands out the values of some places in order; false if the bytes cannot be a block.
    #[inline(always)]
    pub fn read(&self, places: Range<usize>, mut take: impl FnMut(u64)) -> bool {
        if places.is_empty() {
            return true;
        }
        if places.end > self.count {
            return false;
        }
        let Some(bit) = self.select(places.start) else { return false };
        let mut word = bit / 64;
        // The first one is still in it.
        let mut rest = self.word(word) & u64::MAX << (bit % 64);
        for place in places {
            while rest == 0 {
                word += 1;
                let Some(&next) = self.words.get(word) else { return false };
                rest = next;
            }
            let bit = word * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let Some(value) = self.value(place, bit) else { return false };
            take(value);
        }
        true
    }

    /// A word of the high parts.
    #[inline(always)]
    fn word(&self, number: usize) -> u64 {
        self.words.get(number).copied().unwrap_or_default()
    }

    /// The bit of the words at which the high part of a place ends.
    #[inline(always)]
    fn select(&self, place: usize) -> Option<usize> {
        let number = place as u64;
        // Not by a closure: one that is not inlined is compiled without the processor's instruction for it.
        let first = u64::from(self.words[0].count_ones());
        let second = u64::from(self.words[1].count_ones());
        let third = u64::from(self.words[2].count_ones());
        if place >= self.count || number >= first + second + third {
            return None;
        }
        // Which word it is cannot be predicted.
        let (is_later, is_last) = (number >= first, number >= first + second);
        let (word, before) =
            select_unpredictable(is_later, (self.words[1], first), (self.words[0], 0));
        let (word, before) =
            select_unpredictable(is_last, (self.words[2], first + second), (word, before));
        let start = 64 * (usize::from(is_later) + usize::from(is_last));
        Some(start + Counts::of(word).select(word, number - before) as usize)
    }

    /// The value at a place whose high part ends at a bit of the words.
    #[inline(always)]
    fn value(&self, place: usize, bit: usize) -> Option<u64> {
        let high = (bit - self.high_at).wrapping_sub(place) as u64;
        let low = bits_at(self.bytes, self.low_at + place * self.low_bits as usize)?;
        let whole = high << self.low_bits | low & low_mask(self.low_bits);
        Some(whole.wrapping_add(self.base) & low_mask(self.value_bits))
    }
}
