//! Rows that cannot be used: an error, or a count and a few examples.
//! Readers of arrays, tables and compiled files say what is wrong with a row; what follows from
//! it is decided here, as the user asked. It must not know how rows are read.

use std::path::{Path, PathBuf};

use super::chunk::{BadRow, ReadReport};
use super::options::OnBadRow;
use crate::{Error, Result};

/// Rows left out that are kept for the report.
pub(crate) const KEPT: usize = 10;
/// What a message says an id may be.
pub(crate) const WANTED_ID: &str = "a node id from 0 to 2^63 - 1";
/// What a message says a weight may be.
pub(crate) const WANTED_WEIGHT: &str = "a weight: a finite number of at least 0";

/// What is wrong with one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowFault {
    pub(crate) place: String,
    pub(crate) found: String,
    pub(crate) expected: String,
    pub(crate) remedy: &'static str,
}

impl RowFault {
    /// A number that is no id.
    pub(crate) fn id(place: String, found: impl ToString) -> Self {
        let (found, expected) = (found.to_string(), WANTED_ID.to_owned());
        RowFault { place, found, expected, remedy: "correct the id or leave the row out" }
    }

    /// A number that is no weight.
    pub(crate) fn weight(place: String, found: f32) -> Self {
        let (found, expected) = (found.to_string(), WANTED_WEIGHT.to_owned());
        RowFault { place, found, expected, remedy: "correct the weight or leave the row out" }
    }
}

/// The bad rows of one piece of a source.
#[derive(Debug)]
pub(crate) struct Faults<'a> {
    on_bad_row: OnBadRow,
    file: Option<&'a Path>,
    skipped: u64,
    kept: Vec<BadRow>,
}

impl<'a> Faults<'a> {
    /// `file` is None for what is in memory.
    pub(crate) fn new(on_bad_row: OnBadRow, file: Option<&'a Path>) -> Self {
        Faults { on_bad_row, file, skipped: 0, kept: Vec::new() }
    }

    /// Notes a row that is left out, or fails.
    pub(crate) fn add(&mut self, fault: RowFault) -> Result<()> {
        let RowFault { place, found, expected, remedy } = fault;
        if self.on_bad_row == OnBadRow::Stop {
            let error = Error::source(place, found, expected, remedy);
            return Err(match self.file {
                Some(file) => error.in_file(file),
                None => error,
            });
        }
        self.skipped += 1;
        if self.kept.len() < KEPT {
            let file = self.file.map_or_else(PathBuf::new, Path::to_path_buf);
            self.kept.push(BadRow { file, place, found, expected });
        }
        Ok(())
    }

    /// Adds what was left out to a report.
    pub(crate) fn report(self, report: &mut ReadReport) {
        report.skipped += self.skipped;
        let room = KEPT.saturating_sub(report.bad_examples.len());
        report.bad_examples.extend(self.kept.into_iter().take(room));
    }
}
