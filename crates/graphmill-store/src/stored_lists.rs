//! The two columns of a set of lists as the file has them: plain numbers, or packed sequences.
//! [`Lists`](crate::Lists) asks them by node and by position, and decides what an answer is worth: what a file says may
//! be no offset and no neighbour. Where the bytes come from is unknown here.

use graphmill_disk::{prefetch, with_bit_instructions};
use graphmill_format::packed::{BLOCK, Block, PackedSequence};
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
            Offsets::Packed(sequence) => {
                with_bit_instructions(|| sequence.pair(node)).unwrap_or((u64::MAX, 0))
            }
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
                let ids = room_for(positions.len(), into);
                with_bit_instructions(|| read_packed(sequence, positions, ids));
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
                let range = range.start as u64..range.end as u64;
                assert!(range.end <= sequence.len(), "position {} is past the end", range.end);
                let mut ids = room_for((range.end - range.start) as usize, into).iter_mut();
                with_bit_instructions(|| {
                    sequence.read(range, |id| {
                        if let Some(place) = ids.next() {
                            *place = id as i64;
                        }
                    })
                });
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
    if index >= sequence.len() {
        return;
    }
    if let Some(bytes) = sequence.block_bytes(index / BLOCK) {
        prefetch_bytes(sequence, &bytes);
    }
}

#[inline(always)]
fn prefetch_bytes(sequence: &PackedSequence<'_>, bytes: &Range<usize>) {
    const LINE: usize = 64;
    prefetch(sequence.bytes(), bytes.start);
    prefetch(sequence.bytes(), bytes.end.wrapping_sub(1));
    // Ids of more than 24 bits, in no order.
    if bytes.len() > 2 * LINE {
        prefetch(sequence.bytes(), bytes.start + LINE);
    }
}

/// Positions whose blocks are announced before the first of them is read.
const AHEAD: usize = 96;

/// Positions that follow each other and are all in one block.
#[derive(Clone, Copy)]
struct Group {
    block: u64,
    /// The bytes of the block; none if the directory makes no sense.
    start: usize,
    end: usize,
    positions: usize,
}

type Groups = [Group; AHEAD];

/// Room for more ids at the end of a list; what cannot be read stays -1, which no node is.
#[inline(always)]
fn room_for(count: usize, ids: &mut Vec<i64>) -> &mut [i64] {
    let start = ids.len();
    ids.resize(start + count, -1);
    &mut ids[start..]
}

/// Reads ids, always some positions behind the announcement of their blocks.
#[inline(always)]
fn read_packed(sequence: &PackedSequence<'_>, positions: &[usize], ids: &mut [i64]) {
    let none = Group { block: 0, start: 0, end: 0, positions: 0 };
    let (mut now, mut next): (&mut Groups, &mut Groups) = (&mut [none; AHEAD], &mut [none; AHEAD]);
    let mut announced = announce_blocks(sequence, &positions[..positions.len().min(AHEAD)], now);
    let (mut rest, mut rest_ids) = (positions, ids);
    while !rest.is_empty() {
        let here = rest.len().min(AHEAD);
        let (positions, later) = rest.split_at(here);
        let (ids, later_ids) = rest_ids.split_at_mut(here);
        let follow = announce_blocks(sequence, &later[..later.len().min(AHEAD)], next);
        read_announced(sequence, positions, &now[..announced], ids);
        (now, next) = (next, now);
        (rest, rest_ids, announced) = (later, later_ids, follow);
    }
}

/// Announces the blocks of some positions and tells into how many groups they fall.
#[inline(always)]
fn announce_blocks(
    sequence: &PackedSequence<'_>,
    positions: &[usize],
    groups: &mut Groups,
) -> usize {
    let mut count = 0;
    let mut before = u64::MAX;
    for &position in positions {
        let block = position as u64 / BLOCK;
        // Picks of one list often share a block.
        if block == before {
            groups[count - 1].positions += 1;
            continue;
        }
        before = block;
        let bytes = sequence.block_bytes(block).unwrap_or_default();
        prefetch_bytes(sequence, &bytes);
        groups[count] = Group { block, start: bytes.start, end: bytes.end, positions: 1 };
        count += 1;
    }
    count
}

/// Reads ids of blocks that were announced.
#[inline(always)]
fn read_announced(
    sequence: &PackedSequence<'_>,
    positions: &[usize],
    groups: &[Group],
    ids: &mut [i64],
) {
    let mut at = 0;
    for group in groups {
        let all = at..at + group.positions;
        at = all.end;
        if let Some(block) = sequence.block_within(group.block, group.start..group.end) {
            read_places(&block, &positions[all.clone()], &mut ids[all]);
        }
    }
}

/// Reads ids of one block.
#[inline(always)]
fn read_places(block: &Block<'_>, positions: &[usize], ids: &mut [i64]) {
    let place = |position: usize| position % BLOCK as usize;
    if let [first, _, _, ..] = positions {
        let (least, most) = positions.iter().fold((*first, *first), |(least, most), &position| {
            (least.min(position), most.max(position))
        });
        // Finding the first costs as much as reading some more.
        if most - least < CLOSE * positions.len() {
            let mut read = [-1; BLOCK as usize];
            let mut places = read.iter_mut();
            block.read(place(least)..place(most) + 1, |id| {
                if let Some(place) = places.next() {
                    *place = id as i64;
                }
            });
            for (id, &position) in ids.iter_mut().zip(positions) {
                *id = read[(position - least) % BLOCK as usize];
            }
            return;
        }
    }
    for (id, &position) in ids.iter_mut().zip(positions) {
        if let Some(found) = block.get(place(position)) {
            *id = found as i64;
        }
    }
}

/// Ids that are read one after the other in the time in which one is found by itself.
const CLOSE: usize = 4;
