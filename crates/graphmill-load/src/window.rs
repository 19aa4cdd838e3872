//! The rows of several batches, read together.
//! Batches are sampled ahead; a window takes their node lists, finds every distinct row that is not hot, keeps those
//! that the window before had, reads the others once, and then assembles batch after batch from memory. Planning,
//! reading and assembling are stages of their own, so that they can run on different threads. It does not know how
//! batches are sampled, nor how many fit.
//!
//! A window holds its distinct rows and not its batches: most rows of a batch are hot or shared, so holding all finished
//! batches would take several times the memory for the same reads. The price is a second copy of the rows that were
//! read. What is forgotten is what no batch of the next window wants, which is all that anybody can know.

use crate::buffers::{Buffers, RowBuffer};
use crate::columns::Columns;
use crate::fetch::GoOn;
use crate::hot_ids::HotIds;
use crate::hot_rows::HotRows;
use crate::resident_copy::copy_rows;
use crate::row_copy::RowCopy;
use crate::row_order::RowOrder;
use crate::{Column, ReadStats, Result, Rows};
use graphmill_disk::{Budget, ReadAt, Reservation, ScatterBuffer};
use std::sync::Arc;

/// Marks the place of a hot row among the places of a window's rows.
const HOT: u32 = 1 << 31;

/// What a window has to read, and where each of its batches finds its rows.
#[derive(Debug)]
pub(crate) struct WindowPlan {
    /// The distinct rows that are not hot, ascending. A row's place here is its place in the window.
    rows: Vec<u64>,
    /// For every wanted row its place in the window or, marked, among the hot rows; one batch after the other.
    sources: Vec<u32>,
    /// Where the sources of each batch begin, and where the last ends.
    starts: Vec<usize>,
}

impl WindowPlan {
    /// Whether rows of a table of `num_rows` can be planned for so many places.
    pub(crate) fn can_hold(num_rows: u64, places: usize) -> bool {
        places <= RowOrder::most_places(num_rows).min(HOT as usize - 1)
    }

    /// Bytes that planning takes for so many places, of which `missing` are not hot.
    pub(crate) fn memory(places: usize, missing: usize) -> u64 {
        let rows = missing as u64 * size_of::<u64>() as u64;
        places as u64 * size_of::<u32>() as u64 + RowOrder::memory(missing) + rows
    }

    /// Plans for the rows `lists` of a table of `num_rows`; all of them must exist, and [`can_hold`](Self::can_hold).
    pub(crate) fn new(num_rows: u64, lists: &[&[i64]], hot: Option<&HotIds>) -> Self {
        let mut starts = Vec::with_capacity(lists.len() + 1);
        starts.push(0);
        for list in lists {
            starts.push(starts[starts.len() - 1] + list.len());
        }
        let count = starts[lists.len()];
        let mut sources = Vec::with_capacity(count);
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
        let mut rows: Vec<u64> = Vec::with_capacity(order.distinct() as usize);
        for pair in 0..order.len() {
            let row = order.row(pair);
            if rows.last() != Some(&row) {
                rows.push(row);
            }
            sources[order.place(pair)] = rows.len() as u32 - 1;
        }
        WindowPlan { rows, sources, starts }
    }

    /// Number of distinct rows that are not hot.
    pub(crate) fn distinct(&self) -> usize {
        self.rows.len()
    }

    /// The distinct rows that are not hot, ascending.
    pub(crate) fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// Bytes that it takes once it is made.
    pub(crate) fn bytes(&self) -> u64 {
        (self.rows.len() * size_of::<u64>() + self.sources.len() * size_of::<u32>()) as u64
    }

    fn sources(&self, batch: usize) -> &[u32] {
        &self.sources[self.starts[batch]..self.starts[batch + 1]]
    }
}

/// The rows of a window, in memory.
#[derive(Debug)]
pub(crate) struct Window {
    plan: WindowPlan,
    hot: Option<Arc<HotRows>>,
    /// For each column its rows of the plan, as they are stored; None if they are resident and copied from the map.
    held: Vec<Option<RowBuffer>>,
    /// Pays for the plan.
    _memory: Reservation,
}

impl Window {
    /// Reads what the plan needs, beside what `before` has. `memory` pays for the plan. Ends early, with an error, when
    /// `go_on` says no.
    #[expect(clippy::too_many_arguments, reason = "each is needed, and there is one caller")]
    pub(crate) fn read(
        plan: WindowPlan,
        columns: &Columns,
        hot: Option<Arc<HotRows>>,
        before: Option<&Window>,
        buffers: &Buffers,
        budget: &Budget,
        memory: Reservation,
        go_on: GoOn<'_>,
    ) -> Result<(Self, ReadStats)> {
        let mut stats = ReadStats::default();
        let mut held = Vec::new();
        for (number, rows) in columns.rows().enumerate() {
            if rows.is_resident(plan.rows.len(), |index| plan.rows[index]) {
                held.push(None);
                continue;
            }
            let before = before.and_then(|window| Some((window, window.held[number].as_deref()?)));
            let (bytes, read) = read_column(&plan.rows, rows, before, buffers, budget, go_on)?;
            stats += read;
            held.push(Some(bytes));
        }
        Ok((Window { plan, hot, held, _memory: memory }, stats))
    }

    /// The rows of one of its batches, whose rows are `ids`.
    pub(crate) fn assemble(
        &self,
        batch: usize,
        ids: &[i64],
        columns: &Columns,
        buffers: &Buffers,
        budget: &Budget,
    ) -> Result<(Vec<Column>, ReadStats)> {
        let sources = self.plan.sources(batch);
        let mut stats = ReadStats::default();
        let mut assembled = Vec::new();
        for (number, (name, rows)) in columns.named().enumerate() {
            let Some(held) = &self.held[number] else {
                let (column, read) = columns.gather_one(name, rows, ids, buffers, budget)?;
                assembled.push(column);
                stats += read;
                continue;
            };
            let mut column = Column::of(name, rows, ids.len(), buffers)?;
            let length = rows.table().shape().row_length() as usize;
            let row_at = |index: usize| {
                let source = sources[index];
                match &self.hot {
                    Some(hot) if source & HOT != 0 => hot.row(number, (source & !HOT) as usize),
                    _ => &held[source as usize * length..][..length],
                }
            };
            if !column.bytes.is_empty() {
                let delivered = rows.row_length() as usize;
                let into = &mut column.bytes;
                copy_rows(ids.len(), into, delivered, rows.how, row_at, || true)?;
            }
            let hot = sources.iter().filter(|source| **source & HOT != 0).count();
            stats.rows += ids.len() as u64;
            stats.from_hot += hot as u64;
            assembled.push(column);
        }
        Ok((assembled, stats))
    }
}

/// The rows of a window for one column: copied from the window before as far as it has them, the others read.
fn read_column(
    wanted: &[u64],
    rows: &Rows,
    before: Option<(&Window, &[u8])>,
    buffers: &Buffers,
    budget: &Budget,
    go_on: GoOn<'_>,
) -> Result<(RowBuffer, ReadStats)> {
    let length = rows.table().shape().row_length() as usize;
    let name = rows.table().path().display();
    let what = format!("a window of rows of `{name}`");
    let mut bytes = buffers.take(wanted.len().saturating_mul(length), &what)?;
    let work = rows.read_memory(wanted.len());
    let _work = buffers.with_room(|| Ok(budget.reserve(work, &what)?))?;
    let mut stats = ReadStats { distinct: wanted.len() as u64, ..ReadStats::default() };
    if bytes.is_empty() {
        return Ok((bytes, stats));
    }
    rows.table().mapped().check_length()?;
    let out = ScatterBuffer::new(&mut bytes, length);
    let mut kept = 0;
    let earlier = before.map_or(&[][..], |(window, _)| &window.plan.rows);
    let mut earlier = earlier.iter().enumerate().peekable();
    let missing = wanted.iter().enumerate().filter_map(|(place, &row)| {
        while earlier.next_if(|(_, known)| **known < row).is_some() {}
        let known = earlier.next_if(|(_, known)| **known == row);
        if let (Some((from, _)), Some((_, held)), Some(into)) =
            (known, before, known.and_then(|_| out.take(place)))
        {
            into.copy_from_slice(&held[from * length..][..length]);
            kept += 1;
            return None;
        }
        Some((row, place))
    });
    let order = RowOrder::new(rows.table().shape().rows(), wanted.len(), missing);
    stats.from_window = kept;
    stats += rows.read_rows(order, &out, RowCopy::Plain, go_on)?;
    Ok((bytes, stats))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot_ids::Marks;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        #[test]
        fn every_place_leads_to_its_row_and_every_row_is_planned_once(
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
            prop_assert_eq!(plan.distinct(), missing);
            prop_assert!(plan.rows.is_sorted_by(|one, other| one < other));
            let places: usize = lists.iter().map(Vec::len).sum();
            prop_assert!(plan.bytes() <= WindowPlan::memory(places, places));
            for (batch, list) in lists.iter().enumerate() {
                let sources = plan.sources(batch);
                prop_assert_eq!(sources.len(), list.len());
                for (&id, &source) in list.iter().zip(sources) {
                    let row = match source & HOT {
                        0 => plan.rows[source as usize],
                        _ => hot_rows[(source & !HOT) as usize],
                    };
                    prop_assert_eq!(row, id as u64);
                }
            }
        }
    }
}
