//! One line of text, field by field.
//! The careful splitter that every odd line ends up in: padding is trimmed, quotes are taken off,
//! runs of blanks count as one where blanks separate. It must not know what the fields mean.

use std::borrow::Cow;

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delimiter {
    /// `,`
    Comma,
    /// A tab.
    Tab,
    /// `;`
    Semicolon,
    /// Any run of spaces and tabs.
    Blanks,
}

impl Delimiter {
    /// Every delimiter that can be found, in the order of preference.
    pub const ALL: [Delimiter; 4] =
        [Delimiter::Tab, Delimiter::Comma, Delimiter::Semicolon, Delimiter::Blanks];

    /// The byte that stands for it.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Delimiter::Comma => b',',
            Delimiter::Tab => b'\t',
            Delimiter::Semicolon => b';',
            Delimiter::Blanks => b' ',
        }
    }
}

impl std::str::FromStr for Delimiter {
    type Err = crate::Error;

    /// Accepts the character itself, `\t`, and the names `comma`, `tab`, `semicolon`, `space`.
    fn from_str(text: &str) -> crate::Result<Self> {
        match text {
            "," | "comma" => Ok(Delimiter::Comma),
            "\t" | "\\t" | "tab" => Ok(Delimiter::Tab),
            ";" | "semicolon" => Ok(Delimiter::Semicolon),
            " " | "space" => Ok(Delimiter::Blanks),
            _ => {
                let problem = format!("{text:?} is none of comma, tab, semicolon, space");
                Err(crate::Error::request("delimiter", problem))
            }
        }
    }
}

/// A quoted field that is not closed as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadQuote;

/// The fields of one line, which has no line end.
pub(crate) struct Fields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: Delimiter,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8], delimiter: Delimiter) -> Self {
        Fields { rest: Some(line), delimiter }
    }

    /// The text up to the closing quote, and what follows it.
    fn quoted(text: &'a [u8]) -> Result<(Cow<'a, [u8]>, &'a [u8]), BadQuote> {
        let mut content = Cow::Borrowed(&text[..0]);
        let mut rest = text;
        loop {
            let end = memchr::memchr(b'"', rest).ok_or(BadQuote)?;
            let piece = &rest[..end];
            if content.is_empty() {
                content = Cow::Borrowed(piece);
            } else {
                content.to_mut().extend_from_slice(piece);
            }
            rest = &rest[end + 1..];
            if rest.first() != Some(&b'"') {
                return Ok((content, rest));
            }
            content.to_mut().push(b'"');
            rest = &rest[1..];
        }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Cow<'a, [u8]>, BadQuote>;

    fn next(&mut self) -> Option<Self::Item> {
        let blanks = self.delimiter == Delimiter::Blanks;
        let delimiter = self.delimiter.byte();
        let separates = |byte: &u8| if blanks { is_blank(*byte) } else { *byte == delimiter };
        let rest = self.rest.take()?;
        let padding = |text: &[u8]| {
            text.iter().take_while(|byte| is_blank(**byte) && (blanks || !separates(byte))).count()
        };
        let start = &rest[padding(rest)..];
        if blanks && start.is_empty() {
            return None;
        }
        if let [b'"', quoted @ ..] = start {
            let Ok((content, behind)) = Self::quoted(quoted) else { return Some(Err(BadQuote)) };
            let behind_padding = &behind[if blanks { 0 } else { padding(behind) }..];
            match behind_padding {
                [] => {}
                [byte, rest @ ..] if separates(byte) => self.rest = Some(rest),
                _ => return Some(Err(BadQuote)),
            }
            return Some(Ok(content));
        }
        let end = if blanks {
            start.iter().position(separates)
        } else {
            memchr::memchr(delimiter, start)
        };
        self.rest = end.map(|end| &start[end + 1..]);
        Some(Ok(Cow::Borrowed(trim(&start[..end.unwrap_or(start.len())]))))
    }
}

/// Without blanks at both ends.
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Whether a line holds nothing, or nothing but a comment.
pub(crate) fn is_skipped(line: &[u8]) -> bool {
    matches!(trim(line), [] | [b'#' | b'%', ..])
}

/// A line without the carriage return of its end.
pub(crate) fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(line: &str, delimiter: Delimiter) -> Option<Vec<String>> {
        Fields::new(line.as_bytes(), delimiter)
            .map(|field| field.ok().map(|field| String::from_utf8_lossy(&field).into_owned()))
            .collect()
    }

    #[track_caller]
    fn splits(line: &str, delimiter: Delimiter, fields: &[&str]) {
        let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
        assert_eq!(split(line, delimiter), Some(fields), "{line:?}");
    }

    #[test]
    fn padding_is_trimmed_and_quotes_are_taken_off() {
        splits("1,2", Delimiter::Comma, &["1", "2"]);
        splits(" 1 ,\t2 ", Delimiter::Comma, &["1", "2"]);
        splits("1,,", Delimiter::Comma, &["1", "", ""]);
        splits("", Delimiter::Comma, &[""]);
        splits("\"1\" , \"a,\"\"b\"\"\" ,x", Delimiter::Comma, &["1", "a,\"b\"", "x"]);
        splits("\"\"\"\"", Delimiter::Comma, &["\""]);
        splits("5\" disk,2", Delimiter::Comma, &["5\" disk", "2"]);
        splits(" 1\t\t2", Delimiter::Tab, &["1", "", "2"]);
    }

    #[test]
    fn a_run_of_blanks_is_one_delimiter() {
        splits("  1 \t 2  ", Delimiter::Blanks, &["1", "2"]);
        splits("\"a b\" 2", Delimiter::Blanks, &["a b", "2"]);
        splits("   ", Delimiter::Blanks, &[]);
    }

    #[test]
    fn quotes_that_do_not_close_are_told() {
        for line in ["\"1,2", "1,\"2", "\"1\"x,2", "\"1\"\"", "\""] {
            assert_eq!(split(line, Delimiter::Comma), None, "{line:?}");
        }
        assert_eq!(split("\"a\"b c", Delimiter::Blanks), None);
    }

    #[test]
    fn comments_and_blank_lines_are_skipped() {
        for line in ["", "  \t", "# 1,2", "  % 1 2"] {
            assert!(is_skipped(line.as_bytes()), "{line:?}");
        }
        assert!(!is_skipped(b"1 # 2"));
        assert_eq!(without_return(b"1\r"), b"1");
    }

    proptest! {
        #[test]
        fn sound_lines_agree_with_the_csv_crate(line in "[a-c0-9,\"]{1,20}") {
            let delimiter = Delimiter::Comma;
            let Some(ours) = split(&line, delimiter) else { return Ok(()) };
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false).flexible(true).from_reader(line.as_bytes());
            let theirs = reader.records().next().unwrap().unwrap();
            prop_assert_eq!(ours, theirs.iter().map(str::to_owned).collect::<Vec<_>>());
        }
    }
}
