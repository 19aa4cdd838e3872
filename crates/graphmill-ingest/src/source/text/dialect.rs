//! How a text is written, found from its first lines.
//! The delimiter is the one that splits most of them into numbers; whether the first line is a
//! header is for the rule of headers to say; either can be forced. What is found here holds for
//! the whole file. It must not know how the rest of the file is read.

use super::blocks::{LONGEST_LINE, TextFile};
use super::fault::quote;
use super::fields::{Delimiter, Fields, is_skipped, without_return};
use super::header_rule;
use super::number::is_number;
use crate::source::options::Column;
use crate::{Error, Result};

/// Lines that are looked at.
const LINES: usize = 16;
/// Bytes that are looked at, unless the lines are longer.
const HEAD: usize = 64 << 10;

/// The way one file is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: Delimiter,
    /// Bytes of a byte order mark.
    pub(crate) mark: u64,
    /// Where the header line starts, if there is one.
    pub(crate) header_at: Option<u64>,
    /// The names in the header.
    pub(crate) names: Option<Vec<String>>,
    /// The fields of the first row, or of the header if there is none; empty for an empty file.
    pub(crate) first: Vec<String>,
    /// Whether the file has no row and no header.
    pub(crate) empty: bool,
}

/// What the caller insists on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Forced<'a> {
    pub(crate) delimiter: Option<Delimiter>,
    pub(crate) header: Option<bool>,
    /// The columns of ids, if ids are words.
    pub(crate) words: Option<&'a [Column]>,
    /// Whether rows may have one column, and words in it.
    pub(crate) table: bool,
    /// Whether the first column holds ids, whatever it is called.
    pub(crate) first_is_id: bool,
}

impl Dialect {
    /// Looks at the first lines of a file.
    pub(crate) fn find(file: &TextFile, forced: Forced<'_>) -> Result<Self> {
        let mut length = HEAD;
        loop {
            let head = file.head(length)?;
            let whole = head.len() < length;
            if let Some(dialect) = Self::of(&head, whole, forced) {
                return dialect.map_err(|error| error.in_file(&file.path()));
            }
            if length > LONGEST_LINE {
                let found = format!("no complete row in the first {length} bytes");
                let expected = "rows of text";
                let error = Error::source("line 1", found, expected, "is this a text file?");
                return Err(error.in_file(&file.path()));
            }
            length *= 4;
        }
    }

    /// The same for bytes; None if more of them are needed.
    pub(crate) fn of(head: &[u8], whole: bool, forced: Forced<'_>) -> Option<Result<Self>> {
        let mark = if head.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        if let Some(fault) = foreign(head) {
            return Some(Err(fault));
        }
        let mut lines: Vec<(u64, &[u8])> = Vec::new();
        let mut at = mark;
        while at < head.len() && lines.len() < LINES {
            let end = memchr::memchr(b'\n', &head[at..]).map(|end| at + end);
            if end.is_none() && !whole {
                break;
            }
            let line = without_return(&head[at..end.unwrap_or(head.len())]);
            if !is_skipped(line) {
                lines.push((at as u64, line));
            }
            at = end.map_or(head.len(), |end| end + 1);
        }
        // Two lines, since the first may be a header; all of them if there are no more.
        if lines.len() < 2 && !whole {
            return None;
        }
        let delimiter = forced.delimiter.unwrap_or_else(|| delimiter_of(&lines, forced));
        Some(Ok(Self::with(delimiter, mark as u64, &lines, forced)))
    }

    fn with(delimiter: Delimiter, mark: u64, lines: &[(u64, &[u8])], forced: Forced<'_>) -> Self {
        let fields = |line: &[u8]| -> Vec<String> {
            Fields::new(line, delimiter)
                .map(|field| field.map_or(String::new(), |text| lossy(&text)))
                .collect()
        };
        let Some(&(at, line)) = lines.first() else {
            return Dialect {
                delimiter,
                mark,
                header_at: None,
                names: None,
                first: Vec::new(),
                empty: true,
            };
        };
        let first = fields(line);
        let below = lines.get(1).map(|(_, line)| fields(line));
        let names_columns = match forced.words {
            Some(ids) => header_rule::names_words(&first, ids),
            None if forced.first_is_id => header_rule::names_first_id(&first, below.as_deref()),
            None => header_rule::names_numbers(&first, below.as_deref(), forced.table),
        };
        if !forced.header.unwrap_or(names_columns) {
            return Dialect { delimiter, mark, header_at: None, names: None, first, empty: false };
        }
        let row = below.unwrap_or_else(|| first.clone());
        let (names, first) = (Some(first), row);
        Dialect { delimiter, mark, header_at: Some(at), names, first, empty: false }
    }

    /// The place of a column, by its number or its name in the header.
    pub(crate) fn place(&self, column: &Column) -> Result<usize> {
        let name = match column {
            Column::Index(index) => return Ok(*index),
            Column::Name(name) => name,
        };
        let remedy = "give the number of the column, counted from 0";
        let Some(names) = &self.names else {
            let found = "no header";
            return Err(Error::source("line 1", found, format!("a column {name:?}"), remedy));
        };
        let exact = names.iter().position(|known| known == name);
        let known = exact.or_else(|| names.iter().position(|n| n.eq_ignore_ascii_case(name)));
        known.ok_or_else(|| {
            let found: String = names.join(", ").chars().take(200).collect();
            Error::source("header", found, format!("a column {name:?}"), remedy)
        })
    }
}

/// The delimiter under which most lines start with two numbers, or else the first that splits;
/// where ids are words, under which most lines start with two of any kind.
///
/// Words of a table may hold blanks, so those separate only numbers there.
fn delimiter_of(lines: &[(u64, &[u8])], forced: Forced<'_>) -> Delimiter {
    let Forced { table, words, .. } = forced;
    let is_good = |text: &[u8]| if words.is_some() { !text.is_empty() } else { is_number(text) };
    let numbers = |delimiter: Delimiter| {
        let good = lines.iter().filter(|(_, line)| {
            let mut fields = Fields::new(line, delimiter).take(2);
            let mut next = || matches!(fields.next(), Some(Ok(text)) if is_good(&text));
            next() && next()
        });
        good.count()
    };
    let splits = |delimiter: &Delimiter| {
        lines.first().is_some_and(|(_, line)| Fields::new(line, *delimiter).nth(1).is_some())
    };
    let mut best = (0, None);
    for delimiter in Delimiter::ALL {
        if delimiter == Delimiter::Blanks && table && words.is_some() {
            continue;
        }
        let count = numbers(delimiter);
        if count > best.0 {
            best = (count, Some(delimiter));
        }
    }
    let split = || {
        let mut candidates = Delimiter::ALL.into_iter();
        candidates
            .find(|delimiter| splits(delimiter) && !(table && *delimiter == Delimiter::Blanks))
    };
    best.1.or_else(split).unwrap_or(Delimiter::Comma)
}

/// Bytes that no text of ours starts with.
fn foreign(head: &[u8]) -> Option<Error> {
    let utf16 = head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF");
    let binary = head.iter().take(1024).any(|byte| *byte == 0);
    let remedy = if utf16 { "save it as UTF-8" } else { "is this the right file?" };
    (utf16 || binary).then(|| {
        let kind = if utf16 { "UTF-16" } else { "binary data" };
        let found = format!("{kind}, {}", quote(&head[..head.len().min(16)]));
        Error::source("byte 0", found, "text in UTF-8", remedy)
    })
}

pub(crate) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(text: &str) -> Dialect {
        Dialect::of(text.as_bytes(), true, Forced::default()).unwrap().unwrap()
    }

    #[test]
    fn the_delimiter_is_found() {
        for (text, delimiter) in [
            ("1,2\n", Delimiter::Comma),
            ("1, 2\n3, 4\n", Delimiter::Comma),
            ("# FromNodeId\tToNodeId, x\n1\t2\n", Delimiter::Tab),
            ("1;2;3,5\n", Delimiter::Semicolon),
            ("1 2\n", Delimiter::Blanks),
            ("  1   2 0,5\n", Delimiter::Blanks),
            ("1 \t 2\n", Delimiter::Tab),
            ("from node;to node, or so\n1;2\n", Delimiter::Semicolon),
            ("src,dst\n", Delimiter::Comma),
            ("\"1\",\"2\"\n", Delimiter::Comma),
            ("5\n", Delimiter::Comma),
        ] {
            assert_eq!(dialect(text).delimiter, delimiter, "{text:?}");
        }
    }

    #[test]
    fn the_delimiter_of_words_is_the_one_that_most_lines_have() {
        let ends = [Column::Index(0), Column::Index(1)];
        let forced = Forced { words: Some(&ends), ..Forced::default() };
        for (text, delimiter) in [
            ("ada,bob\n", Delimiter::Comma),
            ("New York,Paris\nParis,New York\n", Delimiter::Comma),
            (" ada , bob\t\ncy,dee\n", Delimiter::Comma),
            ("a, b\tc\nd\te\n", Delimiter::Tab),
            ("ada bob\ncy dee\n", Delimiter::Blanks),
        ] {
            let dialect = Dialect::of(text.as_bytes(), true, forced).unwrap().unwrap();
            assert_eq!(dialect.delimiter, delimiter, "{text:?}");
        }
    }

    #[test]
    fn a_header_has_no_number_in_its_first_two_fields() {
        assert_eq!(dialect("src,dst\n1,2\n").header_at, Some(0));
        assert_eq!(dialect("\u{FEFF}# x\n\n\"a b\",dst,3\n1,2,3\n").header_at, Some(8));
        for rows in ["1,2\n", "src,2\n", "1,dst\n", "1.5e3,nan\n", "alone\n", ""] {
            assert_eq!(dialect(rows).header_at, None, "{rows:?}");
        }
        let forced = |header| Forced { header: Some(header), ..Forced::default() };
        let of = |text: &str, header| {
            Dialect::of(text.as_bytes(), true, forced(header)).unwrap().unwrap()
        };
        assert_eq!(of("1,2\n3,4\n", true).header_at, Some(0));
        assert_eq!(of("src,dst\n3,4\n", false).header_at, None);
    }

    #[test]
    fn columns_are_found_by_name_or_number() {
        let named = dialect("src,dst, W \n1,2,3\n");
        assert_eq!(named.place(&Column::Name("w".to_owned())).unwrap(), 2);
        assert_eq!(named.place(&Column::Index(7)).unwrap(), 7);
        let error = named.place(&Column::Name("time".to_owned())).unwrap_err().to_string();
        assert!(error.contains("src, dst, W") && error.contains("\"time\""), "{error}");
        assert!(dialect("1,2\n").place(&Column::Name("w".to_owned())).is_err());
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for bytes in [&b"\xFF\xFE1\0,\0"[..], b"PAR1\0\0\0"] {
            assert!(Dialect::of(bytes, true, Forced::default()).unwrap().is_err());
        }
    }
}
