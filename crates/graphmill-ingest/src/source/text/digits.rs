//! Decimal digits, eight at a time.
//! The inner loop of reading edges: a word of eight bytes is classified, aligned and multiplied
//! out without a branch per digit. It answers only where the answer is certain and small; the
//! careful reader in `number` has the last word on everything else.

const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
/// Carries a byte of 10 or more into its high bit, and leaves 0 to 9 below it.
const ABOVE_NINE: u64 = 0x7676_7676_7676_7676;

/// A run of 1 to 15 digits at `at`: its value and its length.
///
/// None for no digit and for more than 15; `text` must reach 16 bytes beyond `at`.
#[inline(always)]
pub(crate) fn digits(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let (word, others) = classify(text, at)?;
    if others == 0 {
        return long_digits(text, at, word);
    }
    let length = others.trailing_zeros() as usize / 8;
    if length == 0 {
        return None;
    }
    Some((value(word << (64 - 8 * length)), length))
}

/// A run of 1 to 8 digits at the start of a word that is followed by something else.
///
/// Eight digits count only together with the byte behind them, which the caller must look at.
#[inline(always)]
pub(super) fn short_digits(bytes: &[u8; 8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*bytes) ^ ZEROS;
    let others = (word.wrapping_add(ABOVE_NINE) | word) & HIGH_BITS;
    // Without a mark all 64 bits are digits.
    let length = others.trailing_zeros() as usize / 8;
    if length == 0 {
        return None;
    }
    Some((value(word << (64 - 8 * length)), length))
}

/// The same where the first eight bytes are digits.
#[inline]
fn long_digits(text: &[u8], at: usize, word: u64) -> Option<(u64, usize)> {
    const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let (second, others) = classify(text, at + 8)?;
    let length = match others {
        0 => return None,
        others => others.trailing_zeros() as usize / 8,
    };
    let low = if length == 0 { 0 } else { value(second << (64 - 8 * length)) };
    Some((value(word) * POWERS[length] + low, 8 + length))
}

/// Eight bytes with the digits reduced to 0 to 9, and the high bits of those that are no digits.
///
/// A carry out of a byte that is no digit may mark the bytes behind it; the first mark is exact.
#[inline(always)]
pub(super) fn classify(text: &[u8], at: usize) -> Option<(u64, u64)> {
    let bytes = text.get(at..)?.first_chunk::<8>()?;
    let word = u64::from_le_bytes(*bytes) ^ ZEROS;
    Some((word, (word.wrapping_add(ABOVE_NINE) | word) & HIGH_BITS))
}

/// The number that eight reduced digits spell, the first in the lowest byte.
#[inline(always)]
pub(super) fn value(word: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00FF_0000_00FF;
    // Each step joins two neighbours: digits to pairs, pairs to fours, fours to eight.
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_of_digits_are_read_as_the_standard_library_reads_them(
            digits_text in "[0-9]{0,18}", end: u8, behind: [u8; 24],
        ) {
            prop_assume!(!end.is_ascii_digit());
            let mut text = digits_text.clone().into_bytes();
            text.push(end);
            text.extend(behind);
            let expected = match digits_text.len() {
                1..16 => Some((digits_text.parse().unwrap(), digits_text.len())),
                _ => None,
            };
            let found = digits(&text, 0);
            if digits_text.len() == 16 {
                prop_assert!(found.is_none());
            } else {
                prop_assert_eq!(found, expected);
            }
        }
    }
}
