//! The file that holds what does not fit into memory.
//! The store of records writes extents to it and reads them back; it has no name as soon as it is
//! open, so neither an error nor a crash leaves it behind. It must not know the order of records.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use graphmill_disk::{FileSystem, OutputFile, PageBuffer};
use zerocopy::{FromBytes, IntoBytes};

use super::record::Record;
use crate::Result;

/// Extents start on a page, since copies from and to the page cache are fast only then.
const PAGE: u64 = 4096;
/// Whole records that are also whole pages, for every width of records.
const GRAIN: usize = 512;

/// Consecutive records in the scratch file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    offset: u64,
    pub(super) records: usize,
}

/// A file without a name, made when it is needed first.
#[derive(Debug)]
pub(super) struct Scratch {
    file_system: Arc<dyn FileSystem>,
    path: PathBuf,
    file: OnceLock<Box<dyn OutputFile>>,
    making: Mutex<()>,
    end: AtomicU64,
    io_bytes: usize,
    buffers: Mutex<Vec<PageBuffer>>,
}

impl Scratch {
    /// `path` is a name that nobody else uses; it exists for a moment only.
    pub(super) fn new(file_system: Arc<dyn FileSystem>, path: PathBuf, io_bytes: usize) -> Self {
        let (file, making) = (OnceLock::new(), Mutex::new(()));
        let (end, buffers) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        Scratch { file_system, path, file, making, end, io_bytes, buffers }
    }

    /// Bytes written so far.
    pub(super) fn written(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Finds a place for this many records.
    pub(super) fn allocate<R>(&self, records: usize) -> Extent {
        let bytes = ((records * size_of::<R>()) as u64).next_multiple_of(PAGE);
        Extent { offset: self.end.fetch_add(bytes, Ordering::Relaxed), records }
    }

    /// Writes the records of an extent, which come in blocks.
    pub(super) fn write<R: Record>(
        &self,
        extent: Extent,
        blocks: &[impl AsRef<[R]>],
    ) -> Result<()> {
        let file = self.file()?;
        self.with_buffer::<R, _>(|buffer| {
            let mut position = extent.offset;
            let mut filled = 0;
            for mut rest in blocks.iter().map(|block| block.as_ref().as_bytes()) {
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(rest.len().min(buffer.len() - filled));
                    buffer[filled..filled + now.len()].copy_from_slice(now);
                    filled += now.len();
                    rest = later;
                    if filled == buffer.len() {
                        file.write_all_at(position, buffer)?;
                        position += filled as u64;
                        filled = 0;
                    }
                }
            }
            Ok(file.write_all_at(position, &buffer[..filled])?)
        })
    }

    /// Hands the records of an extent to `take`, in order and in pieces.
    pub(super) fn read<R: Record>(
        &self,
        extent: Extent,
        mut take: impl FnMut(&[R]) -> Result<()>,
    ) -> Result<()> {
        let file = self.file()?;
        self.with_buffer::<R, _>(|buffer| {
            let (mut left, mut position) = (extent.records, extent.offset);
            while left > 0 {
                let records = left.min(buffer.len() / size_of::<R>());
                let bytes = &mut buffer[..records * size_of::<R>()];
                file.read_exact_at(position, bytes)?;
                take(records_of(bytes))?;
                left -= records;
                position += bytes.len() as u64;
            }
            Ok(())
        })
    }

    /// Hands up to `count` records from somewhere in an extent to `take`.
    pub(super) fn peek<R: Record>(
        &self,
        extent: Extent,
        first: usize,
        count: usize,
        take: impl FnOnce(&[R]),
    ) -> Result<()> {
        let width = size_of::<R>();
        let offset = extent.offset + (first * width) as u64;
        self.with_buffer::<R, _>(|buffer| {
            let count = count.min(extent.records - first).min(buffer.len() / width);
            let bytes = &mut buffer[..count * width];
            self.file()?.read_exact_at(offset, bytes)?;
            take(records_of(bytes));
            Ok(())
        })
    }

    fn with_buffer<R, T>(&self, work: impl FnOnce(&mut PageBuffer) -> Result<T>) -> Result<T> {
        let lock = || self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let grain = GRAIN * size_of::<R>();
        let length = (self.io_bytes / grain).max(1) * grain;
        let kept = lock().pop().filter(|buffer| buffer.len() == length);
        let mut buffer = kept.unwrap_or_else(|| PageBuffer::new(length));
        let outcome = work(&mut buffer);
        lock().push(buffer);
        outcome
    }

    fn file(&self) -> Result<&dyn OutputFile> {
        if let Some(file) = self.file.get() {
            return Ok(&**file);
        }
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = self.file.get() {
            return Ok(&**file);
        }
        let file = self.file_system.scratch(&self.path)?;
        Ok(&**self.file.get_or_init(|| file))
    }
}

fn records_of<R: Record>(bytes: &[u8]) -> &[R] {
    <[R]>::ref_from_bytes(bytes).expect("buffers start on a page and hold whole records")
}
