//! How a text is written, found from its first lines.
//! The delimiter is the one that splits most of them into numbers; whether the first line is a
//! header is for the rule of headers to say; either can be forced. What is found here holds for
//! the whole file; what it takes to find and keep it is paid for by the budget. It must not know
//! how the rest of the file is read.

use std::sync::Arc;

use graphmill_disk::{Budget, Reservation};

use super::blocks::{LONGEST_LINE, TextFile};
use super::fault::{Fault, quote};
use super::fields::{Delimiter, Fields, is_doubtful_comment, is_skipped, trim, without_return};
use super::header_rule::{FirstLine, Rule, Sample};
use super::number::{is_boolean, is_gap, is_number};
use crate::error::Setting;
use crate::source::chunk::TextCells;
use crate::source::options::Column;
use crate::{Error, Result};

/// Lines by which the delimiter is found.
const LINES: usize = 16;
/// Lines that are compared with the first.
const COMPARED: usize = 4096;
/// Bytes that are looked at, unless the lines are longer.
const HEAD: usize = 64 << 10;
/// Bytes that are looked at for two lines that are no comments.
const MOST: usize = 4 * LONGEST_LINE;
/// Bytes that each field of the first line takes beside its text: where it ends, in two copies.
const PER_FIELD: u64 = 2 * size_of::<usize>() as u64;
/// Bytes of a field of the first row: its kind, and whether it is a cell.
const PER_KIND: u64 = 2;

/// The way one file is written.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: Delimiter,
    /// Bytes of a byte order mark.
    pub(crate) mark: u64,
    /// Where the header line starts, if there is one.
    pub(crate) header_at: Option<u64>,
    /// Where the first line starts that is no comment beyond doubt.
    pub(crate) comments_end: u64,
    /// Whether every line from there on is a row, if there is no header; otherwise blank lines and
    /// comments are none.
    pub(crate) lines_are_rows: bool,
    /// The names in the header.
    pub(crate) names: Option<TextCells>,
    /// The fields of the first row, or of the header if there is none; empty for an empty file.
    pub(crate) first: Vec<Kind>,
    /// Whether the file has no row and no header.
    pub(crate) empty: bool,
    /// Whether it has blank lines among the first.
    pub(crate) has_blanks: bool,
    /// What names and kinds take.
    _reserved: Option<Arc<Reservation>>,
}

/// What a field of the first row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Gap,
    Number,
    Boolean,
    Word,
}

impl Kind {
    fn of(text: &[u8]) -> Self {
        match trim(text) {
            text if is_gap(text) => Kind::Gap,
            text if is_number(text) => Kind::Number,
            text if is_boolean(text) => Kind::Boolean,
            _ => Kind::Word,
        }
    }
}

/// What the caller insists on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forced<'a> {
    pub(crate) delimiter: Option<Delimiter>,
    pub(crate) header: Option<bool>,
    pub(crate) rule: Rule<'a>,
    /// How many rows there are, if that may settle whether the first line is one.
    pub(crate) rows: Option<u64>,
}

/// The first lines that are neither blank nor comments.
struct Lines<'h> {
    lines: Vec<(u64, &'h [u8])>,
    /// The number of the first of them, counted from 1.
    first_number: u64,
    comments_end: u64,
    has_blanks: bool,
}

impl Dialect {
    /// Looks at the first lines of a file.
    pub(crate) fn find(file: &TextFile, forced: Forced<'_>, budget: &Budget) -> Result<Self> {
        let path = file.path();
        let (mut length, mut line) = (HEAD, 1);
        loop {
            let what = format!("line {line} of `{}`", path.display());
            let _reserved = budget.reserve(file.head_length(length), &what)?;
            let head = file.head(length, budget).map_err(|error| of_line(error, &what))?;
            let whole = head.len() < length;
            let find = |forced| {
                Self::of(&head, whole, forced, |bytes, what| {
                    budget.reserve(bytes, &format!("{what} of `{}`", path.display()))
                })
            };
            let mut found = find(forced);
            if let (true, Some(rows)) = (is_doubt(&found), forced.rows)
                && let Some(header) = settled(file, &head, whole, rows, budget)?
            {
                found = find(Forced { header: Some(header), ..forced });
            }
            if let Some(dialect) = found.map_err(|error| error.in_file(&path))? {
                return Ok(dialect);
            }
            if length >= MOST {
                let found = format!("no complete row in the first {length} bytes");
                let expected = "rows of text";
                let error = Error::source("line 1", found, expected, "is this a text file?");
                return Err(error.in_file(&path));
            }
            line = 1 + memchr::memchr_iter(b'\n', &head).count();
            length *= 2;
        }
    }

    /// The same for bytes, with a way to pay for what is kept; None if more of them are needed.
    fn of(
        head: &[u8],
        whole: bool,
        forced: Forced<'_>,
        reserve: impl FnOnce(u64, String) -> graphmill_disk::Result<Reservation>,
    ) -> Result<Option<Self>> {
        let mark = if head.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        if let Some(fault) = foreign(head) {
            return Err(fault);
        }
        let Some(lines) = first_lines(head, mark, whole)? else { return Ok(None) };
        let Some(&(at, line)) = lines.lines.first() else {
            return Ok(Some(Dialect {
                delimiter: forced.delimiter.unwrap_or(Delimiter::Comma),
                mark: mark as u64,
                header_at: None,
                comments_end: lines.comments_end,
                lines_are_rows: false,
                names: None,
                first: Vec::new(),
                empty: true,
                has_blanks: lines.has_blanks,
                _reserved: None,
            }));
        };
        let sample = &lines.lines[..lines.lines.len().min(LINES)];
        let delimiter = forced.delimiter.unwrap_or_else(|| delimiter_of(sample, &forced.rule));
        let fields = Fields::new(line, delimiter).count();
        // The names are handed on once more with the description of a table.
        let memory = 2 * line.len() as u64 + PER_FIELD * fields as u64;
        let place = format!("{fields} columns in line {}", lines.first_number);
        let mut reserved = reserve(memory, place)?;
        let mut names = TextCells::default();
        names.reserve(fields, line.len());
        for field in Fields::new(line, delimiter) {
            let field = field.unwrap_or_default();
            names.push(&String::from_utf8_lossy(&field));
        }
        let below = &lines.lines[1..];
        let judged = || match Sample::new(&names, below, delimiter).first_line(&forced.rule) {
            FirstLine::Header => Ok(true),
            FirstLine::Row => Ok(false),
            FirstLine::Doubtful => Err(doubt(line, lines.first_number, &forced.rule)),
        };
        let has_header = forced.header.map_or_else(judged, Ok)?;
        let row = if has_header { below.first().map_or(line, |(_, row)| row) } else { line };
        let fields = Fields::new(row, delimiter).count();
        reserved.grow(PER_KIND * fields as u64)?;
        let mut first = Vec::with_capacity(fields);
        first.extend(Fields::new(row, delimiter).map(|field| Kind::of(&field.unwrap_or_default())));
        Ok(Some(Dialect {
            delimiter,
            mark: mark as u64,
            header_at: has_header.then_some(at),
            comments_end: lines.comments_end,
            lines_are_rows: false,
            names: has_header.then_some(names),
            first,
            empty: false,
            has_blanks: lines.has_blanks,
            _reserved: Some(Arc::new(reserved)),
        }))
    }

    /// Where the lines begin that are read, header included.
    pub(crate) fn starts_at(&self) -> u64 {
        match self.header_at {
            Some(header) => header,
            None if self.lines_are_rows => self.comments_end,
            None => self.mark,
        }
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
            let found = crate::source::endpoints::header(Some(names));
            Error::source("header", found, format!("a column {name:?}"), remedy)
        })
    }
}

/// The first lines of a text, as many as are complete; None if that is not enough.
fn first_lines(head: &[u8], mark: usize, whole: bool) -> Result<Option<Lines<'_>>> {
    let (lines, comments_end) = (Vec::new(), mark as u64);
    let mut found = Lines { lines, first_number: 1, comments_end, has_blanks: false };
    let (mut at, mut number, mut only_comments) = (mark, 1, true);
    while at < head.len() && found.lines.len() < COMPARED {
        let end = memchr::memchr(b'\n', &head[at..]).map(|end| at + end);
        let length = end.unwrap_or(head.len()) - at;
        if length > LONGEST_LINE {
            let Fault { found, expected, remedy, .. } = Fault::long_line(LONGEST_LINE);
            return Err(Error::source(format!("line {number}"), found, expected, remedy));
        }
        if end.is_none() && !whole {
            break;
        }
        let line = without_return(&head[at..at + length]);
        let next = end.map_or(head.len(), |end| end + 1);
        let is_blank = trim(line).is_empty();
        found.has_blanks |= is_blank;
        let is_comment = is_skipped(line) && !is_blank && !is_doubtful_comment(line);
        only_comments &= is_comment;
        if only_comments {
            found.comments_end = next as u64;
        }
        if !is_skipped(line) {
            if found.lines.is_empty() {
                found.first_number = number;
            }
            found.lines.push((at as u64, line));
        }
        (at, number) = (next, number + 1);
    }
    // Two lines, since the first may be a header; all of them if there are no more.
    Ok((found.lines.len() >= 2 || whole).then_some(found))
}

/// Whether a first line in doubt is a header, by the number of lines; None if it fits neither.
fn settled(
    file: &TextFile,
    head: &[u8],
    whole: bool,
    rows: u64,
    budget: &Budget,
) -> Result<Option<bool>> {
    let lines = first_lines(head, 0, whole)?.map(|found| found.lines);
    let Some(&(first, _)) = lines.as_deref().and_then(<[_]>::first) else { return Ok(None) };
    Ok(match file.count_lines(first, budget)? {
        lines if lines == rows => Some(false),
        lines if lines == rows + 1 => Some(true),
        _ => None,
    })
}

/// The same error, for the line that is looked for, if the budget did not suffice.
fn of_line(error: Error, line: &str) -> Error {
    match error {
        Error::Disk(graphmill_disk::Error::Budget { wanted, free, total, .. }) => {
            let what = line.to_owned();
            Error::Disk(graphmill_disk::Error::Budget { what, wanted, free, total })
        }
        error => error,
    }
}

fn is_doubt(found: &Result<Option<Dialect>>) -> bool {
    matches!(found, Err(Error::Source { setting: Some(Setting::Header), .. }))
}

/// A first line that may be a header or a row.
fn doubt(line: &[u8], number: u64, rule: &Rule<'_>) -> Error {
    let found = format!("{}, which may name columns or be a row", quote(line));
    let expected = "a first line that is clearly one or the other";
    let place = format!("line {number}");
    if matches!(rule, Rule::Edges { text_ids: false, .. }) {
        let remedy = "read ids as words, or say whether it is a header";
        return Error::source(place, found, expected, remedy).setting(Setting::TextIds);
    }
    let remedy = "say whether the first line is a header";
    Error::source(place, found, expected, remedy).setting(Setting::Header)
}

/// The delimiter under which most lines start with two numbers, or else the first that splits;
/// where ids are words, under which most lines start with two of any kind.
///
/// Words of a table may hold blanks, so those separate only numbers there.
fn delimiter_of(lines: &[(u64, &[u8])], rule: &Rule<'_>) -> Delimiter {
    let (table, words) = (rule.is_table(), rule.has_text_ids());
    let is_good = |text: &[u8]| if words { !text.is_empty() } else { is_number(text) };
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
        if delimiter == Delimiter::Blanks && table && words {
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

#[cfg(test)]
mod tests;
