//! A file under a name that no other writer chooses, until it gets its real one.
//! A rename goes by name, so content is only safe from being mixed up with another writer's where no other writer can
//! have made a file of that name.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::journal::Journal;
use super::{FileSystem, OutputFile};
use crate::error::{Error, Result};

/// An unpublished file, removed on drop unless it was published.
#[derive(Debug)]
pub(super) struct DraftFile {
    file_system: Arc<dyn FileSystem>,
    file: Box<dyn OutputFile>,
    is_published: bool,
}

impl DraftFile {
    /// Creates an empty file beside the target of `journal`, which names it from then on.
    pub(super) fn create(file_system: Arc<dyn FileSystem>, journal: &Journal) -> Result<Self> {
        let name = draft_name(journal.target());
        journal.record(&[&name])?;
        let path = journal.target().with_file_name(&name);
        let created = file_system.create_new(&path);
        // It may exist although its creation was reported as failed.
        if created.is_err() && file_system.remove(&path).is_err() {
            journal.leave();
        }
        Ok(Self { file: created?, file_system, is_published: false })
    }

    pub(super) fn file(&self) -> &dyn OutputFile {
        &*self.file
    }

    /// Makes the content the target, durably named once the caller syncs the folder.
    ///
    /// Whatever the file system reports, this succeeds if and only if the target is this very file.
    pub(super) fn publish(&mut self, journal: &Journal) -> Result<()> {
        journal.check()?;
        let target = journal.target();
        let renamed = self.file_system.rename(self.file.path(), target);
        let is_there = self.file.same_file_at(target);
        match renamed {
            Ok(()) => {
                self.is_published = true;
                if is_there? { Ok(()) } else { Err(Error::Displaced { path: target.to_owned() }) }
            }
            // A network file system may report the failure of a request that it carried out and was sent twice. Systems
            // that cannot tell files apart say that any two are the same, which proves nothing here.
            Err(_) if cfg!(unix) && matches!(is_there, Ok(true)) => {
                self.is_published = true;
                Ok(())
            }
            Err(error) if error.is_not_found() => {
                Err(Error::Displaced { path: self.file.path().to_owned() })
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the file got its real name, even if something went wrong afterwards.
    pub(super) fn is_published(&self) -> bool {
        self.is_published
    }

    /// Fails unless the target is still what was published.
    pub(super) fn check_published(&self, target: &Path) -> Result<()> {
        if self.file.same_file_at(target)? {
            return Ok(());
        }
        Err(Error::Displaced { path: target.to_owned() })
    }

    /// Removes the file if it was not published; false if it may still be there.
    pub(super) fn clear(&mut self) -> bool {
        if self.is_published {
            return true;
        }
        self.is_published = true;
        self.file_system.remove(self.file.path()).is_ok()
    }
}

const SUFFIX: &str = ".partial";
/// Bytes of the target's name that a draft's name repeats: file systems allow 255 in all.
const LONGEST_STEM: usize = 200;

/// A hidden name that says what it is a draft of and that no other writer chooses.
fn draft_name(target: &Path) -> String {
    let mut stem = String::new();
    for letter in target.file_name().unwrap_or_default().to_string_lossy().chars() {
        if stem.len() + letter.len_utf8() > LONGEST_STEM {
            break;
        }
        stem.push(if letter.is_control() { '_' } else { letter });
    }
    format!(".{stem}.{:016x}{SUFFIX}", RandomState::new().hash_one(0))
}

/// Whether a name is one that drafts have.
pub(super) fn is_draft_name(name: &str) -> bool {
    let token = name.strip_suffix(SUFFIX).and_then(|rest| rest.rsplit_once('.'));
    let is_token = |token: &str| token.len() == 16 && token.bytes().all(|b| b.is_ascii_hexdigit());
    name.starts_with('.') && token.is_some_and(|(_, token)| is_token(token))
}

/// Removes drafts that earlier writers of a target left, by the names in its journal.
pub(super) fn clear_drafts(file_system: &dyn FileSystem, journal: &Journal) -> Result<()> {
    let names = journal.leftovers().iter().filter(|name| is_draft_name(name));
    let paths: Vec<PathBuf> = names.map(|name| journal.target().with_file_name(name)).collect();
    paths.iter().try_for_each(|path| file_system.remove(path))
}
