//! The two columns of a set of lists as the file has them: plain numbers, or packed sequences.
//! [`Lists`](crate::Lists) asks them by node and by position, and decides what an answer is worth: what a file says may
//! be no offset and no neighbour. Where the bytes come from is unknown here.

use graphmill_disk::prefetch;
use graphmill_format::packed::{PackedSequence, Place};
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
            Offsets::Packed(sequence) => {
                prefetch_value(sequence, node);
            }
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
                read_packed(sequence, positions, ids);
            }
        }
    }

    /// Reads the ids from a position on, and tells a number that none of them exceeds when their bits are read without a
    /// sign, so that whoever knows how many nodes there are need not look at each. Panics past the end, like a slice.
    #[inline]
    pub fn read_list(&self, first: usize, into: &mut [i64]) -> u64 {
        let end = first + into.len();
        match self {
            Neighbours::I32(ids) => {
                let mut seen = 0;
                for (into, &id) in into.iter_mut().zip(&ids[first..end]) {
                    *into = id.into();
                    seen |= id as u32;
                }
                seen.into()
            }
            Neighbours::I64(ids) => {
                into.copy_from_slice(&ids[first..end]);
                into.iter().fold(0, |seen, &id| seen | id as u64)
            }
            Neighbours::Packed(sequence) => {
                assert!(end as u64 <= sequence.len(), "position {end} is past the end");
                sequence.read_into(first as u64, into).unwrap_or_else(|| {
                    into.fill(-1);
                    u64::MAX
                })
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
                for &position in positions {
                    prefetch(sequence.bytes(), sequence.entry_at(position as u64));
                }
            }
        }
    }
}

/// Announces the lines of the cache that hold some values and tells where the block of the first is.
#[inline(always)]
pub(crate) fn prefetch_values(sequence: &PackedSequence<'_>, range: &Range<usize>) -> Place {
    let place = sequence.place(range.start as u64);
    let start = place.value_at(range.start as u64);
    // As if all were as wide as the first block; and from there on the processor sees by itself where this leads.
    let length = (place.length_of(range.len()) + WORD - 1).min(MOST_LINES * LINE);
    prefetch(sequence.bytes(), start);
    prefetch(sequence.bytes(), start + length.min(LINE));
    let mut at = 2 * LINE;
    while at < length + LINE {
        prefetch(sequence.bytes(), start + at.min(length));
        at += LINE;
    }
    place
}

/// Bytes of a line of the cache, and how many of them a list announces.
const LINE: usize = 64;
const MOST_LINES: usize = 8;
/// Bytes that are read from where a value begins.
const WORD: usize = 8;

/// Announces a value and tells where its block is: nowhere past the end. Reads the directory, which is so small that caches
/// hold most of it.
#[inline(always)]
pub fn prefetch_value(sequence: &PackedSequence<'_>, index: u64) -> Place {
    if index >= sequence.len() {
        return Place::NOWHERE;
    }
    let place = sequence.place(index);
    let at = place.value_at(index);
    prefetch(sequence.bytes(), at);
    // One in nine words lies across two lines.
    if at % LINE > LINE - WORD {
        prefetch(sequence.bytes(), at + WORD - 1);
    }
    place
}

/// Positions that are announced before the first of them is read.
const AHEAD: usize = 32;

/// Room for more ids at the end of a list; what cannot be read stays -1, which no node is.
#[inline(always)]
fn room_for(count: usize, ids: &mut Vec<i64>) -> &mut [i64] {
    let start = ids.len();
    ids.resize(start + count, -1);
    &mut ids[start..]
}

/// Reads ids, always some positions behind their announcement.
#[inline(always)]
fn read_packed(sequence: &PackedSequence<'_>, positions: &[usize], ids: &mut [i64]) {
    let mut announced = [Place::NOWHERE; AHEAD];
    for (place, &position) in announced.iter_mut().zip(positions) {
        *place = prefetch_value(sequence, position as u64);
    }
    for (at, (&position, id)) in positions.iter().zip(ids).enumerate() {
        let place = announced[at % AHEAD];
        if let Some(&next) = positions.get(at + AHEAD) {
            announced[at % AHEAD] = prefetch_value(sequence, next as u64);
        }
        if let Some(found) = sequence.get_in(place, position as u64) {
            *id = found as i64;
        }
    }
}
