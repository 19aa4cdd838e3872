//! The same file once more, past the page cache.
//! Reads that keep many requests in flight use it where the file system allows `O_DIRECT`, because a cold row that
//! goes through the page cache costs a page of it and a copy. It must not know who reads what.

use std::fs::File;
use std::ops::Range;

/// What offsets and lengths are rounded to where nobody says what the device wants: the page, the largest in use.
const USUAL_ALIGNMENT: u64 = 4096;

/// A second descriptor of an open file, for reads that are aligned in memory and in the file.
#[derive(Debug)]
pub(crate) struct Direct {
    pub(crate) file: File,
    /// A power of two that divides the page.
    pub(crate) alignment: u64,
}

impl Direct {
    /// None where the system or the file system has no such thing, as in memory file systems.
    pub(crate) fn of(file: &File) -> Option<Self> {
        let alignment = alignment(file)?;
        Some(Self { file: reopen(file)?, alignment })
    }

    /// The aligned bytes that cover a range.
    pub(crate) fn cover(&self, range: &Range<u64>) -> Range<u64> {
        let mask = self.alignment - 1;
        // Beyond the last whole block of the largest possible file the end would not fit.
        range.start & !mask..range.end.checked_add(mask).map_or(range.end, |end| end & !mask)
    }
}

/// Opens the very inode again, whatever its path names by now.
#[cfg(target_os = "linux")]
fn reopen(file: &File) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    use std::os::fd::AsRawFd;

    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let (before, now) = (rustix::fs::fstat(file).ok()?, rustix::fs::fstat(&opened).ok()?);
    // Whatever is mounted at /proc, only the same file will do.
    (before.st_dev == now.st_dev && before.st_ino == now.st_ino).then_some(opened)
}

#[cfg(target_os = "linux")]
fn alignment(file: &File) -> Option<u64> {
    use rustix::fs::{AtFlags, StatxFlags};

    let Ok(seen) = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) else {
        return Some(USUAL_ALIGNMENT);
    };
    if seen.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return Some(USUAL_ALIGNMENT);
    }
    let (memory, offset) =
        (u64::from(seen.stx_dio_mem_align), u64::from(seen.stx_dio_offset_align));
    let both = memory.max(offset);
    // Zero says that the file cannot be read directly; buffers begin on pages, so more than a page is not to be had.
    (offset > 0 && both.is_power_of_two() && both <= USUAL_ALIGNMENT).then_some(both)
}

#[cfg(not(target_os = "linux"))]
fn reopen(_file: &File) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn alignment(_file: &File) -> Option<u64> {
    Some(USUAL_ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_covered_by_whole_blocks() {
        let direct = Direct { file: tempfile::tempfile().unwrap(), alignment: 512 };
        for (range, expected) in [
            (0..0, 0..0),
            (0..1, 0..512),
            (511..513, 0..1024),
            (512..1024, 512..1024),
            (1023..1023, 512..1024),
            (u64::MAX - 1..u64::MAX, u64::MAX - 511..u64::MAX),
        ] {
            assert_eq!(direct.cover(&range), expected, "{range:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_file_that_is_open_is_opened_again_even_if_its_name_is_another_files() {
        use std::os::unix::fs::MetadataExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, vec![1; 8192]).unwrap();
        let file = File::open(&path).unwrap();
        std::fs::write(folder.path().join("y"), vec![2; 8192]).unwrap();
        std::fs::rename(folder.path().join("y"), &path).unwrap();
        // Some file systems have no direct reads.
        if let Some(direct) = Direct::of(&file) {
            let inode = |file: &File| file.metadata().unwrap().ino();
            assert_eq!(inode(&direct.file), inode(&file));
        }
    }
}
