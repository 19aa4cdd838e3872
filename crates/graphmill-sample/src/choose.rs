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
    taken: HashSet<u64>,
}

impl Chooser {
    /// Replaces `picks` by `count` distinct numbers below `population`, every subset equally likely.
    ///
    /// The order is that of Floyd's rounds: round `i` draws a number up to `population - count + i` and keeps it, or,
    /// when it was taken before, keeps that upper end instead. With `count >= population` all numbers are given in
    /// ascending order and nothing is drawn. Only the subset is uniform, not the order.
    pub(crate) fn choose(
        &mut self,
        stream: &mut Stream,
        population: u64,
        count: u64,
        picks: &mut Vec<u64>,
    ) {
        picks.clear();
        if count >= population {
            picks.extend(0..population);
        } else if count <= SCANNED as u64 {
            for end in population - count..population {
                let drawn = stream.below(end + 1);
                picks.push(if picks.contains(&drawn) { end } else { drawn });
            }
        } else {
            self.taken.clear();
            self.taken.reserve(count as usize);
            for end in population - count..population {
                let drawn = stream.below(end + 1);
                let pick = if self.taken.insert(drawn) { drawn } else { end };
                if pick == end {
                    self.taken.insert(end);
                }
                picks.push(pick);
            }
        }
    }

    /// Bytes that choosing `count` may allocate beside the picks themselves.
    pub(crate) fn bytes_for(count: u64) -> u64 {
        if count <= SCANNED as u64 { 0 } else { crate::scratch::table_bytes(count, 8) }
    }

    /// Bytes held now.
    pub(crate) fn bytes(&self) -> u64 {
        self.taken.allocation_size() as u64
    }
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
                chooser.choose(&mut key.stream(), population.into(), count.into(), &mut picks);
                let set = picks.iter().fold(0, |set, pick| set | 1 << pick);
                *seen.get_mut(&set).expect("a subset of the right size") += 1.0;
            }
            let chi_square: f64 = seen.values().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi_square < limit, "{count} of {population}: {chi_square}");
        }
    }

    #[test]
    fn everything_comes_in_order_and_without_a_draw() {
        let (mut stream, mut picks) = (stream(1), vec![9]);
        for count in [4, 5, u64::MAX] {
            Chooser::default().choose(&mut stream, 4, count, &mut picks);
            assert_eq!(picks, [0, 1, 2, 3]);
        }
        assert_eq!(stream.word(), self::stream(1).word());
    }

    #[test]
    fn a_huge_population_costs_nothing() {
        let mut picks = Vec::new();
        Chooser::default().choose(&mut stream(1), u64::MAX, 100, &mut picks);
        assert_eq!(picks.iter().collect::<BTreeSet<_>>().len(), 100);
    }

    proptest! {
        #[test]
        fn scanning_and_hashing_follow_floyds_rounds(
            seed: u64, population in 1_u64..400, count in 0_u64..400,
        ) {
            let mut picks = Vec::new();
            Chooser::default().choose(&mut stream(seed), population, count, &mut picks);
            let mut expected = Vec::new();
            let mut draws = stream(seed);
            for end in population - count.min(population)..population {
                let drawn = if count < population { draws.below(end + 1) } else { end };
                expected.push(if expected.contains(&drawn) { end } else { drawn });
            }
            prop_assert_eq!(&picks, &expected);
            prop_assert_eq!(picks.iter().collect::<BTreeSet<_>>().len() as u64, count.min(population));
            prop_assert!(picks.iter().all(|&pick| pick < population));
        }
    }
}
