//! What is wrong with a line, before anybody knows which line of which file it is.
//! Parsers work on blocks and count lines from the block's start; the reader adds where that is
//! when the block's turn comes. It must not know how lines are parsed.

use std::path::Path;

use super::number::Unfit;
use crate::Error;
use crate::error::Setting;
use crate::source::names::{NoName, WANTED_NAME};

/// The longest piece of a source that a message repeats.
const LONGEST_QUOTE: usize = 60;

/// A line that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Lines of the block before this one.
    pub(crate) line: u64,
    /// The column, counted from 1, where one is to blame.
    pub(crate) column: Option<usize>,
    pub(crate) found: String,
    pub(crate) expected: String,
    pub(crate) remedy: &'static str,
    /// The option that does it, if one does.
    pub(crate) setting: Option<Setting>,
}

impl Fault {
    /// A field that is not what its column wants.
    pub(crate) fn field(column: usize, text: &[u8], why: Unfit, wanted: &str) -> Self {
        let (found, remedy) = match why {
            Unfit::Empty => ("an empty field".to_owned(), "fill it or leave the row out"),
            Unfit::NotANumber => (quote(text), "correct it"),
            Unfit::Fraction => (quote(text), "write a whole number"),
            Unfit::TooSmall | Unfit::TooLarge => (quote(text), "correct it or leave the row out"),
        };
        let (expected, setting) = (wanted.to_owned(), None);
        Fault { line: 0, column: Some(column + 1), found, expected, remedy, setting }
    }

    /// A field that is no id that is a number.
    pub(crate) fn id(column: usize, text: &[u8], why: Unfit) -> Self {
        let fault = Self::field(column, text, why, "a node id from 0 to 2^63 - 1");
        match why {
            Unfit::NotANumber => Fault {
                remedy: "correct it, or read ids as words",
                setting: Some(Setting::TextIds),
                ..fault
            },
            _ => fault,
        }
    }

    /// The same fault in a table without ids, where no row can be left out.
    pub(crate) fn in_position(self) -> Self {
        match self.remedy {
            "fill it or leave the row out" => {
                Fault { remedy: "fill it: without ids every line is a row", ..self }
            }
            _ => self,
        }
    }

    /// A line that may be a comment or a row.
    pub(crate) fn comment(line: &[u8]) -> Self {
        Fault {
            line: 0,
            column: None,
            found: format!("{}, which may be a comment or a row", quote(line)),
            expected: "a row".to_owned(),
            remedy: "remove the line if it is a comment, or put quotes around its first field",
            setting: None,
        }
    }

    pub(crate) fn bad_quote(column: usize) -> Self {
        Fault {
            line: 0,
            column: Some(column + 1),
            found: "a quote that is not closed before the end of its field".to_owned(),
            expected: "a closing quote on the same line".to_owned(),
            remedy: "close it; line breaks inside quotes are not read",
            setting: None,
        }
    }

    pub(crate) fn not_utf8(column: usize, text: &[u8]) -> Self {
        Fault {
            line: 0,
            column: Some(column + 1),
            found: quote(text),
            expected: "text in UTF-8".to_owned(),
            remedy: "save the file as UTF-8",
            setting: None,
        }
    }

    /// A field that is no id although ids are words.
    pub(crate) fn name(column: usize, why: NoName) -> Self {
        let (found, remedy) = why.told();
        let expected = WANTED_NAME.to_owned();
        Fault { line: 0, column: Some(column + 1), found, expected, remedy, setting: None }
    }

    pub(crate) fn ragged(found: usize, expected: impl Into<String>) -> Self {
        let s = if found == 1 { "" } else { "s" };
        Fault {
            line: 0,
            column: None,
            found: format!("{found} field{s}"),
            expected: expected.into(),
            remedy: "complete the row or name its delimiter",
            setting: None,
        }
    }

    pub(crate) fn long_line(longest: usize) -> Self {
        Fault {
            line: 0,
            column: None,
            found: format!("a line of more than {longest} bytes"),
            expected: "rows that end with a line break".to_owned(),
            remedy: "is this a text file?",
            setting: None,
        }
    }

    /// Where the fault is once it is known how many lines came before the block.
    pub(crate) fn place(&self, lines_before: u64) -> String {
        let line = lines_before + self.line + 1;
        match self.column {
            Some(column) => format!("line {line}, column {column}"),
            None => format!("line {line}"),
        }
    }

    pub(crate) fn into_error(self, path: &Path, lines_before: u64) -> Error {
        Error::Source {
            file: Some(path.to_path_buf()),
            place: self.place(lines_before),
            found: self.found,
            expected: self.expected,
            remedy: self.remedy,
            setting: self.setting,
        }
    }
}

/// A piece of the source as a message shows it.
pub(crate) fn quote(text: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&text[..text.len().min(LONGEST_QUOTE)]);
    let more = if text.len() > LONGEST_QUOTE { "..." } else { "" };
    format!("{:?}{more}", shown)
}
