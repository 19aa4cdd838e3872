//! One section of a file, written by several threads at once.
//! Digest blocks that one thread has whole go to the file directly, those that several have pieces
//! of are gathered first; where the memory for that is used up, pieces are written as they come and
//! the block is read back for its digest in the end. It must not know what the bytes mean.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graphmill_disk::{OutputFile, PageBuffer};
use graphmill_format::digest::{BLOCK_LENGTH, BlockDigester, block_count};
use graphmill_format::{SECTION_ALIGNMENT, Section};

use crate::{Error, Result};

const BLOCK: usize = BLOCK_LENGTH as usize;
const PAGE: usize = 4096;
/// Bytes read back at a time.
const PIECE: usize = 64 << 10;

/// A section whose bytes come from all sides, every byte once.
pub(crate) struct SharedSection<'a> {
    file: &'a dyn OutputFile,
    start: u64,
    /// None until the end is known.
    length: Option<u64>,
    /// Blocks that may be gathered at once.
    most_gathered: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    digests: Vec<u64>,
    /// Blocks of which a part has come.
    gathered: BTreeMap<u64, Arc<Mutex<Gathered>>>,
    /// Blocks that went to the file in pieces.
    scattered: BTreeSet<u64>,
    spare: Vec<PageBuffer>,
    /// Buffers that exist, spare or not.
    made: usize,
}

struct Gathered {
    /// None once the block is whole and on its way to the file.
    buffer: Option<PageBuffer>,
    /// Bytes that have come.
    come: usize,
}

impl<'a> SharedSection<'a> {
    /// A planned section; blocks are gathered without limit.
    pub(crate) fn new(file: &'a dyn OutputFile, section: &Section) -> Self {
        let range = section.range();
        let length = range.end - range.start;
        let state = State { digests: vec![0; block_count(length) as usize], ..State::default() };
        let (start, state) = (range.start, Mutex::new(state));
        SharedSection { file, start, length: Some(length), most_gathered: usize::MAX, state }
    }

    /// A section that starts at a byte of the file and ends where [`finish_at`](Self::finish_at)
    /// will say.
    pub(crate) fn open_ended(file: &'a dyn OutputFile, start: u64, most_gathered: usize) -> Self {
        let state = Mutex::new(State::default());
        SharedSection { file, start, length: None, most_gathered, state }
    }

    /// Memory that one gathered block takes.
    pub(crate) const fn gathered_memory() -> u64 {
        BLOCK_LENGTH + PAGE as u64
    }

    /// Memory that a section of this length takes for what it knows of its blocks.
    pub(crate) fn known_memory(length: u64) -> u64 {
        // A digest, and an entry of the set of scattered blocks.
        block_count(length) * 24
    }

    /// Starts a stretch at a byte of the section; `buffer` is the thread's own, of one block.
    pub(crate) fn stretch<'s>(&'s self, from: u64, buffer: &'s mut PageBuffer) -> Stretch<'s, 'a> {
        let block = from / BLOCK_LENGTH;
        let filled = (from % BLOCK_LENGTH) as usize;
        Stretch { section: self, buffer, block, first: filled, filled }
    }

    /// Starts a block that one thread has whole and writes front to back.
    pub(crate) fn whole_block(&self, block: u64) -> WholeBlock<'_, 'a> {
        WholeBlock { section: self, block, written: 0, digester: BlockDigester::default() }
    }

    /// Takes the bytes from a byte of the section on.
    pub(crate) fn write(&self, mut from: u64, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (block, first) = (from / BLOCK_LENGTH, (from % BLOCK_LENGTH) as usize);
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - first));
            // Blocks start on a page of the file, and copies are fast only between pages.
            if now.len() == self.block_length(block) && (now.as_ptr() as usize).is_multiple_of(PAGE)
            {
                self.write_block(block, now)?;
            } else {
                self.gather(block, first, now)?;
            }
            from += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Writes the zeros up to the next section and gives the digests of the blocks.
    pub(crate) fn finish(self) -> Result<Vec<u64>> {
        let length = self.length.unwrap_or(0);
        self.finish_at(length)
    }

    /// The same for a section that was open-ended and turns out to have this many bytes.
    pub(crate) fn finish_at(mut self, length: u64) -> Result<Vec<u64>> {
        self.length = Some(length);
        let rest = std::mem::take(&mut self.lock().gathered);
        for (block, gathered) in rest {
            let gathered = lock(&gathered);
            if block >= block_count(length) || gathered.come != self.block_length(block) {
                let problem = format!("block {block} has {} of its bytes", gathered.come);
                return Err(Error::request("section", problem));
            }
            // Only the last block of an open end can be whole without having been known to be.
            if let Some(buffer) = &gathered.buffer {
                self.write_block(block, &buffer[..gathered.come])?;
            }
        }
        self.digest_scattered()?;
        let end = self.start + length;
        let padding = (end.next_multiple_of(SECTION_ALIGNMENT) - end) as usize;
        if padding > 0 {
            self.file.write_all_at(end, &[0; SECTION_ALIGNMENT as usize][..padding])?;
        }
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        debug_assert_eq!(state.digests.len() as u64, block_count(length));
        Ok(state.digests)
    }

    /// Reads the blocks back that were never in memory as a whole.
    fn digest_scattered(&self) -> Result<()> {
        let scattered = std::mem::take(&mut self.lock().scattered);
        if scattered.is_empty() {
            return Ok(());
        }
        let mut buffer = PageBuffer::new(PIECE);
        for block in scattered {
            let mut digester = BlockDigester::default();
            let (mut at, mut left) = (self.position(block), self.block_length(block));
            while left > 0 {
                let piece = left.min(PIECE);
                self.file.read_exact_at(at, &mut buffer[..piece])?;
                digester.update(&buffer[..piece]);
                at += piece as u64;
                left -= piece;
            }
            self.note(block, only_digest(digester))?;
        }
        Ok(())
    }

    fn block_length(&self, block: u64) -> usize {
        let left = self.length.map_or(BLOCK_LENGTH, |length| length - block * BLOCK_LENGTH);
        left.min(BLOCK_LENGTH) as usize
    }

    /// Where a block lies in the file.
    fn position(&self, block: u64) -> u64 {
        self.start + block * BLOCK_LENGTH
    }

    /// Takes a piece of a block that others have pieces of.
    fn gather(&self, block: u64, first: usize, bytes: &[u8]) -> Result<()> {
        let is_whole = bytes.len() == self.block_length(block);
        let Some(gathered) = self.gathered(block, is_whole) else {
            if is_whole {
                return self.write_block(block, bytes);
            }
            return Ok(self.file.write_all_at(self.position(block) + first as u64, bytes)?);
        };
        let mut gathered = lock(&gathered);
        let Gathered { buffer: Some(buffer), come } = &mut *gathered else {
            let problem = format!("block {block} was given more bytes than it has");
            return Err(Error::request("section", problem));
        };
        buffer[first..first + bytes.len()].copy_from_slice(bytes);
        *come += bytes.len();
        if *come < self.block_length(block) {
            return Ok(());
        }
        self.lock().gathered.remove(&block);
        self.write_block(block, &buffer[..*come])?;
        if let Some(buffer) = gathered.buffer.take() {
            self.lock().spare.push(buffer);
        }
        Ok(())
    }

    /// The place where a block is gathered; None if there is no memory for it, which a block that
    /// comes in pieces remembers.
    fn gathered(&self, block: u64, is_whole: bool) -> Option<Arc<Mutex<Gathered>>> {
        let mut state = self.lock();
        if let Some(known) = state.gathered.get(&block) {
            return Some(known.clone());
        }
        if state.scattered.contains(&block) {
            return None;
        }
        let buffer = match state.spare.pop() {
            Some(buffer) => buffer,
            None if state.made < self.most_gathered => {
                state.made += 1;
                PageBuffer::new(BLOCK)
            }
            None => {
                if !is_whole {
                    state.scattered.insert(block);
                }
                return None;
            }
        };
        let new = Arc::new(Mutex::new(Gathered { buffer: Some(buffer), come: 0 }));
        state.gathered.insert(block, new.clone());
        Some(new)
    }

    fn write_block(&self, block: u64, bytes: &[u8]) -> Result<()> {
        let mut whole = self.whole_block(block);
        whole.write(bytes)?;
        whole.finish()
    }

    fn note(&self, block: u64, digest: u64) -> Result<()> {
        let mut state = self.lock();
        let blocks = block as usize + 1;
        if state.digests.len() < blocks {
            let more = blocks - state.digests.len();
            if state.digests.try_reserve(more).is_err() {
                let problem = format!("no memory for the digests of {blocks} blocks");
                return Err(Error::request("section", problem));
            }
            state.digests.resize(blocks, 0);
        }
        state.digests[block as usize] = digest;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The digest of what is not more than a block.
fn only_digest(digester: BlockDigester) -> u64 {
    digester.finish().first().copied().unwrap_or_default()
}

/// One block, written front to back by one thread in pieces that need not stay in memory.
pub(crate) struct WholeBlock<'s, 'a> {
    section: &'s SharedSection<'a>,
    block: u64,
    written: u64,
    digester: BlockDigester,
}

impl WholeBlock<'_, '_> {
    /// Takes the next bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digester.update(bytes);
        let position = self.section.position(self.block) + self.written;
        self.section.file.write_all_at(position, bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Says that all bytes of the block have come.
    pub(crate) fn finish(self) -> Result<()> {
        let position = self.section.position(self.block);
        self.section.file.start_write_back(position..position + self.written)?;
        self.section.note(self.block, only_digest(self.digester))
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
                self.section.write_block(self.block, bytes)?;
            } else {
                self.section.gather(self.block, self.first, bytes)?;
            }
        }
        self.block += 1;
        (self.first, self.filled) = (0, 0);
        Ok(())
    }
}
