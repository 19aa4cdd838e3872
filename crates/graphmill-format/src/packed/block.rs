//! How the values of a block are stored, and how large that is.
//! Planning needs one look at the values, so that the directory of a sequence can be made before its blocks.

use super::bits::low_mask;
use super::{BLOCK, DESCRIPTION_BITS, VALUE_BITS};

/// How a block will be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Bits that hold any value of the block.
    pub(super) value_bits: u32,
    /// Bits of a number that are stored as they are.
    pub(super) low_bits: u32,
    /// The last number: turns above value, less the first value.
    pub(super) last: u64,
}

impl Plan {
    /// The plan of 1 to 32 values; None if one is too large.
    pub(super) fn of(values: &[u64]) -> Option<Self> {
        debug_assert!((1..=BLOCK as usize).contains(&values.len()));
        let all = values.iter().fold(0, |all, value| all | value);
        if all >> VALUE_BITS != 0 {
            return None;
        }
        let pairs = values[1..].iter().zip(values);
        let turns = pairs.fold(0, |turns, (value, before)| turns + u64::from(value < before));
        // As many bits as the largest has, without a chain of comparisons.
        let value_bits = u64::BITS - all.leading_zeros();
        let last = (turns << value_bits) + values[values.len() - 1] - values[0];
        Some(Plan { value_bits, low_bits: cheapest(values.len() as u64, last), last })
    }

    /// Bytes of the block.
    pub(super) fn length(&self, count: usize) -> usize {
        let high = count as u64 + (self.last >> self.low_bits);
        let bits = u64::from(DESCRIPTION_BITS + self.value_bits)
            + high
            + count as u64 * u64::from(self.low_bits);
        bits.div_ceil(8) as usize
    }

    /// Writes the block; `bytes` are zero and as many as [`length`](Self::length) says, and at least seven more follow.
    pub(super) fn write(&self, values: &[u64], bytes: &mut [u8]) {
        let Plan { value_bits, low_bits, .. } = *self;
        let end = self.length(values.len()) * 8;
        let description = u64::from(low_bits) | u64::from(value_bits) << 6 | values[0] << 12;
        put_bits(bytes, 0, description);
        let high_at = (DESCRIPTION_BITS + value_bits) as usize;
        let low_at = end - values.len() * low_bits as usize;
        let mask = low_mask(low_bits);
        let (mut turns, mut before) = (0, values[0]);
        for (number, &value) in values.iter().enumerate() {
            turns += u64::from(value < before);
            before = value;
            let whole = (turns << value_bits) + value - values[0];
            let one = high_at + (whole >> low_bits) as usize + number;
            bytes[one / 8] |= 1 << (one % 8);
            put_bits(bytes, low_at + number * low_bits as usize, whole & mask);
        }
    }
}

/// The number of low bits that stores `count` ascending numbers up to `last` in the fewest bits; of equals the least.
fn cheapest(count: u64, last: u64) -> u32 {
    let cost = |low_bits: u32| count * u64::from(low_bits) + (last >> low_bits);
    // With one bit more, each number costs one more and half of the high parts are saved: the cost falls and then rises.
    let mut low_bits = (u64::BITS - (last / count).leading_zeros()).saturating_sub(1);
    while low_bits > 0 && cost(low_bits - 1) <= cost(low_bits) {
        low_bits -= 1;
    }
    while cost(low_bits + 1) < cost(low_bits) {
        low_bits += 1;
    }
    low_bits
}

/// Adds at most 57 bits to zeros from a bit on.
#[inline]
fn put_bits(bytes: &mut [u8], bit: usize, value: u64) {
    let place = &mut bytes[bit / 8..bit / 8 + 8];
    let word = place.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    place.copy_from_slice(&(word | value << (bit % 8)).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_other_number_of_low_bits_is_cheaper(count in 1_u64..=32, last in 0_u64..1 << 53, less in 0_u32..53) {
            let last = last >> less;
            let cost = |low_bits: u32| count * u64::from(low_bits) + (last >> low_bits);
            let slow = (0..60).min_by_key(|&low_bits| cost(low_bits));
            prop_assert_eq!(Some(cheapest(count, last)), slow);
            // What lets a reader look at three words and no more.
            prop_assert!(last >> cheapest(count, last) <= 2 * count + 1);
        }
    }
}
