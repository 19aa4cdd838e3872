//! Reading published files: one trait, one file per backend.
//! Stores and loaders ask [`open`] for a backend and read byte ranges through [`ReadAt`]; the
//! battery in `tests/suite/conformance.rs` holds every backend to the same behaviour.
//! Nothing here knows what the bytes mean.

mod call;
#[cfg(target_os = "linux")]
mod deep;
mod direct;
mod mapped;
mod piece;
mod pread;
mod readers;
mod ring;
mod source;

pub use mapped::Mapped;
pub use pread::Pread;
pub(crate) use pread::fill_at;
pub use ring::{Ring, RingDenied, ring_available};

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::page_buffer::PageBuffer;

/// How bytes come from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// A read-only memory map: best when the data fits into the page cache.
    Mapped,
    /// Positioned reads: works everywhere, never faults on a truncated file.
    Pread,
    /// Many requests in flight by `io_uring`, past the page cache: best when the data does not fit into memory. Where
    /// the system has or allows no rings, `pread` takes its place.
    Ring,
}

impl Backend {
    /// Every backend this build knows, so that tests and messages cannot forget one.
    pub const ALL: [Self; 3] = [Self::Mapped, Self::Pread, Self::Ring];
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Mapped => "mapped",
            Self::Pread => "pread",
            Self::Ring => "ring",
        })
    }
}

impl FromStr for Backend {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|backend| backend.to_string() == name)
            .ok_or_else(|| Error::UnknownBackend { name: name.to_owned() })
    }
}

/// A file open for reading at any position, by any number of threads at once.
pub trait ReadAt: Send + Sync + fmt::Debug {
    /// The path it was opened by.
    fn path(&self) -> &Path;

    /// Its length in bytes when it was opened.
    fn len(&self) -> u64;

    /// Whether it was empty when it was opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The backend that reads it.
    fn backend(&self) -> Backend;

    /// The open file itself, for questions that reading cannot answer, such as how much of it is
    /// cached.
    fn file(&self) -> &File;

    /// Fails with [`Error::LengthChanged`] if the file is no longer as long as when opened.
    fn check_length(&self) -> Result<()>;

    /// Fills `into` with the bytes from `offset` on, or fails; never fewer bytes.
    ///
    /// A range that leaves the file fails with [`Error::Truncated`]. After a failure the content
    /// of `into` is unspecified.
    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()>;

    /// Fills every buffer from its offset. Backends that can keep many requests in flight do.
    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> Result<()> {
        for (offset, into) in ranges {
            self.read_exact_at(*offset, into)?;
        }
        Ok(())
    }

    /// Reads every range and hands each to `take` with its place in `ranges`, in whatever order they arrive.
    ///
    /// The bytes are only valid during the call. At most [`read_memory`](ReadAt::read_memory) bytes of anonymous
    /// memory are taken however many ranges there are. A range that leaves the file fails with [`Error::Truncated`]
    /// before anything is read; after any failure `take` is not called again. Everything that is the caller's runs
    /// on the calling thread: whoever has several threads splits the ranges among them.
    fn read_each(&self, ranges: &[Range<u64>], take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        let longest = longest_within(ranges, self.path(), self.len())?;
        let mut buffer = PageBuffer::new(in_memory(longest, self.path())?);
        for (place, range) in ranges.iter().enumerate() {
            // Fits: it is no longer than the buffer.
            let into = &mut buffer[..length_of(range) as usize];
            self.read_exact_at(range.start, into)?;
            take(place, into);
        }
        Ok(())
    }

    /// Bytes of memory that one call of `read_each` takes at most when no range is longer than `longest`.
    fn read_memory(&self, longest: u64) -> u64 {
        longest.saturating_add(PageBuffer::MARGIN)
    }
}

/// Bytes of a range; one that ends before it starts has none.
pub(crate) fn length_of(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// The longest of some ranges, all of which must lie inside a file of `length` bytes.
pub(crate) fn longest_within(ranges: &[Range<u64>], path: &Path, length: u64) -> Result<u64> {
    let mut longest = 0;
    for range in ranges {
        if range.start > length || range.end > length {
            let (offset, wanted) = (range.start, length_of(range));
            return Err(Error::Truncated { path: path.to_path_buf(), offset, wanted, length });
        }
        longest = longest.max(length_of(range));
    }
    Ok(longest)
}

/// A number of bytes as a length in memory.
pub(crate) fn in_memory(bytes: u64, path: &Path) -> Result<usize> {
    usize::try_from(bytes).map_err(|_| {
        let source = io::Error::new(
            io::ErrorKind::OutOfMemory,
            "the range is larger than the address space; read it in parts",
        );
        Error::io("read", path, source)
    })
}

/// Opens a regular file for reading through `backend`.
pub fn open(path: impl AsRef<Path>, backend: Backend) -> Result<Arc<dyn ReadAt>> {
    Ok(match backend {
        Backend::Mapped => Arc::new(Mapped::open(path)?),
        Backend::Pread => Arc::new(Pread::open(path)?),
        Backend::Ring => Arc::new(Ring::open(path)?),
    })
}

/// Reads the very file that `mapped` has open through `backend`, even if its path names another one by now.
pub fn open_same(mapped: &Arc<Mapped>, backend: Backend) -> Result<Arc<dyn ReadAt>> {
    Ok(match backend {
        Backend::Mapped => mapped.clone(),
        Backend::Pread => Arc::new(Pread::of(mapped)?),
        Backend::Ring => Arc::new(Ring::of(mapped)?),
    })
}

/// What every backend holds: an open regular file, its path and its length at that moment.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    pub(crate) length: u64,
}

impl Opened {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true);
        // Opening a pipe would wait for its writer for ever.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.open(path).map_err(|source| Error::io("open", path, source))?;
        let metadata = file.metadata().map_err(|source| Error::io("examine", path, source))?;
        if !metadata.is_file() {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(Error::io("open", path, source));
        }
        // Plain reads of regular files ignore the flag, but a ring would not wait for what is not cached.
        #[cfg(unix)]
        rustix::fs::fcntl_getfl(&file)
            .and_then(|flags| rustix::fs::fcntl_setfl(&file, flags - rustix::fs::OFlags::NONBLOCK))
            .map_err(|source| Error::io("open", path, source.into()))?;
        Ok(Self { file, path: path.to_path_buf(), length: metadata.len() })
    }

    /// The same open file for another reader.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        let file = self.file.try_clone().map_err(|source| Error::io("open", &self.path, source))?;
        Ok(Self { file, path: self.path.clone(), length: self.length })
    }

    pub(crate) fn length_now(&self) -> Result<u64> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|source| Error::io("examine", &self.path, source))?.len())
    }

    pub(crate) fn check_length(&self) -> Result<()> {
        let found = self.length_now()?;
        if found == self.length {
            return Ok(());
        }
        Err(Error::LengthChanged { path: self.path.clone(), expected: self.length, found })
    }

    /// Fails unless `wanted` bytes from `offset` lay inside the file when it was opened.
    pub(crate) fn check_range(&self, offset: u64, wanted: u64) -> Result<()> {
        match offset.checked_add(wanted) {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(self.truncated(offset, wanted, self.length)),
        }
    }

    pub(crate) fn truncated(&self, offset: u64, wanted: u64, length: u64) -> Error {
        Error::Truncated { path: self.path.clone(), offset, wanted, length }
    }

    /// The length as an address range of this machine.
    pub(crate) fn mappable_length(&self) -> Result<usize> {
        usize::try_from(self.length).map_err(|_| {
            let source = io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it is larger than the address space; use the pread backend",
            );
            Error::io("map", &self.path, source)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backend_names_read_back() {
        for backend in Backend::ALL {
            assert_eq!(backend.to_string().parse::<Backend>().unwrap(), backend);
        }
        let error = "floppy".parse::<Backend>().unwrap_err();
        assert!(error.to_string().contains("floppy"));
    }
}
