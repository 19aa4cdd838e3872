//! Reading a packed sequence.
//! [`PackedSequence::place`] looks up in the directory where a block is, so that whoever reads many values can announce
//! them first. None means that the bytes cannot be a sequence; a value that is merely wrong is the caller's to notice.

use super::bits::{low_mask, word_at};
use super::eights::{Eights, WIDTH_OF_PAIRS};
#[cfg(target_arch = "x86_64")]
use super::eights_avx2::read_wide;
use super::entry::{self, EntryBytes, EntryPlan, set_start};
use super::{
    BLOCK, BLOCKS_PER_ENTRY, ENTRY_LENGTH, READ_TOGETHER, TAIL_LENGTH, VALUES_PER_ENTRY,
    directory_length, least_length,
};
#[cfg(target_arch = "x86_64")]
use fearless_simd::Level;
use std::ops::Range;

/// A sequence of integers below 2^48 in the bytes of a section.
#[derive(Clone, Copy, Debug)]
pub struct PackedSequence<'a> {
    bytes: &'a [u8],
    count: u64,
    blocks_at: usize,
    /// What the processor can do.
    #[cfg(target_arch = "x86_64")]
    level: Level,
}

/// A block as the directory has it: where its differences are, how wide, and what they are added to. It may be anywhere,
/// and is nowhere where that makes no sense.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(super) start: usize,
    pub(super) base: u64,
    pub(super) width: u32,
}

impl Place {
    /// Where no block can be.
    pub const NOWHERE: Place = Place { start: usize::MAX / 16, base: 0, width: 0 };

    /// Where the bytes of one of its values begin. As many as a word are read from there on.
    #[inline(always)]
    pub fn value_at(&self, index: u64) -> usize {
        self.start + self.bit_of(index) / 8
    }

    /// A number that no value exceeds.
    #[inline(always)]
    pub(super) fn bound(&self) -> u64 {
        self.base + low_mask(self.width)
    }

    /// Bytes that so many of its values take.
    #[inline(always)]
    pub fn length_of(&self, values: usize) -> usize {
        values.saturating_mul(self.width as usize) / 8
    }

    #[inline(always)]
    pub(super) fn bit_of(&self, index: u64) -> usize {
        (index % BLOCK) as usize * self.width as usize
    }
}

impl<'a> PackedSequence<'a> {
    /// A sequence of `count` values; None if the bytes are fewer than even an empty one's.
    pub fn new(bytes: &'a [u8], count: u64) -> Option<Self> {
        let is_long_enough = bytes.len() as u64 >= least_length(count);
        let blocks_at = directory_length(count) as usize;
        is_long_enough.then(|| PackedSequence {
            bytes,
            count,
            blocks_at,
            #[cfg(target_arch = "x86_64")]
            level: Level::new(),
        })
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
    pub fn block_bytes(&self, block: u64) -> Option<Range<usize>> {
        let entry = self.entry(block / BLOCKS_PER_ENTRY)?;
        let at = self.blocks_at + entry::start(entry) as usize;
        let (start, end) = entry::borders(entry, block as usize);
        Some(at + start as usize..at + end as usize)
    }

    #[inline(always)]
    fn entry(&self, entry: u64) -> Option<&'a EntryBytes> {
        self.bytes.get((entry * ENTRY_LENGTH) as usize..)?.first_chunk()
    }

    /// Where the block is that holds the value at an index.
    #[inline(always)]
    pub fn place(&self, index: u64) -> Place {
        let Some(entry) = self.entry(index / VALUES_PER_ENTRY) else { return Place::NOWHERE };
        entry::place(entry, (index / BLOCK) as usize, self.blocks_at)
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
        let bits = word_at(self.bytes, place.value_at(index))? >> (place.bit_of(index) % 8);
        Some(place.base + (bits & low_mask(place.width)))
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
        let (bit, mask) = (place.bit_of(index), low_mask(place.width));
        let bits = word_at(self.bytes, place.start + bit / 8)? >> (bit % 8);
        let value = place.base + (bits & mask);
        if next % BLOCK == 0 {
            return Some((value, self.get(next)?));
        }
        if place.width as usize <= WIDTH_OF_PAIRS {
            return Some((value, place.base + (bits >> place.width & mask)));
        }
        Some((value, self.get_in(place, next)?))
    }

    /// Reads the values from an index on and tells a number that none of them exceeds; None if there are not that many or the
    /// bytes cannot be a sequence.
    #[inline]
    pub fn read_into(&self, first: u64, into: &mut [i64]) -> Option<u64> {
        self.read_into_from(self.place(first), first, into.len(), into)
    }

    /// The same for some values, if it was asked before where the first block is. `into` may be longer than that: what it has
    /// behind the values may be written to.
    #[inline(always)]
    pub fn read_into_from(
        &self,
        place: Place,
        first: u64,
        count: usize,
        into: &mut [i64],
    ) -> Option<u64> {
        if self.count.checked_sub(first)? < count as u64 || into.len() < count {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.level.as_avx2() {
            return read_wide(avx2, self, place, first, count, into);
        }
        self.read_portably(place, first, count, into)
    }

    /// The same with the instructions that every processor has.
    #[inline(always)]
    pub(super) fn read_portably(
        &self,
        place: Place,
        first: u64,
        count: usize,
        into: &mut [i64],
    ) -> Option<u64> {
        self.in_blocks(place, first, count, |place, index, range| {
            let eights = Eights::new(place.bit_of(index), place);
            self.by_eights(place, index, range, into, |from, into| eights.read(from, into))?;
            Some(place.bound())
        })
    }

    /// Goes through the blocks of some values with what reads some of one block and tells a number that none of them exceeds.
    #[inline(always)]
    pub(super) fn in_blocks(
        &self,
        mut place: Place,
        first: u64,
        count: usize,
        mut read_block: impl FnMut(Place, u64, Range<usize>) -> Option<u64>,
    ) -> Option<u64> {
        let (mut index, mut done, mut bound) = (first, 0, 0);
        while done < count {
            let end = count.min(done + (BLOCK - index % BLOCK) as usize);
            bound = read_block(place, index, done..end)?.max(bound);
            index += (end - done) as u64;
            done = end;
            if done < count {
                place = self.place(index);
            }
        }
        Some(bound)
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

    /// Hands `read` the bytes of values of one block, from an index on, and where they go in a slice. They are read by eights,
    /// so that lists of many lengths take the same way through this code; the last eight may reach into the next list.
    #[inline(always)]
    pub(super) fn by_eights(
        &self,
        place: Place,
        index: u64,
        range: Range<usize>,
        into: &mut [i64],
        mut read: impl FnMut(&[u8; TAIL_LENGTH as usize], &mut [i64; READ_TOGETHER]),
    ) -> Option<()> {
        // Eight values of so many bits take as many bytes.
        let (count, step) = (range.len().div_ceil(READ_TOGETHER), place.width as usize);
        let bytes = self.bytes.get(place.value_at(index)..)?;
        let bytes = bytes.get(..count.saturating_sub(1) * step + TAIL_LENGTH as usize)?;
        let (eights, _) = into[range.start..].as_chunks_mut();
        let whole = eights.len().min(count);
        for (number, into) in eights[..whole].iter_mut().enumerate() {
            read(bytes.get(number * step..)?.first_chunk()?, into);
        }
        if whole < count {
            let mut values = [0; READ_TOGETHER];
            read(bytes.get(whole * step..)?.first_chunk()?, &mut values);
            let rest = &mut into[range.start + whole * READ_TOGETHER..range.end];
            rest.copy_from_slice(&values[..rest.len()]);
        }
        Some(())
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
                if self.read_into(block * BLOCK, &mut stored[..count]).is_none() {
                    return Err(block);
                }
                values.extend(stored[..count].iter().map(|&value| value as u64));
            }
            let plan = EntryPlan::of(&values).map_err(|_| first)?;
            let mut entry = plan.encode();
            set_start(&mut entry, (start - self.blocks_at) as u64);
            if self.entry(first / BLOCKS_PER_ENTRY) != Some(&entry) {
                return Err(first);
            }
            let planned = plan.blocks().iter().zip(values.chunks(BLOCK as usize));
            for (block, (planned, values)) in of_entry.zip(planned) {
                again.clear();
                planned.append(values, &mut again);
                let bytes = start..start + again.len();
                start = bytes.end;
                if self.bytes.get(bytes) != Some(&again) || !check(block * BLOCK, values) {
                    return Err(block);
                }
            }
        }
        Ok(())
    }
}
