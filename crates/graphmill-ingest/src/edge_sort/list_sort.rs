//! The edges of one direction, from the first push to parts that can be sorted in memory.
//! Records are distributed as they come; when all have come, parts that are too large are cut
//! again, by the next field once all their keys are equal. It must not know the file that is
//! written.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use graphmill_disk::FileSystem;
use graphmill_format::ListOrder;

use super::distribution::{Distribution, Filler};
use super::record::{Field, Record, sort_fields};
use super::scratch::Scratch;
use super::sizing::Sizing;
use super::splitters::Splitters;
use super::store::{Part, Store};
use super::unique::keep_first;
use crate::Result;

/// Collects the records of one set of lists.
pub(super) struct ListSort<R> {
    pub(super) store: Store<R>,
    distribution: RwLock<Distribution<R>>,
}

/// Records of a range of keys.
pub(super) struct Leaf<R> {
    /// No record belongs to a smaller node.
    pub(super) lower: u64,
    pub(super) part: Part<R>,
    pub(super) state: LeafState,
}

/// How far a leaf has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafState {
    /// Not sorted; all of it fits into a worker's memory.
    Loose,
    /// In the order of the file; all of it fits into a worker's memory.
    Sorted,
    /// Of any size, but all records are equal in what they are sorted by.
    Uniform,
}

/// What is to be written: leaves in the order of their keys.
pub(super) struct Leaves<R> {
    pub(super) store: Store<R>,
    pub(super) leaves: Vec<Leaf<R>>,
    pub(super) records: u64,
    /// Records that were left out because an earlier row has the same ends.
    pub(super) duplicates: u64,
}

/// A part that may have to be cut further.
struct Uncut<R> {
    lower: u64,
    part: Part<R>,
    /// The most significant field in which the records may differ.
    field: usize,
}

impl<R: Record> ListSort<R> {
    pub(super) fn new(
        memory: u64,
        threads: usize,
        file_system: Arc<dyn FileSystem>,
        path: PathBuf,
    ) -> Self {
        let sizing = Sizing::of(memory, size_of::<R>(), threads);
        let store = Store::new(sizing, Scratch::new(file_system, path, sizing.io_bytes));
        let distribution = Distribution::new(Field::Major, Splitters::none());
        ListSort { store, distribution: RwLock::new(distribution) }
    }

    /// Lets `work` add a moderate number of records.
    pub(super) fn fill(&self, work: impl FnOnce(&mut Filler<'_, R>) -> Result<()>) -> Result<()> {
        let distribution = self.distribution.read().unwrap_or_else(PoisonError::into_inner);
        distribution.fill(&self.store, work)?;
        if self.knows_enough(&distribution) {
            drop(distribution);
            self.choose_parts()?;
        }
        Ok(())
    }

    fn knows_enough(&self, distribution: &Distribution<R>) -> bool {
        distribution.is_undecided() && distribution.records() >= self.store.sizing.sampled as u64
    }

    fn choose_parts(&self) -> Result<()> {
        let mut distribution = self.distribution.write().unwrap_or_else(PoisonError::into_inner);
        if self.knows_enough(&distribution) {
            let undecided = Distribution::new(Field::Major, Splitters::none());
            let parts = std::mem::replace(&mut *distribution, undecided).into_parts();
            let part = join(parts);
            // Alone, since the lock is held.
            *distribution = Distribution::of_part(part, Field::Major, &self.store, 1)?;
        }
        Ok(())
    }

    /// All records, in no particular order and none of them in memory.
    pub(super) fn into_spilled(self) -> Result<(Store<R>, Part<R>)> {
        let distribution = self.distribution.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut parts = distribution.into_parts();
        parts.iter_mut().try_for_each(|part| self.store.spill(part))?;
        self.store.release();
        Ok((self.store, join(parts)))
    }

    /// Makes leaves that can be sorted one by one, of which `unique` ones have no duplicates.
    pub(super) fn into_leaves(self, order: ListOrder, unique: bool) -> Result<Leaves<R>> {
        let distribution = self.distribution.into_inner().unwrap_or_else(PoisonError::into_inner);
        let store = self.store;
        let all = distribution.records();
        let mut uncut = uncut_parts(distribution, 0, 0);
        if unique {
            let leaves = cut(uncut, &sort_fields(ListOrder::Id)[..2], &store)?;
            let leaves = keep_first(leaves, &store)?;
            if order == ListOrder::Id {
                return Ok(Leaves::new(store, leaves, all));
            }
            let mut parts: Vec<_> = leaves.into_iter().map(|leaf| leaf.part).collect();
            store.spill_if_needed(&mut parts)?;
            let workers = store.sizing.workers;
            let again = Distribution::of_part(join(parts), Field::Major, &store, workers)?;
            uncut = uncut_parts(again, 0, 0);
        }
        let leaves = cut(uncut, sort_fields(order), &store)?;
        Ok(Leaves::new(store, leaves, all))
    }
}

impl<R> Leaves<R> {
    fn new(store: Store<R>, mut leaves: Vec<Leaf<R>>, all: u64) -> Self {
        leaves.retain(|leaf| leaf.part.records > 0);
        if leaves.is_empty() {
            let state = LeafState::Sorted;
            leaves.push(Leaf { lower: 0, part: Part::default(), state });
        }
        // Nodes before the first record have lists too.
        leaves[0].lower = 0;
        let records = leaves.iter().map(|leaf| leaf.part.records).sum();
        Leaves { store, leaves, records, duplicates: all - records }
    }
}

fn join<R>(parts: Vec<Part<R>>) -> Part<R> {
    let mut whole = Part::default();
    for part in parts {
        whole.extents.extend(part.extents);
        whole.blocks.extend(part.blocks);
        whole.records += part.records;
    }
    whole
}

/// The parts of a distribution by the field with this number.
fn uncut_parts<R: Record>(
    distribution: Distribution<R>,
    field: usize,
    lower: u64,
) -> Vec<Uncut<R>> {
    let splitters = distribution.splitters().clone();
    let parts = distribution.into_parts().into_iter().enumerate();
    let parts = parts.filter(|(_, part)| part.records > 0);
    parts
        .map(|(index, part)| Uncut {
            lower: if field == 0 { lower.max(splitters.lower_bound(index)) } else { lower },
            part,
            field: field + usize::from(splitters.is_single(index)),
        })
        .collect()
}

/// Distributes what is too large again, until every leaf fits or all of it is equal.
fn cut<R: Record>(
    uncut: Vec<Uncut<R>>,
    fields: &[Field],
    store: &Store<R>,
) -> Result<Vec<Leaf<R>>> {
    let sizing = store.sizing;
    let fits = |uncut: &Uncut<R>| uncut.part.records <= sizing.sortable as u64;
    let mut stack = uncut;
    stack.reverse();
    let mut leaves = Vec::new();
    while let Some(mut uncut) = stack.pop() {
        if fits(&uncut) {
            let state = LeafState::Loose;
            leaves.push(Leaf { lower: uncut.lower, part: uncut.part, state });
        } else if let Some(&field) = fields.get(uncut.field) {
            let done = leaves.iter_mut().map(|leaf: &mut Leaf<R>| &mut leaf.part);
            let others = stack.iter_mut().map(|uncut| &mut uncut.part).chain(done);
            store.spill_if_needed(others.chain([&mut uncut.part]))?;
            let finer = Distribution::of_part(uncut.part, field, store, sizing.workers)?;
            stack.extend(uncut_parts(finer, uncut.field, uncut.lower).into_iter().rev());
        } else {
            let state = LeafState::Uniform;
            leaves.push(Leaf { lower: uncut.lower, part: uncut.part, state });
        }
    }
    Ok(leaves)
}
