//! Rows in any order, waiting by windows of the file.
//! Every row goes to the stream of the window that its place lies in; when memory is full, streams
//! are moved to the scratch file in turn, so that each has the longest time to grow. In the end each
//! window is filled by itself. It must not know how windows are written.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

use graphmill_disk::{Budget, FileSystem, OutputFile, Reservation};

use super::Recode;
use super::books::Books;
use super::plan::{PlacementReport, PlannedRows, Put, Targets};
use super::records::{RECORD_HEADER, record_header};
use super::scratch::Scratch;
use super::sizing::Sizing;
use super::slabs::{Slab, Slabs};
use super::stream::Stream;
use super::window_fill::WindowFill;
use crate::progress::Observer;
use crate::table_writer::Written;
use crate::{Error, Result};

/// Rows that are sorted by window at a time; the sorting happens on the stack.
const SORTED: usize = 2048;

/// The rows of a table, by windows.
pub(super) struct Windows {
    parts: u64,
    sizing: Sizing,
    slabs: Slabs,
    scratch: Scratch,
    streams: RwLock<Vec<Mutex<Stream>>>,
    /// The stream that is moved out next.
    hand: AtomicUsize,
    books: Books,
    _reserved: Reservation,
}

impl Windows {
    pub(super) fn new(
        rows: &PlannedRows,
        budget: &Budget,
        file_system: Arc<dyn FileSystem>,
        scratch_name: &Path,
        memory: u64,
    ) -> Result<Self> {
        let threads = graphmill_disk::pool()?.current_num_threads();
        let sizing = Sizing::of(memory, rows, threads, budget)?;
        let reserved = budget.reserve(memory, "rows of a table")?;
        let path = scratch_name.to_path_buf();
        Ok(Windows {
            parts: rows.parts.len() as u64,
            sizing,
            slabs: Slabs::new(sizing.slab, sizing.slabs),
            scratch: Scratch::new(file_system, path, sizing.io, sizing.io_buffers),
            streams: RwLock::new(Vec::new()),
            hand: AtomicUsize::new(0),
            books: Books::new(sizing.books, memory, budget)?,
            _reserved: reserved,
        })
    }

    pub(super) fn put(&self, put: &Put<'_>) -> Result<()> {
        self.grow(put.end)?;
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let streams = &streams[..];
        let mut stock = Vec::new();
        let outcome = match &put.targets {
            Targets::Range(targets) => {
                let mut done = 0;
                let mut outcome = Ok(());
                while done < put.count && outcome.is_ok() {
                    let target = targets.start + done as u64;
                    let window = target / self.sizing.window_rows;
                    let left = (window + 1) * self.sizing.window_rows - target;
                    let end = put.count.min(done.saturating_add(left as usize));
                    outcome = self.append(streams, window as usize, put, done..end, &mut stock);
                    done = end;
                }
                outcome
            }
            Targets::Each(targets) => {
                let pieces = targets.chunks(SORTED).enumerate();
                let mut pieces = pieces.map(|(piece, targets)| (piece * SORTED, targets));
                pieces.try_for_each(|(first, targets)| {
                    self.append_sorted(streams, put, first, targets, &mut stock)
                })
            }
        };
        self.slabs.give_back(stock);
        outcome
    }

    /// Appends rows that belong to several windows, window by window.
    fn append_sorted(
        &self,
        streams: &[Mutex<Stream>],
        put: &Put<'_>,
        first: usize,
        targets: &[u64],
        stock: &mut Vec<Slab>,
    ) -> Result<()> {
        let mut keys = [0_u64; SORTED];
        let keys = &mut keys[..targets.len()];
        for (index, (key, target)) in keys.iter_mut().zip(targets).enumerate() {
            // There are fewer windows than bytes of memory, so the product cannot overflow.
            *key = target / self.sizing.window_rows * SORTED as u64 + index as u64;
        }
        keys.sort_unstable();
        let window = |key: u64| key / SORTED as u64;
        for group in keys.chunk_by(|one, other| window(*one) == window(*other)) {
            let rows = group.iter().map(|key| first + (key % SORTED as u64) as usize);
            self.append(streams, window(group[0]) as usize, put, rows, stock)?;
        }
        Ok(())
    }

    /// Appends rows of a chunk to the stream of their window.
    fn append(
        &self,
        streams: &[Mutex<Stream>],
        window: usize,
        put: &Put<'_>,
        rows: impl ExactSizeIterator<Item = usize>,
        stock: &mut Vec<Slab>,
    ) -> Result<()> {
        let record = RECORD_HEADER + put.length;
        let turn = (self.sizing.turn / record).max(1);
        let first = window as u64 * self.sizing.window_rows;
        let mut left = rows.len();
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let count = turn.min(left);
            left -= count;
            self.stock_up(streams, self.sizing.slabs_for(count * record), stock)?;
            let mut stream = streams[window].lock().unwrap_or_else(PoisonError::into_inner);
            for index in rows.by_ref().take(count) {
                let target = match &put.targets {
                    Targets::Range(targets) => targets.start + index as u64,
                    Targets::Each(targets) => targets[index],
                };
                let slot = (target - first) * self.parts + put.part as u64;
                let header = record_header(slot as u32, put.first_source_row + index as u64);
                stream.append(&header, stock, &self.sizing);
                stream.append(put.row(index), stock, &self.sizing);
            }
        }
        Ok(())
    }

    /// Makes sure that there are streams for all windows of a table of `end` rows.
    fn grow(&self, end: u64) -> Result<()> {
        let window = (end - 1) / self.sizing.window_rows;
        let known = self.streams.read().unwrap_or_else(PoisonError::into_inner).len() as u64;
        if window < known {
            return Ok(());
        }
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        let known = streams.len() as u64;
        if window < known {
            return Ok(());
        }
        let claim = |wanted: u64| self.books.claim((wanted - known).saturating_mul(Stream::MEMORY));
        // Half as many again, so that growing costs little, unless that is what is too much.
        let wishes = [window + 1 + known / 2, window + 1];
        let paid = wishes.into_iter().find(|wish| claim(*wish).is_ok()).filter(|wish| {
            // Without a budget, the allocator is who says no.
            streams.try_reserve_exact((wish - known) as usize).is_ok()
        });
        let Some(wanted) = paid else {
            let found = format!("row {}", end - 1);
            let remedy = "number the rows from 0 without large gaps, map the ids, or raise the \
                          memory budget";
            return Err(Error::source("table", found, "a table that memory can list", remedy));
        };
        streams.resize_with(wanted as usize, Mutex::default);
        Ok(())
    }

    /// Fills the stock of a thread up to `count` slabs, moving streams out if there are no more.
    fn stock_up(
        &self,
        streams: &[Mutex<Stream>],
        count: usize,
        stock: &mut Vec<Slab>,
    ) -> Result<()> {
        if stock.len() >= count || self.slabs.take(count - stock.len(), stock) {
            return Ok(());
        }
        // Whoever waits must hold nothing that others wait for.
        self.slabs.give_back(stock.drain(..));
        while !self.slabs.take(count, stock) {
            if !self.spill(streams, count, false)? && !self.spill(streams, count, true)? {
                // All slabs are in the stocks of other threads, who will use and return them.
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Moves streams out until `count` slabs are free, full slabs alone or `all`; false if there
    /// was nothing to move.
    fn spill(&self, streams: &[Mutex<Stream>], count: usize, all: bool) -> Result<bool> {
        let mut freed = 0;
        for _ in 0..streams.len() {
            let next = self.hand.fetch_add(1, Ordering::Relaxed) % streams.len();
            let mut stream = match streams[next].try_lock() {
                Ok(stream) => stream,
                Err(TryLockError::Poisoned(stream)) => stream.into_inner(),
                // Somebody works on it.
                Err(TryLockError::WouldBlock) => continue,
            };
            let pay = |bytes| self.books.claim(bytes);
            let slabs = stream.spill(all, next as u64, &self.sizing, &self.scratch, pay)?;
            drop(stream);
            freed += slabs.len();
            self.slabs.give_back(slabs);
            if freed >= count {
                break;
            }
        }
        Ok(freed > 0)
    }

    /// Writes all windows of a table of `count` rows.
    pub(super) fn finish(
        self,
        rows: &PlannedRows,
        file: &dyn OutputFile,
        count: u64,
        recode: Option<Recode<'_>>,
        observer: Option<Observer<'_>>,
    ) -> Result<(Written, PlacementReport)> {
        let Windows { sizing, slabs, scratch, streams, books, _reserved, .. } = self;
        let streams = streams.into_inner().unwrap_or_else(PoisonError::into_inner);
        let fill = WindowFill { rows, sizing, slabs, scratch, recode, observer };
        fill.run(streams, file, count, &books)
    }
}
