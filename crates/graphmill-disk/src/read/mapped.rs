//! The `mapped` backend: a shared read-only memory map.
//! Stores borrow the bytes in place and pay nothing per access; loaders may also copy ranges out
//! through [`ReadAt`]. It must not know what the bytes mean.
//!
//! One hazard is real: when another process truncates the file, touching a page that is gone kills
//! this process with SIGBUS. graphmill never does that to a published file (it replaces files by
//! rename, and the map keeps the old one), every call of the trait compares the length first, and
//! no signal handler is installed because it would fight the one of the host program.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use super::{Backend, Opened, ReadAt, length_of, longest_within};
use crate::advice::Advice;
use crate::error::{Error, Result};

/// Ranges that are handed out between two looks at the file's length, which cost as much as a few short copies.
const RANGES_PER_CHECK: usize = 1024;

/// A file mapped into memory, read-only.
#[derive(Debug)]
pub struct Mapped {
    opened: Opened,
    /// None for an empty file: there is nothing to map.
    map: Option<Mmap>,
}

impl Mapped {
    /// Opens and maps a regular file. Costs microseconds whatever its size.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let opened = Opened::open(path.as_ref())?;
        let length = opened.mappable_length()?;
        let map = if length == 0 {
            None
        } else {
            // SAFETY: the map is read-only and private to this value. The bytes stay what they
            // are as long as nobody writes into the file; published files are only ever replaced
            // by rename. A foreign truncation is the documented hazard of this backend.
            let map = unsafe { MmapOptions::new().len(length).map(&opened.file) };
            Some(map.map_err(|source| Error::io("map", &opened.path, source))?)
        };
        Ok(Self { opened, map })
    }

    /// The whole file in place.
    ///
    /// Call [`check_length`](ReadAt::check_length) before a batch of accesses: touching bytes
    /// that another process has cut off ends the process with SIGBUS.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }

    /// Tells the kernel how a range of the file is about to be used.
    ///
    /// The range is cut to the file, and everything but Linux and macOS ignores the advice.
    pub fn advise(&self, advice: Advice, range: Range<u64>) -> Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        let end = range.end.min(self.opened.length);
        if range.start >= end {
            return Ok(());
        }
        // Both fit: they are at most the length of a map that exists.
        let (start, length) = (range.start as usize, (end - range.start) as usize);
        advice
            .apply(map, start, length)
            .map_err(|source| Error::io("advise on", &self.opened.path, source))
    }

    /// Reads a range into the page cache and waits for it, in large pages where the system has them.
    ///
    /// The kernel reads no more than a megabyte or so for one `WillNeed`, however long its range. Fails where it cannot be
    /// asked: before Linux 5.14 and on other systems.
    pub fn bring_in(&self, range: Range<u64>) -> Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        let end = range.end.min(self.opened.length);
        if range.start >= end {
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        let brought = {
            // Both fit: they are at most the length of a map that exists.
            let (start, length) = (range.start as usize, (end - range.start) as usize);
            // Small pages hold the same bytes.
            let _ = map.advise_range(memmap2::Advice::HugePage, start, length);
            map.advise_range(memmap2::Advice::PopulateRead, start, length)
        };
        #[cfg(not(target_os = "linux"))]
        let brought = {
            let _ = map;
            Err(std::io::ErrorKind::Unsupported.into())
        };
        brought.map_err(|source| Error::io("bring into memory", &self.opened.path, source))
    }

    pub(crate) fn map(&self) -> Option<&Mmap> {
        self.map.as_ref()
    }

    pub(crate) fn opened(&self) -> &Opened {
        &self.opened
    }

    fn copy(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.opened.check_range(offset, into.len() as u64)?;
        let start = offset as usize;
        into.copy_from_slice(&self.bytes()[start..start + into.len()]);
        Ok(())
    }
}

impl ReadAt for Mapped {
    fn path(&self) -> &Path {
        &self.opened.path
    }

    fn len(&self) -> u64 {
        self.opened.length
    }

    fn backend(&self) -> Backend {
        Backend::Mapped
    }

    fn file(&self) -> &File {
        &self.opened.file
    }

    fn check_length(&self) -> Result<()> {
        self.opened.check_length()
    }

    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.check_length()?;
        self.copy(offset, into)
    }

    fn read_ranges(&self, ranges: &mut [(u64, &mut [u8])]) -> Result<()> {
        // Once for all: a system call per row would cost more than the copy.
        self.check_length()?;
        for (offset, into) in ranges {
            self.copy(*offset, into)?;
        }
        Ok(())
    }

    fn read_each(&self, ranges: &[Range<u64>], take: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        longest_within(ranges, self.path(), self.len())?;
        let bytes = self.bytes();
        for (index, some) in ranges.chunks(RANGES_PER_CHECK).enumerate() {
            self.check_length()?;
            for (place, range) in some.iter().enumerate() {
                let start = range.start as usize;
                let slice = &bytes[start..start + length_of(range) as usize];
                take(index * RANGES_PER_CHECK + place, slice);
            }
        }
        Ok(())
    }

    fn read_memory(&self, _longest: u64) -> u64 {
        0
    }
}
