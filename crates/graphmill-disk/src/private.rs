//! A writable copy-on-write view of a file.
//! Tensor libraries know no read-only memory, so what they are handed is this: writes land in
//! private pages of this process and the file never changes. It must not know who holds the view.

use std::io;
use std::path::Path;

use memmap2::{MmapOptions, MmapRaw};

use crate::advice::Advice;
use crate::error::{Error, Result};
use crate::read::{Mapped, Opened};

/// A private map of a file: readable, writable, and cut off from the file on the first write.
///
/// Writes cost one page of anonymous memory each and are seen by this process only. The truncation
/// hazard is that of [`Mapped`].
#[derive(Debug)]
pub struct PrivateMap {
    /// None for an empty file: there is nothing to map.
    map: Option<MmapRaw>,
}

impl PrivateMap {
    /// Maps a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::over(&Opened::open(path.as_ref())?)
    }

    /// Maps the very file that `mapped` has open, even if its path names another one by now.
    pub fn of(mapped: &Mapped) -> Result<Self> {
        let opened = mapped.opened();
        opened.check_length()?;
        Self::over(opened)
    }

    fn over(opened: &Opened) -> Result<Self> {
        let length = opened.mappable_length()?;
        if length == 0 {
            return Ok(Self { map: None });
        }
        // A writable private map counts as promised memory. Most pages will never be written, so
        // the kernel is asked not to set any aside.
        // SAFETY: the map is reached by raw pointers only, so no reference can be invalidated by
        // whoever writes through another one; the file itself is never written through it.
        let map =
            unsafe { MmapOptions::new().len(length).no_reserve_swap().map_copy(&opened.file) };
        let map = map.map_err(|source| Error::io("map", &opened.path, explain(source)))?;
        Ok(Self { map: Some(MmapRaw::from(map)) })
    }

    /// The first byte. Valid for reads and writes of [`len`](Self::len) bytes as long as `self`
    /// lives; page-aligned unless the file is empty.
    ///
    /// Whoever dereferences it answers for data races between writers of the same bytes.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        match &self.map {
            Some(map) => map.as_mut_ptr(),
            // Aligned for every element type, as views of empty tables must be too.
            None => std::ptr::NonNull::<u128>::dangling().as_ptr().cast(),
        }
    }

    /// Length in bytes: that of the file when it was opened.
    pub fn len(&self) -> usize {
        self.map.as_ref().map_or(0, MmapRaw::len)
    }

    /// Whether the file was empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells the kernel how the whole view is about to be used.
    ///
    /// [`Advice::DontNeed`] is ignored: it would throw away what was written.
    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        #[cfg(unix)]
        if let (Some(map), Some(advice)) = (&self.map, advice.checked()) {
            return map.advise(advice);
        }
        let _ = advice;
        Ok(())
    }
}

/// Under `overcommit_memory=2` the kernel ignores the request not to set memory aside.
fn explain(source: io::Error) -> io::Error {
    if source.kind() != io::ErrorKind::OutOfMemory {
        return source;
    }
    io::Error::new(
        io::ErrorKind::OutOfMemory,
        format!(
            "{source}; a writable view must be backed by memory where vm.overcommit_memory is 2 \
             or the address space is limited: relax the limit or use a read-only view"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ReadAt;

    #[test]
    fn views_may_move_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<PrivateMap>();
    }

    #[test]
    fn writes_stay_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, vec![7; 10_000]).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        let view = PrivateMap::of(&mapped).unwrap();
        view.advise(Advice::Random).unwrap();
        view.advise(Advice::DontNeed).unwrap();
        // SAFETY: inside the view, and nobody else uses it.
        let written = unsafe {
            view.as_mut_ptr().add(5_000).write(9);
            view.as_mut_ptr().add(5_000).read()
        };
        assert_eq!((written, view.len()), (9, 10_000));
        assert_eq!(mapped.bytes()[5_000], 7);
        assert_eq!(std::fs::read(&path).unwrap(), vec![7; 10_000]);
        // SAFETY: as above; the untouched bytes come from the file.
        assert_eq!(unsafe { view.as_mut_ptr().add(4_999).read() }, 7);
    }

    #[test]
    fn a_view_of_an_open_file_ignores_its_replacement() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, b"old").unwrap();
        let mapped = Mapped::open(&path).unwrap();
        std::fs::write(folder.path().join("y"), b"newer").unwrap();
        std::fs::rename(folder.path().join("y"), &path).unwrap();
        let view = PrivateMap::of(&mapped).unwrap();
        assert_eq!(view.len(), 3);
        // SAFETY: inside the view, and nobody else uses it.
        assert_eq!(unsafe { view.as_mut_ptr().read() }, b'o');
    }

    #[test]
    fn an_empty_file_gives_an_empty_aligned_view() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let view = PrivateMap::open(file.path()).unwrap();
        assert!(view.is_empty() && view.as_mut_ptr().cast::<u128>().is_aligned());
    }

    #[test]
    fn a_shrunk_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(100).unwrap();
        let mapped = Mapped::open(file.path()).unwrap();
        file.as_file().set_len(50).unwrap();
        assert!(matches!(PrivateMap::of(&mapped), Err(Error::LengthChanged { found: 50, .. })));
        assert!(mapped.check_length().is_err());
    }
}
