//! Plain decimal numbers, such as `-0.1234`, as float32.
//! The inner loop of reading features: digits are read eight at a time and divided once. It answers
//! only where the answer is certain to be the nearest float32; whoever asks has a careful reader for
//! everything else.

use super::digits::{classify, digits, value};

/// The powers of ten that scale a number of up to 15 digits.
const TENS: [u64; 16] = {
    let mut tens = [1; 16];
    let mut power = 1;
    while power < 16 {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};

/// The same for numbers that a word holds.
const SHORT_TENS: [f32; 8] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

/// The number at `at` and its length, if it is digits with at most a minus and a point between.
///
/// None for everything else; `text` must reach 40 bytes beyond `at`.
#[inline(always)]
pub(crate) fn decimal(text: &[u8], at: usize) -> Option<(f32, usize)> {
    let negative = text[at] == b'-';
    let start = at + usize::from(negative);
    let (value, end) = match short(text, start) {
        Some(short) => short,
        None => long(text, start)?,
    };
    if text[end] | 0x20 == b'e' {
        return None;
    }
    Some((if negative { -value } else { value }, end - at))
}

/// A number with a point that ends within eight bytes, and where it ends.
#[inline(always)]
fn short(text: &[u8], start: usize) -> Option<(f32, usize)> {
    let (word, others) = classify(text, start)?;
    let behind_point = others & others.wrapping_sub(1);
    if behind_point == 0 {
        return None;
    }
    let whole = others.trailing_zeros() as usize / 8;
    let end = behind_point.trailing_zeros() as usize / 8;
    if whole == 0 || text[start + whole] != b'.' || whole + 1 == end {
        return None;
    }
    let before = (1 << (8 * whole)) - 1;
    let joined = (word & before) | ((word >> 8) & !before);
    let mantissa = value(joined << (64 - 8 * (end - 1)));
    // Six digits and a power of ten below 2^24 are exact as f32, so the quotient is the nearest.
    Some((mantissa as f32 / SHORT_TENS[end - whole - 1], start + end))
}

/// A number of up to 15 digits, and where it ends.
#[inline]
fn long(text: &[u8], start: usize) -> Option<(f32, usize)> {
    let (mut mantissa, length) = digits(text, start)?;
    let mut end = start + length;
    let mut places = 0;
    if text[end] == b'.' {
        let (fraction, more) = digits(text, end + 1)?;
        if length + more >= TENS.len() {
            return None;
        }
        mantissa = mantissa * TENS[more] + fraction;
        places = more;
        end += 1 + more;
    }
    // Both are exact as f64, so the quotient is the nearest f64. Rounding it again gives the nearest
    // f32, unless the first rounding ended half-way between two of them.
    let value = mantissa as f64 / TENS[places] as f64;
    const BELOW_SINGLE: u64 = (1 << 29) - 1;
    const HALF_WAY: u64 = 1 << 28;
    if value.to_bits() & BELOW_SINGLE == HALF_WAY {
        return None;
    }
    Some((value as f32, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(number: &str, behind: &str) -> Option<(f32, usize)> {
        let mut text = format!("{number}{behind}").into_bytes();
        text.resize(text.len() + 64, 0);
        decimal(&text, 0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn plain_decimals_are_read_as_the_standard_library_reads_them(
            number in "-?[0-9]{1,16}(\\.[0-9]{1,16})?|-?[0-9]{1,3}\\.[0-9]{1,6}", behind in "[,;\t\n]",
        ) {
            let digits = number.bytes().filter(u8::is_ascii_digit).count();
            match read(&number, &behind) {
                Some((value, length)) => {
                    prop_assert_eq!(length, number.len());
                    prop_assert_eq!(value.to_bits(), number.parse::<f32>().unwrap().to_bits());
                }
                // Ties are rare enough to be left to the careful way.
                None => prop_assert!(digits > 15 || (number.parse::<f64>().unwrap() as f32) as f64
                    != number.parse::<f64>().unwrap()),
            }
        }

        #[test]
        fn numbers_near_half_way_are_exact_or_left_to_others(mantissa in 1_u32..1 << 24, up: u8) {
            // Half-way between two float32 in decimal, with a digit more or less at the end.
            let tie = f64::from(mantissa) + 0.5;
            let number = format!("{tie}{}", ["", "1", "0001"][usize::from(up) % 3]);
            if let Some((value, _)) = read(&number, ",") {
                prop_assert_eq!(value.to_bits(), number.parse::<f32>().unwrap().to_bits());
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_others() {
        for number in
            ["", "-", ".5", "5.", "+1", "1e3", "0.5E-2", "nan", "inf", " 1", "--1", "1.5.2"]
        {
            let read = read(number, ",");
            assert!(read.is_none() || number == "1.5.2", "{number:?} {read:?}");
        }
        // Only the first number; whoever asks looks at what is behind it.
        assert_eq!(read("1.5.2", ","), Some((1.5, 3)));
        assert_eq!(read("-0.0", "\n").map(|(zero, _)| zero.to_bits()), Some((-0.0_f32).to_bits()));
    }
}
