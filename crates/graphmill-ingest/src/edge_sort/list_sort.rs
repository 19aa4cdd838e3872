//! The edges of one direction, from the first push to leaves that can be sorted in memory.
//! Records are distributed as they come; when all have come, parts that are too large are cut
//! again. It must not know the file that is written.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use graphmill_disk::{FileSystem, Reservation};
use graphmill_format::ListOrder;

use super::distribution::{Distribution, Filler};
use super::leaf::{Leaf, LeafState, Uncut, cut, join};
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

/// What is to be written: leaves in the order of their keys.
pub(super) struct Leaves<R> {
    pub(super) store: Store<R>,
    pub(super) leaves: Vec<Leaf<R>>,
    pub(super) records: u64,
    /// Records that were left out because an earlier row has the same ends.
    pub(super) duplicates: u64,
}

impl<R: Record> ListSort<R> {
    pub(super) fn new(
        memory: u64,
        threads: usize,
        file_system: Arc<dyn FileSystem>,
        path: PathBuf,
        reserved: Arc<Reservation>,
    ) -> Self {
        let sizing = Sizing::of(memory, size_of::<R>(), threads);
        let scratch = Scratch::new(file_system, path, sizing.io_bytes);
        let store = Store::new(sizing, scratch, reserved);
        let distribution = Distribution::new(Splitters::none());
        ListSort { store, distribution: RwLock::new(distribution) }
    }

    /// Lets `work` add a moderate number of records, each with its node as the key.
    pub(super) fn fill(&self, work: impl FnOnce(&mut Filler<'_, R>) -> Result<()>) -> Result<()> {
        let distribution = self.distribution.read().unwrap_or_else(PoisonError::into_inner);
        work(&mut distribution.filler(&self.store))?;
        if self.knows_enough(&distribution) {
            drop(distribution);
            self.choose_parts()?;
        }
        Ok(())
    }

    /// Records that have come.
    pub(super) fn records(&self) -> u64 {
        self.distribution.read().unwrap_or_else(PoisonError::into_inner).records()
    }

    fn knows_enough(&self, distribution: &Distribution<R>) -> bool {
        distribution.is_undecided() && distribution.records() >= self.store.sizing.sampled as u64
    }

    fn choose_parts(&self) -> Result<()> {
        let mut distribution = self.distribution.write().unwrap_or_else(PoisonError::into_inner);
        if self.knows_enough(&distribution) {
            let undecided = Distribution::new(Splitters::none());
            let parts = std::mem::replace(&mut *distribution, undecided).into_parts();
            // Alone, since the lock is held.
            *distribution = Distribution::of_part(join(parts), Field::Major, &self.store, 1)?;
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
        let mut uncut = Uncut::all_of(distribution, LeafState::Loose);
        if unique {
            let leaves = cut(uncut, &sort_fields(ListOrder::Id)[..2], &store)?;
            let leaves = keep_first(leaves, &store)?;
            if order == ListOrder::Id {
                return Ok(Leaves::new(store, leaves, all));
            }
            let mut parts: Vec<_> = leaves.into_iter().flat_map(|leaf| leaf.streams).collect();
            store.make_free(store.sizing.open_blocks(), parts.iter_mut().rev())?;
            let workers = store.sizing.workers;
            let again = Distribution::of_part(join(parts), Field::Major, &store, workers)?;
            uncut = Uncut::all_of(again, LeafState::Loose);
        }
        let leaves = cut(uncut, sort_fields(order), &store)?;
        Ok(Leaves::new(store, leaves, all))
    }
}

impl<R> Leaves<R> {
    fn new(store: Store<R>, leaves: Vec<Leaf<R>>, all: u64) -> Self {
        let records = leaves.iter().map(Leaf::records).sum();
        Leaves { store, leaves, records, duplicates: all - records }
    }
}
