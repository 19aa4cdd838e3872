//! The `ring` backend: many requests in flight from one thread, by `io_uring` and past the page cache.
//! Gathering reads cold rows through it. Where the system has no rings or denies them, which many containers do, `pread`
//! takes its place and [`backend`](ReadAt::backend) says so. It must not know what the bytes mean.

#[cfg(target_os = "linux")]
mod available;

use std::fs::File;
use std::ops::Range;
use std::path::Path;

#[cfg(target_os = "linux")]
use super::deep;
use super::{Backend, Mapped, Pread, ReadAt};
use crate::error::Result;

/// Why this process has no rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RingDenied {
    /// The system is not Linux.
    #[error("only Linux has io_uring")]
    OtherSystem,
    /// The kernel is too old, or was built or set up without them.
    #[error("this kernel has no io_uring that can read: Linux 5.6 or newer is needed")]
    Missing,
    /// A sandbox or the setting `kernel.io_uring_disabled` forbids them.
    #[error(
        "io_uring is forbidden here: by the seccomp profile of a container or by kernel.io_uring_disabled"
    )]
    Forbidden,
    /// The kernel would not give the memory or the descriptor.
    #[error(
        "io_uring cannot be set up (error {code}): raise the limits of locked memory and open files"
    )]
    Limits {
        /// The error number of the system.
        code: i32,
    },
}

/// Whether this process may use rings; asked once, and again after a fork.
pub fn ring_available() -> std::result::Result<(), RingDenied> {
    #[cfg(target_os = "linux")]
    return available::available();
    #[cfg(not(target_os = "linux"))]
    Err(RingDenied::OtherSystem)
}

/// A file read through a ring of the calling thread, or as by [`Pread`] where rings are denied.
#[derive(Debug)]
pub struct Ring {
    pread: Pread,
    denied: Option<RingDenied>,
}

impl Ring {
    /// Opens a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::over(Pread::open(path)?))
    }

    /// Reads the very file that `mapped` has open, even if its path names another one by now.
    pub fn of(mapped: &Mapped) -> Result<Self> {
        Ok(Self::over(Pread::of(mapped)?))
    }

    fn over(pread: Pread) -> Self {
        let denied = ring_available().err();
        if let Some(reason) = denied {
            tracing::warn!(path = %pread.path().display(), %reason, "io_uring is denied: reading through the pread backend");
        }
        Self { pread, denied }
    }

    /// An open file of which `path` is to be named in errors.
    pub(crate) fn over_file(file: File, path: &Path) -> Result<Self> {
        Ok(Self::over(Pread::over_file(file, path)?))
    }

    /// As [`read_each`](ReadAt::read_each), with no more than `depth` requests in flight.
    pub(crate) fn read_at_depth(
        &self,
        depth: u32,
        ranges: &[Range<u64>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(outcome) = self.by_ring(depth, ranges, take) {
            return outcome;
        }
        for (index, some) in ranges.chunks(depth.max(1) as usize).enumerate() {
            let first = index * depth.max(1) as usize;
            self.pread.read_each(some, &mut |place, bytes| take(first + place, bytes))?;
        }
        Ok(())
    }

    /// Whether reads go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.pread.is_direct()
    }

    /// None if this process or this thread has no ring.
    #[cfg(target_os = "linux")]
    fn by_ring(
        &self,
        depth: u32,
        ranges: &[Range<u64>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Option<Result<()>> {
        match self.denied {
            Some(_) => None,
            None => self.pread.by_queue(deep::Kind::Ring, depth, ranges, take),
        }
    }

    /// Why it reads as [`Pread`] does, if it does.
    pub fn denied(&self) -> Option<RingDenied> {
        self.denied
    }
}

impl ReadAt for Ring {
    fn path(&self) -> &Path {
        self.pread.path()
    }

    fn len(&self) -> u64 {
        self.pread.len()
    }

    fn backend(&self) -> Backend {
        if self.denied.is_some() { Backend::Pread } else { Backend::Ring }
    }

    fn file(&self) -> &File {
        self.pread.file()
    }

    fn check_length(&self) -> Result<()> {
        self.pread.check_length()
    }

    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.pread.read_exact_at(offset, into)
    }

    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> Result<()> {
        let places: Vec<Range<u64>> = ranges
            .iter()
            // An end beyond all numbers lies beyond the file as well.
            .map(|(offset, into)| *offset..offset.saturating_add(into.len() as u64))
            .collect();
        self.read_each(&places, &mut |place, bytes| ranges[place].1.copy_from_slice(bytes))
    }

    fn read_each(&self, ranges: &[Range<u64>], take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(outcome) = self.by_ring(deep::DEPTH, ranges, take) {
            return outcome;
        }
        self.pread.read_each(ranges, take)
    }

    fn read_memory(&self, longest: u64) -> u64 {
        self.pread.read_memory(longest)
    }
}
