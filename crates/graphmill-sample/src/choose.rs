//! Some of many: k distinct positions out of n, every subset equally likely.
//! A hop asks for the positions of the edges it keeps from one neighbour list. The work grows with what is chosen, not
//! with what is chosen from, so a hub costs no more than any other node; graphs are unknown here.

use crate::random::Stream;
use hashbrown::HashSet;

/// Up to this many picks a scan of those already made beats hashing them.
const SCANNED: usize = 48;

/// Chooses; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chooser {
    taken: HashSet<usize>,
}

impl Chooser {
    /// Adds `count` distinct numbers of `first .. first + population` to `picks`, every subset equally likely.
    ///
    /// The order is that of Floyd's rounds: round `i` draws a number up to `population - count + i` and keeps it, or,
    /// when it was taken before, keeps that upper end instead. With `count >= population` all numbers are given in
    /// ascending order and nothing is drawn. Only the subset is uniform, not the order.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        stream: &mut Stream,
        first: usize,
        population: usize,
        count: usize,
        picks: &mut Vec<usize>,
    ) {
        if count >= population {
            picks.extend(first..first + population);
        } else if count <= SCANNED {
            let before = picks.len();
            for end in population - count..population {
                let drawn = first + stream.below(end as u64 + 1) as usize;
                let taken = picks[before..].contains(&drawn);
                picks.push(if taken { first + end } else { drawn });
            }
        } else {
            self.choose_many(stream, first, population, count, picks);
        }
    }

    #[inline(never)]
    fn choose_many(
        &mut self,
        stream: &mut Stream,
        first: usize,
        population: usize,
        count: usize,
        picks: &mut Vec<usize>,
    ) {
        self.taken.clear();
        self.taken.reserve(count);
        for end in population - count..population {
            let drawn = stream.below(end as u64 + 1) as usize;
            let pick = if self.taken.insert(drawn) { drawn } else { end };
            if pick == end {
                self.taken.insert(end);
            }
            picks.push(first + pick);
        }
    }

    /// Bytes that choosing `count` may allocate beside the picks themselves.
    pub(crate) fn bytes_for(count: usize) -> u64 {
        if count <= SCANNED { 0 } else { table_bytes(count as u64, 8) }
    }

    /// Bytes held now.
    pub(crate) fn bytes(&self) -> u64 {
        self.taken.allocation_size() as u64
    }
}

/// The most that a hash table for so many entries of `width` bytes allocates: a power of two of slots, seven eighths of
/// them used, one control byte for each and a group of them more.
fn table_bytes(entries: u64, width: u64) -> u64 {
    let slots = (entries.saturating_mul(8) / 7 + 1).checked_next_power_of_two();
    slots.map_or(u64::MAX, |slots| slots.max(16).saturating_mul(width + 1).saturating_add(64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Key, Purpose};
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashMap};

    fn stream(seed: u64) -> Stream {
        Key::new(seed, Purpose::Fanout).stream()
    }

    /// All subsets of `count` out of `population`, as bit sets.
    fn subsets(population: u32, count: u32) -> Vec<u64> {
        (0..1_u64 << population).filter(|set| set.count_ones() == count).collect()
    }

    #[test]
    fn every_subset_is_equally_likely() {
        let mut chooser = Chooser::default();
        let mut picks = Vec::new();
        // The last number is exceeded once in a thousand seeds with one degree of freedom less than there are subsets.
        for (population, count, limit) in [(5, 1, 18.5), (6, 3, 43.8), (7, 5, 45.3), (8, 2, 55.5)] {
            let all = subsets(population, count);
            let mut seen: HashMap<u64, f64> = all.iter().map(|&set| (set, 0.0)).collect();
            let draws = all.len() * 1000;
            for draw in 0..draws {
                let key = Key::new(9, Purpose::Fanout).with(draw as u64);
                picks.clear();
                let (population, count) = (population as usize, count as usize);
                chooser.choose(&mut key.stream(), 10, population, count, &mut picks);
                let set = picks.iter().fold(0, |set, pick| set | 1 << (pick - 10));
                *seen.get_mut(&set).expect("a subset of the right size") += 1.0;
            }
            let chi_square: f64 = seen.values().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi_square < limit, "{count} of {population}: {chi_square}");
        }
    }

    #[test]
    fn everything_comes_in_order_and_without_a_draw() {
        let mut stream = stream(1);
        for count in [4, 5, usize::MAX] {
            let mut picks = vec![9];
            Chooser::default().choose(&mut stream, 5, 4, count, &mut picks);
            assert_eq!(picks, [9, 5, 6, 7, 8]);
        }
        assert_eq!(stream.word(), self::stream(1).word());
    }

    #[test]
    fn a_huge_population_costs_nothing() {
        let mut picks = Vec::new();
        Chooser::default().choose(&mut stream(1), 0, usize::MAX, 100, &mut picks);
        assert_eq!(picks.iter().collect::<BTreeSet<_>>().len(), 100);
    }

    #[test]
    fn a_table_never_takes_more_than_was_asked_for() {
        for entries in (0..5000).chain([1 << 16, 57_344, 57_345, 100_000]) {
            let pairs: HashSet<usize> = HashSet::with_capacity(entries);
            assert!(pairs.allocation_size() as u64 <= table_bytes(entries as u64, 8), "{entries}");
        }
        assert_eq!(table_bytes(u64::MAX, 16), u64::MAX);
    }

    proptest! {
        #[test]
        fn scanning_and_hashing_follow_floyds_rounds(
            seed: u64, population in 1_usize..400, count in 0_usize..400,
        ) {
            let mut picks = Vec::new();
            Chooser::default().choose(&mut stream(seed), 0, population, count, &mut picks);
            let mut expected = Vec::new();
            let mut draws = stream(seed);
            for end in population - count.min(population)..population {
                let drawn = if count < population { draws.below(end as u64 + 1) as usize } else { end };
                expected.push(if expected.contains(&drawn) { end } else { drawn });
            }
            prop_assert_eq!(&picks, &expected);
            prop_assert_eq!(picks.iter().collect::<BTreeSet<_>>().len(), count.min(population));
            prop_assert!(picks.iter().all(|&pick| pick < population));
        }
    }
}
