//! Many small reads of a mapped file, announced to the kernel at once.
//! Whoever knows which pages it will touch says so here before it touches the first: the disk then gets a deep queue
//! instead of one request per page fault. It is a hint: nothing waits for the pages, fails, or reads something else.

use std::ops::Range;

use memmap2::Mmap;

use crate::read::{Mapped, ReadAt};

/// Pages between two wanted ones that are read along, since one request costs the disk more than a few pages do.
const GAP: usize = 1;

/// Ranges of one system call, the most that the kernel takes.
#[cfg(target_os = "linux")]
const RANGES_PER_CALL: usize = 1024;

impl Mapped {
    /// Asks the kernel to begin reading these ranges of the file now; they may come in any order, overlap, and leave the
    /// file. Sorts them.
    ///
    /// Takes one system call per thousand ranges where the system allows that, and one per range elsewhere, which for
    /// pages that are on the disk is hardly slower. Pages that are in memory cost a look each, so this is nothing to do
    /// for a file that is resident.
    pub fn announce(&self, ranges: &mut [Range<u64>]) {
        let Some(map) = self.map() else { return };
        if !ranges.is_sorted_by_key(|range| range.start) {
            ranges.sort_unstable_by_key(|range| range.start);
        }
        advise_all(map, pages(ranges, self.len()));
    }
}

/// The pages that hold some ascending ranges, as ascending ranges that neither touch nor leave the file.
fn pages(ranges: &[Range<u64>], length: u64) -> impl Iterator<Item = Range<usize>> {
    let page = page_size();
    let mut rest = ranges.iter().filter_map(move |range| {
        let end = range.end.min(length);
        // Both fit: they are at most the length of a map that exists.
        (range.start < end).then(|| {
            let start = range.start as usize / page * page;
            start..(end as usize).next_multiple_of(page)
        })
    });
    let mut open = rest.next();
    std::iter::from_fn(move || {
        let mut merged = open.take()?;
        for next in rest.by_ref() {
            if next.start > merged.end + GAP * page {
                open = Some(next);
                break;
            }
            merged.end = merged.end.max(next.end);
        }
        Some(merged)
    })
}

#[cfg(unix)]
fn page_size() -> usize {
    rustix::param::page_size()
}

#[cfg(not(unix))]
fn page_size() -> usize {
    4096
}

#[cfg(target_os = "linux")]
fn advise_all(map: &Mmap, pages: impl Iterator<Item = Range<usize>>) {
    use std::sync::atomic::{AtomicBool, Ordering};
    /// Whether the call for many ranges is missing or forbidden: older kernels want a privilege for it.
    static ONE_BY_ONE: AtomicBool = AtomicBool::new(false);

    let mut pages = pages.peekable();
    let mut some: Vec<libc::iovec> = Vec::new();
    while pages.peek().is_some() {
        some.clear();
        some.extend(pages.by_ref().take(RANGES_PER_CALL).map(|range| libc::iovec {
            iov_base: map.as_ptr().wrapping_add(range.start).cast_mut().cast(),
            iov_len: range.len(),
        }));
        if ONE_BY_ONE.load(Ordering::Relaxed) || !advise_together(&mut some) {
            ONE_BY_ONE.store(true, Ordering::Relaxed);
            for range in &some {
                // SAFETY: the range lies within the map, which is borrowed, up to the end of its last page; this
                // advice changes neither what the memory holds nor whether it can be reached.
                unsafe { libc::madvise(range.iov_base, range.iov_len, libc::MADV_WILLNEED) };
            }
        }
    }
}

/// Announces all ranges by as few calls as it takes; false if there is no such call, or not for us.
#[cfg(target_os = "linux")]
fn advise_together(ranges: &mut [libc::iovec]) -> bool {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    // Asked for anew each time: a descriptor kept over a fork would still mean the parent.
    // SAFETY: takes numbers and gives a new descriptor, or -1.
    let process = unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) };
    if process < 0 {
        // Out of descriptors is no reason to give up for ever.
        let error = std::io::Error::last_os_error().raw_os_error();
        return matches!(error, Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM));
    }
    // SAFETY: just opened, and nobody else knows it.
    let process = unsafe { OwnedFd::from_raw_fd(process as i32) };
    let mut from = 0;
    while from < ranges.len() {
        let rest = &ranges[from..];
        // SAFETY: `rest` lives across the call and each of its ranges lies within a map that is borrowed, up to the end
        // of its last page; this advice changes neither what the memory holds nor whether it can be reached.
        let done = unsafe {
            libc::syscall(
                libc::SYS_process_madvise,
                process.as_raw_fd(),
                rest.as_ptr(),
                rest.len(),
                libc::MADV_WILLNEED,
                0,
            )
        };
        if done < 0 {
            return match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => continue,
                Some(libc::ENOSYS | libc::EPERM | libc::EINVAL | libc::EACCES) => false,
                // Too busy, or part of the file is gone: it was only a hint.
                _ => true,
            };
        }
        let mut done = done as usize;
        if done == 0 {
            return true;
        }
        while let Some(range) = ranges.get_mut(from)
            && done > 0
        {
            let advised = done.min(range.iov_len);
            range.iov_base = range.iov_base.wrapping_byte_add(advised);
            range.iov_len -= advised;
            done -= advised;
            from += usize::from(range.iov_len == 0);
        }
    }
    true
}

#[cfg(all(unix, not(target_os = "linux")))]
fn advise_all(map: &Mmap, pages: impl Iterator<Item = Range<usize>>) {
    for range in pages {
        let length = range.end.min(map.len()) - range.start;
        // A hint that is refused costs nothing but its effect.
        let _ = map.advise_range(memmap2::Advice::WillNeed, range.start, length);
    }
}

#[cfg(not(unix))]
fn advise_all(_map: &Mmap, _pages: impl Iterator<Item = Range<usize>>) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(ranges: &[Range<u64>], length: u64) -> Vec<Range<usize>> {
        let page = page_size();
        pages(ranges, length).map(|range| range.start / page..range.end / page).collect()
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "lists of ranges, of which some have one")]
    fn ranges_become_whole_pages_without_duplicates() {
        let page = page_size() as u64;
        let length = 100 * page - 10;
        assert_eq!(merged(&[], length), []);
        assert_eq!(merged(&[5..6, 7..page, page - 1..page + 1], length), [0..2]);
        // One page between two is read along, two are not.
        assert_eq!(merged(&[0..1, 2 * page..2 * page + 1], length), [0..3]);
        assert_eq!(merged(&[0..1, 3 * page..3 * page + 1], length), [0..1, 3..4]);
        // The end of the file, beyond it, and nothing at all.
        assert_eq!(merged(&[length - 1..length], length), [99..100]);
        assert_eq!(merged(&[9 * page..u64::MAX], length), [9..100]);
        assert_eq!(merged(&[length..u64::MAX, u64::MAX - 1..u64::MAX], length), []);
        assert_eq!(merged(&[7..7, 50 * page..50 * page], length), []);
        // A long range before short ones that lie within it.
        assert_eq!(merged(&[0..9 * page, 1..2, 5 * page..6 * page], length), [0..9]);
    }
}
