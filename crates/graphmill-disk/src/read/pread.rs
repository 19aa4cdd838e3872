//! The `pread` backend: positioned reads.
//! It is the reference the other backends are compared with, takes the ring's place where there is none, works on every
//! system, and turns a truncated file into an error at any moment. It must not know what the bytes mean.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

#[cfg(target_os = "linux")]
use super::deep;
use super::source::Source;
use super::{Backend, Mapped, Opened, ReadAt, call};
use crate::error::{Error, Result};

/// A file read by position; many ranges at once by the kernel's older queue, or by threads that do nothing else.
#[derive(Debug)]
pub struct Pread {
    source: Arc<Source>,
}

impl Pread {
    /// Opens a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::over(Opened::open(path.as_ref())?))
    }

    /// Reads the very file that `mapped` has open, even if its path names another one by now.
    pub fn of(mapped: &Mapped) -> Result<Self> {
        Ok(Self::over(mapped.opened().try_clone()?))
    }

    pub(super) fn over_file(file: File, path: &Path) -> Result<Self> {
        let metadata = file.metadata().map_err(|source| Error::io("examine", path, source))?;
        Ok(Self::over(Opened { file, path: path.to_path_buf(), length: metadata.len() }))
    }

    /// Whether many ranges at once are read past the page cache.
    pub fn is_direct(&self) -> bool {
        self.source.direct().is_some()
    }

    fn over(opened: Opened) -> Self {
        Self { source: Arc::new(Source::new(opened)) }
    }

    /// Reads through a queue of the kernel; None if this thread gets none.
    #[cfg(target_os = "linux")]
    pub(super) fn by_queue(
        &self,
        kind: deep::Kind,
        depth: u32,
        ranges: &[Range<u64>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Option<Result<()>> {
        let longest = match self.source.check(ranges) {
            Ok(longest) => longest,
            Err(error) => return Some(Err(error)),
        };
        match deep::Workplace::of_thread(kind, longest, depth) {
            Ok(workplace) => Some(workplace.read_each(&self.source, ranges, take)),
            Err(error) => {
                // Forbidden, or one more was too many. The next call may find room again.
                tracing::debug!(%error, ?kind, "this thread gets no queue for reads");
                None
            }
        }
    }
}

impl ReadAt for Pread {
    fn path(&self) -> &Path {
        &self.source.opened.path
    }

    fn len(&self) -> u64 {
        self.source.opened.length
    }

    fn backend(&self) -> Backend {
        Backend::Pread
    }

    fn file(&self) -> &File {
        &self.source.opened.file
    }

    fn check_length(&self) -> Result<()> {
        self.source.opened.check_length()
    }

    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let opened = &self.source.opened;
        let wanted = into.len() as u64;
        opened.check_range(offset, wanted)?;
        let filled = fill_at(&opened.file, offset, into)
            .map_err(|source| Error::io("read", &opened.path, source))?;
        if filled < into.len() {
            return Err(opened.truncated(offset, wanted, opened.length_now()?));
        }
        Ok(())
    }

    fn read_each(&self, ranges: &[Range<u64>], take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        // Without a way past the page cache, the older queue would wait for every read.
        #[cfg(target_os = "linux")]
        if self.is_direct()
            && let Some(outcome) = self.by_queue(deep::Kind::Aio, deep::DEPTH, ranges, take)
        {
            return outcome;
        }
        call::read_each(&self.source, ranges, take)
    }

    fn read_memory(&self, longest: u64) -> u64 {
        let by_threads = call::memory(longest);
        #[cfg(target_os = "linux")]
        return by_threads.max(deep::memory(longest));
        #[cfg(not(target_os = "linux"))]
        by_threads
    }
}

/// Reads until `into` is full or the file ends, and says how many bytes that were.
pub(crate) fn fill_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    fill(into, |filled, rest| read_once(file, offset + filled as u64, rest))
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

/// One read, which may be short or fail for a passing reason.
pub(super) fn read_once(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    let outcome = read_at(file, offset, into);
    #[cfg(feature = "faults")]
    let outcome = crate::faults::reads::judge(outcome, into);
    outcome
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
