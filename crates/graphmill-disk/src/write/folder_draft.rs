//! A folder of many files with one commit point.
//! Dataset builders begin here, create and sync their files, and publish by renaming one small file
//! that names the others; until then readers go by the previous one. It must not know what the
//! files hold: which names belong to datasets is handed in as a function.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::draft_file::{DraftFile, clear_drafts, is_draft_name};
use super::journal::{Journal, journal_name};
use super::new_folders::NewFolders;
use super::{FileSystem, OutputFile};
use crate::error::{Error, Result};

/// A folder takes part in a race to create and remove it; so many rounds mean it is busy.
const ATTEMPTS: usize = 100;

/// A commit names files; nothing longer is read of it, and whoever parses it refuses more.
const LONGEST_COMMIT: u64 = (16 << 20) + 1;

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
    /// What this draft created, to be removed unless it commits.
    created: Mutex<Vec<Created>>,
    // Declared in the order they are given up: the lock goes before the folder that holds it.
    journal: Journal,
    new_folders: NewFolders,
}

/// A name that the draft gave to a file.
#[derive(Debug)]
struct Created {
    name: String,
    /// The file, open as long as the draft lives so that nothing else can be taken for it; None if its creation failed, or
    /// was reported as failed.
    file: Option<Arc<dyn OutputFile>>,
}

impl FolderDraft {
    /// Starts a new state of `folder`, which is created if missing.
    ///
    /// `commit_name` is the file that makes a state valid ("dataset.json"), and `is_ours` says
    /// which names the draft may create and clear away; files of other names are never touched, nor
    /// are files of such names that no draft recorded and no superseded state named.
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
            return Err(Error::io("open", draft.journal.target(), missing));
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
        let journal = Journal::acquire(file_system.clone(), folder, OsStr::new(commit_name))
            .map_err(|error| match error {
                // People know the folder, not the file inside that stands for it.
                Error::Busy { .. } => Error::Busy { path: folder.to_path_buf() },
                other => other,
            })?;
        let previous_commit = file_system.read(journal.target(), LONGEST_COMMIT)?;
        Ok(Self {
            file_system,
            folder: folder.to_path_buf(),
            commit_name: commit_name.to_owned(),
            is_ours,
            previous_commit,
            created: Mutex::default(),
            journal,
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

    /// Removes what crashed builds left: every file that one of them recorded and that is not in
    /// `keep`. Files that merely look like ours stay.
    pub fn clear_leftovers(&self, keep: &[String]) -> Result<()> {
        let recorded = self.journal.leftovers();
        let leftovers: Vec<_> = recorded
            .iter()
            .filter(|name| self.is_clearable(name) && !keep.contains(name))
            .collect();
        if !recorded.is_empty() {
            // The commit we read may have been renamed by a process that died before its sync. Should
            // the power fail now, the one before would be back and want the files removed here.
            self.file_system.sync_dir(&self.folder)?;
            clear_drafts(&*self.file_system, &self.journal)?;
        }
        self.remove_all(leftovers.into_iter())?;
        self.journal.settle();
        Ok(())
    }

    /// Creates a file of the new state. The caller fills and syncs it before publishing.
    ///
    /// Refuses a name that is not a plain file name, is not ours or exists already.
    pub fn create(&self, name: &str) -> Result<Arc<dyn OutputFile>> {
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
        self.journal.record(&[name])?;
        let created: Result<Arc<dyn OutputFile>> =
            self.file_system.create_new(&path).map(Arc::from);
        if !matches!(created, Err(Error::Exists { .. })) {
            let file = created.as_ref().ok().cloned();
            self.created().push(Created { name: name.to_owned(), file });
        }
        created
    }

    /// Removes a file that this draft created and no longer needs; other names are left alone.
    pub fn remove(&self, name: &str) -> Result<()> {
        let mut created = self.created();
        let Some(at) = created.iter().position(|created| created.name == name) else {
            return Ok(());
        };
        self.remove_created(&created[at])?;
        created.remove(at);
        Ok(())
    }

    /// Makes the new state valid: `commit` becomes the content of the commit file.
    ///
    /// Every file the commit refers to must be synced already and listed in `keep`. Afterwards the
    /// files in `superseded`, those of the state before, are removed unless they are kept. That they
    /// could not be is no failure, because the next draft clears them. When this fails the old state
    /// is still valid, or, if only the last steps failed, the new one is but perhaps not durably yet,
    /// and the files of both are kept. Fails with [`Error::Displaced`] if somebody removed or replaced
    /// what this draft wrote.
    pub fn publish(mut self, commit: &[u8], keep: &[String], superseded: &[String]) -> Result<()> {
        let mut draft = DraftFile::create(self.file_system.clone(), &self.journal)?;
        let published = self.publish_draft(&mut draft, commit, keep, superseded);
        if !draft.clear() {
            self.journal.leave();
        }
        published
    }

    fn publish_draft(
        &mut self,
        draft: &mut DraftFile,
        commit: &[u8],
        keep: &[String],
        superseded: &[String],
    ) -> Result<()> {
        draft.file().write_all_at(0, commit)?;
        draft.file().sync()?;
        let goes = |name: &&String| self.is_clearable(name) && !keep.contains(name);
        let superseded: Vec<_> = superseded.iter().filter(goes).cloned().collect();
        if !superseded.is_empty() {
            self.journal.record(&superseded)?;
        }
        // The names that the commit refers to must last before the commit does.
        self.file_system.sync_dir(&self.folder)?;
        self.new_folders.sync()?;
        self.check_created()?;
        let renamed = draft.publish(&self.journal);
        if renamed.is_err() && !draft.is_published() {
            return renamed;
        }
        // From here on the files belong to the state, whatever else fails, and those of the one before are leftovers.
        self.new_folders.keep();
        self.journal.leave();
        let outcome = renamed.and_then(|()| {
            self.file_system.sync_dir(&self.folder)?;
            self.check_created()?;
            draft.check_published(self.journal.target())
        });
        let created = std::mem::take(&mut *self.created());
        outcome?;
        let mut unwanted = created.iter().filter(|created| !keep.contains(&created.name));
        // What earlier writers left is known to be named by this state, or was spared by intent.
        self.journal.settle();
        let removed = unwanted.try_for_each(|created| self.remove_created(created));
        if removed.and_then(|()| self.remove_all(superseded.iter())).is_err() {
            self.journal.leave();
        }
        Ok(())
    }

    /// Fails unless every file of this draft is still where it was created.
    fn check_created(&self) -> Result<()> {
        self.journal.check()?;
        for Created { name, file } in self.created().iter() {
            let path = self.folder.join(name);
            if let Some(file) = file
                && !file.same_file_at(&path)?
            {
                return Err(Error::Displaced { path });
            }
        }
        Ok(())
    }

    /// Removes a file of ours and no other of that name.
    fn remove_created(&self, created: &Created) -> Result<()> {
        let path = self.folder.join(&created.name);
        match &created.file {
            Some(file) if file.same_file_at(&path)? => self.file_system.remove(&path),
            Some(_) => Ok(()),
            None if self.file_system.exists(&path)? => {
                // Perhaps ours and perhaps not. It is in the journal, and the next draft will have the lock.
                self.journal.leave();
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn remove_all<'n>(&self, mut names: impl Iterator<Item = &'n String>) -> Result<()> {
        names.try_for_each(|name| self.file_system.remove(&self.folder.join(name)))
    }

    /// Whether a recorded name may be removed; drafts of the commit are cleared apart.
    fn is_clearable(&self, name: &str) -> bool {
        super::is_plain(name) && (self.is_ours)(name) && !self.is_reserved(name)
    }

    fn is_reserved(&self, name: &str) -> bool {
        let journal = journal_name(OsStr::new(&self.commit_name));
        name == self.commit_name || OsStr::new(name) == journal || is_draft_name(name)
    }

    fn created(&self) -> std::sync::MutexGuard<'_, Vec<Created>> {
        // A list of names is whole after any panic.
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FolderDraft {
    fn drop(&mut self) {
        for created in std::mem::take(&mut *self.created()) {
            // The next draft clears what cannot be removed.
            if self.remove_created(&created).is_err() {
                self.journal.leave();
            }
        }
    }
}

fn check_plain(name: &str) -> Result<()> {
    let named = || Error::NotAPlainName { name: name.to_owned() };
    if super::is_plain(name) { Ok(()) } else { Err(named()) }
}
