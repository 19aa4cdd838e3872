//! One section of a file, written by several threads at once.
//! Each thread writes a stretch of it; digest blocks that lie inside one stretch go to the file
//! directly, those that several stretches share are gathered first. It must not know what the bytes
//! mean.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use graphmill_disk::{OutputFile, PageBuffer};
use graphmill_format::digest::{BLOCK_LENGTH, block_count, digest};
use graphmill_format::{SECTION_ALIGNMENT, Section};

use crate::Result;

const BLOCK: usize = BLOCK_LENGTH as usize;

/// A section whose bytes come from all sides.
pub(crate) struct SharedSection<'a> {
    file: &'a dyn OutputFile,
    start: u64,
    length: u64,
    state: Mutex<State>,
}

struct State {
    digests: Vec<u64>,
    /// Blocks of which a part has come, with the number of their bytes that did.
    partial: BTreeMap<u64, (PageBuffer, usize)>,
    spare: Vec<PageBuffer>,
}

impl<'a> SharedSection<'a> {
    pub(crate) fn new(file: &'a dyn OutputFile, section: &Section) -> Self {
        let range = section.range();
        let length = range.end - range.start;
        let digests = vec![0; block_count(length) as usize];
        let state = Mutex::new(State { digests, partial: BTreeMap::new(), spare: Vec::new() });
        SharedSection { file, start: range.start, length, state }
    }

    /// Starts a stretch at a byte of the section; `buffer` is the thread's own, of one block.
    pub(crate) fn stretch<'s>(&'s self, from: u64, buffer: &'s mut PageBuffer) -> Stretch<'s, 'a> {
        let block = from / BLOCK_LENGTH;
        let filled = (from % BLOCK_LENGTH) as usize;
        Stretch { section: self, buffer, block, first: filled, filled }
    }

    /// Writes the zeros up to the next section and gives the digests of the blocks.
    pub(crate) fn finish(self) -> Result<Vec<u64>> {
        let end = self.start + self.length;
        let padding = (end.next_multiple_of(SECTION_ALIGNMENT) - end) as usize;
        if padding > 0 {
            self.file.write_all_at(end, &[0; SECTION_ALIGNMENT as usize][..padding])?;
        }
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        debug_assert!(state.partial.is_empty(), "stretches tile the section");
        Ok(state.digests)
    }

    fn block_length(&self, block: u64) -> usize {
        (self.length - block * BLOCK_LENGTH).min(BLOCK_LENGTH) as usize
    }

    /// Takes a piece of a block that others have pieces of.
    fn gather(&self, block: u64, first: usize, bytes: &[u8]) -> Result<()> {
        let mut state = self.lock();
        let State { partial, spare, .. } = &mut *state;
        let (buffer, come) = partial
            .entry(block)
            .or_insert_with(|| (spare.pop().unwrap_or_else(|| PageBuffer::new(BLOCK)), 0));
        buffer[first..first + bytes.len()].copy_from_slice(bytes);
        *come += bytes.len();
        if *come < self.block_length(block) {
            return Ok(());
        }
        let whole = partial.remove(&block);
        drop(state);
        if let Some((buffer, length)) = whole {
            self.write(block, &buffer[..length])?;
            self.lock().spare.push(buffer);
        }
        Ok(())
    }

    fn write(&self, block: u64, bytes: &[u8]) -> Result<()> {
        let digest = digest(bytes);
        let position = self.start + block * BLOCK_LENGTH;
        self.file.write_all_at(position, bytes)?;
        self.file.start_write_back(position..position + bytes.len() as u64)?;
        self.lock().digests[block as usize] = digest;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Consecutive bytes of a section, written front to back by one thread.
pub(crate) struct Stretch<'s, 'a> {
    section: &'s SharedSection<'a>,
    buffer: &'s mut PageBuffer,
    block: u64,
    /// Where in the block this stretch began.
    first: usize,
    /// Where in the block it is now.
    filled: usize,
}

impl Stretch<'_, '_> {
    /// Takes one value for each of `items`. Stretches begin at multiples of the value's width.
    #[inline(always)]
    pub(crate) fn write_each<T, const N: usize>(
        &mut self,
        mut items: &[T],
        value: impl Fn(&T) -> [u8; N],
    ) -> Result<()> {
        while !items.is_empty() {
            let room = (BLOCK - self.filled) / N;
            let (now, later) = items.split_at(items.len().min(room));
            let target = &mut self.buffer[self.filled..self.filled + now.len() * N];
            for (bytes, item) in target.as_chunks_mut::<N>().0.iter_mut().zip(now) {
                *bytes = value(item);
            }
            self.filled += now.len() * N;
            items = later;
            if self.filled == BLOCK {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Hands over what is left.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        let bytes = &self.buffer[self.first..self.filled];
        if !bytes.is_empty() {
            if bytes.len() == self.section.block_length(self.block) {
                self.section.write(self.block, bytes)?;
            } else {
                self.section.gather(self.block, self.first, bytes)?;
            }
        }
        self.block += 1;
        (self.first, self.filled) = (0, 0);
        Ok(())
    }
}
