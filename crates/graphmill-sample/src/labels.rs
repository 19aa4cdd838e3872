//! Local ids: which place a node has in the sample that is being made.
//! Hops ask for the label of every node they find; one not seen before gets the next. An open-addressing table sized to
//! the batch, not to the graph, whose slots are announced to the cache a block ahead; it can always be made anew from the
//! nodes found so far, so it is never copied, and what an earlier batch left in it is wiped only where this one goes.

use crate::{Error, Result};
use graphmill_disk::{Reservation, prefetch, room};

/// Bits spread like those of the golden ratio, so that the high bits of a product differ even for consecutive ids.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// The smallest table.
const LEAST_SLOTS: usize = 1 << 10;
/// A label that stands for none; samples have fewer nodes.
const NONE: u32 = u32::MAX;

/// A key and its label in one word.
pub(crate) trait Slot: Copy + Eq + Send + Sync + std::fmt::Debug {
    /// A slot that holds nothing.
    const EMPTY: Self;
    /// A label under its key.
    fn new(tree: u32, node: u64, label: u32) -> Self;
    /// Whether two slots have equal keys.
    fn same_key(self, other: Self) -> bool;
    /// The label.
    fn label(self) -> u32;
    /// Where to look for a key, spread over all 64 bits and best in the high ones.
    fn hash(tree: u32, node: u64) -> u64;
}

/// Graphs of up to 2^32 nodes, and one tree: eight slots to a cache line.
impl Slot for u64 {
    const EMPTY: Self = u64::MAX;

    #[inline]
    fn new(_tree: u32, node: u64, label: u32) -> Self {
        node << 32 | u64::from(label)
    }

    #[inline]
    fn same_key(self, other: Self) -> bool {
        self ^ other <= u64::from(u32::MAX)
    }

    #[inline]
    fn label(self) -> u32 {
        self as u32
    }

    #[inline]
    fn hash(_tree: u32, node: u64) -> u64 {
        node.wrapping_mul(SPREAD)
    }
}

/// Any graph, and a tree of its own for every seed.
impl Slot for u128 {
    const EMPTY: Self = u128::MAX;

    #[inline]
    fn new(tree: u32, node: u64, label: u32) -> Self {
        u128::from(tree) << 96 | u128::from(node) << 32 | u128::from(label)
    }

    #[inline]
    fn same_key(self, other: Self) -> bool {
        self ^ other <= u128::from(u32::MAX)
    }

    #[inline]
    fn label(self) -> u32 {
        self as u32
    }

    #[inline]
    fn hash(tree: u32, node: u64) -> u64 {
        let mixed = node.wrapping_mul(SPREAD) ^ u64::from(tree).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 32).wrapping_mul(SPREAD)
    }
}

/// The labels of one sample.
#[derive(Debug)]
pub(crate) struct Labels<S> {
    /// Only the first `active` are of this sample; the others hold what larger samples left there.
    slots: Vec<S>,
    active: usize,
    shift: u32,
}

impl<S> Default for Labels<S> {
    fn default() -> Self {
        Labels { slots: Vec::new(), active: 0, shift: 63 }
    }
}

impl<S: Slot> Labels<S> {
    /// Bytes held now.
    pub(crate) fn bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<S>()) as u64
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        (self.active, self.shift) = (0, 63);
    }

    /// Makes room for `entries` keys in all, those of `nodes` and `trees` among them, which get their places as labels.
    ///
    /// A node that occurs twice keeps its first place. `trees` is empty if there is one tree only. `memory` holds what
    /// the table takes, among other things.
    pub(crate) fn reserve(
        &mut self,
        entries: u64,
        nodes: &[i64],
        trees: &[i64],
        memory: &mut Reservation,
    ) -> Result<()> {
        // At most four slots of five are used.
        if entries <= self.active as u64 / 5 * 4 {
            return Ok(());
        }
        if entries >= u64::from(NONE) {
            return Err(Error::TooManyNodes { found: entries });
        }
        let wanted = (entries / 4 * 5 + 5).next_power_of_two().max(LEAST_SLOTS as u64) as usize;
        if self.slots.len() < wanted {
            memory.shrink(self.bytes());
            *self = Self::default();
            memory.grow((wanted * size_of::<S>()) as u64)?;
            room::check((wanted * size_of::<S>()) as u64)?;
            self.slots = vec![S::EMPTY; wanted];
        } else {
            self.slots[..wanted].fill(S::EMPTY);
        }
        self.active = wanted;
        self.shift = 64 - wanted.trailing_zeros();
        for (place, &node) in nodes.iter().enumerate() {
            self.label(trees.get(place).map_or(0, |&tree| tree as u32), node as u64, place as u32);
        }
        Ok(())
    }

    /// Announces that a key is about to be asked for.
    #[inline]
    pub(crate) fn prefetch(&self, tree: u32, node: u64) {
        prefetch(&self.slots, (S::hash(tree, node) >> self.shift) as usize);
    }

    /// The label of a key; one not seen before gets `next`. There must be room for it.
    #[inline]
    pub(crate) fn label(&mut self, tree: u32, node: u64, next: u32) -> u32 {
        let wanted = S::new(tree, node, next);
        let slots = &mut self.slots[..self.active];
        let mut at = (S::hash(tree, node) >> self.shift) as usize;
        loop {
            let slot = slots[at];
            if slot == S::EMPTY {
                slots[at] = wanted;
                return next;
            }
            if slot.same_key(wanted) {
                return slot.label();
            }
            at = (at + 1) & (slots.len() - 1);
        }
    }

    /// The label of a key, if it has one.
    #[inline]
    pub(crate) fn find(&self, tree: u32, node: u64) -> Option<u32> {
        let wanted = S::new(tree, node, 0);
        let slots = &self.slots[..self.active];
        let mut at = (S::hash(tree, node) >> self.shift) as usize;
        while slots[at] != S::EMPTY {
            if slots[at].same_key(wanted) {
                return Some(slots[at].label());
            }
            at = (at + 1) & (slots.len() - 1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::Budget;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn check<S: Slot>(samples: &[Vec<(u32, u64)>]) {
        let budget = Budget::unlimited();
        let mut memory = budget.reserve(0, "labels").unwrap();
        let mut labels = Labels::<S>::default();
        for sample in samples {
            labels.clear();
            let mut expected = HashMap::new();
            let (mut nodes, mut trees) = (Vec::new(), Vec::new());
            for &(tree, node) in sample {
                let next = nodes.len();
                labels.reserve(next as u64 + 1, &nodes, &trees, &mut memory).unwrap();
                assert_eq!(labels.find(tree, node), expected.get(&(tree, node)).copied());
                let label = labels.label(tree, node, next as u32);
                assert_eq!(label, *expected.entry((tree, node)).or_insert(next as u32));
                if label == next as u32 {
                    nodes.push(node as i64);
                    trees.push(i64::from(tree));
                }
                assert!(labels.bytes() <= memory.bytes());
            }
        }
    }

    proptest! {
        #[test]
        fn labels_are_those_of_a_map(
            narrow in prop::collection::vec(prop::collection::vec((Just(0), 0_u64..3000), 0..4000), 3),
            wide in prop::collection::vec(
                prop::collection::vec((0_u32..5, (0_u64..400).prop_map(|node| node << 40)), 0..3000), 3),
        ) {
            check::<u64>(&narrow);
            check::<u128>(&wide);
        }
    }

    #[test]
    fn the_largest_ids_are_keys_like_any_other() {
        check::<u64>(&[vec![(0, u64::from(u32::MAX)), (0, 0), (0, u64::from(u32::MAX))]]);
        let last = i64::MAX as u64;
        check::<u128>(&[vec![(u32::MAX - 1, last), (0, last), (u32::MAX - 1, last)]]);
    }

    #[test]
    fn a_table_that_the_budget_refuses_is_an_error() {
        let budget = Budget::new(100_000);
        let mut memory = budget.reserve(0, "labels").unwrap();
        let mut labels = Labels::<u64>::default();
        labels.reserve(800, &[], &[], &mut memory).unwrap();
        assert!(matches!(labels.reserve(20_000, &[], &[], &mut memory), Err(Error::Memory(_))));
        let absurd = labels.reserve(1 << 40, &[], &[], &mut memory);
        assert!(matches!(absurd, Err(Error::TooManyNodes { .. })));
    }
}
