//! The lists of the other direction, made from those that are being written.
//! Whoever writes sorted lists adds every edge once more, seen from its other end. A writer's
//! edges come in the order of their nodes, so what one writer puts into a part is sorted by
//! neighbour already and only the nodes are left to be sorted. It must not know the file.

use graphmill_format::ListOrder;

use super::distribution::{Distribution, Filler};
use super::leaf::{Leaf, LeafState, Uncut, cut};
use super::record::{Field, Record, sort_fields};
use super::sample::Sample;
use super::splitters::Splitters;
use super::store::Store;
use crate::Result;

/// Collects the records of the other direction.
pub(super) struct Transposition<R> {
    distribution: Distribution<R>,
}

impl<R: Record> Transposition<R> {
    /// Makes room for them: `leaves` are about to be written, and give back blocks as they are.
    pub(super) fn begin(leaves: &mut [Leaf<R>], store: &Store<R>) -> Result<Self> {
        let parts = || leaves.iter().flat_map(|leaf| &leaf.streams);
        let records = parts().map(|part| part.records).sum();
        let mut sample = Sample::of(records, Field::Minor);
        parts().try_for_each(|part| sample.add(part, store))?;
        let splitters = Splitters::of_sample(sample.into_keys(), store.sizing.parts);
        let workers = store.sizing.workers;
        let needed = workers * (splitters.len() + 1);
        store.make_free(needed, leaves.iter_mut().rev().flat_map(|leaf| &mut leaf.streams))?;
        Ok(Transposition { distribution: Distribution::with_streams(splitters, workers) })
    }

    /// A writer's way to add edges, which it has to do in the order of the file.
    pub(super) fn filler<'a>(&'a self, store: &'a Store<R>) -> Filler<'a, R> {
        self.distribution.filler(store)
    }

    /// The leaves of the other direction, when all edges have been added.
    pub(super) fn into_leaves(self, order: ListOrder, store: &Store<R>) -> Result<Vec<Leaf<R>>> {
        let state = match order {
            ListOrder::Id => LeafState::ByNeighbour,
            ListOrder::Time | ListOrder::File => LeafState::Loose,
        };
        cut(Uncut::all_of(self.distribution, state), sort_fields(order), store)
    }
}
