//! The rows of several batches, read together.
//! Batches are sampled ahead; a window takes their node lists, finds every distinct row that is not hot, keeps those
//! that the window before still has, reads the others once, and then assembles batch after batch from memory. Planning,
//! reading and assembling are stages of their own, so that they can run on different threads. It does not know how
//! batches are sampled, nor how many fit.
//!
//! A window holds its distinct rows and not its batches: most rows of a batch are hot or shared, so holding all finished
//! batches would take several times the memory for the same reads. The price is a second copy of the rows that were
//! read. What no later batch of the window wants is forgotten batch by batch.

use crate::buffers::Buffers;
use crate::columns::Columns;
use crate::fetch::GoOn;
use crate::hot_rows::HotRows;
use crate::resident_copy::copy_rows;
use crate::row_copy::RowCopy;
use crate::row_order::RowOrder;
use crate::window_plan::{Source, WindowPlan};
use crate::window_rows::{FillingRows, RowsView, WindowRows};
use crate::{Column, ReadStats, Result, Rows};
use graphmill_disk::{Budget, ReadAt, Reservation};
use std::ops::Range;
use std::sync::Arc;

/// Parts of a window that are read one after the other, each when there is memory for it.
const PARTS: usize = 8;
/// Fewer rows are not worth letting the queue of the disk run empty.
const LEAST_PART: usize = 1 << 15;

/// The rows of a window, in memory.
#[derive(Debug)]
pub(crate) struct Window {
    plan: WindowPlan,
    hot: Option<Arc<HotRows>>,
    /// For each column its rows of the plan, as they are stored; None if they are resident and copied from the map.
    held: Vec<Option<WindowRows>>,
    /// Pays for the plan.
    _memory: Reservation,
}

/// The rows of a window for each column, released or not, as long as this is kept.
#[derive(Debug)]
pub(crate) struct KeptRows(Vec<Option<RowsView>>);

/// The window before the one that is read.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    pub(crate) window: &'a Window,
    /// All its rows, as long as nobody is short of memory.
    pub(crate) kept: &'a dyn Fn() -> Option<Arc<KeptRows>>,
}

/// Who reads a window, and with what.
pub(crate) struct WindowReading<'a> {
    pub(crate) buffers: &'a Buffers,
    pub(crate) budget: &'a Budget,
    /// Bytes that others need to deliver a batch; a window that took them would wait for itself.
    pub(crate) left_free: u64,
    /// Waits until there is more memory than before; false if nobody will give any back.
    pub(crate) wait_for_memory: &'a dyn Fn() -> Result<bool>,
    pub(crate) go_on: GoOn<'a>,
}

impl Window {
    /// Reads what the plan needs, beside what `before` has. `memory` pays for the plan. Ends early, with an error, when
    /// it is told not to go on.
    pub(crate) fn read(
        plan: WindowPlan,
        columns: &Columns,
        hot: Option<Arc<HotRows>>,
        before: Option<Before<'_>>,
        memory: Reservation,
        reading: &WindowReading<'_>,
    ) -> Result<(Self, ReadStats)> {
        let mut stats = ReadStats::default();
        let mut held = Vec::new();
        for (number, rows) in columns.rows().enumerate() {
            if rows.is_resident(plan.rows().len(), |index| plan.rows()[index]) {
                held.push(None);
                continue;
            }
            let known = Known { before, number, next: 0 };
            let (read_rows, read) = reading.column(&plan, rows, known)?;
            stats += read;
            held.push(Some(read_rows));
        }
        Ok((Window { plan, hot, held, _memory: memory }, stats))
    }

    /// The rows of one of its batches, whose rows are `ids`. Earlier ones must not have been released.
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
            let held = held.view();
            let row_at = |index: usize| match (sources.get(index), &self.hot) {
                (Source::Hot(place), Some(hot)) => hot.row(number, place),
                (Source::Hot(_), None) => unreachable!("a plan without hot rows names none"),
                (Source::Window(slot), _) => {
                    held.row(slot).expect("rows stay until the last batch that wants them is made")
                }
            };
            if !column.bytes.is_empty() {
                let delivered = rows.row_length() as usize;
                let into = &mut column.bytes;
                copy_rows(ids.len(), into, delivered, rows.how, row_at, || true)?;
            }
            stats.rows += ids.len() as u64;
            stats.from_hot += sources.count_hot() as u64;
            assembled.push(column);
        }
        Ok((assembled, stats))
    }

    /// Keeps all rows, even those that are released meanwhile.
    pub(crate) fn keep(&self) -> KeptRows {
        KeptRows(self.held.iter().map(|held| held.as_ref().map(WindowRows::view)).collect())
    }

    /// Forgets the rows that no batch after this one wants.
    pub(crate) fn release(&self, batch: usize) {
        self.held.iter().flatten().for_each(|rows| rows.release(batch));
    }
}

/// Which of so many rows are read one after the other: the first part is the largest.
pub(crate) fn parts(rows: usize) -> impl Iterator<Item = Range<usize>> {
    let part = rows.div_ceil(PARTS).max(LEAST_PART);
    (0..rows).step_by(part).map(move |start| start..rows.min(start + part))
}

impl WindowReading<'_> {
    /// The rows of a window for one column: copied from the window before as far as it has them, the others read.
    fn column(
        &self,
        plan: &WindowPlan,
        rows: &Rows,
        mut known: Known<'_>,
    ) -> Result<(WindowRows, ReadStats)> {
        let wanted = plan.rows();
        let length = rows.table().shape().row_length() as usize;
        let what = format!("a window of rows of `{}`", rows.table().path().display());
        let mut filling = FillingRows::new(length, plan.owned().len());
        let mut stats = ReadStats { distinct: wanted.len() as u64, ..ReadStats::default() };
        if wanted.is_empty() || length == 0 {
            filling.grow(plan.owned(), self.buffers, &what)?;
            return Ok((filling.filled(), stats));
        }
        rows.table().mapped().check_length()?;
        let largest = parts(wanted.len()).next().map_or(0, |part| part.len());
        let listed = (largest * size_of::<usize>()) as u64;
        let work = rows.read_memory(largest).saturating_add(listed);
        let _work = self.buffers.with_room(|| Ok(self.budget.reserve(work, &what)?))?;
        let mut room = vec![0; plan.owned().len()];
        for part in parts(wanted.len()) {
            for number in part.clone() {
                let slot = plan.slot(number);
                room[slot.batch] = slot.index + 1;
            }
            self.await_room(filling.bytes_to_grow(&room), &what)?;
            filling.grow(&room, self.buffers, &what)?;
            stats += self.part(plan, rows, part, &mut filling, &mut known)?;
        }
        Ok((filling.filled(), stats))
    }

    /// Waits until so many bytes can be had beside what is to stay free.
    fn await_room(&self, bytes: u64, what: &str) -> Result<()> {
        loop {
            let free = self.budget.free().saturating_add(self.buffers.idle());
            let wanted = bytes.saturating_add(self.left_free);
            if wanted <= free || bytes == 0 {
                return Ok(());
            }
            if !(self.wait_for_memory)()? {
                let (what, total) = (what.to_owned(), self.budget.total());
                return Err(graphmill_disk::Error::Budget { what, wanted, free, total }.into());
            }
        }
    }

    /// Reads some of the rows of a plan.
    fn part(
        &self,
        plan: &WindowPlan,
        rows: &Rows,
        part: Range<usize>,
        filling: &mut FillingRows,
        known: &mut Known<'_>,
    ) -> Result<ReadStats> {
        let (places, numbers) = filling.places();
        let place = |number: usize| places.take(numbers.of(plan.slot(number)));
        let mut missing = Vec::with_capacity(part.len());
        let kept = known.copy(plan, part.clone(), &place, &mut missing);
        let count = missing.len();
        let wanted = missing.into_iter().map(|number| (plan.rows()[number], number));
        let order = RowOrder::new(rows.table().shape().rows(), count, wanted);
        let mut stats = rows.read_rows(order, &place, RowCopy::Plain, self.go_on)?;
        stats.from_window = kept;
        Ok(stats)
    }
}

/// What the window before may still have.
struct Known<'a> {
    before: Option<Before<'a>>,
    /// Of the column.
    number: usize,
    /// The first of its rows that was not passed yet.
    next: usize,
}

impl Known<'_> {
    /// Copies rows that are still there, and lists the others. Gives how many were copied. Parts must ascend.
    fn copy<'p>(
        &mut self,
        plan: &WindowPlan,
        part: Range<usize>,
        place: &dyn Fn(usize) -> Option<&'p mut [u8]>,
        missing: &mut Vec<usize>,
    ) -> u64 {
        let held = self.before.and_then(|before| before.window.held[self.number].as_ref());
        let (Some(Before { window, kept }), Some(held)) = (self.before, held) else {
            missing.extend(part);
            return 0;
        };
        let (kept, left) = (kept(), held.view());
        let held = kept.as_ref().and_then(|kept| kept.0[self.number].as_ref()).unwrap_or(&left);
        let mut copied = 0;
        for number in part {
            let earlier = window.plan.find(plan.rows()[number], &mut self.next);
            let bytes = earlier.and_then(|earlier| held.row(window.plan.slot(earlier)));
            match bytes.and_then(|bytes| Some((bytes, place(number)?))) {
                Some((bytes, into)) => {
                    into.copy_from_slice(bytes);
                    copied += 1;
                }
                None => missing.push(number),
            }
        }
        copied
    }
}
