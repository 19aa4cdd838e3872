//! Reading a packed sequence.
//! [`PackedSequence::place`] looks up in the directory where a block is, so that whoever reads many values can announce
//! them first. None means that the bytes cannot be a sequence; a value that is merely wrong is the caller's to notice.

use super::bits::{bits_at, low_mask, word_at};
use super::encode::EntryPlan;
use super::{
    BASE_LENGTH_BITS, BLOCK, BLOCKS_PER_ENTRY, BYTES_PER_BIT, END_BITS, ENDS_AT, ENTRY_LENGTH,
    START_BITS, TAIL_LENGTH, VALUE_BITS, VALUES_PER_ENTRY, directory_length, least_length,
};
use std::ops::Range;

/// Bits of a difference if two of them lie within a word that begins with a byte.
const WIDTH_OF_PAIRS: u32 = 28;

/// A sequence of integers below 2^48 in the bytes of a section.
#[derive(Clone, Copy, Debug)]
pub struct PackedSequence<'a> {
    bytes: &'a [u8],
    count: u64,
    blocks_at: usize,
}

/// Where a block is, as the directory has it; that may be anywhere, and nowhere where it makes no sense.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    start: usize,
    base_length: u32,
    width: u32,
}

impl Place {
    /// Where no block can be.
    pub const NOWHERE: Place = Place { start: usize::MAX / 16, base_length: 0, width: 0 };

    /// Where the bytes of the block begin.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Where the bytes of one of its values begin.
    #[inline(always)]
    pub fn value_at(&self, index: u64) -> usize {
        self.bit_of(index) / 8
    }

    #[inline(always)]
    fn bit_of(&self, index: u64) -> usize {
        self.differences_at() * 8 + (index % BLOCK) as usize * self.width as usize
    }

    #[inline(always)]
    fn differences_at(&self) -> usize {
        self.start + self.base_length as usize
    }
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
        self.look_up(block).map(|(_, bytes)| bytes)
    }

    /// The bytes of the base of a block, and all bytes of the block.
    #[inline(always)]
    fn look_up(&self, block: u64) -> Option<(u32, Range<usize>)> {
        let entry = (block / BLOCKS_PER_ENTRY * ENTRY_LENGTH) as usize;
        let place = (block % BLOCKS_PER_ENTRY) as usize;
        let mask = low_mask(END_BITS as u32) as usize;
        let first = word_at(self.bytes, entry)?;
        let base_length = (first >> START_BITS & low_mask(BASE_LENGTH_BITS)) as u32;
        // Two ends, from a word that lies within the entry, which lies within a line of the cache.
        let bit = ENDS_AT + place * END_BITS - END_BITS;
        let byte = (bit / 8).min(ENTRY_LENGTH as usize - 8);
        let ends = (word_at(self.bytes, entry + byte)? >> (bit - byte * 8)) as usize;
        // What is before the first end is no end.
        let start = if place == 0 { 0 } else { ends & mask };
        let at = self.blocks_at + (first & low_mask(START_BITS)) as usize;
        Some((base_length, at + start..at + (ends >> END_BITS & mask)))
    }

    /// Where the block is that holds the value at an index.
    #[inline(always)]
    pub fn place(&self, index: u64) -> Place {
        let Some((base_length, bytes)) = self.look_up(index / BLOCK) else { return Place::NOWHERE };
        // An end before its start makes a huge number of this.
        let differences = bytes.end.wrapping_sub(bytes.start).wrapping_sub(base_length as usize);
        if differences > VALUE_BITS as usize * BYTES_PER_BIT {
            return Place::NOWHERE;
        }
        let width = (differences / BYTES_PER_BIT) as u32;
        Place { start: bytes.start, base_length, width }
    }

    /// The value at an index; None past the end, or if the bytes cannot be a sequence.
    #[inline(always)]
    pub fn get(&self, index: u64) -> Option<u64> {
        if index >= self.count {
            return None;
        }
        self.get_in(self.place(index), index)
    }

    /// The value at an index of the block at a place; None if it cannot be there.
    #[inline(always)]
    pub fn get_in(&self, place: Place, index: u64) -> Option<u64> {
        let base = word_at(self.bytes, place.start)? & low_mask(place.base_length * 8);
        let difference = bits_at(self.bytes, place.bit_of(index))? & low_mask(place.width);
        Some(base + difference)
    }

    /// The value at an index and the one after it.
    #[inline(always)]
    pub fn pair(&self, index: u64) -> Option<(u64, u64)> {
        self.pair_in(self.place(index), index)
    }

    /// The value at an index of the block at a place, and the one after it, which may be in the next block.
    #[inline(always)]
    pub fn pair_in(&self, place: Place, index: u64) -> Option<(u64, u64)> {
        let next = index.checked_add(1)?;
        if next >= self.count {
            return None;
        }
        let value = self.get_in(place, index)?;
        let next = if next % BLOCK == 0 { self.get(next)? } else { self.get_in(place, next)? };
        Some((value, next))
    }

    /// Reads the values from an index on and tells the largest of them; None if there are not that many or the bytes cannot be
    /// a sequence.
    #[inline]
    pub fn read_into(&self, first: u64, into: &mut [i64]) -> Option<u64> {
        self.read_into_from(self.place(first), first, into)
    }

    /// The same, if it was asked before where the first block is.
    #[inline(always)]
    pub fn read_into_from(&self, place: Place, first: u64, into: &mut [i64]) -> Option<u64> {
        if self.count.checked_sub(first)? < into.len() as u64 {
            return None;
        }
        if into.is_empty() {
            return Some(0);
        }
        let of_first = into.len().min((BLOCK - first % BLOCK) as usize);
        let (values, rest) = into.split_at_mut(of_first);
        let mut largest = self.read_block(place, first, values)?;
        let mut index = first + of_first as u64;
        for values in rest.chunks_mut(BLOCK as usize) {
            largest = self.read_block(self.place(index), index, values)?.max(largest);
            index += BLOCK;
        }
        Some(largest)
    }

    /// Hands out the values of a range in order; false if there are not that many or the bytes cannot be a sequence.
    pub fn read(&self, range: Range<u64>, mut take: impl FnMut(u64)) -> bool {
        let mut first = range.start;
        while first < range.end {
            let mut values = [0; BLOCK as usize];
            let count = (range.end - first).min(BLOCK - first % BLOCK);
            let values = &mut values[..count as usize];
            if self.read_into(first, values).is_none() {
                return false;
            }
            values.iter().for_each(|&value| take(value as u64));
            first += count;
        }
        true
    }

    /// Reads values of one block and tells the largest of them.
    #[inline(always)]
    fn read_block(&self, place: Place, index: u64, values: &mut [i64]) -> Option<u64> {
        let (width, mask) = (place.width as usize, low_mask(place.width));
        let base = word_at(self.bytes, place.start)? & low_mask(place.base_length * 8);
        let first = place.differences_at();
        let end = first + width * BYTES_PER_BIT + TAIL_LENGTH as usize;
        let differences = self.bytes.get(first..end)?;
        let (mut bit, mut largest) = ((index % BLOCK) as usize * width, 0);
        let mut take = |value: &mut i64, bits: u64| {
            let difference = bits & mask;
            largest = difference.max(largest);
            *value = (base + difference) as i64;
        };
        let mut singles = values;
        if place.width <= WIDTH_OF_PAIRS {
            let (pairs, rest) = singles.as_chunks_mut();
            for [one, other] in pairs {
                let both = bits_at(differences, bit)?;
                take(one, both);
                take(other, both >> width);
                bit += 2 * width;
            }
            singles = rest;
        }
        for value in singles {
            take(value, bits_at(differences, bit)?);
            bit += width;
        }
        Some(base + largest)
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

    /// Reads the blocks of some entries and checks each against what the encoder makes of its values, then hands them with
    /// the index of the first to `check`; fails with the number of the first block that is not right.
    pub fn first_bad_block_of(
        &self,
        blocks: Range<u64>,
        mut check: impl FnMut(u64, &[u64]) -> bool,
    ) -> Result<(), u64> {
        debug_assert!(blocks.start.is_multiple_of(BLOCKS_PER_ENTRY));
        let mut start = match blocks.start.checked_sub(1) {
            Some(before) => self.block_bytes(before).ok_or(blocks.start)?.end,
            None => self.blocks_at,
        };
        let (mut values, mut again) = (Vec::new(), Vec::new());
        for first in blocks.clone().step_by(BLOCKS_PER_ENTRY as usize) {
            let of_entry = first..blocks.end.min(first + BLOCKS_PER_ENTRY);
            values.clear();
            for block in of_entry.clone() {
                let count = (self.count - block * BLOCK).min(BLOCK) as usize;
                let mut stored = [0; BLOCK as usize];
                self.read_into(block * BLOCK, &mut stored[..count]).ok_or(block)?;
                values.extend(stored[..count].iter().map(|&value| value as u64));
            }
            let plan = EntryPlan::of(&values).map_err(|_| first)?;
            let planned = plan.blocks().iter().zip(values.chunks(BLOCK as usize));
            for (block, (planned, values)) in of_entry.clone().zip(planned) {
                again.clear();
                planned.append(values, plan.base_length, &mut again);
                let bytes = start..start + again.len();
                start = bytes.end;
                let found = self.look_up(block).ok_or(block)?;
                if found != (plan.base_length as u32, bytes.clone())
                    || self.bytes.get(bytes) != Some(&again)
                    || !check(block * BLOCK, values)
                {
                    return Err(block);
                }
            }
            if !self.unused_ends_are_zero(of_entry.end - 1) {
                return Err(of_entry.end - 1);
            }
        }
        Ok(())
    }

    /// Whether the entry of the last block says nothing about blocks that are not there.
    fn unused_ends_are_zero(&self, block: u64) -> bool {
        let used = (block % BLOCKS_PER_ENTRY + 1) as usize;
        if block + 1 < self.blocks() {
            return true;
        }
        let entry = self.entry_at(block * BLOCK);
        (used..BLOCKS_PER_ENTRY as usize).all(|place| {
            let end = bits_at(self.bytes, entry * 8 + ENDS_AT + place * END_BITS);
            end.is_some_and(|end| end & low_mask(END_BITS as u32) == 0)
        })
    }
}
