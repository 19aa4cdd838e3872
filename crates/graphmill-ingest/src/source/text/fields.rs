//! One line of text, field by field.
//! The careful splitter that every odd line ends up in: padding is trimmed unless fields are wanted
//! exactly, quotes are taken off, runs of blanks count as one where blanks separate. It must not
//! know what the fields mean.

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
    exact: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8], delimiter: Delimiter) -> Self {
        Fields { rest: Some(line), delimiter, exact: false }
    }

    /// The fields with the blanks that stand around them, which belong to words; blanks around
    /// quotes belong to no field.
    pub(crate) fn exact(line: &'a [u8], delimiter: Delimiter) -> Self {
        Fields { exact: true, ..Self::new(line, delimiter) }
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
        let field = if self.exact && !blanks { rest } else { start };
        let end = if blanks {
            field.iter().position(separates)
        } else {
            memchr::memchr(delimiter, field)
        };
        self.rest = end.map(|end| &field[end + 1..]);
        let field = &field[..end.unwrap_or(field.len())];
        Some(Ok(Cow::Borrowed(if self.exact { field } else { trim(field) })))
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

/// Whether a line begins as a comment does, but may be a row whose first field begins so: a word
/// follows the sign at once, as in `#rust,1`.
pub(crate) fn is_doubtful_comment(line: &[u8]) -> bool {
    let line = trim(line);
    let signs = line.iter().take_while(|byte| matches!(byte, b'#' | b'%')).count();
    signs > 0 && line.get(signs).is_some_and(|byte| !is_blank(*byte))
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
    fn exact_fields_keep_the_blanks_that_are_not_around_quotes() {
        let exact = |line: &'static str, delimiter| -> Vec<Vec<u8>> {
            let fields = Fields::exact(line.as_bytes(), delimiter);
            fields.map(|field| field.unwrap().into_owned()).collect()
        };
        let fields = [&b" a "[..], b"b", b" c ", b"\td"];
        assert_eq!(exact(" a ,b, \" c \" ,\td", Delimiter::Comma), fields);
        assert_eq!(exact(" a\t\tb ", Delimiter::Tab), [&b" a"[..], b"", b"b "]);
        assert_eq!(exact("  a \t b ", Delimiter::Blanks), [b"a", b"b"]);
        assert_eq!(exact("", Delimiter::Comma), [b""]);
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
        for line in ["#", "# 1,2", "  % 1 2", "##\tx"] {
            assert!(!is_doubtful_comment(line.as_bytes()), "{line:?}");
        }
        for line in ["#rust", " %20,1", "##x"] {
            assert!(is_doubtful_comment(line.as_bytes()), "{line:?}");
        }
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
