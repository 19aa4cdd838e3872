//! One lone file, written aside and published by one rename.
//! Writers of single files begin here, fill [`FileDraft::file`] and publish; readers see the old
//! file or the new one and nothing between. It must not know what is written.

use std::path::Path;
use std::sync::Arc;

use super::draft_file::{DraftFile, clear_drafts};
use super::journal::Journal;
use super::{FileSystem, OutputFile};
use crate::error::{Error, Result};

/// A file that becomes visible under its name when published, and vanishes when dropped before.
///
/// At most one draft of a target exists at a time, among all processes.
#[derive(Debug)]
pub struct FileDraft {
    file_system: Arc<dyn FileSystem>,
    draft: DraftFile,
    journal: Journal,
    overwrite: bool,
}

impl FileDraft {
    /// Starts a draft of `target`, whose folder must exist.
    ///
    /// Fails with [`Error::Busy`] while another draft of it lives, and with [`Error::Exists`] if
    /// the target exists and `overwrite` is false.
    pub fn begin(file_system: Arc<dyn FileSystem>, target: &Path, overwrite: bool) -> Result<Self> {
        let not_plain = || Error::NotAPlainName { name: target.display().to_string() };
        let name = target.file_name().ok_or_else(not_plain)?;
        refuse_devices(target)?;
        let journal = Journal::acquire(file_system.clone(), folder_of(target), name)?;
        clear_drafts(&*file_system, &journal)?;
        journal.settle();
        check_target(&*file_system, &journal, overwrite)?;
        let draft = DraftFile::create(file_system.clone(), &journal)?;
        Ok(Self { file_system, draft, journal, overwrite })
    }

    /// The file to fill. It is empty at first.
    pub fn file(&self) -> &dyn OutputFile {
        self.draft.file()
    }

    /// Makes the draft durable, then visible under its name.
    ///
    /// When this fails the target is still the old one, or, if only the last sync failed, the new
    /// one complete but perhaps not durable yet. Fails with [`Error::Displaced`] if somebody removed
    /// what belongs to this draft, so that another writer may be at work on the same target.
    pub fn publish(mut self) -> Result<()> {
        self.draft.file().sync()?;
        check_target(&*self.file_system, &self.journal, self.overwrite)?;
        self.draft.publish(&self.journal)?;
        self.file_system.sync_dir(folder_of(self.journal.target()))?;
        self.draft.check_published(self.journal.target())?;
        // Only a courtesy to the page cache: the file is published whether or not it works.
        let _ = self.draft.file().drop_pages();
        Ok(())
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        if !self.draft.clear() {
            self.journal.leave();
        }
    }
}

/// Refuses an existing target. Asked under the lock, where no other draft can publish.
fn check_target(file_system: &dyn FileSystem, journal: &Journal, overwrite: bool) -> Result<()> {
    let target = journal.target();
    if !overwrite && file_system.exists(target)? {
        return Err(Error::Exists { path: target.to_path_buf() });
    }
    Ok(())
}

/// A rename would put a file in the place of a pipe or a device, such as `/dev/stdout`, which others go on using.
fn refuse_devices(target: &Path) -> Result<()> {
    match std::fs::metadata(target) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            let reason = "it is a pipe or a device, which cannot be replaced; name a file";
            let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, reason);
            Err(Error::io("replace", target, source))
        }
        // What is not there, or cannot be looked at, shows when the file is written.
        _ => Ok(()),
    }
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RealFileSystem;

    fn begin(target: &Path, overwrite: bool) -> Result<FileDraft> {
        FileDraft::begin(Arc::new(RealFileSystem), target, overwrite)
    }

    #[test]
    fn nothing_is_visible_before_publishing_and_nothing_else_after() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.gl");
        let draft = begin(&target, false).unwrap();
        draft.file().write_all_at(0, b"new").unwrap();
        assert!(!target.exists());
        draft.publish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_not_replaced() {
        use std::os::unix::fs::FileTypeExt;

        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.gl");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        let link = folder.path().join("null.gl");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for target in [&pipe, &link] {
            let error = begin(target, true).unwrap_err().to_string();
            assert!(error.contains("pipe or a device"), "{error}");
        }
        assert!(pipe.metadata().unwrap().file_type().is_fifo() && link.is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_dropped_draft_leaves_nothing_and_the_old_target() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.gl");
        std::fs::write(&target, b"old").unwrap();
        let draft = begin(&target, true).unwrap();
        draft.file().write_all_at(0, b"new").unwrap();
        drop(draft);
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_second_draft_is_told_that_the_target_is_busy() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.gl");
        let first = begin(&target, true).unwrap();
        first.file().write_all_at(0, b"first").unwrap();
        match begin(&target, true) {
            Err(Error::Busy { path }) => assert_eq!(path, target),
            other => panic!("{other:?}"),
        }
        first.publish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"first");
    }

    #[test]
    fn an_existing_target_is_kept_unless_overwriting_was_asked() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.gl");
        let draft = begin(&target, false).unwrap();
        std::fs::write(&target, b"foreign").unwrap();
        assert!(matches!(draft.publish(), Err(Error::Exists { .. })));
        assert!(matches!(begin(&target, false), Err(Error::Exists { .. })));
        assert_eq!(std::fs::read(&target).unwrap(), b"foreign");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_leftover_of_a_crash_is_taken_over_and_emptied() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".x.gl.partial"), vec![1; 5000]).unwrap();
        let draft = begin(&folder.path().join("x.gl"), false).unwrap();
        draft.file().write_all_at(0, b"new").unwrap();
        draft.publish().unwrap();
        assert_eq!(std::fs::read(folder.path().join("x.gl")).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_target_without_a_name_is_refused() {
        for target in ["", "/", "..", "folder/.."] {
            assert!(matches!(begin(Path::new(target), true), Err(Error::NotAPlainName { .. })));
        }
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let error = begin(&folder.path().join("missing/x.gl"), true).unwrap_err();
        assert!(error.is_not_found() && error.to_string().contains("missing"), "{error}");
    }
}
