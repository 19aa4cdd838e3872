//! Sizes in bytes, as people write them.
//! The command line and Python hand their texts to [`parse_size`], messages show [`format_size`].
//! It must not know what the bytes are for.

use crate::error::{Error, Result};

const BINARY_UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// Reads a size in bytes.
///
/// `KiB`, `MiB`, `GiB`, `TiB` and the bare letters `K`, `M`, `G`, `T` are powers of 1024; `KB`,
/// `MB`, `GB`, `TB` are powers of 1000; `B` or nothing means bytes. Case and a space before the
/// unit do not matter, and a fraction is allowed before a unit.
///
/// ```
/// use graphmill_disk::parse_size;
/// assert_eq!(parse_size("4GiB")?, 4 << 30);
/// assert_eq!(parse_size("2G")?, 2 << 30);
/// assert_eq!(parse_size("1.5 KiB")?, 1536);
/// assert_eq!(parse_size("3MB")?, 3_000_000);
/// assert_eq!(parse_size("1000")?, 1000);
/// assert!(parse_size("a lot").is_err());
/// # Ok::<(), graphmill_disk::Error>(())
/// ```
pub fn parse_size(text: &str) -> Result<u64> {
    parse(text.trim()).ok_or_else(|| Error::BadSize { text: text.to_owned() })
}

fn parse(text: &str) -> Option<u64> {
    let unit_start = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_start);
    let unit = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    };
    let (whole, fraction) = match number.split_once('.') {
        // Half a byte means nothing, and "4." or ".5" are more likely a slip than a size.
        Some((_, "")) | Some(("", _)) => return None,
        Some(_) if unit == 1 => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (number, ""),
    };
    // Eighteen digits keep the product below within 128 bits; nobody means more.
    if fraction.len() > 18 {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?;
    let fraction_of_unit = match fraction {
        "" => 0,
        digits => digits.parse::<u128>().ok()? * unit / 10u128.pow(digits.len() as u32),
    };
    u64::try_from(u128::from(whole) * unit + fraction_of_unit).ok()
}

/// Shows a size with the largest binary unit that leaves a number of at least one, and at most one
/// decimal: `512 B`, `4 GiB`, `1.5 GiB`.
pub fn format_size(bytes: u64) -> String {
    let mut unit = 0;
    while unit + 1 < BINARY_UNITS.len() && bytes >> (10 * (unit + 1)) > 0 {
        unit += 1;
    }
    // Tenths rounded down: a message must not claim more free memory than there is.
    let tenths = (u128::from(bytes) * 10) >> (10 * unit);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    let name = BINARY_UNITS[unit];
    if tenth == 0 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn documented_units_mean_what_they_say() {
        for (text, bytes) in [
            ("0", 0),
            ("1000", 1000),
            ("12b", 12),
            ("1K", 1024),
            ("1kib", 1024),
            ("1KB", 1000),
            ("512MiB", 512 << 20),
            ("2G", 2 << 30),
            ("1.5GiB", 3 << 29),
            ("0.1GB", 100_000_000),
            (" 3 tib ", 3 << 40),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_and_quoted() {
        for text in [
            "",
            " ",
            "GiB",
            "-1",
            "+1",
            "1.5",
            "1.",
            ".5G",
            "4.G",
            "1..5G",
            "1.2.3G",
            "4 GiBs",
            "1e9",
            "1_000",
            "0x10",
            "nan",
            "18446744073709551616",
            "20000000000G",
            "١٢",
            "1.0000000000000000001G",
        ] {
            match parse_size(text) {
                Err(Error::BadSize { text: quoted }) => assert_eq!(quoted, text),
                other => panic!("{text:?} gave {other:?}"),
            }
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_fitting_unit() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (4 << 30, "4 GiB"),
            ((4 << 30) - 1, "3.9 GiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(format_size(bytes), text);
        }
    }

    proptest! {
        #[test]
        fn a_shown_size_reads_back_a_tenth_of_a_unit_below_at_most(bytes: u64) {
            let read_back = parse_size(&format_size(bytes)).unwrap();
            prop_assert!(read_back <= bytes);
            prop_assert!(bytes - read_back <= bytes / 10 + 1);
        }

        #[test]
        fn any_text_is_a_size_or_an_error(text in ".{0,40}") {
            let _ = parse_size(&text);
        }
    }
}
