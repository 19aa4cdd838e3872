//! How much of a file is in the page cache.
//! `inspect` and the choice of a backend ask before they read; the answer is a snapshot and never
//! changes results. It must not read the file, since that would change what it measures.

use std::fs::File;
use std::ops::Range;

/// The share of a file that the page cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Pages the file needs.
    pub total_pages: u64,
    /// Pages that are in memory now.
    pub cached_pages: u64,
}

impl Residency {
    /// From 0 (cold) to 1 (cached); an empty file counts as cached.
    pub fn fraction(&self) -> f64 {
        if self.total_pages == 0 { 1.0 } else { self.cached_pages as f64 / self.total_pages as f64 }
    }
}

/// Asks the kernel by `cachestat(2)`, which takes no time for what is not there, and some 10 ns for each page that is.
///
/// None where the call does not exist (before Linux 6.5, other systems), is denied (sandboxes,
/// files the user may not write), or does not fit the file system.
pub fn residency(file: &File, length: u64) -> Option<Residency> {
    let total_pages = length.div_ceil(page_size());
    if total_pages == 0 {
        return Some(Residency { total_pages: 0, cached_pages: 0 });
    }
    // The file may have grown meanwhile; a share above one would help nobody.
    let cached_pages = count(file, 0, length)?.min(total_pages);
    Some(Residency { total_pages, cached_pages })
}

/// Whether the page that holds a byte of the file is in memory; None as for [`residency`].
pub fn is_resident(file: &File, offset: u64) -> Option<bool> {
    // A length of 0 would mean "to the end".
    count(file, offset, 1).map(|pages| pages > 0)
}

/// How many of the pages that hold a range of the file are in memory; None as for [`residency`].
///
/// Starts no read, unlike `preadv2(RWF_NOWAIT)`, of which every miss was measured to read a page behind the caller's back.
/// Costs a system call, half a microsecond, and some tens of nanoseconds for each page that is there: ask for long ranges
/// rather than for rows.
pub fn cached_pages(file: &File, range: Range<u64>) -> Option<u64> {
    let page = page_size();
    if range.start >= range.end {
        return Some(0);
    }
    let pages = (range.end - 1) / page - range.start / page + 1;
    count(file, range.start, range.end - range.start).map(|cached| cached.min(pages))
}

#[cfg(target_os = "linux")]
fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(not(target_os = "linux"))]
fn page_size() -> u64 {
    4096
}

#[cfg(target_os = "linux")]
fn count(file: &File, offset: u64, length: u64) -> Option<u64> {
    use std::os::fd::AsRawFd;

    // The number is the same on every architecture whose calls are numbered alike.
    const CACHESTAT: libc::c_long = 451;
    #[repr(C)]
    struct ByteRange {
        offset: u64,
        length: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Counts {
        cached: u64,
        dirty: u64,
        being_written: u64,
        evicted: u64,
        recently_evicted: u64,
    }

    let range = ByteRange { offset, length };
    let mut counts = Counts::default();
    // SAFETY: both structures have the layout the kernel documents and live across the call; the
    // descriptor is open because `file` is borrowed. An unknown call number only returns ENOSYS.
    let outcome = unsafe {
        libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut counts, 0u32)
    };
    (outcome == 0).then_some(counts.cached)
}

/// Always None: only Linux can tell.
#[cfg(not(target_os = "linux"))]
fn count(_file: &File, _offset: u64, _length: u64) -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_just_written_is_cached_if_the_kernel_can_tell() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 100_000]).unwrap();
        if let Some(seen) = residency(&file, 100_000) {
            assert_eq!(seen.total_pages, 100_000u64.div_ceil(rustix::param::page_size() as u64));
            assert_eq!(seen.cached_pages, seen.total_pages);
            assert_eq!(seen.fraction(), 1.0);
        }
    }

    #[test]
    fn a_range_is_counted_by_the_pages_that_hold_it() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 8 * page_size() as usize]).unwrap();
        let page = page_size();
        if cached_pages(&file, 0..1).is_some() {
            for (range, pages) in [
                (0..1, 1),
                (page - 1..page + 1, 2),
                (page..page, 0),
                (3 * page..8 * page, 5),
                (7 * page..u64::MAX, 1),
                (9 * page..10 * page, 0),
            ] {
                assert_eq!(cached_pages(&file, range.clone()), Some(pages), "{range:?}");
            }
        }
    }

    #[test]
    fn a_hole_is_not_cached_and_an_empty_file_is() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 30).unwrap();
        if let Some(seen) = residency(&file, 1 << 30) {
            assert_eq!(seen.cached_pages, 0);
        }
        assert_eq!(residency(&file, 0).unwrap().fraction(), 1.0);
    }
}
