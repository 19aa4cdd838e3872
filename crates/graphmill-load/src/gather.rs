//! Rows by id, from the disk to where they are wanted.
//! Feature handles and loaders give a list of ids and the memory for their rows. What is in memory is copied by all
//! threads; everything else is read once per distinct row, in the order of the file, near rows in one request, and
//! copied from there to every place that wants it. It does not know whose rows they are.

use crate::cached_blocks::CachedBlocks;
use crate::fetch::{GoOn, fetch, fetch_memory};
use crate::read_plan::{BLOCK, ReadPlan};
use crate::resident_copy::copy_rows;
use crate::row_copy::RowCopy;
use crate::row_order::RowOrder;
use crate::{Error, ReadStats, Reading, Result, Rows};
use graphmill_disk::{Budget, DeviceActivity, ReadAt, Reservation, ScatterBuffer, is_resident};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Pages that are looked at to see whether some of the rows are in memory.
const LOOKS: usize = 32;
/// Bytes that are copied from a resident map before it is asked again whether it is: the question takes as long as copying
/// a few rows.
const TRUSTED_BYTES: u64 = 256 << 10;

/// Requests that take long enough to look at what the device does meanwhile.
const WORTH_A_LOOK: usize = 256;

/// Where the row of a place goes; every place is asked for once.
pub(crate) type Out<'a> = &'a (dyn Fn(usize) -> Option<&'a mut [u8]> + Sync);

impl Rows {
    /// Copies the rows `ids` to `out`, one after the other without padding.
    ///
    /// Every id is checked before anything is read. After a failure the content of `out` is unspecified.
    pub fn gather(&self, ids: &[i64], out: &mut [u8]) -> Result<ReadStats> {
        let unlimited = Budget::unlimited();
        self.gather_within(ids, out, |bytes| Ok(unlimited.reserve(bytes, "gathering rows")?))
    }

    /// Like [`gather`](Self::gather), with the memory that requests take asked for by `reserve` before the first of them.
    ///
    /// If there is none, [`Reading::Auto`] goes without and copies from the map, page by page; other ways fail.
    pub fn gather_within(
        &self,
        ids: &[i64],
        out: &mut [u8],
        reserve: impl FnOnce(u64) -> Result<Reservation>,
    ) -> Result<ReadStats> {
        self.check_ids(ids)?;
        let expected = (ids.len() as u64).checked_mul(self.row_length());
        if expected != Some(out.len() as u64) {
            return Err(Error::OutputLength {
                path: self.table.path().to_path_buf(),
                ids: ids.len(),
                found: out.len() as u64,
                expected: expected.unwrap_or(u64::MAX),
            });
        }
        let mut stats = ReadStats { rows: ids.len() as u64, ..ReadStats::default() };
        if out.is_empty() {
            return Ok(stats);
        }
        // Fits: at least one row of this length lies in `out`.
        let length = self.row_length() as usize;
        let left = self.copy_resident(ids, out, length, &mut stats)?;
        if left.is_empty() {
            return Ok(stats);
        }
        let missing = left.iter().map(Range::len).sum();
        let _held = match reserve(self.read_memory(missing)) {
            Err(error) if error.is_budget() && self.reading() == Reading::Auto => {
                self.copy_waiting(ids, out, length, left)?;
                stats.from_page_cache += missing as u64;
                return Ok(stats);
            }
            held => held?,
        };
        graphmill_disk::room::check(self.read_memory(missing))?;
        let rows = self.table.shape().rows();
        // Usually one part: so many places that they do not fit beside a row number are no batch.
        let most = RowOrder::most_places(rows);
        for (number, out) in out.chunks_mut(most.saturating_mul(length)).enumerate() {
            let part = number * most..number * most + out.len() / length;
            let cut = |range: &Range<usize>| range.start.max(part.start)..range.end.min(part.end);
            let count = left.iter().map(|range| cut(range).len()).sum();
            let places = left.iter().flat_map(cut);
            let wanted = places.map(|place| (ids[place] as u64, place - part.start));
            let order = RowOrder::new(rows, count, wanted);
            stats.distinct += order.distinct();
            let out = ScatterBuffer::new(out, length);
            stats += self.read_rows(order, &|place| out.take(place), self.how, &|| true)?;
        }
        Ok(stats)
    }

    /// Bytes of memory that gathering so many rows takes while it runs, beside the rows themselves.
    pub fn gather_memory(&self, ids: usize) -> u64 {
        self.read_memory(ids)
    }

    /// Bytes that [`read_rows`](Self::read_rows) of so many places takes.
    pub(crate) fn read_memory(&self, places: usize) -> u64 {
        let Some(reader) = &self.reader else { return 0 };
        // Twice: what is in the page cache is taken out of the order.
        let order = 2 * RowOrder::memory(places) + ScatterBuffer::memory(places);
        let longest = self.merging.longest_read(&self.places());
        let queues = fetch_memory(reader.as_ref(), places, longest);
        (order + ReadPlan::memory(places)).saturating_add(queues)
    }

    /// Fails unless all ids are rows.
    pub(crate) fn check_ids(&self, ids: &[i64]) -> Result<()> {
        let rows = self.table.shape().rows();
        // A negative id is a huge one when its bits are read without a sign.
        match ids.iter().position(|&id| id as u64 >= rows) {
            None => Ok(()),
            Some(position) => {
                let path = self.table.path().to_path_buf();
                Err(Error::RowOutOfRange { path, position, id: ids[position], rows })
            }
        }
    }

    /// Whether rows can be copied from the map without waiting for the disk, as far as is known. Looks at a few of them.
    pub(crate) fn is_resident(&self, count: usize, row_at: impl Fn(usize) -> u64) -> bool {
        match self.reading() {
            Reading::Mapped => true,
            Reading::Pread | Reading::Ring => false,
            Reading::Auto => {
                let bytes = self.places().length.saturating_mul(count as u64);
                let spend = |left: u64| left.checked_sub(bytes);
                let relaxed = Ordering::Relaxed;
                if self.trusted.fetch_update(relaxed, relaxed, spend).is_ok() {
                    return true;
                }
                let mut is_cold = self.presence.is_cold();
                if is_cold {
                    let places = self.places();
                    let offset = |index| places.offset(row_at(index));
                    self.presence.look(self.table.mapped(), count, offset);
                    is_cold = self.presence.is_cold();
                }
                self.trusted.store(if is_cold { 0 } else { TRUSTED_BYTES }, relaxed);
                !is_cold
            }
        }
    }

    /// Copies from the map what is there, and returns what is left.
    fn copy_resident(
        &self,
        ids: &[i64],
        out: &mut [u8],
        length: usize,
        stats: &mut ReadStats,
    ) -> Result<Vec<Range<usize>>> {
        self.table.mapped().check_length()?;
        let everything = std::iter::once(0..ids.len());
        if !self.is_resident(ids.len(), |index| ids[index] as u64) {
            return Ok(everything.collect());
        }
        let row_at = |index: usize| self.mapped_row(ids[index] as u64);
        let go_on = || self.reader.is_none() || !self.presence.is_cold();
        let left = copy_rows(ids.len(), out, length, self.how, row_at, go_on)?;
        let missing: usize = left.iter().map(Range::len).sum();
        if missing > 0 {
            self.trusted.store(0, Ordering::Relaxed);
        }
        stats.from_page_cache += (ids.len() - missing) as u64;
        Ok(left)
    }

    /// Copies rows from the map, and waits for those that are not there.
    fn copy_waiting(
        &self,
        ids: &[i64],
        out: &mut [u8],
        length: usize,
        left: Vec<Range<usize>>,
    ) -> Result<()> {
        for range in left {
            let ids = &ids[range.clone()];
            let out = &mut out[range.start * length..range.end * length];
            let row_at = |index: usize| self.mapped_row(ids[index] as u64);
            copy_rows(ids.len(), out, length, self.how, row_at, || true)?;
        }
        Ok(())
    }

    /// Reads every row of an order once and copies it to all its places in `out`, as `how` says. Ends early, with an error,
    /// when `go_on` says no.
    pub(crate) fn read_rows(
        &self,
        mut order: RowOrder,
        out: Out<'_>,
        how: RowCopy,
        go_on: GoOn<'_>,
    ) -> Result<ReadStats> {
        let mut stats = ReadStats::default();
        let Some(reader) = &self.reader else {
            copy_pairs(&order, out, how, &|row| self.mapped_row(row));
            stats.from_page_cache = order.len() as u64;
            return Ok(stats);
        };
        if self.reading() == Reading::Auto && self.some_are_cached(&order) {
            let cached = order.take_rows(self.cached_rows());
            copy_pairs(&cached, out, how, &|row| self.mapped_row(row));
            stats.from_page_cache = cached.len() as u64;
        }
        let places = self.places();
        let plan = ReadPlan::new(&order, &places, &self.merging);
        let activity = || match plan.ranges.len() < WORTH_A_LOOK {
            true => None,
            false => DeviceActivity::of(reader.file()),
        };
        let (before, began) = (activity(), Instant::now());
        let deliver = |read: usize, bytes: &[u8]| {
            let start = plan.ranges[read].start;
            for pair in plan.pairs(read) {
                let from = (places.offset(order.row(pair)) - start) as usize;
                if let Some(into) = out(order.place(pair)) {
                    how.copy(&bytes[from..from + places.length as usize], into);
                }
            }
        };
        fetch(reader.as_ref(), &plan, &deliver, go_on)?;
        stats.waited = began.elapsed();
        if let (Some(before), Some(after)) = (before, activity()) {
            let DeviceActivity { busy, queued, .. } = after.since(before);
            (stats.device_busy, stats.device_queued) = (busy, queued);
        }
        stats.from_disk = order.distinct();
        stats.requests = plan.ranges.len() as u64;
        stats.bytes_read = plan.bytes();
        stats.bytes_used = stats.from_disk * places.length;
        stats.backend = (stats.requests > 0).then(|| reader.backend());
        if self.reading() == Reading::Auto {
            stats.bytes_announced = self.promotion.note(self.table.mapped(), stats.bytes_read);
        }
        Ok(stats)
    }

    /// Looks at a few rows of an order; whether any of them is in the page cache.
    fn some_are_cached(&self, order: &RowOrder) -> bool {
        let looks = LOOKS.min(order.len());
        let places = self.places();
        let offset = |look: usize| places.offset(order.row(look * order.len() / looks));
        (0..looks).any(|look| is_resident(self.table.mapped().file(), offset(look)) == Some(true))
    }

    /// Tells of ascending rows whether all their blocks are in the page cache.
    fn cached_rows(&self) -> impl FnMut(u64) -> bool {
        let places = self.places();
        let mut cached = CachedBlocks::new(self.table.mapped().file());
        move |row| {
            let start = places.offset(row);
            let (first, last) = (start / BLOCK, (start + places.length - 1) / BLOCK);
            (first..=last).all(|block| cached.contains(block))
        }
    }
}

/// Copies rows that are in memory to their places.
fn copy_pairs<'a>(order: &RowOrder, out: Out<'_>, how: RowCopy, row: &dyn Fn(u64) -> &'a [u8]) {
    for pair in 0..order.len() {
        if let Some(into) = out(order.place(pair)) {
            how.copy(row(order.row(pair)), into);
        }
    }
}
