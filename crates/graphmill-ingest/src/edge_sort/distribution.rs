//! Records on their way into parts of the key range.
//! Several threads fill it at once, each with an open block per part, so that adding a record is a
//! look-up and a store; a part that turned out too large for memory is distributed again. It must
//! not know what becomes of sorted parts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::record::{Field, Record};
use super::scratch::Extent;
use super::splitters::Splitters;
use super::store::{Part, SharedPart, Store, make_room};
use super::workers::share_out;
use crate::Result;

/// Keys looked at before a part is cut.
const SAMPLE: usize = 1 << 15;
/// Neighbouring records of the scratch file that are sampled together.
const PEEKED: usize = 128;

/// Records in parts, by one field.
pub(super) struct Distribution<R> {
    field: Field,
    splitters: Splitters,
    parts: Vec<SharedPart<R>>,
    lanes: Mutex<Lanes<R>>,
    returned: Condvar,
    records: AtomicU64,
}

struct Lanes<R> {
    started: usize,
    idle: Vec<Vec<Vec<R>>>,
}

impl<R: Record> Distribution<R> {
    pub(super) fn new(field: Field, splitters: Splitters) -> Self {
        let parts = (0..splitters.len()).map(|_| SharedPart::new()).collect();
        let lanes = Mutex::new(Lanes { started: 0, idle: Vec::new() });
        let (returned, records) = (Condvar::new(), AtomicU64::new(0));
        Distribution { field, splitters, parts, lanes, returned, records }
    }

    /// Whether everything still goes into one part.
    pub(super) fn is_undecided(&self) -> bool {
        self.parts.len() == 1
    }

    /// Records added by finished calls of [`fill`](Self::fill).
    pub(super) fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    pub(super) fn splitters(&self) -> &Splitters {
        &self.splitters
    }

    /// Lets `work` add records; waits while as many threads as there are workers do so already.
    pub(super) fn fill(
        &self,
        store: &Store<R>,
        work: impl FnOnce(&mut Filler<'_, R>) -> Result<()>,
    ) -> Result<()> {
        let open = self.take_lane(store.sizing.workers);
        let mut filler = Filler { distribution: self, store, open, added: 0 };
        let outcome = work(&mut filler);
        self.records.fetch_add(filler.added, Ordering::Relaxed);
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.idle.push(filler.open);
        self.returned.notify_one();
        outcome
    }

    fn take_lane(&self, most: usize) -> Vec<Vec<R>> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(lane) = lanes.idle.pop() {
                return lane;
            }
            if lanes.started < most {
                lanes.started += 1;
                return (0..self.parts.len()).map(|_| Vec::new()).collect();
            }
            lanes = self.returned.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The parts, in the order of their keys.
    pub(super) fn into_parts(self) -> Vec<Part<R>> {
        let lanes = self.lanes.into_inner().unwrap_or_else(PoisonError::into_inner);
        for lane in lanes.idle {
            let blocks = lane.into_iter().enumerate();
            for (part, block) in blocks.filter(|(_, block)| block.capacity() > 0) {
                self.parts[part].add(block);
            }
        }
        self.parts.into_iter().map(SharedPart::into_part).collect()
    }

    /// Distributes the records of a part anew, by what a sample says of their keys.
    pub(super) fn of_part(
        part: Part<R>,
        field: Field,
        store: &Store<R>,
        workers: usize,
    ) -> Result<Self> {
        let splitters = Splitters::of_sample(sample(&part, field, store)?, store.sizing.parts);
        let distribution = Self::new(field, splitters);
        let mut pieces: Vec<Piece<R>> = part.extents.into_iter().map(Piece::Extent).collect();
        pieces.extend(part.blocks.into_iter().map(Piece::Block));
        let pieces: Vec<_> = pieces.into_iter().map(|piece| Mutex::new(Some(piece))).collect();
        share_out(
            workers,
            pieces.len(),
            || (),
            |(), index| {
                let piece = pieces[index].lock().unwrap_or_else(PoisonError::into_inner).take();
                distribution.fill(store, |filler| match piece {
                    Some(Piece::Extent(extent)) => {
                        store.scratch.read(extent, |records| filler.add_all(records))
                    }
                    Some(Piece::Block(block)) => {
                        filler.add_all(&block)?;
                        store.give_back([block]);
                        Ok(())
                    }
                    None => Ok(()),
                })
            },
        )?;
        Ok(distribution)
    }
}

enum Piece<R> {
    Extent(Extent),
    Block(Vec<R>),
}

/// Keys from all over a part.
fn sample<R: Record>(part: &Part<R>, field: Field, store: &Store<R>) -> Result<Vec<u64>> {
    let step = (part.records / SAMPLE as u64).max(1) as usize;
    let mut keys = Vec::new();
    for block in &part.blocks {
        keys.extend(block.iter().step_by(step).map(|record| record.field(field)));
    }
    for &extent in &part.extents {
        // Further apart but several at once: it is the number of reads that costs.
        for first in (0..extent.records).step_by(step.saturating_mul(PEEKED)) {
            let take = |records: &[R]| keys.extend(records.iter().map(|one| one.field(field)));
            store.scratch.peek(extent, first, PEEKED, take)?;
        }
    }
    Ok(keys)
}

/// One thread's way of adding records.
pub(super) struct Filler<'a, R> {
    distribution: &'a Distribution<R>,
    store: &'a Store<R>,
    /// A block for every part; one without memory until it is needed.
    open: Vec<Vec<R>>,
    added: u64,
}

impl<R: Record> Filler<'_, R> {
    #[inline(always)]
    pub(super) fn add(&mut self, record: R) -> Result<()> {
        let Distribution { field, splitters, .. } = self.distribution;
        let part = splitters.part(record.field(*field));
        let block = &mut self.open[part];
        if block.len() == block.capacity() {
            self.exchange(part)?;
        }
        self.open[part].push(record);
        self.added += 1;
        Ok(())
    }

    fn add_all(&mut self, records: &[R]) -> Result<()> {
        records.iter().try_for_each(|&record| self.add(record))
    }

    #[cold]
    fn exchange(&mut self, part: usize) -> Result<()> {
        let full = std::mem::take(&mut self.open[part]);
        let parts = &self.distribution.parts;
        if full.capacity() > 0 {
            parts[part].add(full);
        }
        self.open[part] = make_room(self.store, parts)?;
        Ok(())
    }
}
