//! Division by a number that stays the same, as a multiplication.
//! Ranks are split into community and index, and ids into halves, several times an edge; the
//! processor's own division would be the largest cost of a graph. It is exact for every input.

/// Divides by a fixed number of at least 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    divisor: u64,
    /// `floor((2^64 - 1) / divisor)`: at most one too small for `2^64 / divisor`, so that the
    /// quotient guessed with it is at most one too small as well.
    reciprocal: u64,
}

impl Divisor {
    pub(super) fn new(divisor: u64) -> Self {
        debug_assert!(divisor > 0);
        Self { divisor, reciprocal: u64::MAX / divisor }
    }

    #[inline(always)]
    pub(super) fn get(self) -> u64 {
        self.divisor
    }

    /// Quotient and remainder.
    #[inline(always)]
    pub(super) fn split(self, value: u64) -> (u64, u64) {
        let guess = ((u128::from(value) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = value - guess * self.divisor;
        let low = u64::from(rest >= self.divisor);
        (guess + low, rest - (self.divisor & low.wrapping_neg()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::counter::mix;
    use super::*;

    #[test]
    fn quotient_and_remainder_agree_with_the_processor() {
        let numbers = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, mix(bit) >> (bit / 2)]);
        let numbers: Vec<u64> = numbers.chain([u64::MAX - 1, u64::MAX]).collect();
        for divisor in numbers.iter().copied().filter(|&number| number > 0) {
            for value in numbers.iter().flat_map(|&v| [v, v.wrapping_mul(divisor)]) {
                let expected = (value / divisor, value % divisor);
                assert_eq!(Divisor::new(divisor).split(value), expected, "{value} / {divisor}");
            }
        }
    }
}
