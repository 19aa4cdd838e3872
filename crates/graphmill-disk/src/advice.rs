//! Hints to the page cache.
//! Readers announce how they will walk a mapped file, builders drop the pages they wrote; on
//! systems without the calls every hint is a no-op. Nothing here changes what a read returns.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::Mmap;

/// How a range of a file is about to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// No particular way: the kernel's default read-ahead.
    Normal,
    /// Scattered accesses: read-ahead would only waste the disk.
    Random,
    /// From front to back: read far ahead.
    Sequential,
    /// Soon: begin to read now.
    WillNeed,
    /// Not soon: this process lets go of the pages; the page cache may keep them.
    DontNeed,
}

impl Advice {
    #[cfg(unix)]
    pub(crate) fn apply(self, map: &Mmap, start: usize, length: usize) -> io::Result<()> {
        match self.checked() {
            Some(advice) => map.advise_range(advice, start, length),
            // SAFETY: the map is a shared, read-only map of a file, so pages let go come back
            // from the file unchanged; nothing written can be lost.
            None => unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, length)
            },
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn apply(self, _map: &Mmap, _start: usize, _length: usize) -> io::Result<()> {
        Ok(())
    }

    /// The advice that cannot change what memory holds, in any kind of map.
    #[cfg(unix)]
    pub(crate) fn checked(self) -> Option<memmap2::Advice> {
        match self {
            Self::Normal => Some(memmap2::Advice::Normal),
            Self::Random => Some(memmap2::Advice::Random),
            Self::Sequential => Some(memmap2::Advice::Sequential),
            Self::WillNeed => Some(memmap2::Advice::WillNeed),
            Self::DontNeed => None,
        }
    }
}

/// Asks for large pages under the memory of a vector, best before anything is in it.
///
/// Tables that are looked up at random miss the address cache with every look-up if their pages
/// are small. Does nothing on systems without such pages.
pub fn prefer_huge_pages<T>(room: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = room.as_mut_ptr().cast::<u8>();
        let before = start.align_offset(PAGE);
        let bytes = room.capacity().saturating_mul(size_of::<T>());
        let whole = bytes.saturating_sub(before) / PAGE * PAGE;
        if whole > 0 {
            // SAFETY: the whole pages within the vector's own memory; the advice changes neither
            // their content nor whether they can be reached.
            let _hint = unsafe {
                rustix::mm::madvise(
                    start.add(before).cast(),
                    whole,
                    rustix::mm::Advice::LinuxHugepage,
                )
            };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = room;
}

/// Lets the page cache forget the clean pages of a range; dirty pages stay.
///
/// Does nothing on systems without `posix_fadvise`.
pub fn drop_page_cache(file: &File, range: Range<u64>) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        // A length of None would mean "to the end", so an empty range must not get that far.
        let Some(length) = std::num::NonZeroU64::new(range.end.saturating_sub(range.start)) else {
            return Ok(());
        };
        rustix::fs::fadvise(file, range.start, Some(length), rustix::fs::Advice::DontNeed)?;
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    let _ = (file, range);
    Ok(())
}
