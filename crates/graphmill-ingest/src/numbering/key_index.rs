//! From keys to their places in ascending order.
//! Scattered ids and hashes of names are both looked up here: in memory if the budget lets all keys
//! be there, else in the scratch file, of which the first key of every page is in memory. It must
//! not know what the keys are.

use graphmill_disk::{Budget, Reservation};

use super::batches::{Batch, Batches, Block};
use super::key_tree::{GROUP, KeyTree};
use super::scratch_array::{PAGE, ScratchArray};
use crate::Result;

/// Keys of a page.
const KEYS: usize = PAGE / size_of::<u64>();

/// Sorted keys and a way to find them.
#[derive(Debug)]
pub(super) struct KeyIndex {
    keys: ScratchArray<u64>,
    tree: KeyTree,
    /// Whether the tree has all keys, or only the first of every page.
    is_whole: bool,
    _reserved: Reservation,
}

impl KeyIndex {
    /// Loads the keys if they fit into half of what is free.
    pub(super) fn new(keys: ScratchArray<u64>, budget: &Budget) -> Result<Self> {
        let whole = KeyTree::memory(keys.count());
        let is_whole = whole <= budget.free() / 2;
        let (bytes, step) = if is_whole {
            (whole, 1)
        } else {
            (KeyTree::memory(keys.count().div_ceil(KEYS as u64)), KEYS)
        };
        let reserved = budget.reserve(bytes, "the index of the ids of nodes")?;
        let tree = KeyTree::load(&keys, step)?;
        Ok(KeyIndex { keys, tree, is_whole, _reserved: reserved })
    }

    pub(super) fn keys(&self) -> &ScratchArray<u64> {
        &self.keys
    }

    /// Whether lookups need batches.
    pub(super) fn needs_batches(&self) -> bool {
        !self.is_whole
    }

    /// Replaces keys by their places; fails with the first question that is no key.
    pub(super) fn places(
        &self,
        keys: &mut [u64],
        batches: Option<&Batches>,
    ) -> Result<std::result::Result<(), usize>> {
        match batches {
            Some(batches) if !self.is_whole => self.places_in_file(keys, batches),
            _ => Ok(self.places_in_memory(keys)),
        }
    }

    fn places_in_memory(&self, keys: &mut [u64]) -> std::result::Result<(), usize> {
        let mut places = [0; GROUP];
        for (index, group) in keys.chunks_mut(GROUP).enumerate() {
            self.tree.places(group, &mut places);
            for (at, (key, &place)) in group.iter_mut().zip(&places).enumerate() {
                if place >= self.tree.count() || self.tree.key(place) != *key {
                    return Err(index * GROUP + at);
                }
                *key = place as u64;
            }
        }
        Ok(())
    }

    fn places_in_file(
        &self,
        keys: &mut [u64],
        batches: &Batches,
    ) -> Result<std::result::Result<(), usize>> {
        let mut unknown: Option<usize> = None;
        batches.run(keys, |first, batch, answers| {
            let Batch { sorted, block, .. } = batch;
            let mut block = Block::new(&self.keys, block, sorted.len());
            let mut pages = [0; GROUP];
            let mut asked = [0; GROUP];
            for group in sorted.chunks(GROUP) {
                for (asked, &(key, _)) in asked.iter_mut().zip(group) {
                    *asked = key;
                }
                self.tree.places(&asked[..group.len()], &mut pages);
                for (&(key, answer), &page) in group.iter().zip(&pages) {
                    let start = (page * KEYS) as u64;
                    let count = self.keys.count().saturating_sub(start).min(KEYS as u64);
                    let found = if count == 0 {
                        None
                    } else {
                        block.page(start, count as usize)?.binary_search(&key).ok()
                    };
                    match found {
                        Some(place) => answers[answer as usize] = start + place as u64,
                        None => {
                            let place = first + answer as usize;
                            unknown = Some(unknown.map_or(place, |other| other.min(place)));
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(unknown.map_or(Ok(()), Err))
    }
}
