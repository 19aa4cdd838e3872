//! Edges that occur more than once.
//! Leaves are sorted by both ends and row, and of records with equal ends the first is kept; what
//! is left goes back to where it came from, now counted. It must not know the order that lists will
//! have.

use std::sync::{Mutex, PoisonError};

use graphmill_format::ListOrder;

use super::leaf::{Leaf, LeafState, join};
use super::part_sort::sort_part;
use super::record::Record;
use super::store::Store;
use super::workers::share_out;
use crate::Result;

/// Keeps the record with the smallest row of those with the same ends.
///
/// Records with the same ends are in one leaf, and those of a uniform leaf all have them.
pub(super) fn keep_first<R: Record>(
    leaves: Vec<Leaf<R>>,
    store: &Store<R>,
) -> Result<Vec<Leaf<R>>> {
    let leaves: Vec<_> = leaves.into_iter().map(|leaf| Mutex::new(Some(leaf))).collect();
    let start = || (Vec::new(), Vec::new());
    share_out(store.sizing.workers, leaves.len(), start, |(records, spare), index| {
        let take = || leaves[index].lock().unwrap_or_else(PoisonError::into_inner);
        let Some(leaf) = take().take() else { return Ok(()) };
        *take() = Some(match leaf.state {
            LeafState::Uniform => first_of(leaf, store)?,
            _ => first_of_each(leaf, records, spare, store)?,
        });
        Ok(())
    })?;
    let leaves = leaves.into_iter();
    Ok(leaves
        .filter_map(|leaf| leaf.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect())
}

fn first_of<R: Record>(leaf: Leaf<R>, store: &Store<R>) -> Result<Leaf<R>> {
    let part = join(leaf.streams);
    let mut first: Option<R> = None;
    store.read(&part, |records| {
        let earliest = records.iter().copied().chain(first).min_by_key(|one| one.entry().row);
        first = earliest;
        Ok(())
    })?;
    let streams = vec![store.keep(first.as_slice(), part.blocks)?];
    Ok(Leaf { lower: leaf.lower, streams, state: LeafState::Sorted })
}

fn first_of_each<R: Record>(
    leaf: Leaf<R>,
    records: &mut Vec<R>,
    spare: &mut Vec<R>,
    store: &Store<R>,
) -> Result<Leaf<R>> {
    records.clear();
    let part = join(leaf.streams);
    records.reserve_exact(part.records as usize);
    store.read(&part, |piece| {
        records.extend_from_slice(piece);
        Ok(())
    })?;
    sort_part(records, spare, ListOrder::Id);
    records.dedup_by_key(|record| (record.major(), record.minor()));
    let streams = vec![store.keep(records, part.blocks)?];
    Ok(Leaf { lower: leaf.lower, streams, state: LeafState::Sorted })
}
