//! Random words that are a pure function of a seed, a purpose and a counter.
//! Every generator draws from here, which is why edges and rows can be produced in any order, in
//! any chunk and again. It knows nothing of graphs, and keeps no state between two draws.

/// Odd, with bits spread like those of the golden ratio: consecutive counters land far apart.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// What a stream of random words is used for; streams of one seed do not overlap in meaning.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Edges = 1,
    NodeIds = 2,
    OutHubs = 3,
    Centroids = 4,
    Noise = 5,
    Splits = 6,
}

/// An endless table of random words, addressed by position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    key: u64,
}

impl Words {
    pub(super) fn new(seed: u64, purpose: Purpose) -> Self {
        Self { key: mix(mix(seed.wrapping_add(STEP)) ^ (purpose as u64).wrapping_mul(STEP)) }
    }

    #[inline(always)]
    pub(super) fn at(self, position: u64) -> u64 {
        mix(self.key.wrapping_add(position.wrapping_mul(STEP)))
    }
}

/// Spreads every input bit over all output bits; a bijection of the 64-bit words.
#[inline(always)]
pub(super) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// A number in `[0, 1)` with 53 random bits.
#[inline(always)]
pub(super) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number in `[0, bound)`; the bias is at most `bound / 2^64`.
#[inline(always)]
pub(super) fn below(word: u64, bound: u64) -> u64 {
    ((u128::from(word) * u128::from(bound)) >> 64) as u64
}

/// A probability that a random word can be tested against; exact for 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chance {
    threshold: u64,
}

impl Chance {
    /// `share` beyond `[0, 1]` counts as the nearer end.
    pub(super) fn of(share: f64) -> Self {
        Self { threshold: (share.clamp(0.0, 1.0) * (1u64 << 53) as f64) as u64 }
    }

    #[inline(always)]
    pub(super) fn hits(self, word: u64) -> bool {
        (word >> 11) < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_and_impossible_chances_are_exact() {
        for word in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(Chance::of(1.0).hits(word));
            assert!(!Chance::of(0.0).hits(word));
        }
    }

    #[test]
    fn bounded_numbers_reach_both_ends_and_stay_below_the_bound() {
        for bound in [1, 2, 3, 1000, u64::MAX] {
            assert_eq!(below(0, bound), 0);
            assert_eq!(below(u64::MAX, bound), bound - 1);
        }
        assert_eq!(unit(0), 0.0);
        assert!(unit(u64::MAX) < 1.0);
    }

    #[test]
    fn purposes_and_seeds_give_different_words() {
        let edges = Words::new(0, Purpose::Edges);
        let noise = Words::new(0, Purpose::Noise);
        let other = Words::new(1, Purpose::Edges);
        assert!((0..1000).all(|i| edges.at(i) != noise.at(i) && edges.at(i) != other.at(i)));
    }
}
