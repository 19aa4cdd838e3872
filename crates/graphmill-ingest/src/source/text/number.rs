//! Numbers as people write them, read exactly.
//! Ids, times and integer cells come through [`whole`], which takes `7`, `+7`, `7.0` and `7e0` for
//! the same number and never rounds; weights and float cells through [`weight`] and [`float`]. It
//! must not know lines, files or columns.

/// Why a text is not the number that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// There is no text at all.
    Empty,
    /// The text is not a number.
    NotANumber,
    /// A number with a fraction where a whole one is wanted.
    Fraction,
    /// A number below the smallest that is allowed.
    TooSmall,
    /// A number above the largest that is allowed.
    TooLarge,
}

/// A whole number: its sign and its magnitude.
pub(crate) fn whole(text: &[u8]) -> Result<(bool, u64), Unfit> {
    let (negative, rest) = match text {
        [] => return Err(Unfit::Empty),
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let digits = |from: &[u8]| from.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, rest) = rest.split_at(digits(rest));
    let (after, rest) = match rest {
        [b'.', rest @ ..] => rest.split_at(digits(rest)),
        rest => (&[][..], rest),
    };
    if before.is_empty() && after.is_empty() {
        return Err(Unfit::NotANumber);
    }
    let exponent = match rest {
        [] => 0,
        [b'e' | b'E', rest @ ..] => exponent(rest)?,
        _ => return Err(Unfit::NotANumber),
    };
    // Where the decimal point lies once the exponent has moved it.
    let point = before.len() as i64 + exponent;
    let mut magnitude = Some(0_u64);
    for (index, byte) in before.iter().chain(after).enumerate() {
        let digit = u64::from(byte - b'0');
        if (index as i64) < point {
            magnitude = magnitude.and_then(|value| value.checked_mul(10)?.checked_add(digit));
        } else if digit != 0 {
            return Err(Unfit::Fraction);
        }
    }
    let mut missing = point - (before.len() + after.len()) as i64;
    while missing > 0 && magnitude.is_some_and(|value| value != 0) {
        magnitude = magnitude.and_then(|value| value.checked_mul(10));
        missing -= 1;
    }
    let too_far = if negative { Unfit::TooSmall } else { Unfit::TooLarge };
    Ok((negative, magnitude.ok_or(too_far)?))
}

fn exponent(text: &[u8]) -> Result<i64, Unfit> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Unfit::NotANumber);
    }
    // Far beyond any number of digits in a line, so the limit changes no result.
    let size = digits.iter().fold(0_i64, |size, digit| {
        size.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(1 << 40)
    });
    Ok(if negative { -size } else { size })
}

/// A node id: whole, from 0 to 2^63 - 1.
pub(crate) fn id(text: &[u8]) -> Result<u64, Unfit> {
    match whole(text)? {
        (true, 1..) => Err(Unfit::TooSmall),
        (_, magnitude) if magnitude > i64::MAX as u64 => Err(Unfit::TooLarge),
        (_, magnitude) => Ok(magnitude),
    }
}

/// A signed whole number of 64 bits.
pub(crate) fn signed(text: &[u8]) -> Result<i64, Unfit> {
    let (negative, magnitude) = whole(text)?;
    if negative {
        0_i64.checked_sub_unsigned(magnitude).ok_or(Unfit::TooSmall)
    } else {
        i64::try_from(magnitude).map_err(|_| Unfit::TooLarge)
    }
}

/// A weight: finite and at least 0.
pub(crate) fn weight(text: &[u8]) -> Result<f32, Unfit> {
    if text.is_empty() {
        return Err(Unfit::Empty);
    }
    match fast_float2::parse::<f32, _>(text) {
        Ok(value) if value.is_nan() => Err(Unfit::NotANumber),
        Ok(value) if value < 0.0 => Err(Unfit::TooSmall),
        Ok(value) if value.is_infinite() => Err(Unfit::TooLarge),
        // Adding nothing turns -0.0 into 0.0.
        Ok(value) => Ok(value + 0.0),
        Err(_) => Err(Unfit::NotANumber),
    }
}

/// A float; infinities and NaN only where the text says so.
pub(crate) fn float(text: &[u8]) -> Result<f64, Unfit> {
    if text.is_empty() {
        return Err(Unfit::Empty);
    }
    let value = fast_float2::parse::<f64, _>(text).map_err(|_| Unfit::NotANumber)?;
    if value.is_infinite() && text.iter().any(u8::is_ascii_digit) {
        return Err(if value < 0.0 { Unfit::TooSmall } else { Unfit::TooLarge });
    }
    Ok(value)
}

/// Whether a text is any number at all, which the name of a column is not.
pub(crate) fn is_number(text: &[u8]) -> bool {
    fast_float2::parse::<f64, _>(text).is_ok()
}

/// Whether a text stands for a value that is not there.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    text.is_empty() || text.eq_ignore_ascii_case(b"nan")
}

/// Whether a cell of a text file stands for a value that is missing: the spellings of spreadsheets,
/// statistics programs and databases, in upper or lower case.
pub(crate) fn is_gap(text: &[u8]) -> bool {
    const SPELLINGS: [&[u8]; 8] = [b"nan", b"na", b"n/a", b"#n/a", b"<na>", b"null", b"?", b"-"];
    text.is_empty() || SPELLINGS.iter().any(|known| text.eq_ignore_ascii_case(known))
}

/// Whether a text is the word true or false, in upper or lower case.
pub(crate) fn is_boolean(text: &[u8]) -> bool {
    boolean(text).is_some()
}

/// What the word true or false says, in upper or lower case.
pub(crate) fn boolean(text: &[u8]) -> Option<bool> {
    let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
    if is(b"true") { Some(true) } else { is(b"false").then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_of_a_whole_number_is_the_same_number() {
        for text in ["7", "+7", "007", "7.", "7.000", "7e0", "0.7e1", "70E-1", "700.0e-2"] {
            assert_eq!(id(text.as_bytes()), Ok(7), "{text}");
        }
        assert_eq!(id(b"1.000000000000000000e+00"), Ok(1));
        assert_eq!(id(b"9223372036854775807"), Ok(i64::MAX as u64));
        assert_eq!(id(b"9.223372036854775807e18"), Ok(i64::MAX as u64));
        assert_eq!(id(b"-0"), Ok(0));
        assert_eq!(id(b"0e99999999999999999999"), Ok(0));
        assert_eq!(signed(b"-9223372036854775808"), Ok(i64::MIN));
    }

    #[test]
    fn what_is_no_id_says_why() {
        for text in ["x", "1x", "0x10", "1_000", "--1", "e5", ".", "+", "1e", "1e5.0", "nan", " 1"]
        {
            assert_eq!(id(text.as_bytes()), Err(Unfit::NotANumber), "{text}");
        }
        assert_eq!(id(b""), Err(Unfit::Empty));
        assert_eq!(id(b"1.5"), Err(Unfit::Fraction));
        assert_eq!(id(b"15e-1"), Err(Unfit::Fraction));
        assert_eq!(id(b"1e-99999999999999999999"), Err(Unfit::Fraction));
        assert_eq!(id(b"-1"), Err(Unfit::TooSmall));
        assert_eq!(id(b"9223372036854775808"), Err(Unfit::TooLarge));
        assert_eq!(id(b"1e19"), Err(Unfit::TooLarge));
        assert_eq!(id(b"1e99999999999999999999"), Err(Unfit::TooLarge));
        assert_eq!(signed(b"-9223372036854775809"), Err(Unfit::TooSmall));
    }

    #[test]
    fn weights_are_finite_and_not_negative() {
        assert_eq!(weight(b"0.5"), Ok(0.5));
        assert_eq!(weight(b"-0.0").map(f32::to_bits), Ok(0));
        assert_eq!(weight(b"-1"), Err(Unfit::TooSmall));
        assert_eq!(weight(b"inf"), Err(Unfit::TooLarge));
        assert_eq!(weight(b"1e39"), Err(Unfit::TooLarge));
        assert_eq!(weight(b"nan"), Err(Unfit::NotANumber));
        assert_eq!(weight(b""), Err(Unfit::Empty));
    }

    #[test]
    fn missing_values_have_known_spellings() {
        for text in ["", "NA", "na", "N/A", "#N/A", "<NA>", "NULL", "null", "NaN", "?", "-"] {
            assert!(is_gap(text.as_bytes()), "{text}");
        }
        for text in ["none", "0", "--", "nano", " "] {
            assert!(!is_gap(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn floats_are_infinite_only_by_name() {
        assert_eq!(float(b"-inf"), Ok(f64::NEG_INFINITY));
        assert!(float(b"NaN").unwrap().is_nan());
        assert_eq!(float(b"1e309"), Err(Unfit::TooLarge));
        assert_eq!(float(b"-1e309"), Err(Unfit::TooSmall));
    }

    proptest! {
        #[test]
        fn plain_integers_agree_with_the_standard_library(value: i64, zeros in 0_usize..4) {
            prop_assert_eq!(signed(value.to_string().as_bytes()), Ok(value));
            let padded = format!("{}{}.{}", "0".repeat(zeros), value.unsigned_abs(), "0".repeat(zeros));
            prop_assert_eq!(whole(padded.as_bytes()), Ok((false, value.unsigned_abs())));
        }

        #[test]
        fn moving_the_point_moves_nothing_else(value in 0_u64..1 << 53, places in 0_usize..12) {
            let digits = format!("{value:020}");
            let (before, after) = digits.split_at(20 - places);
            let text = format!("{before}.{after}e{places}");
            prop_assert_eq!(id(text.as_bytes()), Ok(value));
        }

        #[test]
        fn any_bytes_are_judged_without_panic(text in "[-+.eE0-9naif ]{0,24}") {
            let float = text.parse::<f64>();
            if let Ok((negative, magnitude)) = whole(text.as_bytes()) {
                let value = if negative { -(magnitude as f64) } else { magnitude as f64 };
                prop_assert_eq!(float, Ok(value));
            }
            let _ = (weight(text.as_bytes()), is_number(text.as_bytes()));
        }
    }
}
