//! What a neighbour list holds while it is built.
//! Only what the file will store is carried along, because the lists are what fills the memory; the
//! list builder is written once for all of them. It must not know about ranges or files.

use rayon::slice::ParallelSliceMut;

use crate::replay::Batch;

/// Lists of fewer entries are sorted by one thread.
const LONG: usize = 1 << 16;

/// What the entries of a list are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKey {
    Neighbour,
    Time,
    /// The rows of the source, where the stream does not come in their order.
    Row,
    /// Nothing: the stream has them in the order that is wanted.
    Stream,
}

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
    fn sort(list: &mut [Self], key: ListKey);
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

    fn sort(list: &mut [Self], key: ListKey) {
        sort_by(list, key == ListKey::Neighbour, |neighbour| *neighbour);
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

    fn sort(list: &mut [Self], key: ListKey) {
        sort_by(list, key == ListKey::Neighbour, |neighbour| *neighbour);
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

    fn sort(list: &mut [Self], key: ListKey) {
        // The row as second key makes an unstable sort, which needs no memory, stable in effect.
        sort_by(list, key == ListKey::Neighbour, |entry| (entry.neighbour, entry.row));
        sort_rows(list, key);
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

    fn sort(list: &mut [Self], key: ListKey) {
        match key {
            ListKey::Neighbour => sort_by(list, true, |entry| (entry.neighbour, entry.row)),
            ListKey::Time => sort_by(list, true, |entry| (entry.time, entry.row)),
            ListKey::Row | ListKey::Stream => sort_rows(list, key),
        }
    }
}

/// Both halves of an undirected edge have one row, and of a self loop both stand in one list.
fn sort_rows<E: Entry>(list: &mut [E], key: ListKey) {
    sort_by(list, key == ListKey::Row, |entry| (entry.row(), entry.neighbour()));
}

fn sort_by<E: Send, K: Ord>(list: &mut [E], wanted: bool, key: impl Fn(&E) -> K + Sync) {
    if !wanted {
    } else if list.len() < LONG {
        list.sort_unstable_by_key(key);
    } else {
        list.par_sort_unstable_by_key(key);
    }
}
