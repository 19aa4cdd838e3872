//! What can be wrong with bytes.
//!
//! A message names the byte, what stood there and what was expected. The file's name is added by whoever opened it,
//! because this crate knows no files.

use thiserror::Error;

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Whether bytes are of a kind we cannot read, or of ours and damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Not a file of this kind, or of a version or with features that this release does not know.
    Format,
    /// A file of ours whose bytes contradict themselves.
    Corrupt,
    /// A request that no file can satisfy, such as a shape that overflows.
    Request,
}

/// What is wrong with a header, a section, a manifest or a requested layout.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The first bytes are not a magic number of ours.
    #[error("byte 0: not {expected}: found {found}; is this the right file?")]
    Magic {
        /// The kinds of file that would have been accepted.
        expected: &'static str,
        /// The first bytes, printable.
        found: String,
    },
    /// The numbers in the header have their bytes swapped.
    #[error(
        "byte 12: the header was written in big-endian byte order, expected little-endian; \
         write the file again with graphmill"
    )]
    ForeignEndian,
    /// The major version is not one this release reads.
    #[error(
        "{place}: format version {found}, expected {expected}; use a release of graphmill that knows it"
    )]
    Version {
        /// Where it stands.
        place: &'static str,
        /// Major version in the file.
        found: u16,
        /// Major version of this release.
        expected: u16,
    },
    /// The file needs features that this release does not have.
    #[error("{place}: the file needs {names}, unknown to this release; use a newer graphmill")]
    Feature {
        /// Where the need is stated.
        place: &'static str,
        /// The names of the missing features.
        names: String,
    },
    /// The file ends too early, or goes on too long.
    #[error(
        "the file has {found} bytes, expected {expected} ({why}); it was truncated or appended to: \
         copy or build it again"
    )]
    Length {
        /// The file's length.
        found: u64,
        /// The length that its header claims or requires.
        expected: u64,
        /// Where the expectation comes from.
        why: &'static str,
    },
    /// A stored checksum does not match the bytes.
    #[error(
        "byte {at}: {what} {found:#x}, expected {expected:#x}; the bytes are damaged: copy or build the file again"
    )]
    Checksum {
        /// Which checksum.
        what: &'static str,
        /// Where it is stored.
        at: u64,
        /// The checksum that is stored.
        found: u64,
        /// The checksum of the bytes.
        expected: u64,
    },
    /// A field holds something that it may not.
    #[error(
        "byte {at}: {field} is {found}, expected {expected}; the file is damaged or was not written by graphmill"
    )]
    Field {
        /// The field's name.
        field: &'static str,
        /// Where it is stored.
        at: u64,
        /// What is there.
        found: String,
        /// What may be there.
        expected: String,
    },
    /// A section that the file must have is missing.
    #[error("the section table has no section {section}, expected because {why}")]
    MissingSection {
        /// The section's name.
        section: String,
        /// Why it must be there.
        why: &'static str,
    },
    /// The manifest is not what a manifest must be.
    #[error("{place}: {problem}; remedy: restore dataset.json or build the dataset again")]
    Manifest {
        /// Line and column, or the key.
        place: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// A layout was asked for that cannot be written.
    #[error("{what}: {problem}")]
    Impossible {
        /// What was asked for.
        what: &'static str,
        /// Why it cannot be.
        problem: String,
    },
}

impl Error {
    /// Which family the error belongs to; Python's exception classes follow it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Magic { .. }
            | Error::ForeignEndian
            | Error::Version { .. }
            | Error::Feature { .. } => ErrorKind::Format,
            Error::Impossible { .. } => ErrorKind::Request,
            _ => ErrorKind::Corrupt,
        }
    }

    pub(crate) fn field(
        field: &'static str,
        at: u64,
        found: impl ToString,
        expected: impl ToString,
    ) -> Self {
        Error::Field { field, at, found: found.to_string(), expected: expected.to_string() }
    }

    pub(crate) fn impossible(what: &'static str, problem: impl Into<String>) -> Self {
        Error::Impossible { what, problem: problem.into() }
    }
}
