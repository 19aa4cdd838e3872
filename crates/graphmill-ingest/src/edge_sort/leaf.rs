//! Ranges of the keys that are small enough to be sorted in memory.
//! A distribution's parts become leaves, and what is too large is distributed again: by the next
//! field once all its keys are equal. It must not know how leaves are sorted or written.

use super::distribution::Distribution;
use super::record::{Field, Record};
use super::store::{Part, Store};
use crate::Result;

/// Records of a range of keys.
pub(super) struct Leaf<R> {
    /// No record belongs to a smaller node.
    pub(super) lower: u64,
    /// Several only while the order of each matters.
    pub(super) streams: Vec<Part<R>>,
    pub(super) state: LeafState,
}

/// How far a leaf has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafState {
    /// Not sorted; all of it fits into a worker's memory.
    Loose,
    /// Each stream is sorted by neighbour, then by node and row; all of it fits into a worker's
    /// memory.
    ByNeighbour,
    /// In the order of the file; all of it fits into a worker's memory.
    Sorted,
    /// Of any size, but all records are equal in what they are sorted by.
    Uniform,
}

impl<R> Leaf<R> {
    pub(super) fn records(&self) -> u64 {
        self.streams.iter().map(|part| part.records).sum()
    }
}

/// A part that may have to be cut further.
pub(super) struct Uncut<R> {
    lower: u64,
    streams: Vec<Part<R>>,
    /// The most significant field in which the records may differ.
    field: usize,
    /// What it is if it fits.
    state: LeafState,
}

impl<R: Record> Uncut<R> {
    /// The parts of a distribution by node.
    pub(super) fn all_of(distribution: Distribution<R>, state: LeafState) -> Vec<Self> {
        Self::parts_of(distribution, 0, 0, state)
    }

    /// The parts of a distribution by the field with this number.
    fn parts_of(
        distribution: Distribution<R>,
        field: usize,
        lower: u64,
        state: LeafState,
    ) -> Vec<Self> {
        let splitters = distribution.splitters().clone();
        let mut parts = distribution.into_parts().into_iter();
        let streams = parts.len() / splitters.len();
        let take = |index| Uncut {
            lower: if field == 0 { lower.max(splitters.lower_bound(index)) } else { lower },
            streams: parts.by_ref().take(streams).filter(|part| part.records > 0).collect(),
            field: field + usize::from(splitters.is_single(index)),
            state,
        };
        (0..splitters.len()).map(take).filter(|uncut| !uncut.streams.is_empty()).collect()
    }

    fn records(&self) -> u64 {
        self.streams.iter().map(|part| part.records).sum()
    }
}

/// Distributes what is too large again, until every leaf fits or all of it is equal.
pub(super) fn cut<R: Record>(
    uncut: Vec<Uncut<R>>,
    fields: &[Field],
    store: &Store<R>,
) -> Result<Vec<Leaf<R>>> {
    let sizing = store.sizing;
    let mut stack = uncut;
    stack.reverse();
    let mut leaves = Vec::new();
    while let Some(mut uncut) = stack.pop() {
        let fits = uncut.records() <= sizing.sortable as u64;
        let Uncut { lower, field, .. } = uncut;
        if fits {
            leaves.push(Leaf { lower, streams: uncut.streams, state: uncut.state });
        } else if let Some(&by) = fields.get(field) {
            // What is needed last goes first.
            let later = stack.iter_mut().flat_map(|uncut| &mut uncut.streams);
            let done = leaves.iter_mut().rev().flat_map(|leaf: &mut Leaf<R>| &mut leaf.streams);
            let others = later.chain(done).chain(&mut uncut.streams);
            store.make_free(sizing.open_blocks(), others)?;
            let part = join(uncut.streams);
            let finer = Distribution::of_part(part, by, store, sizing.workers)?;
            let finer = Uncut::parts_of(finer, field, lower, LeafState::Loose);
            stack.extend(finer.into_iter().rev());
        } else {
            let streams = vec![join(uncut.streams)];
            leaves.push(Leaf { lower, streams, state: LeafState::Uniform });
        }
    }
    Ok(leaves)
}

/// Makes one part of several, whatever their order.
pub(super) fn join<R>(parts: Vec<Part<R>>) -> Part<R> {
    let mut whole = Part::default();
    for part in parts {
        whole.extents.extend(part.extents);
        whole.blocks.extend(part.blocks);
        whole.records += part.records;
    }
    whole
}
