//! Distinct ids, as many as fit.
//! Collectors put every id of every edge into one of these, so it is a plain table of ids with one
//! look for most of them; when it is full its content is sorted in place and taken out. It must not
//! know where ids go.

/// Ids that are looked for together.
const GROUP: usize = u32::BITS as usize;
/// Slots at first.
const FIRST_SLOTS: usize = 1 << 10;

/// A set that refuses to grow beyond its memory.
#[derive(Debug)]
pub(super) struct IdSet {
    /// A power of two of them; 0 is an empty one.
    slots: Vec<u64>,
    used: usize,
    has_zero: bool,
    most_slots: usize,
}

impl IdSet {
    /// The least memory in which a set can be.
    pub(super) const LEAST_MEMORY: usize = FIRST_SLOTS * size_of::<u64>();

    pub(super) fn new(memory: usize) -> Self {
        // While it grows there are the old slots and twice as many new ones.
        let affordable = memory / size_of::<u64>() / 3 * 2;
        let most_slots = (affordable.max(FIRST_SLOTS) + 1).next_power_of_two() / 2;
        IdSet { slots: vec![0; FIRST_SLOTS], used: 0, has_zero: false, most_slots }
    }

    /// Adds ids; gives how many until there was no room, all of them as a rule.
    pub(super) fn insert_all(&mut self, ids: &[u64]) -> usize {
        for (index, group) in ids.chunks(GROUP).enumerate() {
            // Most ids are there already. Looking for a group of them without any decision in
            // between lets all of them wait for memory at once.
            let mask = self.slots.len() - 1;
            let mut missing = 0_u32;
            for (at, &id) in group.iter().enumerate() {
                let held = self.slots[slot(id, self.slots.len()) & mask];
                missing |= u32::from(held != id || id == 0) << at;
            }
            while missing != 0 {
                let at = missing.trailing_zeros() as usize;
                if !self.insert(group[at]) {
                    return index * GROUP + at;
                }
                missing &= missing - 1;
            }
        }
        ids.len()
    }

    /// Adds an id; false if there is no room for it.
    #[inline]
    pub(super) fn insert(&mut self, id: u64) -> bool {
        if id == 0 {
            self.has_zero = true;
            return true;
        }
        let mask = self.slots.len() - 1;
        let mut at = slot(id, self.slots.len());
        loop {
            match self.slots[at & mask] {
                0 => return self.add(id, at & mask),
                held if held == id => return true,
                _ => at += 1,
            }
        }
    }

    fn add(&mut self, id: u64, at: usize) -> bool {
        if self.used < self.slots.len() / 8 * 5 {
            self.slots[at] = id;
            self.used += 1;
            return true;
        }
        if self.slots.len() >= self.most_slots {
            return false;
        }
        let slots = vec![0; self.slots.len() * 2];
        let old = std::mem::replace(&mut self.slots, slots);
        self.used = 0;
        for held in old.into_iter().chain([id]).filter(|&held| held != 0) {
            self.insert(held);
        }
        true
    }

    /// The ids, ascending. The set is of no use before it is cleared.
    pub(super) fn sort(&mut self) -> &[u64] {
        let mut count = 0;
        for at in 0..self.slots.len() {
            let held = std::mem::take(&mut self.slots[at]);
            if held != 0 {
                self.slots[count] = held;
                count += 1;
            }
        }
        // There is always a free slot.
        count += usize::from(self.has_zero);
        let ids = &mut self.slots[..count];
        ids.sort_unstable();
        ids
    }

    /// Forgets all ids.
    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        self.used = 0;
        self.has_zero = false;
    }
}

/// Where the search for an id begins: the product's upper bits depend on all of its bits.
#[inline]
fn slot(id: u64, slots: usize) -> usize {
    (id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - slots.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_holds_what_was_put_in_until_it_says_that_it_is_full(
            ids in proptest::collection::vec(
                prop_oneof![0_u64..3000, any::<u64>(), Just(u64::MAX)], 0..6000),
            memory in 0_usize..100_000,
        ) {
            let mut set = IdSet::new(memory);
            let mut all: BTreeSet<u64> = BTreeSet::new();
            let mut left = &ids[..];
            while !left.is_empty() {
                let count = set.insert_all(left);
                all.extend(&left[..count]);
                left = &left[count..];
                if !left.is_empty() {
                    prop_assert!(all.len() >= 600);
                    prop_assert_eq!(set.sort(), all.iter().copied().collect::<Vec<_>>());
                    set.clear();
                    all.clear();
                }
            }
            prop_assert!(set.slots.len() * 12 <= memory.max(IdSet::LEAST_MEMORY * 3 / 2));
            prop_assert_eq!(set.sort(), all.into_iter().collect::<Vec<_>>());
        }
    }
}
