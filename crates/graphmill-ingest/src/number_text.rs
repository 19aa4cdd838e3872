//! Numbers as text, in a form that reads back to the same number.
//! Texts of edges and of tables are written through here, many millions of numbers at a time. It must
//! not know what separates them.

use std::fmt::{Display, LowerExp};
use std::io::Write;
use std::ops::Range;

/// Magnitudes that are written without an exponent, as people would.
const PLAIN: Range<f64> = 1e-5..1e16;

pub(crate) fn push_unsigned(text: &mut Vec<u8>, mut number: u64) {
    // 2^64 has twenty digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[start..]);
}

pub(crate) fn push_signed(text: &mut Vec<u8>, number: i64) {
    if number < 0 {
        text.push(b'-');
    }
    push_unsigned(text, number.unsigned_abs());
}

/// The fewest digits that read back to the same `f32` or `f64`; `nan`, `inf` and `-inf`.
pub(crate) fn push_float<F: Copy + Display + LowerExp + Into<f64>>(text: &mut Vec<u8>, number: F) {
    let value: f64 = number.into();
    if value.is_nan() {
        text.extend_from_slice(b"nan");
        return;
    }
    let written = if value == 0.0 || value.is_infinite() || PLAIN.contains(&value.abs()) {
        write!(text, "{number}")
    } else {
        // Without an exponent, 1e300 would have three hundred digits.
        write!(text, "{number:e}")
    };
    written.expect("memory takes all that is written");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut text = Vec::new();
        push(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn integers_read_as_the_library_writes_them() {
        for number in [0, 7, 10, 99, 100, 12_345_678_901, u64::MAX] {
            assert_eq!(text(|text| push_unsigned(text, number)), number.to_string());
        }
        for number in [0, -1, 10, i64::MAX, i64::MIN] {
            assert_eq!(text(|text| push_signed(text, number)), number.to_string());
        }
    }

    #[test]
    fn floats_are_as_short_as_they_can_be() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (-2.0, "-2"),
            (123_456.5, "123456.5"),
            (1e16, "1e16"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::NAN, "nan"),
            (-f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(|text| push_float(text, number)), expected);
        }
        assert_eq!(text(|text| push_float(text, 0.1_f32)), "0.1");
        assert_eq!(text(|text| push_float(text, f32::MIN_POSITIVE)), "1.1754944e-38");
    }

    proptest! {
        #[test]
        fn every_float_reads_back_to_the_same_bits(single: u32, double: u64) {
            let (single, double) = (f32::from_bits(single), f64::from_bits(double));
            let written = text(|text| push_float(text, single));
            // What texts of tables set aside for a cell.
            prop_assert!(written.len() <= 17);
            let read: f32 = written.parse().unwrap();
            prop_assert!(read.to_bits() == single.to_bits() || read.is_nan() && single.is_nan());
            let written = text(|text| push_float(text, double));
            prop_assert!(written.len() <= 24);
            let read: f64 = written.parse().unwrap();
            prop_assert!(read.to_bits() == double.to_bits() || read.is_nan() && double.is_nan());
        }
    }
}
