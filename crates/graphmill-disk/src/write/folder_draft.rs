//! A folder of many files with one commit point.
//! Dataset builders begin here, create and sync their files, and publish by renaming one small file
//! that names the others; until then readers go by the previous one. It must not know what the
//! files hold: which names belong to datasets is handed in as a function.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::new_folders::NewFolders;
use super::staging::{Staging, partial_name};
use super::{FileSystem, OutputFile};
use crate::error::{Error, Result};

/// A folder takes part in a race to create and remove it; so many rounds mean it is busy.
const ATTEMPTS: usize = 100;

/// A new state of a folder that becomes valid when published, and vanishes when dropped before.
///
/// The order of a build is: begin, read [`previous_commit`](Self::previous_commit) to learn which
/// files are in use, [`clear_leftovers`](Self::clear_leftovers) with those, create and sync the new
/// files, publish. At most one draft of a folder lives at a time, among all processes.
#[derive(Debug)]
pub struct FolderDraft {
    file_system: Arc<dyn FileSystem>,
    folder: PathBuf,
    commit_name: String,
    is_ours: fn(&str) -> bool,
    previous_commit: Option<Vec<u8>>,
    /// Names created by this draft, to be removed unless it commits.
    created: Mutex<Vec<String>>,
    // Declared in the order they are given up: the lock goes before the folder that holds it.
    staging: Staging,
    new_folders: NewFolders,
}

impl FolderDraft {
    /// Starts a new state of `folder`, which is created if missing.
    ///
    /// `commit_name` is the file that makes a state valid ("dataset.json"), and `is_ours` tells
    /// which names the draft may create and clear away; files of other names are never touched.
    /// Fails with [`Error::Busy`] while another draft lives, and with [`Error::Exists`] if a state
    /// was committed before and `overwrite` is false.
    pub fn begin(
        file_system: Arc<dyn FileSystem>,
        folder: &Path,
        commit_name: &str,
        overwrite: bool,
        is_ours: fn(&str) -> bool,
    ) -> Result<Self> {
        check_plain(commit_name)?;
        let mut attempt = 0;
        loop {
            let new_folders = NewFolders::create(file_system.clone(), folder)?;
            attempt += 1;
            match Self::lock(file_system.clone(), folder, commit_name, is_ours, new_folders) {
                // The draft that had created the folder removed it just now.
                Err(error) if error.is_not_found() && attempt < ATTEMPTS => {}
                Ok(draft) if !overwrite && draft.previous_commit.is_some() => {
                    return Err(Error::Exists { path: folder.to_path_buf() });
                }
                outcome => return outcome,
            }
        }
    }

    /// Starts a change of a state that must have been committed before, as when a table is added.
    pub fn amend(
        file_system: Arc<dyn FileSystem>,
        folder: &Path,
        commit_name: &str,
        is_ours: fn(&str) -> bool,
    ) -> Result<Self> {
        check_plain(commit_name)?;
        let new_folders = NewFolders::none(file_system.clone());
        let draft = Self::lock(file_system, folder, commit_name, is_ours, new_folders)?;
        if draft.previous_commit.is_none() {
            let missing = std::io::ErrorKind::NotFound.into();
            return Err(Error::io("open", draft.staging.target(), missing));
        }
        Ok(draft)
    }

    fn lock(
        file_system: Arc<dyn FileSystem>,
        folder: &Path,
        commit_name: &str,
        is_ours: fn(&str) -> bool,
        new_folders: NewFolders,
    ) -> Result<Self> {
        let staging = Staging::acquire(file_system.clone(), folder, OsStr::new(commit_name))
            .map_err(|error| match error {
                // People know the folder, not the file inside that stands for it.
                Error::Busy { .. } => Error::Busy { path: folder.to_path_buf() },
                other => other,
            })?;
        let previous_commit = file_system.read(staging.target())?;
        Ok(Self {
            file_system,
            folder: folder.to_path_buf(),
            commit_name: commit_name.to_owned(),
            is_ours,
            previous_commit,
            created: Mutex::default(),
            staging,
            new_folders,
        })
    }

    /// The folder being written.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The content of the commit file when the draft began, None if there was none.
    pub fn previous_commit(&self) -> Option<Vec<u8>> {
        self.previous_commit.clone()
    }

    /// Removes what crashed builds and earlier states left: every file that is ours, is not in
    /// `keep` and was not created by this draft.
    pub fn clear_leftovers(&self, keep: &[String]) -> Result<()> {
        let created = self.created().clone();
        let leftovers = self.leftovers(|name| keep.contains(name) || created.contains(name))?;
        if leftovers.is_empty() {
            return Ok(());
        }
        // The commit we read may have been renamed by a process that died before its sync. Should
        // the power fail now, the one before would be back and want the files removed here.
        self.file_system.sync_dir(&self.folder)?;
        self.remove_all(&leftovers)
    }

    /// Creates a file of the new state. The caller fills and syncs it before publishing.
    ///
    /// Refuses a name that is not a plain file name, is not ours or exists already.
    pub fn create(&self, name: &str) -> Result<Box<dyn OutputFile>> {
        check_plain(name)?;
        if self.is_reserved(name) {
            return Err(Error::NotAPlainName { name: name.to_owned() });
        }
        if !(self.is_ours)(name) {
            return Err(Error::NotOurs { name: name.to_owned() });
        }
        let path = self.folder.join(name);
        if self.file_system.exists(&path)? {
            return Err(Error::Exists { path });
        }
        // Noted first: a creation that fails half-way is then cleaned up as well.
        self.created().push(name.to_owned());
        self.file_system.create(&path)
    }

    /// Removes a file that this draft created and no longer needs; other names are left alone.
    pub fn remove(&self, name: &str) -> Result<()> {
        if !self.created().iter().any(|created| created == name) {
            return Ok(());
        }
        self.file_system.remove(&self.folder.join(name))?;
        self.created().retain(|created| created != name);
        Ok(())
    }

    /// Makes the new state valid: `commit` becomes the content of the commit file.
    ///
    /// Every file the commit refers to must be synced already and listed in `keep`; our other
    /// files are removed afterwards. That they could not be is no failure, because the next draft
    /// clears them. When this fails the old state is still valid, or, if only the last sync
    /// failed, the new one is but perhaps not durably yet, and the files of both are kept.
    pub fn publish(mut self, commit: &[u8], keep: &[String]) -> Result<()> {
        self.staging.file().write_all_at(0, commit)?;
        self.staging.file().sync()?;
        // The names that the commit refers to must last before the commit does.
        self.file_system.sync_dir(&self.folder)?;
        self.new_folders.sync()?;
        self.staging.rename_to_target()?;
        self.new_folders.keep();
        self.created().clear();
        self.file_system.sync_dir(&self.folder)?;
        let _ = self.clear_superseded(commit, keep);
        Ok(())
    }

    /// Removes what the commit just made does not need.
    fn clear_superseded(&self, commit: &[u8], keep: &[String]) -> Result<()> {
        if self.leftovers(|name| keep.contains(name))?.is_empty() {
            return Ok(());
        }
        // The rename gave the lock away. Another draft may be creating files already, or may even
        // have committed: then our list of files to keep is out of date, and clearing is its job.
        let name = OsStr::new(&self.commit_name);
        let _lock = Staging::acquire(self.file_system.clone(), &self.folder, name)?;
        if self.file_system.read(self.staging.target())?.as_deref() != Some(commit) {
            return Ok(());
        }
        self.remove_all(&self.leftovers(|name| keep.contains(name))?)
    }

    fn leftovers(&self, is_kept: impl Fn(&String) -> bool) -> Result<Vec<String>> {
        let names = self.file_system.list(&self.folder)?;
        // A name that is not text is not ours.
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        Ok(names
            .filter(|name| (self.is_ours)(name) && !self.is_reserved(name) && !is_kept(name))
            .collect())
    }

    fn remove_all(&self, names: &[String]) -> Result<()> {
        names.iter().try_for_each(|name| self.file_system.remove(&self.folder.join(name)))
    }

    fn is_reserved(&self, name: &str) -> bool {
        name == self.commit_name || OsStr::new(name) == partial_name(OsStr::new(&self.commit_name))
    }

    fn created(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        // A list of names is whole after any panic.
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FolderDraft {
    fn drop(&mut self) {
        for name in self.created().drain(..) {
            // Nobody is left to tell; the next draft clears what cannot be removed.
            let _ = self.file_system.remove(&self.folder.join(name));
        }
    }
}

fn check_plain(name: &str) -> Result<()> {
    let plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0']);
    if plain { Ok(()) } else { Err(Error::NotAPlainName { name: name.to_owned() }) }
}
