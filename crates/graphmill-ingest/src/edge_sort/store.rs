//! Records in blocks of memory, and in the scratch file when the blocks run out.
//! The distribution fills blocks and puts them into parts; when no block is free the part with most
//! of them is written out. A fixed number of blocks exists at most, and they are used again. It
//! must not know how parts are chosen.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graphmill_disk::Reservation;

use super::record::Record;
use super::scratch::{Extent, Scratch};
use super::sizing::Sizing;
use crate::Result;

/// The blocks of one set of lists and its scratch file.
pub(super) struct Store<R> {
    pub(super) sizing: Sizing,
    pub(super) scratch: Scratch,
    pool: Mutex<Pool<R>>,
    reserved: Arc<Reservation>,
}

struct Pool<R> {
    made: usize,
    free: Vec<Vec<R>>,
}

/// Records that belong together: first those in the scratch file, then those in memory.
pub(super) struct Part<R> {
    pub(super) extents: Vec<Extent>,
    pub(super) blocks: Vec<Vec<R>>,
    pub(super) records: u64,
}

impl<R> Default for Part<R> {
    fn default() -> Self {
        Part { extents: Vec::new(), blocks: Vec::new(), records: 0 }
    }
}

impl<R: Record> Store<R> {
    /// Blocks are memory of what is reserved.
    pub(super) fn new(sizing: Sizing, scratch: Scratch, reserved: Arc<Reservation>) -> Self {
        let pool = Mutex::new(Pool { made: 0, free: Vec::new() });
        Store { sizing, scratch, pool, reserved }
    }

    /// Records that blocks and so many bytes beside them are in use.
    pub(super) fn touch(&self, beside: u64) {
        let blocks = lock(&self.pool).made * self.sizing.block_records * size_of::<R>();
        self.reserved.touch(beside + blocks as u64);
    }

    /// An empty block, if there is one left.
    pub(super) fn take(&self) -> Option<Vec<R>> {
        let mut pool = lock(&self.pool);
        if let Some(block) = pool.free.pop() {
            return Some(block);
        }
        if pool.made == self.sizing.blocks {
            return None;
        }
        pool.made += 1;
        drop(pool);
        self.touch(0);
        Some(Vec::with_capacity(self.sizing.block_records))
    }

    /// Takes back blocks whose records are no longer needed.
    pub(super) fn give_back(&self, blocks: impl IntoIterator<Item = Vec<R>>) {
        let mut pool = lock(&self.pool);
        for mut block in blocks {
            block.clear();
            pool.free.push(block);
        }
    }

    /// Frees the memory of blocks that nobody uses.
    pub(super) fn release(&self) {
        let mut pool = lock(&self.pool);
        pool.made -= pool.free.len();
        pool.free = Vec::new();
    }

    /// Writes out as many of these parts as it takes to have so many blocks to fill.
    pub(super) fn make_free<'p>(
        &self,
        wanted: usize,
        parts: impl IntoIterator<Item = &'p mut Part<R>>,
    ) -> Result<()> {
        let mut parts = parts.into_iter();
        while self.free_blocks() < wanted {
            let Some(part) = parts.next() else { break };
            self.spill(part)?;
        }
        Ok(())
    }

    fn free_blocks(&self) -> usize {
        let pool = lock(&self.pool);
        self.sizing.blocks - pool.made + pool.free.len()
    }

    /// Writes out the blocks of a part.
    pub(super) fn spill(&self, part: &mut Part<R>) -> Result<()> {
        let blocks = std::mem::take(&mut part.blocks);
        if blocks.is_empty() {
            return Ok(());
        }
        let extent = self.scratch.allocate::<R>(blocks.iter().map(Vec::len).sum());
        part.extents.push(extent);
        self.write(extent, blocks)
    }

    fn write(&self, extent: Extent, blocks: Vec<Vec<R>>) -> Result<()> {
        let outcome = self.scratch.write(extent, &blocks);
        self.give_back(blocks);
        outcome
    }

    /// Hands all records of a part to `take`, in pieces and in the order they were put there.
    pub(super) fn read(
        &self,
        part: &Part<R>,
        mut take: impl FnMut(&[R]) -> Result<()>,
    ) -> Result<()> {
        for &extent in &part.extents {
            self.scratch.read(extent, &mut take)?;
        }
        part.blocks.iter().try_for_each(|block| take(block))
    }

    /// Moves the records of a part to the end of `into`.
    pub(super) fn load(&self, part: Part<R>, into: &mut Vec<R>) -> Result<()> {
        self.read(&part, |records| {
            into.extend_from_slice(records);
            Ok(())
        })?;
        self.give_back(part.blocks);
        Ok(())
    }

    /// Makes a part of sorted records, in the blocks that are given and else in the scratch file.
    pub(super) fn keep(&self, records: &[R], mut blocks: Vec<Vec<R>>) -> Result<Part<R>> {
        let (count, room) = (records.len(), self.sizing.block_records);
        let mut part = Part { records: count as u64, ..Part::default() };
        if blocks.len() * room < count {
            self.give_back(blocks);
            let extent = self.scratch.allocate::<R>(count);
            self.scratch.write(extent, &[records])?;
            part.extents.push(extent);
            return Ok(part);
        }
        for (records, block) in records.chunks(room).zip(&mut blocks) {
            block.clear();
            block.extend_from_slice(records);
        }
        self.give_back(blocks.drain(count.div_ceil(room)..));
        part.blocks = blocks;
        Ok(part)
    }
}

/// A part that several threads add to.
pub(super) struct SharedPart<R> {
    part: Mutex<Part<R>>,
    /// Blocks in memory, to be read without the lock.
    blocks: AtomicUsize,
}

impl<R: Record> SharedPart<R> {
    pub(super) fn new() -> Self {
        SharedPart { part: Mutex::new(Part::default()), blocks: AtomicUsize::new(0) }
    }

    pub(super) fn add(&self, block: Vec<R>) {
        let mut part = lock(&self.part);
        part.records += block.len() as u64;
        part.blocks.push(block);
        self.blocks.store(part.blocks.len(), Ordering::Relaxed);
    }

    pub(super) fn into_part(self) -> Part<R> {
        self.part.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes out the blocks; false if there are none by now.
    fn spill(&self, store: &Store<R>) -> Result<bool> {
        let mut part = lock(&self.part);
        let blocks = std::mem::take(&mut part.blocks);
        if blocks.is_empty() {
            return Ok(false);
        }
        self.blocks.store(0, Ordering::Relaxed);
        // Listed before it is written, so that extents stay in the order of their records.
        let extent = store.scratch.allocate::<R>(blocks.iter().map(Vec::len).sum());
        part.extents.push(extent);
        drop(part);
        store.write(extent, blocks)?;
        Ok(true)
    }
}

/// An empty block, for which the largest of the parts may have to be written out.
pub(super) fn make_room<R: Record>(store: &Store<R>, parts: &[SharedPart<R>]) -> Result<Vec<R>> {
    loop {
        if let Some(block) = store.take() {
            return Ok(block);
        }
        let largest = parts.iter().max_by_key(|part| part.blocks.load(Ordering::Relaxed));
        let spilled = largest.map_or(Ok(false), |part| part.spill(store))?;
        if !spilled {
            // There are more blocks than open ones: some are being written out by other threads.
            std::thread::yield_now();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
