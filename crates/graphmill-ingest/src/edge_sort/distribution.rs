//! Records on their way into parts of the key range.
//! Several threads fill it at once, each with an open block per part, so that adding a record is a
//! look-up and a store; a part that turned out too large for memory is distributed again. It must
//! not know what becomes of sorted parts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::record::{Field, Record};
use super::sample::Sample;
use super::scratch::Extent;
use super::splitters::Splitters;
use super::store::{Part, SharedPart, Store, make_room};
use super::workers::share_out;
use crate::Result;

/// Records in parts, by one field.
pub(super) struct Distribution<R> {
    splitters: Splitters,
    /// As many for each part as there are streams, side by side.
    parts: Vec<SharedPart<R>>,
    streams: usize,
    lanes: Mutex<Lanes<R>>,
    returned: Condvar,
    records: AtomicU64,
}

struct Lanes<R> {
    started: usize,
    idle: Vec<Lane<R>>,
}

/// What one thread at a time fills.
struct Lane<R> {
    stream: usize,
    /// A block for every part; one without memory until it is needed.
    open: Vec<Vec<R>>,
}

impl<R: Record> Distribution<R> {
    /// One stream: the records of a part come in any order.
    pub(super) fn new(splitters: Splitters) -> Self {
        Self::with_streams(splitters, 1)
    }

    /// Keeps apart what the first so many [fillers](Self::filler) add, each in its order.
    pub(super) fn with_streams(splitters: Splitters, streams: usize) -> Self {
        let parts = (0..splitters.len() * streams).map(|_| SharedPart::new()).collect();
        let lanes = Mutex::new(Lanes { started: 0, idle: Vec::new() });
        let (returned, records) = (Condvar::new(), AtomicU64::new(0));
        Distribution { splitters, parts, streams, lanes, returned, records }
    }

    /// Whether everything still goes into one part.
    pub(super) fn is_undecided(&self) -> bool {
        self.splitters.len() == 1
    }

    /// Records added by fillers that are done.
    pub(super) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    pub(super) fn splitters(&self) -> &Splitters {
        &self.splitters
    }

    /// A way to add records; waits while there are as many as workers.
    pub(super) fn filler<'a>(&'a self, store: &'a Store<R>) -> Filler<'a, R> {
        let lane = self.take_lane(store.sizing.workers);
        Filler { distribution: self, store, lane, added: 0 }
    }

    fn take_lane(&self, most: usize) -> Lane<R> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(lane) = lanes.idle.pop() {
                return lane;
            }
            if lanes.started < most {
                let stream = lanes.started % self.streams;
                lanes.started += 1;
                let open = (0..self.splitters.len()).map(|_| Vec::new()).collect();
                return Lane { stream, open };
            }
            lanes = self.returned.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The parts in the order of their keys, and of each part its streams.
    pub(super) fn into_parts(self) -> Vec<Part<R>> {
        let lanes = self.lanes.into_inner().unwrap_or_else(PoisonError::into_inner);
        for Lane { stream, open } in lanes.idle {
            let blocks = open.into_iter().enumerate();
            for (part, block) in blocks.filter(|(_, block)| block.capacity() > 0) {
                self.parts[part * self.streams + stream].add(block);
            }
        }
        self.parts.into_iter().map(SharedPart::into_part).collect()
    }

    /// Distributes the records of a part anew, by what a sample says of their keys.
    pub(super) fn of_part(
        mut part: Part<R>,
        field: Field,
        store: &Store<R>,
        workers: usize,
    ) -> Result<Self> {
        let mut sample = Sample::of(part.records, field);
        sample.add(&part, store)?;
        let splitters = Splitters::of_sample(sample.into_keys(), store.sizing.parts);
        // Its own blocks are given back last: with too few others the open ones would wait for them.
        store.make_free(workers * (splitters.len() + 1), [&mut part])?;
        let distribution = Self::new(splitters);
        let mut pieces: Vec<Piece<R>> = part.extents.into_iter().map(Piece::Extent).collect();
        pieces.extend(part.blocks.into_iter().map(Piece::Block));
        let pieces: Vec<_> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
        share_out(
            workers,
            pieces.len(),
            || distribution.filler(store),
            |filler, index| {
                let piece = pieces[index].lock().unwrap_or_else(PoisonError::into_inner).take();
                match piece {
                    Some(Piece::Extent(extent)) => {
                        store.scratch.read(extent, |records| filler.add_all(records, field))
                    }
                    Some(Piece::Block(block)) => {
                        filler.add_all(&block, field)?;
                        store.give_back([block]);
                        Ok(())
                    }
                    None => Ok(()),
                }
            },
        )?;
        Ok(distribution)
    }
}

enum Piece<R> {
    Extent(Extent),
    Block(Vec<R>),
}

/// One thread's way of adding records.
pub(super) struct Filler<'a, R: Record> {
    distribution: &'a Distribution<R>,
    store: &'a Store<R>,
    lane: Lane<R>,
    added: u64,
}

impl<R: Record> Filler<'_, R> {
    /// Adds a record, of which `key` is the field that decides its part.
    #[inline(always)]
    pub(super) fn add(&mut self, key: u64, record: R) -> Result<()> {
        let part = self.distribution.splitters.part(key);
        let block = &mut self.lane.open[part];
        if block.len() == block.capacity() {
            self.exchange(part)?;
        }
        self.lane.open[part].push(record);
        self.added += 1;
        Ok(())
    }

    fn add_all(&mut self, records: &[R], field: Field) -> Result<()> {
        records.iter().try_for_each(|&record| self.add(record.field(field), record))
    }

    #[cold]
    fn exchange(&mut self, part: usize) -> Result<()> {
        let full = std::mem::take(&mut self.lane.open[part]);
        let Distribution { parts, streams, .. } = self.distribution;
        if full.capacity() > 0 {
            parts[part * streams + self.lane.stream].add(full);
        }
        self.lane.open[part] = make_room(self.store, parts)?;
        Ok(())
    }
}

impl<R: Record> Drop for Filler<'_, R> {
    fn drop(&mut self) {
        let Distribution { lanes, returned, records, .. } = self.distribution;
        records.fetch_add(self.added, Ordering::Relaxed);
        let lane = Lane { stream: self.lane.stream, open: std::mem::take(&mut self.lane.open) };
        lanes.lock().unwrap_or_else(PoisonError::into_inner).idle.push(lane);
        returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use graphmill_disk::{Budget, RealFileSystem};

    use super::super::record::{ListEntry, PairRecord};
    use super::super::scratch::Scratch;
    use super::super::sizing::{LEAST_MEMORY, Sizing};
    use super::*;

    #[test]
    fn a_part_that_holds_all_blocks_can_be_distributed() {
        let folder = tempfile::tempdir().unwrap();
        let sizing = Sizing::of(LEAST_MEMORY, size_of::<PairRecord>(), 1);
        let path = folder.path().join("edges.gl");
        let scratch = Scratch::new(Arc::new(RealFileSystem), path, sizing.io_bytes);
        let reserved = Budget::unlimited().reserve_pool(LEAST_MEMORY, "a test").unwrap();
        let store = Store::new(sizing, scratch, Arc::new(reserved));
        let mut part = Part::default();
        let fill = |part: &mut Part<PairRecord>| {
            while let Some(mut block) = store.take() {
                for _ in 0..sizing.block_records {
                    let major = part.records * 7 % 1000;
                    let entry = ListEntry { major, minor: 1, row: 0, time: 0, weight: 0.0 };
                    block.push(PairRecord::new(entry));
                    part.records += 1;
                }
                part.blocks.push(block);
            }
        };
        fill(&mut part);
        store.spill(&mut part).unwrap();
        fill(&mut part);
        let records = part.records;
        let parts = Distribution::of_part(part, Field::Major, &store, 1).unwrap().into_parts();
        assert_eq!(parts.iter().map(|part| part.records).sum::<u64>(), records);
        assert!(parts.iter().filter(|part| part.records > 0).count() > 1);
    }
}
