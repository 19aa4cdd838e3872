//! Numbers of nodes and edges, as people write and read them.
//! Flags are parsed here, reports are formatted here; sizes in bytes have their own home in the disk crate. It must not
//! know what is counted.

/// Reads a number such as `250000`, `250_000`, `100k`, `4M` or `1.5G`; the letters are powers of 1000.
pub fn parse(text: &str) -> Result<u64, String> {
    number(text).ok_or_else(|| {
        "write a whole number, or one with k, M or G for thousands, millions or billions, as in 4M".to_owned()
    })
}

fn number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1_000),
        (at, 'm' | 'M') => (&text[..at], 1_000_000),
        (at, 'g' | 'G' | 'b' | 'B') => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let whole = whole.replace('_', "");
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than a billion has would be parts of a node.
    if !plain(&whole) || !plain(fraction) || fraction.len() > 9 {
        return None;
    }
    let parts = fraction.parse::<u64>().ok()?.checked_mul(unit)?;
    let scale = 10_u64.pow(fraction.len() as u32);
    if !parts.is_multiple_of(scale) {
        return None;
    }
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(parts / scale)
}

/// Shows a number with its thousands apart: `1,450,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Shows a number with what is counted: `1 class`, `16 classes`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_powers_of_a_thousand() {
        let cases = [
            ("0", 0),
            ("250_000", 250_000),
            ("100k", 100_000),
            ("4M", 4_000_000),
            ("1.5G", 1_500_000_000),
            ("0.001k", 1),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_whole_number_is_refused() {
        for text in [
            "",
            "k",
            "-1",
            "1.5",
            ".5M",
            "5.M",
            "1e6",
            "4 M",
            "4MM",
            "0.0001k",
            "99999999999G",
            "é",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1000, 1_450_000].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,450,000"]);
        assert_eq!(
            [1, 2].map(|number| counted(number, "class", "classes")),
            ["1 class", "2 classes"]
        );
    }
}
