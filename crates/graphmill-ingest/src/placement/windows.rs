//! Rows in any order, waiting by windows of the file.
//! Every row goes to the stream of the window that its place lies in; when memory is full, streams
//! are moved to the scratch file in turn, so that each has the longest time to grow. A window whose
//! rows have all come as they stood in the source is written at once, so that a table in order takes
//! the memory of a few windows and no scratch file; in the end each of the others is filled by itself.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};

use graphmill_disk::{Budget, FileSystem, OutputFile, Reservation};

use super::Recode;
use super::books::Books;
use super::plan::{Duplicates, PlacementReport, PlannedRows, Put, Targets};
use super::records::{RECORD_HEADER, record_header, twice};
use super::row_sink::RowSink;
use super::scratch::Scratch;
use super::sizing::Sizing;
use super::slabs::{Slab, Slabs};
use super::source_run::SourceRun;
use super::stream::Stream;
use super::window_fill::WindowFill;
use super::workspace::{WindowPlace, Workspace};
use crate::progress::Observer;
use crate::table_writer::Written;
use crate::{Error, Result};

/// Rows that are sorted by window at a time; the sorting happens on the stack.
const SORTED: usize = 2048;

/// The rows of a table, by windows.
pub(super) struct Windows<'a> {
    parts: u64,
    sizing: Sizing,
    slabs: Slabs,
    scratch: Scratch,
    windows: RwLock<Vec<Mutex<Window>>>,
    /// The stream that is moved out next.
    hand: AtomicUsize,
    books: Books,
    sink: RowSink<'a>,
    /// For windows that are written before the end, by as many threads at once as there will be then.
    workspaces: Vec<Mutex<Option<Workspace>>>,
    _reserved: Reservation,
}

/// The rows of one window.
#[derive(Default)]
pub(super) struct Window {
    pub(super) stream: Stream,
    sources: SourceRun,
    pub(super) is_written: bool,
}

impl Window {
    /// Memory that a window takes besides its slabs.
    const MEMORY: u64 = size_of::<Mutex<Window>>() as u64 + Stream::FIRST_REGIONS;
}

impl<'a> Windows<'a> {
    pub(super) fn new(
        rows: &PlannedRows,
        budget: &Budget,
        file_system: Arc<dyn FileSystem>,
        scratch_name: &Path,
        file: &'a dyn OutputFile,
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
            windows: RwLock::new(Vec::new()),
            hand: AtomicUsize::new(0),
            books: Books::new(sizing.books, memory, budget)?,
            sink: RowSink::new(file, rows.plan.layout, sizing.gathered),
            workspaces: (0..sizing.workers).map(|_| Mutex::default()).collect(),
            _reserved: reserved,
        })
    }

    pub(super) fn put(&self, rows: &PlannedRows, put: &Put<'_>) -> Result<()> {
        self.grow(put.end)?;
        let windows = self.windows.read().unwrap_or_else(PoisonError::into_inner);
        let mut putting = Putting { windows: &windows, rows, put, stock: Vec::new() };
        let outcome = match &put.targets {
            Targets::Range(targets) => {
                let mut done = 0;
                let mut outcome = Ok(());
                while done < put.count && outcome.is_ok() {
                    let target = targets.start + done as u64;
                    let window = target / self.sizing.window_rows;
                    let left = (window + 1) * self.sizing.window_rows - target;
                    let end = put.count.min(done.saturating_add(left as usize));
                    outcome = self.append(&mut putting, window as usize, done..end);
                    done = end;
                }
                outcome
            }
            Targets::Each(targets) => {
                let pieces = targets.chunks(SORTED).enumerate();
                let mut pieces = pieces.map(|(piece, targets)| (piece * SORTED, targets));
                pieces.try_for_each(|(first, targets)| {
                    self.append_sorted(&mut putting, first, targets)
                })
            }
        };
        self.slabs.give_back(putting.stock);
        outcome
    }

    /// Appends rows that belong to several windows, window by window.
    fn append_sorted(
        &self,
        putting: &mut Putting<'_>,
        first: usize,
        targets: &[u64],
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
            self.append(putting, window(group[0]) as usize, rows)?;
        }
        Ok(())
    }

    /// Appends rows of a chunk to the stream of their window.
    fn append(
        &self,
        putting: &mut Putting<'_>,
        number: usize,
        rows: impl ExactSizeIterator<Item = usize>,
    ) -> Result<()> {
        let Putting { windows, put, stock, .. } = putting;
        let record = RECORD_HEADER + put.length;
        let turn = (self.sizing.turn / record).max(1);
        let first = number as u64 * self.sizing.window_rows;
        let mut left = rows.len();
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let count = turn.min(left);
            left -= count;
            self.stock_up(windows, self.sizing.slabs_for(count * record), stock)?;
            let mut window = windows[number].lock().unwrap_or_else(PoisonError::into_inner);
            let Window { stream, sources, is_written } = &mut *window;
            for index in rows.by_ref().take(count) {
                let target = match &put.targets {
                    Targets::Range(targets) => targets.start + index as u64,
                    Targets::Each(targets) => targets[index],
                };
                let source = put.first_source_row + index as u64;
                if let (true, Some(known)) = (*is_written, sources.of(target - first)) {
                    return Err(twice(target, known, source));
                }
                sources.add(target - first, source);
                let slot = (target - first) * self.parts + put.part as u64;
                stream.append(&record_header(slot as u32, source), stock, &self.sizing);
                stream.append(put.row(index), stock, &self.sizing);
            }
            self.write_if_complete(putting.rows, number, &mut window)?;
        }
        Ok(())
    }

    /// Writes a window of which nothing can be missing, and no row may come again.
    fn write_if_complete(
        &self,
        rows: &PlannedRows,
        number: usize,
        window: &mut Window,
    ) -> Result<()> {
        let plan = &rows.plan;
        let may_come_again = plan.duplicates != Duplicates::Refuse;
        let all = self.sizing.window_rows * (RECORD_HEADER + rows.length) as u64;
        if plan.recoded || may_come_again || self.parts > 1 || window.stream.len() != all {
            return Ok(());
        }
        // Rows that are mixed are left for the end: if one came again, nobody could tell where it stood first.
        if window.sources.of(0).is_none() {
            return Ok(());
        }
        let mut workspaces = self.workspaces.iter();
        let Some(mut workspace) = workspaces.find_map(|workspace| workspace.try_lock().ok()) else {
            return Ok(());
        };
        let window_rows = self.sizing.window_rows;
        let workspace = workspace.get_or_insert_with(|| Workspace::new(rows, window_rows));
        let first = number as u64 * window_rows;
        let from = first * rows.stride as u64;
        let place =
            WindowPlace { first, rows: window_rows, in_page: self.sink.place_in_page(from) };
        let placed = workspace.place(rows, place, |take| {
            window.stream.read(number as u64, &self.sizing, &self.scratch, take)
        })?;
        self.sink.pay(from + placed.bytes.len() as u64, &self.books)?;
        self.sink.write(from, placed.bytes)?;
        placed.clear(rows);
        window.is_written = true;
        self.slabs.give_back(std::mem::take(&mut window.stream).into_slabs());
        Ok(())
    }

    /// Makes sure that there are streams for all windows of a table of `end` rows.
    fn grow(&self, end: u64) -> Result<()> {
        let window = (end - 1) / self.sizing.window_rows;
        let known = self.windows.read().unwrap_or_else(PoisonError::into_inner).len() as u64;
        if window < known {
            return Ok(());
        }
        let mut windows = self.windows.write().unwrap_or_else(PoisonError::into_inner);
        let known = windows.len() as u64;
        if window < known {
            return Ok(());
        }
        let claim = |wanted: u64| self.books.claim((wanted - known).saturating_mul(Window::MEMORY));
        // Half as many again, so that growing costs little, unless that is what is too much.
        let wishes = [window + 1 + known / 2, window + 1];
        let paid = wishes.into_iter().find(|wish| claim(*wish).is_ok()).filter(|wish| {
            // Without a budget, the allocator is who says no.
            windows.try_reserve_exact((wish - known) as usize).is_ok()
        });
        let Some(wanted) = paid else {
            let found = format!("row {}", end - 1);
            let remedy = "number the rows from 0 without large gaps, map the ids, or raise the \
                          memory budget";
            return Err(Error::source("table", found, "a table that memory can list", remedy));
        };
        windows.resize_with(wanted as usize, Mutex::default);
        Ok(())
    }

    /// Fills the stock of a thread up to `count` slabs, moving streams out if there are no more.
    fn stock_up(
        &self,
        windows: &[Mutex<Window>],
        count: usize,
        stock: &mut Vec<Slab>,
    ) -> Result<()> {
        if stock.len() >= count || self.slabs.take(count - stock.len(), stock) {
            return Ok(());
        }
        // Whoever waits must hold nothing that others wait for.
        self.slabs.give_back(stock.drain(..));
        while !self.slabs.take(count, stock) {
            if !self.spill(windows, count, false)? && !self.spill(windows, count, true)? {
                // All slabs are in the stocks of other threads, who will use and return them.
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Moves streams out until `count` slabs are free, full slabs alone or `all`; false if there
    /// was nothing to move.
    fn spill(&self, windows: &[Mutex<Window>], count: usize, all: bool) -> Result<bool> {
        let mut freed = 0;
        for _ in 0..windows.len() {
            let next = self.hand.fetch_add(1, Ordering::Relaxed) % windows.len();
            let mut window = match windows[next].try_lock() {
                Ok(window) => window,
                Err(TryLockError::Poisoned(window)) => window.into_inner(),
                // Somebody works on it.
                Err(TryLockError::WouldBlock) => continue,
            };
            let pay = |bytes| self.books.claim(bytes);
            let slabs = window.stream.spill(all, next as u64, &self.sizing, &self.scratch, pay)?;
            drop(window);
            freed += slabs.len();
            self.slabs.give_back(slabs);
            if freed >= count {
                break;
            }
        }
        Ok(freed > 0)
    }

    /// Writes all windows of a table of `count` rows that are not written yet.
    pub(super) fn finish(
        self,
        rows: &PlannedRows,
        count: u64,
        recode: Option<Recode<'_>>,
        observer: Option<Observer<'_>>,
    ) -> Result<(Written, PlacementReport)> {
        let Windows { sizing, slabs, scratch, windows, books, sink, workspaces, .. } = self;
        let windows = windows.into_inner().unwrap_or_else(PoisonError::into_inner);
        let fill = WindowFill { rows, sizing, slabs, scratch, sink, workspaces, recode, observer };
        fill.run(windows, count, &books)
    }
}

/// A chunk on its way to the streams, and the slabs that its thread has in stock for it.
struct Putting<'p> {
    windows: &'p [Mutex<Window>],
    rows: &'p PlannedRows,
    put: &'p Put<'p>,
    stock: Vec<Slab>,
}
