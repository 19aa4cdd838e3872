//! A keyed permutation of `[0, size)` that needs no table.
//! The generators number nodes by rank (hubs first) and publish the permuted number, so that ids
//! say nothing about degree or community. It knows nothing of ranks, graphs or seeds' purposes.

use super::counter::{Words, below, mix};
use super::divisor::Divisor;

/// Two rounds per side: enough that neighbours in rank share nothing visible in their ids.
const ROUNDS: usize = 2;

/// A Feistel network over pairs `(left, right)` with `left * right >= size`, walked again for the
/// few values (at most one in `sqrt(size)`) that land beyond `size`.
#[derive(Clone, Debug)]
pub(super) struct Scramble {
    size: u64,
    left: u64,
    right: Divisor,
    keys: [(u64, u64); ROUNDS],
}

impl Scramble {
    /// `size` is at least 1 and at most 2^62, so that `left * right` cannot overflow.
    pub(super) fn new(size: u64, words: Words) -> Self {
        debug_assert!((1..=1 << 62).contains(&size));
        let floor = size.isqrt();
        let left = if floor * floor < size { floor + 1 } else { floor };
        let keys = std::array::from_fn(|round| {
            let position = 2 * round as u64;
            (words.at(position), words.at(position + 1))
        });
        Self { size, left, right: Divisor::new(size.div_ceil(left)), keys }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Replaces every value by where it goes.
    pub(super) fn apply_all(&self, values: &mut [u64]) {
        // A loop of its own, short enough that the processor overlaps several values.
        values.iter_mut().for_each(|value| *value = self.apply(0, *value));
    }

    /// Where `value` goes; each `tweak` is a permutation of its own. `value` is below the size.
    #[inline(always)]
    pub(super) fn apply(&self, tweak: u64, mut value: u64) -> u64 {
        debug_assert!(value < self.size);
        let width = self.right.get();
        let tweak = mix(tweak);
        loop {
            let (mut left, mut right) = self.right.split(value);
            for (left_key, right_key) in self.keys {
                left = add(left, below(round(left_key, tweak, right), self.left), self.left);
                right = add(right, below(round(right_key, tweak, left), width), width);
            }
            value = left * width + right;
            if value < self.size {
                return value;
            }
        }
    }

    /// The value that `apply` sends to `value` under the same `tweak`.
    #[inline(always)]
    pub(super) fn invert(&self, tweak: u64, mut value: u64) -> u64 {
        debug_assert!(value < self.size);
        let width = self.right.get();
        let tweak = mix(tweak);
        loop {
            let (mut left, mut right) = self.right.split(value);
            for (left_key, right_key) in self.keys.into_iter().rev() {
                let step = below(round(right_key, tweak, left), width);
                right = add(right, width - step, width);
                let step = below(round(left_key, tweak, right), self.left);
                left = add(left, self.left - step, self.left);
            }
            value = left * width + right;
            if value < self.size {
                return value;
            }
        }
    }
}

#[inline(always)]
fn round(key: u64, tweak: u64, half: u64) -> u64 {
    // Shorter than a full mix, because only the upper bits are used and all bits of the key vary.
    let word = (key ^ tweak ^ half).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (word ^ (word >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// `a + b` modulo `modulus`, for `a < modulus` and `b <= modulus`.
#[inline(always)]
fn add(a: u64, b: u64, modulus: u64) -> u64 {
    let sum = a + b;
    // By mask: as a branch it would be guessed wrong half the time.
    sum - (modulus & u64::from(sum >= modulus).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::super::counter::Purpose;
    use super::*;

    fn scramble(size: u64, seed: u64) -> Scramble {
        Scramble::new(size, Words::new(seed, Purpose::NodeIds))
    }

    #[test]
    fn every_small_size_is_permuted_and_inverted_exactly() {
        for size in (1..=300).chain([1023, 1024, 1025, 4099, 65_536, 65_537]) {
            for (seed, tweak) in [(0, 0), (1, 0), (0, 1), (7, 99)] {
                let scramble = scramble(size, seed);
                let mut seen = vec![false; size as usize];
                for value in 0..size {
                    let image = scramble.apply(tweak, value);
                    assert!(!std::mem::replace(&mut seen[image as usize], true), "{size} {value}");
                    assert_eq!(scramble.invert(tweak, image), value, "size {size}");
                }
            }
        }
    }

    #[test]
    fn the_largest_sizes_are_inverted() {
        for size in [(1 << 48) - 59, 1 << 48, (1 << 62) - 1, 1 << 62] {
            let scramble = scramble(size, 3);
            for value in [0, 1, size / 2, size - 2, size - 1] {
                let image = scramble.apply(5, value);
                assert!(image < size);
                assert_eq!(scramble.invert(5, image), value);
            }
        }
    }

    #[test]
    fn keys_and_tweaks_move_values_to_unrelated_places() {
        let size = 10_000;
        let (first, second) = (scramble(size, 0), scramble(size, 1));
        let unmoved = |same: &dyn Fn(u64) -> bool| (0..size).filter(|&v| same(v)).count();
        assert!(unmoved(&|v| first.apply(0, v) == v) < 20);
        assert!(unmoved(&|v| first.apply(0, v) == second.apply(0, v)) < 20);
        assert!(unmoved(&|v| first.apply(0, v) == first.apply(1, v)) < 20);
        let steps: u64 =
            (1..size).map(|value| first.apply(0, value).abs_diff(first.apply(0, value - 1))).sum();
        let mean = steps as f64 / (size - 1) as f64;
        assert!((mean / size as f64 - 1.0 / 3.0).abs() < 0.02, "mean step {mean}");
    }
}
