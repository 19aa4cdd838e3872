//! Values one after the other in a scratch file, written and read front to back or at any place.
//! Keys, numbers, counts and sorted runs all lie in files like this; buffers start on a page, and
//! whoever makes them has taken their memory from the budget. It must not know what values mean.

use std::marker::PhantomData;

use graphmill_disk::{OutputFile, PageBuffer};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::Result;

/// Bytes read or written at a time where nothing else is said.
pub(super) const IO_BYTES: usize = 64 << 10;
/// What a [`PageBuffer`] takes beyond its length, and what buffers are multiples of.
pub(super) const PAGE: usize = 4096;

/// What can lie in a file as it lies in memory. Its width divides a page.
pub(super) trait Stored:
    Copy + Send + Sync + FromBytes + IntoBytes + Immutable + KnownLayout + 'static
{
}

impl<T> Stored for T where
    T: Copy + Send + Sync + FromBytes + IntoBytes + Immutable + KnownLayout + 'static
{
}

/// A page-aligned buffer as values.
pub(super) fn values<T: Stored>(buffer: &[u8]) -> &[T] {
    <[T]>::ref_from_bytes(buffer).expect("buffers start on a page and hold whole values")
}

/// The same, to be written.
pub(super) fn values_mut<T: Stored>(buffer: &mut [u8]) -> &mut [T] {
    <[T]>::mut_from_bytes(buffer).expect("buffers start on a page and hold whole values")
}

/// A whole file of values.
#[derive(Debug)]
pub(super) struct ScratchArray<T> {
    file: Box<dyn OutputFile>,
    count: u64,
    values: PhantomData<T>,
}

impl<T: Stored> ScratchArray<T> {
    /// A file into which so many values were written from its first byte on.
    pub(super) fn new(file: Box<dyn OutputFile>, count: u64) -> Self {
        ScratchArray { file, count, values: PhantomData }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn file(&self) -> &dyn OutputFile {
        &*self.file
    }

    /// Reads values from `first` on, all of which exist.
    pub(super) fn read(&self, first: u64, into: &mut [T]) -> Result<()> {
        let offset = first * size_of::<T>() as u64;
        Ok(self.file.read_exact_at(offset, into.as_mut_bytes())?)
    }

    /// All values, front to back.
    pub(super) fn reader(&self) -> ArrayReader<'_, T> {
        ArrayReader::new(self.file(), 0, self.count, IO_BYTES)
    }
}

/// Writes values one after the other.
pub(super) struct ArrayWriter<'a, T> {
    file: &'a dyn OutputFile,
    buffer: &'a mut PageBuffer,
    filled: usize,
    position: u64,
    count: u64,
    values: PhantomData<T>,
}

impl<'a, T: Stored> ArrayWriter<'a, T> {
    /// Writes from byte `position` on.
    pub(super) fn new(file: &'a dyn OutputFile, position: u64, buffer: &'a mut PageBuffer) -> Self {
        ArrayWriter { file, buffer, filled: 0, position, count: 0, values: PhantomData }
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) -> Result<()> {
        self.extend(std::slice::from_ref(&value))
    }

    #[inline]
    pub(super) fn extend(&mut self, values: &[T]) -> Result<()> {
        self.count += values.len() as u64;
        let mut bytes = values.as_bytes();
        while !bytes.is_empty() {
            let room = self.buffer.len() - self.filled;
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.buffer[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
            if self.filled == self.buffer.len() {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Writes what is left; gives the number of values.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.flush()?;
        Ok(self.count)
    }

    fn flush(&mut self) -> Result<()> {
        if self.filled > 0 {
            self.file.write_all_at(self.position, &self.buffer[..self.filled])?;
            self.position += self.filled as u64;
            self.filled = 0;
        }
        Ok(())
    }
}

/// Reads values one after the other.
pub(super) struct ArrayReader<'a, T> {
    file: &'a dyn OutputFile,
    position: u64,
    left: u64,
    buffer: PageBuffer,
    next: usize,
    /// Values in the buffer.
    filled: usize,
    values: PhantomData<T>,
}

impl<'a, T: Stored> ArrayReader<'a, T> {
    /// Reads `count` values from byte `position` on, through a buffer of so many bytes.
    pub(super) fn new(file: &'a dyn OutputFile, position: u64, count: u64, bytes: usize) -> Self {
        let buffer = PageBuffer::new(bytes);
        ArrayReader { file, position, left: count, buffer, next: 0, filled: 0, values: PhantomData }
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<T>> {
        if self.next == self.filled && !self.fill()? {
            return Ok(None);
        }
        let value = values::<T>(&self.buffer)[self.next];
        self.next += 1;
        Ok(Some(value))
    }

    /// Some of the values that come next; none at the end.
    pub(super) fn next_piece(&mut self) -> Result<&[T]> {
        if self.next == self.filled {
            self.fill()?;
        }
        let piece = self.next..self.filled;
        self.next = self.filled;
        Ok(&values::<T>(&self.buffer)[piece])
    }

    /// Copies the next values; false if there are not as many.
    pub(super) fn take(&mut self, mut into: &mut [T]) -> Result<bool> {
        while !into.is_empty() {
            if self.next == self.filled && !self.fill()? {
                return Ok(false);
            }
            let count = into.len().min(self.filled - self.next);
            let (now, later) = into.split_at_mut(count);
            now.copy_from_slice(&values::<T>(&self.buffer)[self.next..self.next + count]);
            self.next += count;
            into = later;
        }
        Ok(true)
    }

    fn fill(&mut self) -> Result<bool> {
        let room = self.buffer.len() / size_of::<T>();
        let count = usize::try_from(self.left).unwrap_or(usize::MAX).min(room);
        let bytes = count * size_of::<T>();
        (self.next, self.filled) = (0, count);
        if count == 0 {
            return Ok(false);
        }
        // Should this fail, what the buffer holds is not taken for values.
        self.filled = 0;
        self.file.read_exact_at(self.position, &mut self.buffer[..bytes])?;
        self.filled = count;
        self.position += bytes as u64;
        self.left -= count as u64;
        Ok(true)
    }
}
