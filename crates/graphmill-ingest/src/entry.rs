//! What a neighbour list holds while it is built.
//! Only what the file will store is carried along, because the lists are what fills the memory; the
//! list builder is written once for all of them. It must not know about ranges or files.

use graphmill_format::ListOrder;
use rayon::slice::ParallelSliceMut;

use crate::replay::Batch;

/// Lists of fewer entries are sorted by one thread.
const LONG: usize = 1 << 16;

/// One stored edge of a list.
pub(crate) trait Entry: Copy + Default + Send + Sync {
    /// The edge at `position` of the batch, as seen from one of its ends.
    fn new(neighbour: u64, batch: &Batch, position: usize) -> Self;
    fn neighbour(&self) -> u64;
    fn row(&self) -> u64 {
        0
    }
    fn weight(&self) -> f32 {
        0.0
    }
    fn time(&self) -> i64 {
        0
    }
    /// Brings a list, which is in the order of the stream, into the order of the file.
    fn sort(list: &mut [Self], order: ListOrder);
}

/// Neighbours alone, where ids fit into 32 bits.
impl Entry for u32 {
    #[inline(always)]
    fn new(neighbour: u64, _: &Batch, _: usize) -> Self {
        neighbour as u32
    }

    #[inline(always)]
    fn neighbour(&self) -> u64 {
        u64::from(*self)
    }

    fn sort(list: &mut [Self], order: ListOrder) {
        sort_by(list, order == ListOrder::Id, |neighbour| *neighbour);
    }
}

/// Neighbours alone, where ids are larger.
impl Entry for u64 {
    #[inline(always)]
    fn new(neighbour: u64, _: &Batch, _: usize) -> Self {
        neighbour
    }

    #[inline(always)]
    fn neighbour(&self) -> u64 {
        *self
    }

    fn sort(list: &mut [Self], order: ListOrder) {
        sort_by(list, order == ListOrder::Id, |neighbour| *neighbour);
    }
}

/// A neighbour and the source row of its edge.
#[derive(Clone, Copy, Default)]
pub(crate) struct WithRow {
    neighbour: u64,
    row: u64,
}

impl Entry for WithRow {
    #[inline(always)]
    fn new(neighbour: u64, batch: &Batch, position: usize) -> Self {
        WithRow { neighbour, row: batch.row(position) }
    }

    #[inline(always)]
    fn neighbour(&self) -> u64 {
        self.neighbour
    }

    fn row(&self) -> u64 {
        self.row
    }

    fn sort(list: &mut [Self], order: ListOrder) {
        // The row as second key makes an unstable sort, which needs no memory, stable in effect.
        sort_by(list, order == ListOrder::Id, |entry| (entry.neighbour, entry.row));
    }
}

/// A neighbour and everything an edge can carry.
#[derive(Clone, Copy, Default)]
pub(crate) struct WithValues {
    neighbour: u64,
    row: u64,
    time: i64,
    weight: f32,
}

impl Entry for WithValues {
    #[inline(always)]
    fn new(neighbour: u64, batch: &Batch, position: usize) -> Self {
        WithValues {
            neighbour,
            row: batch.row(position),
            time: batch.time(position),
            weight: batch.weight(position),
        }
    }

    #[inline(always)]
    fn neighbour(&self) -> u64 {
        self.neighbour
    }

    fn row(&self) -> u64 {
        self.row
    }

    fn weight(&self) -> f32 {
        self.weight
    }

    fn time(&self) -> i64 {
        self.time
    }

    fn sort(list: &mut [Self], order: ListOrder) {
        match order {
            ListOrder::Id => sort_by(list, true, |entry| (entry.neighbour, entry.row)),
            ListOrder::Time => sort_by(list, true, |entry| (entry.time, entry.row)),
            ListOrder::File => {}
        }
    }
}

fn sort_by<E: Send, K: Ord>(list: &mut [E], wanted: bool, key: impl Fn(&E) -> K + Sync) {
    if !wanted {
    } else if list.len() < LONG {
        list.sort_unstable_by_key(key);
    } else {
        list.par_sort_unstable_by_key(key);
    }
}
