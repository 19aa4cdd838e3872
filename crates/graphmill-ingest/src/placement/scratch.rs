//! The files that hold the rows that do not fit into memory.
//! Neighbouring windows share a file, of which they take regions and fill them front to back; when
//! all of them are written, the file is dropped and its pages serve the table. Files are made when
//! they are needed first and have no names, so neither an error nor a crash leaves them behind. It
//! must not know what regions hold.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graphmill_disk::{FileSystem, OutputFile, PageBuffer};

use crate::Result;

/// Windows of a file.
const TOGETHER: u64 = 16;
/// So many files have that many windows, those behind have twice as many as the one before: even
/// the longest table needs few files.
const EQUAL: u64 = 64;
const FILES: usize = EQUAL as usize + 64;

/// Files without names.
pub(super) struct Scratch {
    file_system: Arc<dyn FileSystem>,
    path: PathBuf,
    /// One file at a time has a name, if only for a moment.
    making: Mutex<()>,
    files: Vec<ScratchFile>,
    buffers: Vec<Mutex<PageBuffer>>,
}

#[derive(Default)]
struct ScratchFile {
    /// None before the first use and after the last.
    file: Mutex<Option<Arc<dyn OutputFile>>>,
    end: AtomicU64,
    /// Windows that need it no more.
    done: AtomicU64,
}

impl Scratch {
    /// `path` is a name that nobody else uses; each buffer has `io` bytes.
    pub(super) fn new(
        file_system: Arc<dyn FileSystem>,
        path: PathBuf,
        io: usize,
        buffers: usize,
    ) -> Self {
        let files = (0..FILES).map(|_| ScratchFile::default()).collect();
        let buffers = (0..buffers).map(|_| Mutex::new(PageBuffer::new(io))).collect();
        Scratch { file_system, path, making: Mutex::new(()), files, buffers }
    }

    /// Finds a place for so many bytes of a window.
    pub(super) fn allocate(&self, window: u64, bytes: u64) -> u64 {
        self.files[number(window)].end.fetch_add(bytes, Ordering::Relaxed)
    }

    /// A buffer for what is read and written, one for each thread where there are enough.
    pub(super) fn buffer(&self) -> MutexGuard<'_, PageBuffer> {
        let index = rayon::current_thread_index().unwrap_or(0) % self.buffers.len();
        lock(&self.buffers[index])
    }

    /// The file of a window, made now if it was not before.
    pub(super) fn file(&self, window: u64) -> Result<Arc<dyn OutputFile>> {
        let mut file = lock(&self.files[number(window)].file);
        if let Some(file) = &*file {
            return Ok(file.clone());
        }
        let _one_at_a_time = lock(&self.making);
        let made: Arc<dyn OutputFile> = self.file_system.scratch(&self.path)?.into();
        *file = Some(made.clone());
        Ok(made)
    }

    /// Says that one of `windows` windows is written: the last of a file takes it along.
    pub(super) fn done(&self, window: u64, windows: u64) {
        let scratch = &self.files[number(window)];
        let mates = mates(window);
        let all = windows.min(mates.end) - mates.start;
        if scratch.done.fetch_add(1, Ordering::Relaxed) + 1 == all {
            // Dropped behind the lock, since that is when the system frees the pages.
            let file = lock(&scratch.file).take();
            drop(file);
        }
    }
}

/// Which file holds a window.
fn number(window: u64) -> usize {
    let file = window / TOGETHER;
    if file < EQUAL { file as usize } else { (EQUAL + u64::from((file / EQUAL).ilog2())) as usize }
}

/// The windows of the same file.
fn mates(window: u64) -> Range<u64> {
    let file = window / TOGETHER;
    if file < EQUAL {
        return file * TOGETHER..(file + 1) * TOGETHER;
    }
    let first = (EQUAL * TOGETHER) << (file / EQUAL).ilog2();
    first..first.saturating_mul(2)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_is_among_its_mates_and_files_are_few() {
        for window in (0..5000).chain((12..60).map(|shift| (1 << shift) - 1)) {
            let mates = mates(window);
            assert!(mates.contains(&window));
            assert_eq!(number(mates.start), number(window));
            assert_eq!(number(mates.end - 1), number(window));
            assert_eq!(number(mates.end), number(window) + 1);
            assert!(number(window) < FILES);
        }
    }
}
