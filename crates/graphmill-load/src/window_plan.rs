//! What the batches of a window want, and where each of them finds it.
//! Made from the node lists of batches that were sampled ahead, before anything is read. Every distinct row that is not
//! hot is planned once and belongs to the last batch that wants it, so that it can be forgotten with that batch. It reads
//! nothing.

use crate::hot_ids::HotIds;
use crate::row_order::RowOrder;

/// Marks the place of a hot row among the sources of a batch.
const HOT: u32 = 1 << 31;
/// The lower bits of a source number a row among those of its batch; above them is the batch.
const INDEX_BITS: u32 = 25;
/// So many batches can be told apart.
pub(crate) const MOST_BATCHES: usize = 1 << (31 - INDEX_BITS);

/// Where a batch finds a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// At this place among the hot rows.
    Hot(usize),
    /// In the window.
    Window(Slot),
}

/// The place of a row in a window: its number among the rows of a batch, which ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) batch: usize,
    pub(crate) index: usize,
}

impl Slot {
    fn pack(self) -> u32 {
        // Fits: `can_hold` was asked.
        (self.batch << INDEX_BITS | self.index) as u32
    }

    fn unpack(packed: u32) -> Self {
        let index = (packed & ((1 << INDEX_BITS) - 1)) as usize;
        Slot { batch: (packed >> INDEX_BITS) as usize, index }
    }
}

/// The rows of a window.
#[derive(Debug)]
pub(crate) struct WindowPlan {
    /// The distinct rows that are not hot, ascending.
    rows: Vec<u64>,
    /// Where each of them has its place.
    slots: Vec<u32>,
    /// Where every wanted row is found; one batch after the other.
    sources: Vec<u32>,
    /// Where the sources of each batch begin, and where the last ends.
    starts: Vec<usize>,
    /// Rows that belong to each batch.
    owned: Vec<usize>,
}

impl WindowPlan {
    /// Whether batches with so many rows in all, and so many at most, of a table of `num_rows` can be planned.
    pub(crate) fn can_hold(num_rows: u64, all: usize, largest: usize) -> bool {
        all <= RowOrder::most_places(num_rows).min(HOT as usize - 1) && largest <= 1 << INDEX_BITS
    }

    /// Bytes that planning takes for so many wanted rows, of which `missing` are not hot.
    pub(crate) fn memory(wanted: usize, missing: usize) -> u64 {
        let rows = missing as u64 * (size_of::<u64>() + size_of::<u32>()) as u64;
        wanted as u64 * size_of::<u32>() as u64 + RowOrder::memory(missing) + rows
    }

    /// Plans for the rows `lists` of a table of `num_rows`, one list for each of at most [`MOST_BATCHES`] batches; all of
    /// them must exist, and [`can_hold`](Self::can_hold).
    pub(crate) fn new(num_rows: u64, lists: &[&[i64]], hot: Option<&HotIds>) -> Self {
        let mut starts = Vec::with_capacity(lists.len() + 1);
        starts.push(0);
        for list in lists {
            starts.push(starts[starts.len() - 1] + list.len());
        }
        let mut sources = Vec::with_capacity(starts[lists.len()]);
        for &id in lists.iter().copied().flatten() {
            let place = hot.and_then(|hot| hot.place(id as u64));
            // There are fewer hot rows than that.
            sources.push(place.map_or(0, |place| place as u32 | HOT));
        }
        let missing = sources.iter().filter(|source| **source & HOT == 0).count();
        let ids = lists.iter().copied().flatten().zip(&sources).enumerate();
        let wanted = ids
            .filter(|(_, (_, source))| **source & HOT == 0)
            .map(|(place, (&id, _))| (id as u64, place));
        let order = RowOrder::new(num_rows, missing, wanted);
        let distinct = order.distinct() as usize;
        let (mut rows, mut slots) = (Vec::with_capacity(distinct), Vec::with_capacity(distinct));
        let mut owned = vec![0; lists.len()];
        let mut first = 0;
        while first < order.len() {
            let row = order.row(first);
            let same = (first..order.len()).take_while(|&pair| order.row(pair) == row).count();
            // Places ascend among equal rows, so the last of them is in the last batch.
            let last = order.place(first + same - 1);
            let batch = starts.partition_point(|&start| start <= last) - 1;
            let slot = Slot { batch, index: owned[batch] }.pack();
            owned[batch] += 1;
            rows.push(row);
            slots.push(slot);
            (first..first + same).for_each(|pair| sources[order.place(pair)] = slot);
            first += same;
        }
        WindowPlan { rows, slots, sources, starts, owned }
    }

    /// The distinct rows that are not hot, ascending.
    pub(crate) fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The place of one of [`rows`](Self::rows).
    pub(crate) fn slot(&self, number: usize) -> Slot {
        Slot::unpack(self.slots[number])
    }

    /// Which of [`rows`](Self::rows) a row is, if it is one. `next` is where to look from and is moved there, so rows that are
    /// asked for must ascend.
    pub(crate) fn find(&self, row: u64, next: &mut usize) -> Option<usize> {
        while self.rows.get(*next).is_some_and(|known| *known < row) {
            *next += 1;
        }
        (self.rows.get(*next) == Some(&row)).then_some(*next)
    }

    /// How many rows belong to each batch.
    pub(crate) fn owned(&self) -> &[usize] {
        &self.owned
    }

    /// Bytes that it takes once it is made.
    pub(crate) fn bytes(&self) -> u64 {
        let rows = self.rows.len() * (size_of::<u64>() + size_of::<u32>());
        (rows + self.sources.len() * size_of::<u32>()) as u64
    }

    /// Where a batch finds its rows.
    pub(crate) fn sources(&self, batch: usize) -> Sources<'_> {
        Sources(&self.sources[self.starts[batch]..self.starts[batch + 1]])
    }
}

/// Where a batch finds each of its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a>(&'a [u32]);

impl Sources<'_> {
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Source {
        match self.0[index] {
            hot if hot & HOT != 0 => Source::Hot((hot & !HOT) as usize),
            packed => Source::Window(Slot::unpack(packed)),
        }
    }

    /// How many of the rows are hot.
    pub(crate) fn count_hot(&self) -> usize {
        self.0.iter().filter(|source| **source & HOT != 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot_ids::Marks;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    proptest! {
        #[test]
        fn every_row_is_planned_once_and_belongs_to_the_last_batch_that_wants_it(
            lists in prop::collection::vec(prop::collection::vec(0_i64..500, 0..60), 0..8),
            marked in prop::collection::vec(0_u64..500, 0..100), with_hot: bool,
        ) {
            let mut marks = Marks::none(500);
            marked.iter().for_each(|&row| marks.mark(row));
            let hot = with_hot.then(|| HotIds::Scattered(marks.into()));
            let hot_rows: Vec<u64> = hot.iter().flat_map(|hot| hot.rows()).collect();
            let slices: Vec<&[i64]> = lists.iter().map(Vec::as_slice).collect();
            let plan = WindowPlan::new(500, &slices, hot.as_ref());
            let wanted: HashSet<u64> = lists.iter().flatten().map(|&id| id as u64).collect();
            let missing = wanted.iter().filter(|row| !hot_rows.contains(row)).count();
            prop_assert_eq!(plan.rows().len(), missing);
            prop_assert!(plan.rows().is_sorted_by(|one, other| one < other));
            let places: usize = lists.iter().map(Vec::len).sum();
            prop_assert!(plan.bytes() <= WindowPlan::memory(places, places));
            let held: HashMap<(usize, usize), u64> = plan.rows().iter().enumerate()
                .map(|(number, &row)| ((plan.slot(number).batch, plan.slot(number).index), row))
                .collect();
            prop_assert_eq!(held.len(), missing);
            for (batch, list) in lists.iter().enumerate() {
                let mine: Vec<u64> = (0..plan.owned()[batch]).map(|at| held[&(batch, at)]).collect();
                prop_assert!(mine.is_sorted());
                for row in mine {
                    let last = lists.iter().rposition(|list| list.contains(&(row as i64)));
                    prop_assert_eq!(last, Some(batch));
                }
                let sources = plan.sources(batch);
                for (at, &id) in list.iter().enumerate() {
                    let row = match sources.get(at) {
                        Source::Hot(place) => hot_rows[place],
                        Source::Window(slot) => held[&(slot.batch, slot.index)],
                    };
                    prop_assert_eq!(row, id as u64);
                }
                let hot = list.iter().filter(|id| hot_rows.contains(&(**id as u64))).count();
                prop_assert_eq!(sources.count_hot(), hot);
            }
        }
    }

    #[test]
    fn the_last_slot_of_the_last_batch_is_no_hot_row() {
        let slot = Slot { batch: MOST_BATCHES - 1, index: (1 << INDEX_BITS) - 1 };
        assert_eq!(Slot::unpack(slot.pack()), slot);
        assert_eq!(slot.pack() & HOT, 0);
        assert!(WindowPlan::can_hold(1 << 20, 1 << 26, 1 << 25));
        assert!(!WindowPlan::can_hold(1 << 20, 1 << 26, (1 << 25) + 1));
    }
}
