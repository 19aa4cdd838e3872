//! The `pread` backend: one positioned read per range.
//! It is the reference the other backends are compared with, works on every system, and turns a
//! truncated file into an error at any moment. It must not know what the bytes mean.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{Backend, Mapped, Opened, ReadAt};
use crate::error::{Error, Result};

/// A file read by position.
#[derive(Debug)]
pub struct Pread {
    opened: Opened,
}

impl Pread {
    /// Opens a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { opened: Opened::open(path.as_ref())? })
    }

    /// Reads the very file that `mapped` has open, even if its path names another one by now.
    pub fn of(mapped: &Mapped) -> Result<Self> {
        Ok(Self { opened: mapped.opened().try_clone()? })
    }
}

impl ReadAt for Pread {
    fn path(&self) -> &Path {
        &self.opened.path
    }

    fn len(&self) -> u64 {
        self.opened.length
    }

    fn backend(&self) -> Backend {
        Backend::Pread
    }

    fn file(&self) -> &File {
        &self.opened.file
    }

    fn check_length(&self) -> Result<()> {
        self.opened.check_length()
    }

    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let wanted = into.len() as u64;
        self.opened.check_range(offset, wanted)?;
        let filled = fill_at(&self.opened.file, offset, into)
            .map_err(|source| Error::io("read", &self.opened.path, source))?;
        if filled < into.len() {
            return Err(self.opened.truncated(offset, wanted, self.opened.length_now()?));
        }
        Ok(())
    }
}

/// Reads until `into` is full or the file ends, and says how many bytes that were.
pub(crate) fn fill_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    fill(into, |filled, rest| read_at(file, offset + filled as u64, rest))
}

/// Asks `read` again after signals and short reads until `into` is full or nothing comes.
fn fill(
    into: &mut [u8],
    mut read: impl FnMut(usize, &mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match read(filled, &mut into[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, offset)
}

#[cfg(windows)]
fn read_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &[u8] = b"the quick brown fox jumps over the lazy dog";

    /// A disk that reads a few bytes at a time and does something else at the `at`-th call.
    fn fill_with(at: usize, event: impl Fn() -> io::Result<usize>) -> (io::Result<usize>, Vec<u8>) {
        let mut into = vec![0; SOURCE.len()];
        let mut calls = 0;
        let outcome = fill(&mut into, |filled, rest| {
            calls += 1;
            if calls - 1 == at {
                return event();
            }
            let count = rest.len().min(5);
            rest[..count].copy_from_slice(&SOURCE[filled..filled + count]);
            Ok(count)
        });
        (outcome, into)
    }

    #[test]
    fn short_and_interrupted_reads_are_continued_wherever_they_come() {
        for at in 0..9 {
            let (outcome, bytes) = fill_with(at, || Err(io::ErrorKind::Interrupted.into()));
            assert_eq!((outcome.unwrap(), &bytes[..]), (SOURCE.len(), SOURCE));
        }
    }

    #[test]
    fn a_failing_disk_is_an_error_wherever_it_fails() {
        for at in 0..9 {
            let (outcome, _) = fill_with(at, || Err(io::Error::other("broken")));
            assert_eq!(outcome.unwrap_err().to_string(), "broken");
        }
    }

    #[test]
    fn the_end_of_the_file_stops_and_is_counted() {
        for at in 0..9 {
            let (outcome, bytes) = fill_with(at, || Ok(0));
            assert_eq!(outcome.unwrap(), at * 5);
            assert_eq!(bytes[..at * 5], SOURCE[..at * 5]);
        }
    }
}
