//! The hidden file beside a target that is its lock and a journal in one.
//!
//! `.<name>.partial` is locked by the one writer that may replace `<name>`, and lists the files that this writer made.
//! A writer that dies leaves it behind, unlocked, and the next one reads there which files are leftovers: nothing else
//! in the folder is ours to remove, whatever its name. So a name is in the journal, and the journal on the disk, before
//! a file has that name.
//!
//! The invariant: the writer that holds the lock of the file that the hidden name refers to owns the target. A lock won
//! on a file that has lost its name in the meantime is worth nothing, and the writer starts over; one that has lost the
//! name later, because somebody cleared the folder, creates and publishes nothing more.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{FileSystem, OutputFile};
use crate::error::{Error, Result};

/// Each retry means that another writer finished in between; so many in a row is a busy target.
const ATTEMPTS: usize = 100;
/// The first line of a journal.
const HEADING: &str = "graphmill draft 1\n";
/// A journal of millions of names is none of ours.
const LONGEST: u64 = 16 << 20;

/// The locked journal of a target.
#[derive(Debug)]
pub(super) struct Journal {
    file_system: Arc<dyn FileSystem>,
    file: Box<dyn OutputFile>,
    path: PathBuf,
    target: PathBuf,
    /// Names that writers before us recorded and may have left.
    leftovers: Vec<String>,
    lines: Mutex<Lines>,
    /// Whether the next writer needs the journal because files are left that it names.
    is_needed: AtomicBool,
}

/// What of the file is a journal.
#[derive(Debug, Default)]
struct Lines {
    /// How long the whole lines are; 0 if the file holds anything else.
    length: u64,
    /// Whether this writer has added to them.
    are_ours: bool,
}

impl Journal {
    /// Takes the lock of `.<name>.partial` in `folder`, or fails with [`Error::Busy`].
    pub(super) fn acquire(
        file_system: Arc<dyn FileSystem>,
        folder: &Path,
        name: &OsStr,
    ) -> Result<Self> {
        let target = folder.join(name);
        let path = folder.join(journal_name(name));
        for _ in 0..ATTEMPTS {
            let file = file_system.create(&path)?;
            // From here to the first time the name is known to be ours, a failure leaves the file:
            // it may be another writer's.
            if !file.try_lock()? {
                break;
            }
            if !file.same_file_at(&path)? {
                continue;
            }
            let mut journal = Self {
                file_system,
                file,
                path,
                target,
                leftovers: Vec::new(),
                lines: Mutex::default(),
                is_needed: AtomicBool::new(true),
            };
            journal.read()?;
            *journal.is_needed.get_mut() = !journal.leftovers.is_empty();
            return Ok(journal);
        }
        Err(Error::Busy { path: target })
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Names that earlier writers recorded.
    pub(super) fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// Fails unless this writer still owns the target.
    pub(super) fn check(&self) -> Result<()> {
        if self.file.same_file_at(&self.path)? {
            return Ok(());
        }
        Err(Error::Displaced { path: self.path.clone() })
    }

    /// Records names that the next writer may remove if this one dies, and waits until they are on the disk.
    pub(super) fn record<S: AsRef<str>>(&self, names: &[S]) -> Result<()> {
        // They are whole after any panic.
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        let mut text = if lines.length == 0 { HEADING.to_owned() } else { String::new() };
        for name in names {
            text.push_str(name.as_ref());
            text.push('\n');
        }
        // Added to what is there, never written over it: what fails half-way loses no name.
        self.file.write_all_at(lines.length, text.as_bytes())?;
        lines.length += text.len() as u64;
        if lines.are_ours {
            return self.file.sync();
        }
        // What is behind it now was torn, or is not a journal.
        self.file.set_len(lines.length)?;
        self.file.sync()?;
        self.sync_names()?;
        lines.are_ours = true;
        Ok(())
    }

    /// Leaves the journal to the next writer, because some file that it names may still be there.
    pub(super) fn leave(&self) {
        self.is_needed.store(true, Ordering::Relaxed);
    }

    /// Lets the journal go with this writer: no file that it names is left but those that stay.
    pub(super) fn settle(&self) {
        self.is_needed.store(false, Ordering::Relaxed);
    }

    fn sync_names(&self) -> Result<()> {
        let folder = self.path.parent().filter(|folder| *folder != Path::new(""));
        self.file_system.sync_dir(folder.unwrap_or(Path::new(".")))
    }

    fn read(&mut self) -> Result<()> {
        let length = self.file.length()?;
        if length > LONGEST {
            return Ok(());
        }
        let mut text = vec![0; length as usize];
        self.file.read_exact_at(0, &mut text)?;
        let Some(lines) = text.strip_prefix(HEADING.as_bytes()) else { return Ok(()) };
        // A line without an end was torn by a power failure, before the file that it names was made.
        let whole = lines.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.lines.get_mut().unwrap_or_else(PoisonError::into_inner).length =
            (HEADING.len() + whole) as u64;
        let lines = lines[..whole].split(|&byte| byte == b'\n');
        let names = lines.filter_map(|line| String::from_utf8(line.to_vec()).ok());
        self.leftovers = names.filter(|name| super::is_plain(name)).collect();
        Ok(())
    }
}

/// The name of the lock and journal of `name`.
pub(super) fn journal_name(name: &OsStr) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".partial");
    hidden
}

impl Drop for Journal {
    fn drop(&mut self) {
        // What goes wrong here leaves a journal that is empty or outdated, and the next writer takes that over. A name that
        // is another writer's by now must stay, and so must one of which that is unknown.
        if *self.is_needed.get_mut() || !matches!(self.file.same_file_at(&self.path), Ok(true)) {
            return;
        }
        // The files that it names must not outlast it.
        let is_blank = self.lines.get_mut().is_ok_and(|lines| lines.length == 0);
        if is_blank || self.sync_names().is_ok() {
            let _ = self.file_system.remove(&self.path);
        }
    }
}
