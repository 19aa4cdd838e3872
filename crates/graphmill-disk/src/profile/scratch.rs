//! A file to measure a device with.
//! Measuring reads a file that is there if one is large enough, and else one that is written for it and has no name, so that
//! nothing is left behind however the measurement ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Smaller files say more about the caches of a device than about the device.
const SMALLEST: u64 = 256 << 20;
const WRITTEN: u64 = 1 << 30;
const CHUNK: usize = 1 << 20;

/// The file to read on the device of `path`.
pub(super) fn file_on_device(path: &Path) -> Result<(File, PathBuf)> {
    match large_file(path) {
        Some(found) => {
            let file = File::open(&found).map_err(|source| Error::io("open", &found, source))?;
            Ok((file, found))
        }
        None => {
            let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
            // An empty parent is that of a bare name.
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            write(folder, WRITTEN)
        }
    }
}

/// The path itself, or the largest file of the folder; large enough, and not full of holes that no device reads.
fn large_file(path: &Path) -> Option<PathBuf> {
    let usable = |path: PathBuf| {
        let metadata = path.metadata().ok().filter(|metadata| metadata.is_file())?;
        (metadata.len() >= SMALLEST && is_dense(&metadata)).then_some((metadata.len(), path))
    };
    if !path.is_dir() {
        return usable(path.to_path_buf()).map(|(_, path)| path);
    }
    let entries = path.read_dir().ok()?.flatten();
    entries.filter_map(|entry| usable(entry.path())).max().map(|(_, path)| path)
}

#[cfg(unix)]
fn is_dense(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.blocks().saturating_mul(512) >= metadata.len() / 10 * 9
}

#[cfg(not(unix))]
fn is_dense(_metadata: &std::fs::Metadata) -> bool {
    true
}

fn write(folder: &Path, length: u64) -> Result<(File, PathBuf)> {
    let file =
        without_name(folder).map_err(|source| Error::io("write a file into", folder, source))?;
    let mut state = 1_u64;
    let mut chunk = vec![0; CHUNK];
    let mut written = 0;
    while written < length {
        // Devices may skip zeros and share what is equal.
        for word in chunk.chunks_exact_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            word.copy_from_slice(&(state ^ state >> 29).to_le_bytes());
        }
        match (&file).write_all(&chunk) {
            Ok(()) => written += CHUNK as u64,
            // A full disk: what fitted will do, if it is enough.
            Err(_) if written >= SMALLEST => break,
            Err(source) => return Err(Error::growing("write", folder, SMALLEST - written, source)),
        }
    }
    file.sync_all().map_err(|source| Error::io("sync", folder, source))?;
    Ok((file, folder.to_path_buf()))
}

#[cfg(target_os = "linux")]
fn without_name(folder: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_TMPFILE).mode(0o600);
    // Not every file system has files that never had a name.
    options.open(folder).or_else(|_| named_for_a_moment(folder))
}

#[cfg(not(target_os = "linux"))]
fn without_name(folder: &Path) -> io::Result<File> {
    named_for_a_moment(folder)
}

#[cfg(unix)]
fn named_for_a_moment(folder: &Path) -> io::Result<File> {
    let path = folder.join(format!(".graphmill-profile-{}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(windows)]
fn named_for_a_moment(folder: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    let path = folder.join(format!(".graphmill-profile-{}", std::process::id()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).custom_flags(DELETE_ON_CLOSE).open(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_to_measure_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _) = write(folder.path(), 3 << 20).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 3 << 20);
        assert_eq!(named_for_a_moment(folder.path()).unwrap().metadata().unwrap().len(), 0);
        #[cfg(unix)]
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        assert!(write(&folder.path().join("missing"), 1).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn short_files_and_holes_are_not_measured() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, b"short").unwrap();
        assert_eq!(large_file(&path), None);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(SMALLEST).unwrap();
        assert_eq!((large_file(&path), large_file(folder.path())), (None, None));
    }
}
