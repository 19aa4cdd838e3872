//! Writing files so that nobody ever sees half of one.
//! Builders write through [`OutputFile`]s and make their work visible by publishing a
//! [`FileDraft`] (one lone file) or a [`FolderDraft`] (many files, one commit point). Everything
//! that touches the disk goes through [`FileSystem`], so that tests can make any operation fail;
//! nothing here knows what is written.

mod draft_file;
mod file_draft;
mod folder_draft;
mod journal;
mod new_folders;
mod real;

pub use file_draft::FileDraft;
pub use folder_draft::FolderDraft;
pub use real::RealFileSystem;

use std::ffi::OsString;
use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;

use crate::error::Result;

/// The operations on names that a build needs.
pub trait FileSystem: Send + Sync + Debug {
    /// Creates a folder and those above it; one that exists is fine.
    fn create_dir_all(&self, dir: &Path) -> Result<()>;

    /// Opens a file for reading and writing, creating it if missing and keeping what it holds.
    ///
    /// Keeping is what lets a writer take the lock first and empty the file afterwards.
    fn create(&self, path: &Path) -> Result<Box<dyn OutputFile>>;

    /// Creates a file for reading and writing; a name that is taken is an error.
    fn create_new(&self, path: &Path) -> Result<Box<dyn OutputFile>>;

    /// Makes an empty file without a name, which vanishes with its handle.
    ///
    /// `path` is a name that nobody else uses. Where the system cannot do without one, the file has
    /// it for a moment; messages use it either way.
    fn scratch(&self, path: &Path) -> Result<Box<dyn OutputFile>> {
        named_scratch(self, path)
    }

    /// Gives a file another name, replacing what had that name.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file; a missing one is fine.
    fn remove(&self, path: &Path) -> Result<()>;

    /// Removes an empty folder; a missing one is fine, and so is one that is not empty, which stays.
    fn remove_dir(&self, dir: &Path) -> Result<()>;

    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &Path) -> Result<()>;

    /// The names in a folder, sorted.
    fn list(&self, dir: &Path) -> Result<Vec<OsString>>;

    /// Whether anything has this name.
    fn exists(&self, path: &Path) -> Result<bool>;

    /// The first `longest` bytes of a regular file, or None if there is none.
    fn read(&self, path: &Path, longest: u64) -> Result<Option<Vec<u8>>>;
}

/// A file that has its name for as short a time as can be.
fn named_scratch<F: FileSystem + ?Sized>(
    file_system: &F,
    path: &Path,
) -> Result<Box<dyn OutputFile>> {
    // A writer that was killed between the two steps below may have left something.
    let made = file_system.remove(path).and_then(|()| {
        let file = file_system.create_new(path)?;
        file_system.remove(path)?;
        Ok(file)
    });
    if made.is_err() {
        // It may exist although its creation or removal was reported as failed.
        let _ = file_system.remove(path);
    }
    made
}

/// A file being written.
pub trait OutputFile: Send + Sync + Debug {
    /// The path it was created by.
    fn path(&self) -> &Path;

    /// Cuts or extends (with zeros) to a length.
    fn set_len(&self, length: u64) -> Result<()>;

    /// Writes all bytes from `offset` on; several threads may write different places at once.
    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Reads back what was written: fills `into` or fails with [`crate::Error::Truncated`].
    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()>;

    /// Waits until content and length are on the disk.
    fn sync(&self) -> Result<()>;

    /// Begins to write a range to the disk without waiting, so that the final sync is short.
    fn start_write_back(&self, range: Range<u64>) -> Result<()>;

    /// Lets the page cache forget the file. Call it after [`sync`](Self::sync): what is not on the
    /// disk yet stays.
    fn drop_pages(&self) -> Result<()>;

    /// Takes the file's exclusive lock, held until this handle is dropped; false if another
    /// handle holds it.
    fn try_lock(&self) -> Result<bool>;

    /// How long the file is.
    fn length(&self) -> Result<u64>;

    /// Whether `path` names this very file now. Systems that cannot tell files apart answer yes.
    fn same_file_at(&self, path: &Path) -> Result<bool>;
}

/// Whether a name stays inside its folder and fits a line.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0', '\n'])
}
