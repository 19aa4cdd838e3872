//! The file system of the machine.
//! The only place that calls the operating system on behalf of a build; drafts decide what to call
//! and in which order. It must not know about drafts.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{FileSystem, OutputFile};
use crate::error::{Error, Result};
use crate::read::{Opened, fill_at};

/// The file system of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFileSystem;

impl FileSystem for RealFileSystem {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        std::fs::create_dir_all(dir).map_err(|source| Error::io("create the folder", dir, source))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn OutputFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        // A planted link must not make us empty some file elsewhere.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
        created(&options, path)
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn OutputFile>> {
        let created = created(OpenOptions::new().read(true).write(true).create_new(true), path);
        created.map_err(|error| match error {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                Error::Exists { path: path.to_path_buf() }
            }
            other => other,
        })
    }

    #[cfg(target_os = "linux")]
    fn scratch(&self, path: &Path) -> Result<Box<dyn OutputFile>> {
        use std::os::unix::fs::OpenOptionsExt;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_TMPFILE).mode(0o600);
        match options.open(folder.unwrap_or(Path::new("."))) {
            Ok(file) => Ok(Box::new(RealFile { file, path: path.to_path_buf() })),
            // Not every file system has files that never had a name.
            Err(_) => super::named_scratch(self, path),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        std::fs::rename(from, to).map_err(|source| Error::io("publish", to, source))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        missing_is_fine(std::fs::remove_file(path))
            .map_err(|source| Error::io("remove", path, source))
    }

    fn remove_dir(&self, dir: &Path) -> Result<()> {
        match std::fs::remove_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            outcome => missing_is_fine(outcome)
                .map_err(|source| Error::io("remove the folder", dir, source)),
        }
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        #[cfg(unix)]
        {
            let outcome = File::open(dir).and_then(|folder| folder.sync_all());
            match outcome {
                // Some network and user-space file systems cannot sync a folder; what durability
                // they have comes with the rename itself.
                Err(error)
                    if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP)) => {}
                outcome => outcome.map_err(|source| Error::io("sync the folder", dir, source))?,
            }
        }
        // Windows has no handle to sync a folder by; NTFS journals its names.
        #[cfg(not(unix))]
        let _ = dir;
        Ok(())
    }

    fn list(&self, dir: &Path) -> Result<Vec<OsString>> {
        let names = std::fs::read_dir(dir)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        let mut names: Vec<OsString> = names.map_err(|source| Error::io("list", dir, source))?;
        names.sort_unstable();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        // Not following links: a dangling link occupies the name as well.
        match std::fs::symlink_metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(Error::io("examine", path, source)),
        }
    }

    fn read(&self, path: &Path, longest: u64) -> Result<Option<Vec<u8>>> {
        let opened = match Opened::open(path) {
            Err(error) if error.is_not_found() => return Ok(None),
            outcome => outcome?,
        };
        let mut bytes = vec![0; opened.length.min(longest) as usize];
        let filled = fill_at(&opened.file, 0, &mut bytes);
        bytes.truncate(filled.map_err(|source| Error::io("read", path, source))?);
        Ok(Some(bytes))
    }
}

fn created(options: &OpenOptions, path: &Path) -> Result<Box<dyn OutputFile>> {
    let file = options.open(path).map_err(|source| Error::io("create", path, source))?;
    Ok(Box::new(RealFile { file, path: path.to_path_buf() }))
}

fn missing_is_fine(outcome: io::Result<()>) -> io::Result<()> {
    outcome.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

#[derive(Debug)]
struct RealFile {
    file: File,
    path: PathBuf,
}

impl OutputFile for RealFile {
    fn path(&self) -> &Path {
        &self.path
    }

    fn set_len(&self, length: u64) -> Result<()> {
        let outcome = self.file.set_len(length);
        outcome.map_err(|source| Error::growing("resize", &self.path, length, source))
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            let rest = &bytes[written..];
            // Saturating: the end of the number range is refused by the system as too far.
            let position = offset.saturating_add(written as u64);
            match write_at(&self.file, position, rest) {
                Ok(count) if count > 0 => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => {
                    let source = outcome.err().unwrap_or(io::ErrorKind::WriteZero.into());
                    return Err(Error::growing("write", &self.path, rest.len() as u64, source));
                }
            }
        }
        Ok(())
    }

    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let wanted = into.len() as u64;
        let truncated =
            |length| Error::Truncated { path: self.path.clone(), offset, wanted, length };
        if offset.checked_add(wanted).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(truncated(self.length()?));
        }
        let filled = fill_at(&self.file, offset, into)
            .map_err(|source| Error::io("read", &self.path, source))?;
        if filled < into.len() { Err(truncated(self.length()?)) } else { Ok(()) }
    }

    fn sync(&self) -> Result<()> {
        // Delayed allocation may find the disk full only now, anywhere in the file.
        self.file.sync_all().map_err(|source| {
            let length = self.length().unwrap_or(0);
            Error::growing("sync", &self.path, length, source)
        })
    }

    fn start_write_back(&self, range: Range<u64>) -> Result<()> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let length = range.end.saturating_sub(range.start);
            let (Ok(start), Ok(length)) = (i64::try_from(range.start), i64::try_from(length))
            else {
                return Ok(());
            };
            // A length of zero would mean everything up to the end.
            if length == 0 {
                return Ok(());
            }
            // SAFETY: no pointers are passed, and the descriptor is open while `self` is borrowed.
            let outcome = unsafe {
                libc::sync_file_range(
                    self.file.as_raw_fd(),
                    start,
                    length,
                    libc::SYNC_FILE_RANGE_WRITE,
                )
            };
            if outcome != 0 {
                let source = io::Error::last_os_error();
                // File systems without it write back on their own terms.
                if !matches!(source.raw_os_error(), Some(libc::ENOSYS | libc::ESPIPE)) {
                    return Err(Error::growing("write", &self.path, length as u64, source));
                }
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
        Ok(())
    }

    fn drop_pages(&self) -> Result<()> {
        crate::drop_page_cache(&self.file, 0..i64::MAX as u64)
            .map_err(|source| Error::io("advise on", &self.path, source))
    }

    fn try_lock(&self) -> Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", &self.path, source)),
        }
    }

    fn length(&self) -> Result<u64> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|source| Error::io("examine", &self.path, source))?.len())
    }

    fn same_file_at(&self, path: &Path) -> Result<bool> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let ours = self.file.metadata();
            let ours = ours.map_err(|source| Error::io("examine", &self.path, source))?;
            match std::fs::symlink_metadata(path) {
                Ok(named) => Ok((named.dev(), named.ino()) == (ours.dev(), ours.ino())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(source) => Err(Error::io("examine", path, source)),
            }
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            Ok(true)
        }
    }
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creating_keeps_content_and_positioned_writes_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, b"hello").unwrap();
        let file = RealFileSystem.create(&path).unwrap();
        file.write_all_at(4, b"\0world").unwrap();
        let mut back = [0; 10];
        file.read_exact_at(0, &mut back).unwrap();
        assert_eq!(&back, b"hell\0world");
        file.start_write_back(0..10).unwrap();
        file.start_write_back(5..5).unwrap();
        file.sync().unwrap();
        file.drop_pages().unwrap();
        assert_eq!(RealFileSystem.read(&path, 99).unwrap().unwrap(), b"hell\0world");
    }

    #[test]
    fn impossible_positions_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = RealFileSystem.create(&folder.path().join("x")).unwrap();
        assert!(matches!(file.read_exact_at(0, &mut [0]), Err(Error::Truncated { length: 0, .. })));
        for offset in [u64::MAX, u64::MAX - 1, i64::MAX as u64] {
            assert!(file.write_all_at(offset, b"abc").is_err());
            assert!(matches!(
                file.read_exact_at(offset, &mut [0; 3]),
                Err(Error::Truncated { .. })
            ));
        }
        assert!(file.set_len(u64::MAX).is_err());
    }

    #[test]
    fn missing_names_are_no_failure_to_remove_and_full_folders_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        RealFileSystem.remove(&path).unwrap();
        RealFileSystem.remove_dir(&path).unwrap();
        std::fs::write(&path, b"").unwrap();
        RealFileSystem.remove_dir(folder.path()).unwrap();
        assert!(RealFileSystem.exists(&path).unwrap());
        assert_eq!(RealFileSystem.list(folder.path()).unwrap(), ["x"]);
        assert_eq!(RealFileSystem.read(&folder.path().join("y"), 1).unwrap(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_says_how_many_bytes_did_not_fit() {
        let file = RealFileSystem.create(Path::new("/dev/full")).unwrap();
        match file.write_all_at(0, &[1; 5000]) {
            Err(Error::NoSpace { path, wanted: 5000, .. }) => {
                assert_eq!(path, Path::new("/dev/full"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_scratch_file_works_and_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".scratch");
        let named = super::super::named_scratch::<RealFileSystem>;
        for file in [RealFileSystem.scratch(&path), named(&RealFileSystem, &path)] {
            let file = file.unwrap();
            file.write_all_at(3, b"abc").unwrap();
            let mut back = [0; 6];
            file.read_exact_at(0, &mut back).unwrap();
            assert_eq!(&back, b"\0\0\0abc");
            assert!(RealFileSystem.list(folder.path()).unwrap().is_empty());
        }
        assert!(RealFileSystem.scratch(&folder.path().join("missing").join("x")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_huge_files_are_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, huge) = (folder.path().join("pipe"), folder.path().join("huge"));
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
            let error = RealFileSystem.read(path, 10).unwrap_err().to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
        File::create(&huge).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(RealFileSystem.read(&huge, 10).unwrap().unwrap(), [0; 10]);
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, b"precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("link")).unwrap();
        assert!(RealFileSystem.create(&folder.path().join("link")).is_err());
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    }

    #[cfg(unix)]
    #[test]
    fn a_handle_knows_whether_a_name_is_still_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("1"), folder.path().join("2"));
        let file = RealFileSystem.create(&one).unwrap();
        assert!(file.same_file_at(&one).unwrap());
        RealFileSystem.rename(&one, &two).unwrap();
        assert!(!file.same_file_at(&one).unwrap());
        assert!(file.same_file_at(&two).unwrap());
    }
}
