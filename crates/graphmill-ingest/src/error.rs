//! The one error type of the crate.
//! Sources are somebody else's bytes, so most messages name a file and a place in it, what was
//! found there, what was expected, and what to do. Errors of the format and of the disk pass
//! through with their own words.

use std::path::{Path, PathBuf};

use crate::generate::GenerateError;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be written or converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes of our format, GraphZero's or a manifest are wrong, or a layout cannot be written.
    #[error("`{}`: {source}", path.display())]
    Format {
        /// The file that was read or planned.
        path: PathBuf,
        /// What is wrong with it.
        source: graphmill_format::Error,
    },
    /// The disk or the memory budget refused.
    #[error(transparent)]
    Disk(#[from] graphmill_disk::Error),
    /// The source holds something that cannot be stored.
    #[error("{}{place}: found {found}, expected {expected}; {remedy}", named(file))]
    Source {
        /// The file, or None for memory.
        file: Option<PathBuf>,
        /// Which edge, row or byte.
        place: String,
        /// What is there.
        found: String,
        /// What may be there.
        expected: String,
        /// What to do about it.
        remedy: &'static str,
        /// The option that does it, if one does.
        setting: Option<Setting>,
    },
    /// The request contradicts itself.
    #[error("{what}: {problem}")]
    Request {
        /// What was asked for.
        what: &'static str,
        /// Why it cannot be, and what to do.
        problem: String,
    },
    /// The observer of the progress asked to stop.
    #[error("cancelled; nothing was written")]
    Cancelled,
    /// The parameters of a synthetic graph cannot be met.
    #[error(transparent)]
    Generate(#[from] GenerateError),
}

/// An option that would help, which every interface calls by a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// Whether the first line of a text is a header.
    Header,
    /// Ids are words.
    TextIds,
    /// The columns of sources and destinations.
    Endpoints,
    /// The column that says whose row it is.
    IdColumn,
    /// What happens to rows that cannot be used.
    BadRows,
}

impl Error {
    /// Says which file an error of the format belongs to.
    pub(crate) fn format(path: &Path) -> impl FnOnce(graphmill_format::Error) -> Self {
        move |source| Error::Format { path: path.to_path_buf(), source }
    }

    pub(crate) fn request(what: &'static str, problem: impl Into<String>) -> Self {
        Error::Request { what, problem: problem.into() }
    }

    /// Something in memory that cannot be stored.
    pub(crate) fn source(
        place: impl Into<String>,
        found: impl ToString,
        expected: impl ToString,
        remedy: &'static str,
    ) -> Self {
        Error::Source {
            file: None,
            place: place.into(),
            found: found.to_string(),
            expected: expected.to_string(),
            remedy,
            setting: None,
        }
    }

    /// The same error with the option that would help.
    pub(crate) fn setting(mut self, option: Setting) -> Self {
        if let Error::Source { setting, .. } = &mut self {
            *setting = Some(option);
        }
        self
    }

    /// The same error, now known to come from a file.
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        if let Error::Source { file, .. } = &mut self {
            file.get_or_insert_with(|| path.to_path_buf());
        }
        self
    }
}

fn named(file: &Option<PathBuf>) -> String {
    file.as_ref().map_or_else(String::new, |file| format!("`{}`, ", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_a_source_names_file_place_found_expected_and_remedy() {
        let error = Error::source("edge 7", -3, "an id from 0 to 9", "fix the id");
        assert_eq!(error.to_string(), "edge 7: found -3, expected an id from 0 to 9; fix the id");
        let text = error.in_file(Path::new("edges.npy")).to_string();
        assert!(text.starts_with("`edges.npy`, edge 7: found -3"), "{text}");
    }
}
