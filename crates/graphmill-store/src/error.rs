//! What can go wrong between a path and a store.

use graphmill_format::Direction;
use std::path::{Path, PathBuf};

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error with the file it concerns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not what they should be.
    #[error("`{}`: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: graphmill_format::Error,
    },
    /// The operating system, or the memory budget, said no.
    #[error(transparent)]
    Disk(#[from] graphmill_disk::Error),
    /// A number inside a file contradicts the rest of it.
    #[error("`{}`: byte {byte}: {what} is {found}, expected {expected}; run `graphmill verify` and build the file again",
        path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        byte: u64,
        /// What the number is.
        what: &'static str,
        /// What was found.
        found: String,
        /// What may be there.
        expected: String,
    },
    /// A node, row or position that does not exist.
    #[error("{what} {index} is out of range: `{}` has {count}", path.display())]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        what: &'static str,
        /// The number that was asked for, as the caller gave it.
        index: i64,
        /// How many there are.
        count: u64,
    },
    /// A direction that was not stored.
    #[error("`{}` stores {stored}-edges only, {wanted}-edges were asked for; build it with direction both or {wanted}",
        path.display())]
    DirectionNotStored {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        wanted: Direction,
        /// What is there.
        stored: Direction,
    },
    /// A view of lists that are packed.
    #[error("`{}` has packed lists, of which there is no view; read them with neighbors(id), or convert the file \
         with encoding i32 or i64", path.display())]
    PackedLists {
        /// The file.
        path: PathBuf,
    },
    /// A table or split that the dataset does not have.
    #[error("`{}` has no {what} {name:?}; it has {}", path.display(), list(available))]
    UnknownName {
        /// The dataset.
        path: PathBuf,
        /// `table` or `split`.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        available: Vec<String>,
    },
    /// An id of the source that no node has.
    #[error("original id {id} at position {position} is not a node of `{}`; give ids of the source", path.display())]
    UnknownId {
        /// The dataset.
        path: PathBuf,
        /// The id that was asked for.
        id: i64,
        /// Where among the ids.
        position: usize,
    },
    /// A name that no node has.
    #[error("the name {name:?} at position {position} is not a node of `{}`; give ids of the source", path.display())]
    UnknownNode {
        /// The dataset.
        path: PathBuf,
        /// The name that was asked for.
        name: String,
        /// Where among the names.
        position: usize,
    },
    /// Names where ids are integers.
    #[error("{found} was given, but the ids of `{}` are {expected}", path.display())]
    IdKind {
        /// The dataset.
        path: PathBuf,
        /// What was given.
        found: &'static str,
        /// What the ids are.
        expected: &'static str,
    },
    /// The manifest and a file that it names do not belong together.
    #[error("`{}`: {what} is {found}, but dataset.json says {expected}; restore the file or build the dataset again",
        path.display())]
    ManifestMismatch {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// What the file has.
        found: u64,
        /// What the manifest says.
        expected: u64,
    },
}

impl Error {
    pub(crate) fn format(path: &Path) -> impl FnOnce(graphmill_format::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Error::Format { path, source }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
