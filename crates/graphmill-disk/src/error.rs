//! The one error type of the crate.
//! Every message names the file, what was found and what to do about it; upper crates wrap it
//! and add what the file meant to them. It must not know what is stored in the files.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong between graphmill and the operating system.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused an operation.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// The verb that failed: "open", "read", "rename" ...
        action: &'static str,
        /// The file or folder it failed on.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A read reached past the end of the file.
    #[error(
        "`{}` ends at byte {length}, but {wanted} bytes were wanted from byte {offset}: the file \
         is truncated or not the one expected; build or copy it again",
        path.display()
    )]
    Truncated {
        /// The file that is too short.
        path: PathBuf,
        /// Where the read began.
        offset: u64,
        /// How many bytes it asked for.
        wanted: u64,
        /// How long the file is.
        length: u64,
    },
    /// The file shrank or grew since it was opened.
    #[error(
        "`{}` was {expected} bytes long when opened and is {found} now: something wrote into it; \
         open it again, and replace files by renaming instead of writing into them",
        path.display()
    )]
    LengthChanged {
        /// The file that changed.
        path: PathBuf,
        /// Its length when it was opened.
        expected: u64,
        /// Its length now.
        found: u64,
    },
    /// Another writer, in this process or another, is at work on the same target.
    #[error("`{}` is being written by another build: wait for it to finish or stop it", path.display())]
    Busy {
        /// The target both want to write.
        path: PathBuf,
    },
    /// A file of an unfinished build is gone or another one by now.
    #[error(
        "`{}` was removed or replaced while it was being written: found another file or none, expected this build's own; \
         remove nothing while a build runs, and build again",
        path.display()
    )]
    Displaced {
        /// The file that lost its name.
        path: PathBuf,
    },
    /// The target exists and overwriting was not asked for.
    #[error("`{}` already exists: choose another name or ask to overwrite it", path.display())]
    Exists {
        /// The target that exists.
        path: PathBuf,
    },
    /// The name of a file inside a folder is not a plain file name.
    #[error(
        "`{}` is not a plain file name: it must not be empty, hold a separator, a line break or NUL, be `.` or \
         `..`, or be reserved for the commit",
        name.escape_debug()
    )]
    NotAPlainName {
        /// The refused name.
        name: String,
    },
    /// A folder draft was asked for a file that a later cleaning would not recognise.
    #[error(
        "`{name}` does not follow the naming scheme of its folder, so a crash would leave it there \
         for ever: use a name the scheme recognises"
    )]
    NotOurs {
        /// The refused name.
        name: String,
    },
    /// The memory budget cannot cover a request.
    #[error(
        "{what} needs {} of memory, but only {} of the budget of {} are free: raise the memory \
         budget or ask for less at a time",
        crate::format_size(*wanted), crate::format_size(*free), crate::format_size(*total)
    )]
    Budget {
        /// What the memory was for.
        what: String,
        /// Bytes asked for.
        wanted: u64,
        /// Bytes that were free.
        free: u64,
        /// Bytes of the whole budget.
        total: u64,
    },
    /// The system has no memory left for the process, or a limit forbids more.
    #[error(
        "the system refused {} of memory: ask for less at a time, or raise the limit of the process (`ulimit -v`)",
        crate::format_size(*bytes)
    )]
    NoMemory {
        /// How much was asked for.
        bytes: u64,
    },
    /// A text is not a size in bytes.
    #[error("`{text}` is not a size: write bytes or a unit, as in 4GiB, 512MiB, 1.5G or 1000000")]
    BadSize {
        /// The text as given.
        text: String,
    },
    /// The disk or the quota is full.
    #[error("no space left for `{}`{}: free space or write to another disk ({source})",
        path.display(), needed(*wanted))]
    NoSpace {
        /// The file that could not grow.
        path: PathBuf,
        /// Bytes that were needed and did not fit; 0 when only a directory entry was needed.
        wanted: u64,
        /// What the operating system said.
        source: io::Error,
    },
    /// A name is not that of a read backend.
    #[error("`{name}` is not a read backend: use mapped, pread or ring")]
    UnknownBackend {
        /// The name as given.
        name: String,
    },
    /// The operating system would not start the threads of a pool.
    #[error(
        "cannot start {wanted} threads: {reason}; ask for fewer threads or raise the process limit"
    )]
    Threads {
        /// How many were asked for.
        wanted: usize,
        /// What the thread pool said.
        reason: String,
    },
}

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of the operating system, with a full disk told apart from the rest.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::growing(action, path, 0, source)
    }

    /// The same for an operation that needed `wanted` more bytes on the disk.
    pub(crate) fn growing(
        action: &'static str,
        path: &Path,
        wanted: u64,
        source: io::Error,
    ) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::NoSpace { path, wanted, source }
            }
            _ => Self::Io { action, path, source },
        }
    }

    /// Whether the operating system said that a file or folder does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

fn needed(wanted: u64) -> String {
    if wanted == 0 { String::new() } else { format!(", {wanted} more bytes are needed") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart_and_says_how_much_was_needed() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = Error::growing("write", Path::new("/data/x.gd"), 4096, full);
        assert!(matches!(error, Error::NoSpace { wanted: 4096, .. }));
        let text = error.to_string();
        assert!(text.contains("/data/x.gd") && text.contains("4096 more bytes"), "{text}");
    }

    #[test]
    fn an_io_error_names_the_deed_and_the_file() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let text = Error::io("rename", Path::new("a.gl"), denied).to_string();
        assert!(text.starts_with("cannot rename `a.gl`"), "{text}");
    }
}
