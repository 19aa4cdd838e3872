//! An entry of the directory: where sixteen blocks are, how wide their differences are, and what these are added to.
//! An entry fills a line of the cache and tells all of that at once, so that of a block itself nothing is read but the
//! difference that is wanted. Bases have fewer bits than values: they count from the least value of the entry, in steps of
//! a power of two, and a base that was rounded down makes the differences a little larger.

use super::bits::low_mask;
use super::{
    BLOCK, BLOCKS_PER_ENTRY, BYTES_PER_BIT, ENTRY_LENGTH, Place, VALUE_BITS, VALUES_PER_ENTRY,
};
use crate::{Error, Result};

/// Bits that tell where the first block begins after the directory, in words of four bytes.
const START_BITS: u32 = 45;
/// Bits that tell by how many bits bases are shifted.
const SHIFT_BITS: u32 = 6;
/// Where blocks are told: of each where it begins after the first of them, in words, and its base; behind them where the
/// last ends. So one word holds both borders of a block and its base.
const BLOCKS_AT: usize = (START_BITS + SHIFT_BITS) as usize;
const BORDER_BITS: usize = 10;
const BASE_BITS: usize = 15;
const BLOCK_BITS: usize = BORDER_BITS + BASE_BITS;
/// The least value of all.
const LEAST_AT: usize = BLOCKS_AT + BLOCKS_PER_ENTRY as usize * BLOCK_BITS + BORDER_BITS;

/// Bytes that the blocks of an entry take at most, whatever it says.
pub const MOST_OF_ENTRY: u64 = (BYTES_PER_BIT as u64) << BORDER_BITS;

/// An entry as it is stored.
pub(super) type EntryBytes = [u8; ENTRY_LENGTH as usize];

/// The word from a byte of an entry on.
#[inline(always)]
fn word(entry: &EntryBytes, byte: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&entry[byte..byte + 8]);
    u64::from_le_bytes(word)
}

/// The bits of an entry from what it tells of a block on.
#[inline(always)]
fn told(entry: &EntryBytes, block: usize) -> u64 {
    let bit = BLOCKS_AT + block % BLOCKS_PER_ENTRY as usize * BLOCK_BITS;
    word(entry, bit / 8) >> (bit % 8)
}

/// Where the first block of an entry begins after the directory, in bytes.
#[inline(always)]
pub(super) fn start(entry: &EntryBytes) -> u64 {
    (word(entry, 0) & low_mask(START_BITS)) * BYTES_PER_BIT as u64
}

/// Says where the first block of an entry begins after the directory, in bytes; a whole number of words.
pub(super) fn set_start(entry: &mut EntryBytes, start: u64) {
    let rest = word(entry, 0) & !low_mask(START_BITS);
    entry[..8].copy_from_slice(&(rest | (start / BYTES_PER_BIT as u64)).to_le_bytes());
}

/// Where a block, by its number in the sequence, begins and ends after the first of its entry, in bytes.
#[inline(always)]
pub(super) fn borders(entry: &EntryBytes, block: usize) -> (u64, u64) {
    borders_in(told(entry, block))
}

#[inline(always)]
fn borders_in(told: u64) -> (u64, u64) {
    let bytes = |words: u64| (words & low_mask(BORDER_BITS as u32)) * BYTES_PER_BIT as u64;
    (bytes(told), bytes(told >> BLOCK_BITS))
}

/// Where a block, by its number in the sequence, is, if the blocks of all entries begin at a byte of it.
#[inline(always)]
pub(super) fn place(entry: &EntryBytes, block: usize, blocks_at: usize) -> Place {
    let told = told(entry, block);
    let (first, end) = borders_in(told);
    let width = end.wrapping_sub(first) / BYTES_PER_BIT as u64;
    if width > u64::from(VALUE_BITS) {
        return Place::NOWHERE;
    }
    let steps = told >> BORDER_BITS & low_mask(BASE_BITS as u32);
    let shift = word(entry, 0) >> START_BITS & low_mask(SHIFT_BITS);
    // The word ends with the entry.
    let least_at = ENTRY_LENGTH as usize - 8;
    let least = word(entry, least_at) >> (LEAST_AT - least_at * 8) & low_mask(VALUE_BITS);
    Place {
        start: blocks_at + (start(entry) + first) as usize,
        // Of 50 bits at most with a difference, so sums of any bytes stay below 2^63.
        base: least + ((steps << shift) & low_mask(VALUE_BITS)),
        width: width as u32,
    }
}

/// How a block is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockPlan {
    /// What differences are added to.
    pub(super) base: u64,
    /// Bits that hold any of the differences.
    pub(super) width: u32,
}

/// How the values of an entry are stored.
#[derive(Debug)]
pub(super) struct EntryPlan {
    least: u64,
    shift: u32,
    blocks: [BlockPlan; BLOCKS_PER_ENTRY as usize],
    count: usize,
}

impl EntryPlan {
    /// Plans 1 to 512 values.
    pub(super) fn of(values: &[u64]) -> Result<Self> {
        debug_assert!((1..=VALUES_PER_ENTRY as usize).contains(&values.len()));
        let mut ranges = [(0, 0); BLOCKS_PER_ENTRY as usize];
        let chunks = values.chunks(BLOCK as usize);
        let count = chunks.len();
        for (range, values) in ranges.iter_mut().zip(chunks) {
            let (mut least, mut most) = (u64::MAX, 0);
            for &value in values {
                (least, most) = (least.min(value), most.max(value));
            }
            *range = (least, most);
        }
        let ranges = &ranges[..count];
        let (mut least, mut last, mut most) = (u64::MAX, 0, 0);
        for range in ranges {
            (least, last, most) = (least.min(range.0), last.max(range.0), most.max(range.1));
        }
        if most >> VALUE_BITS != 0 {
            let problem = format!("{most} is not below 2^{VALUE_BITS}");
            return Err(Error::impossible("packed value", problem));
        }
        let shift = bits_of(last - least).saturating_sub(BASE_BITS as u32);
        let mut blocks = [BlockPlan::default(); BLOCKS_PER_ENTRY as usize];
        for (block, &(first, most)) in blocks.iter_mut().zip(ranges) {
            let base = least + ((first - least) >> shift << shift);
            *block = BlockPlan { base, width: bits_of(most - base) };
        }
        Ok(EntryPlan { least, shift, blocks, count })
    }

    /// Its blocks.
    pub(super) fn blocks(&self) -> &[BlockPlan] {
        &self.blocks[..self.count]
    }

    /// Bytes of its blocks.
    pub(super) fn length(&self) -> u64 {
        self.blocks().iter().map(|block| block.length() as u64).sum()
    }

    /// The entry as it is stored, if it is the first.
    pub(super) fn encode(&self) -> EntryBytes {
        let mut entry = [0; ENTRY_LENGTH as usize / 8];
        put(&mut entry, START_BITS as usize, self.shift.into());
        put(&mut entry, LEAST_AT, self.least);
        let mut border = 0;
        for (place, block) in self.blocks().iter().enumerate() {
            let steps = (block.base - self.least) >> self.shift;
            border += u64::from(block.width);
            let at = BLOCKS_AT + place * BLOCK_BITS;
            put(&mut entry, at + BORDER_BITS, steps);
            put(&mut entry, at + BLOCK_BITS, border);
        }
        let mut bytes = [0; ENTRY_LENGTH as usize];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(entry) {
            *bytes = word.to_le_bytes();
        }
        bytes
    }
}

impl BlockPlan {
    /// Bytes of the block.
    pub(super) fn length(&self) -> usize {
        self.width as usize * BYTES_PER_BIT
    }

    /// Adds the block to bytes. Where there are fewer than 32 values, zeros take the place of the others.
    pub(super) fn append(&self, values: &[u64], bytes: &mut Vec<u8>) {
        let end = bytes.len() + self.length();
        let (mut word, mut filled) = (0, 0);
        for value in values {
            let difference = value - self.base;
            word |= difference << filled;
            filled += self.width;
            if filled >= u64::BITS {
                bytes.extend_from_slice(&u64::to_le_bytes(word));
                filled -= u64::BITS;
                // What did not fit any more; nothing if all did.
                word = difference.checked_shr(self.width - filled).unwrap_or(0);
            }
        }
        bytes.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
        bytes.resize(end, 0);
    }
}

/// Writes a number at a bit of an entry, where there are zeros.
fn put(entry: &mut [u64; ENTRY_LENGTH as usize / 8], bit: usize, number: u64) {
    let (at, shift) = (bit / 64, bit % 64);
    entry[at] |= number << shift;
    if let Some(rest) = number.checked_shr(64 - shift as u32)
        && rest != 0
    {
        entry[at + 1] |= rest;
    }
}

/// Bits that a number takes.
fn bits_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

const _: () = assert!(LEAST_AT + VALUE_BITS as usize <= ENTRY_LENGTH as usize * 8);
const _: () = assert!((LEAST_AT - BORDER_BITS - BLOCK_BITS) / 8 + 8 <= ENTRY_LENGTH as usize);
const _: () = assert!(VALUE_BITS as u64 * BLOCKS_PER_ENTRY < 1 << BORDER_BITS);
