//! The two columns of a set of lists as the file has them: plain numbers, or packed sequences.
//! [`Lists`](crate::Lists) asks them by node and by position, and decides what an answer is worth: what a file says may
//! be no offset and no neighbour. Where the bytes come from is unknown here.

use graphmill_disk::{prefetch, with_bit_instructions};
use graphmill_format::packed::{BLOCK, PackedSequence};
use std::ops::Range;

/// Where lists begin and end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offsets<'a> {
    Plain(&'a [u64]),
    Packed(PackedSequence<'a>),
}

impl Offsets<'_> {
    /// Where the list of a node that exists begins and ends; descending if the bytes cannot say.
    #[inline(always)]
    pub(crate) fn pair(&self, node: u64) -> (u64, u64) {
        match self {
            Offsets::Plain(offsets) => (offsets[node as usize], offsets[node as usize + 1]),
            Offsets::Packed(sequence) => sequence.pair(node).unwrap_or((u64::MAX, 0)),
        }
    }

    /// Announces that the list of a node will be asked for; any number may be given.
    #[inline(always)]
    pub(crate) fn prefetch(&self, node: u64) {
        match self {
            Offsets::Plain(offsets) => prefetch(offsets, node as usize),
            Offsets::Packed(sequence) => prefetch_block(sequence, node),
        }
    }
}

/// The concatenated lists as they are stored.
#[derive(Clone, Copy, Debug)]
pub enum Neighbours<'a> {
    /// Fewer than 2^31 nodes.
    I32(&'a [i32]),
    /// Any number of nodes.
    I64(&'a [i64]),
    /// In as few bits as it takes.
    Packed(PackedSequence<'a>),
}

impl Neighbours<'_> {
    /// The id at a position, as it is stored; -1, which no node is, where packed bytes make no sense. Panics past the
    /// end, like a slice.
    pub fn get(&self, position: usize) -> i64 {
        match self {
            Neighbours::I32(ids) => ids[position].into(),
            Neighbours::I64(ids) => ids[position],
            Neighbours::Packed(sequence) => {
                assert!((position as u64) < sequence.len(), "position {position} is past the end");
                sequence.get(position as u64).map_or(-1, |id| id as i64)
            }
        }
    }

    /// Number of stored edges.
    pub fn len(&self) -> usize {
        match self {
            Neighbours::I32(ids) => ids.len(),
            Neighbours::I64(ids) => ids.len(),
            Neighbours::Packed(sequence) => sequence.len() as usize,
        }
    }

    /// Whether there are no edges.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the ids at some positions to a list, as [`get`](Self::get) would give them one by one.
    #[inline]
    pub fn read(&self, positions: &[usize], into: &mut Vec<i64>) {
        match self {
            Neighbours::I32(ids) => into.extend(positions.iter().map(|&at| i64::from(ids[at]))),
            Neighbours::I64(ids) => into.extend(positions.iter().map(|&at| ids[at])),
            Neighbours::Packed(sequence) => {
                with_bit_instructions(|| read_packed(sequence, positions, into));
            }
        }
    }

    /// Adds the ids of a range of positions to a list.
    #[inline]
    pub fn read_range(&self, range: Range<usize>, into: &mut Vec<i64>) {
        match self {
            Neighbours::I32(ids) => into.extend(ids[range].iter().map(|&id| i64::from(id))),
            Neighbours::I64(ids) => into.extend_from_slice(&ids[range]),
            Neighbours::Packed(sequence) => {
                let all = into.len() + range.len();
                let range = range.start as u64..range.end as u64;
                assert!(range.end <= sequence.len(), "position {} is past the end", range.end);
                into.reserve(all - into.len());
                with_bit_instructions(|| sequence.read(range, |id| into.push(id as i64)));
                // A block that ends too early has no ids for the rest.
                into.resize(all, -1);
            }
        }
    }

    /// Announces that ids will be read; any positions may be given.
    #[inline]
    pub fn prefetch(&self, positions: &[usize]) {
        match self {
            Neighbours::I32(ids) => positions.iter().for_each(|&at| prefetch(ids, at)),
            Neighbours::I64(ids) => positions.iter().for_each(|&at| prefetch(ids, at)),
            // Where a block is must be known before it can be announced; that is what reading begins with.
            Neighbours::Packed(sequence) => {
                let mut before = usize::MAX;
                for &position in positions {
                    let entry = sequence.entry_at(position as u64);
                    if entry != before {
                        prefetch(sequence.bytes(), entry);
                    }
                    before = entry;
                }
            }
        }
    }
}

/// Announces the block of a value. Reads the directory, which is so small that caches hold most of it.
#[inline(always)]
pub fn prefetch_block(sequence: &PackedSequence<'_>, index: u64) {
    const LINE: usize = 64;
    if index >= sequence.len() {
        return;
    }
    if let Some(bytes) = sequence.block_bytes(index / BLOCK) {
        prefetch(sequence.bytes(), bytes.start);
        prefetch(sequence.bytes(), bytes.end.wrapping_sub(1));
        // Ids of more than 24 bits, in no order.
        if bytes.len() > 2 * LINE {
            prefetch(sequence.bytes(), bytes.start + LINE);
        }
    }
}

/// Positions whose blocks are announced before the first of them is read.
const AHEAD: usize = 96;

/// Reads ids, always some positions behind the announcement of their blocks.
#[inline(always)]
fn read_packed(sequence: &PackedSequence<'_>, positions: &[usize], into: &mut Vec<i64>) {
    announce_blocks(sequence, &positions[..positions.len().min(AHEAD)]);
    let mut rest = positions;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(AHEAD));
        announce_blocks(sequence, &later[..later.len().min(AHEAD)]);
        read_announced(sequence, now, into);
        rest = later;
    }
}

#[inline(always)]
fn announce_blocks(sequence: &PackedSequence<'_>, positions: &[usize]) {
    // Picks of one list often share a block.
    let mut before = u64::MAX;
    for &position in positions {
        let block = position as u64 / BLOCK;
        if block != before {
            prefetch_block(sequence, position as u64);
        }
        before = block;
    }
}

/// Reads ids with one look at the directory for all neighbouring positions in a block.
#[inline(always)]
fn read_announced(sequence: &PackedSequence<'_>, positions: &[usize], into: &mut Vec<i64>) {
    let mut rest = positions;
    while let Some(&first) = rest.first() {
        let number = first as u64 / BLOCK;
        let here = rest.iter().take_while(|&&at| at as u64 / BLOCK == number).count();
        let (now, later) = rest.split_at(here);
        rest = later;
        let start = into.len();
        if let Some(block) = sequence.block(number) {
            let first = first % BLOCK as usize;
            if now.len() > 2 && is_run(now) {
                block.read(first..first + now.len(), |id| into.push(id as i64));
            } else {
                for &at in now {
                    let id = block.get(at % BLOCK as usize).map_or(-1, |id| id as i64);
                    into.push(id);
                }
            }
        }
        // A block that ends too early has no ids for the rest.
        into.resize(start + now.len(), -1);
    }
}

#[inline(always)]
fn is_run(positions: &[usize]) -> bool {
    positions[positions.len() - 1].wrapping_sub(positions[0]) == positions.len() - 1
        && positions.windows(2).all(|pair| pair[0].wrapping_add(1) == pair[1])
}
