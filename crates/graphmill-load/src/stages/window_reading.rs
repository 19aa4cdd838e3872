//! The thread that reads rows, as many batches at a time as the memory allows.
//! Batches whose rows are in the page cache pass, since there is nothing to plan. Others become windows: one is read while
//! the batches of the one before are put together. Memory that is short makes windows shorter, and batches that fit into
//! none are read by themselves, further down.

use super::{KeptWindows, ReadyBatch, Shared, Windows};
use crate::columns::Columns;
use crate::hot_ids::HotIds;
use crate::hot_rows::HotRows;
use crate::sampled_batch::SampledBatch;
use crate::window::{Before, KeptRows, Window, WindowReading};
use crate::window_forming::WindowLengths;
use crate::window_plan::{MOST_BATCHES, WindowPlan};
use crate::window_size::missing;
use crate::{Error, ReadStats, Result};
use graphmill_sample::Sample;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Batches that wait to be put together if nothing was read for them.
const PASSED: usize = 2;

pub(super) fn run(shared: &Shared) {
    let mut reader = WindowReader {
        shared,
        pending: VecDeque::new(),
        failure: None,
        before: None,
        older: Weak::new(),
        lengths: WindowLengths::new(),
    };
    let failure = loop {
        match reader.next_window() {
            Ok(true) => {}
            Ok(false) => break reader.failure.take(),
            Err(error) => break Some(error),
        }
    };
    // What was read may be needed no more.
    drop(reader);
    shared.change(|state| {
        state.ready.extend(failure.map(Err));
        state.all_ready = true;
    });
}

struct WindowReader<'a> {
    shared: &'a Shared,
    /// Sampled, and in no window yet.
    pending: VecDeque<SampledBatch>,
    /// What ended the sampling; passed on after all that was sampled before.
    failure: Option<Error>,
    /// The window that was read last; the next takes rows from it.
    before: Option<Arc<Windows>>,
    /// The window before that one, while batches are still put together from it.
    older: Weak<Windows>,
    lengths: WindowLengths,
}

impl WindowReader<'_> {
    /// Makes batches ready; false if there are no more, or everything is to stop.
    fn next_window(&mut self) -> Result<bool> {
        if self.pending.is_empty() && !self.await_sampled() {
            return Ok(false);
        }
        let loader = &self.shared.loader;
        let Sample { nodes, edge_ids, .. } = &self.pending[0].sample;
        let can_hold = |rows, count| WindowPlan::can_hold(rows, count, count);
        let cold_nodes =
            can_hold(loader.num_nodes(), nodes.len()) && loader.columns.are_cold(nodes)?;
        let cold_edges = can_hold(loader.num_edge_rows(), edge_ids.len())
            && loader.edge_columns.are_cold(edge_ids)?;
        if !cold_nodes && !cold_edges {
            self.before = None;
            let mut state = self.shared.lock();
            (state.kept, state.narrow) = (None, false);
            drop(state);
            return Ok(self.pass());
        }
        let older = self.older.clone();
        if self.shared.wait(|_| (older.strong_count() == 0).then_some(())).is_none() {
            return Ok(false);
        }
        let began = Instant::now();
        let hot = if cold_nodes { self.hot()? } else { None };
        let count = self.form(hot.as_ref().map(|hot| &hot.ids));
        let waited = Cell::new(Duration::ZERO);
        let outcome = self.read(count, cold_nodes.then_some(hot), cold_edges, &waited);
        self.shared.loader.sums.reading(began.elapsed().saturating_sub(waited.get()));
        let (windows, count) = outcome?;
        self.push(windows, count);
        Ok(true)
    }

    /// Hands the first batch on as it is; false if everything is to stop.
    fn pass(&mut self) -> bool {
        let room = self.shared.wait(|state| (state.ready.len() < PASSED).then_some(()));
        if room.is_some() {
            self.push(Arc::default(), 1);
        }
        room.is_some()
    }

    fn push(&mut self, windows: Arc<Windows>, count: usize) {
        let batches = self.pending.drain(..count).enumerate();
        let ready: Vec<Result<ReadyBatch>> = batches
            .map(|(place, sampled)| Ok(ReadyBatch { sampled, windows: windows.clone(), place }))
            .collect();
        self.shared.change(|state| state.ready.extend(ready));
    }

    /// Takes one more sampled batch; false if there is none, or if waiting for it would take memory that is short.
    fn await_sampled(&mut self) -> bool {
        let Self { shared, pending, before, failure, .. } = self;
        let sampled = shared.wait(|state| {
            if let Some(sampled) = state.sampled.pop_front() {
                return Some(Some(sampled));
            }
            if state.short > 0 {
                *before = None;
                state.kept = None;
            }
            (state.all_sampled || (state.short > 0 && !pending.is_empty())).then_some(None)
        });
        match sampled.flatten() {
            Some(Ok(sampled)) => pending.push_back(sampled),
            Some(Err(error)) => {
                *failure = Some(error);
                return false;
            }
            None => return false,
        }
        true
    }

    /// The hot rows; made by the first who needs them, if there is memory for any.
    fn hot(&mut self) -> Result<Option<Arc<HotRows>>> {
        let Shared { loader, course, .. } = self.shared;
        if let Some(known) = loader.known_hot_rows() {
            return Ok(known);
        }
        while self.pending.len() < loader.presampled() && self.await_sampled() {}
        loader.make_way();
        let free = loader.dataset().budget().free();
        let batches = (course.end - self.pending[0].index).div_ceil(course.step);
        let bytes = loader.hot_bytes(free, &self.pending[0], batches);
        let lists: Vec<&[i64]> =
            self.pending.iter().map(|sampled| sampled.sample.nodes.as_slice()).collect();
        loader.make_hot_rows(bytes, &lists)
    }

    /// How many of the pending batches the next window has: as many as fit, and at least one.
    fn form(&mut self, hot: Option<&HotIds>) -> usize {
        let Self { shared, .. } = *self;
        let loader = &shared.loader;
        let wants_edge_ids = loader.wants_edge_ids();
        self.pending.iter_mut().for_each(|sampled| sampled.narrow(wants_edge_ids));
        self.shared.lock().narrow = true;
        let limit = loader.window_limit(self.available(), &self.pending[0]);
        let mut forming = self.lengths.forming(loader, hot, limit);
        while forming.is_open() && (forming.count() < self.pending.len() || self.await_sampled()) {
            let next = &mut self.pending[forming.count()];
            next.narrow(wants_edge_ids);
            if !forming.add(next) {
                break;
            }
        }
        let count = forming.count();
        // Sampling goes on for the next window while this one is read.
        let ahead = if forming.is_open() { count + 1 } else { 2 * count };
        self.shared.change(|state| state.ahead = ahead.clamp(2, MOST_BATCHES));
        count
    }

    /// Bytes that windows and batches may have, with all that they hold now; batches in use come back too.
    fn available(&self) -> u64 {
        let loader = &self.shared.loader;
        let lists = |sampled: &SampledBatch| sampled.memory.bytes();
        let pending: u64 = self.pending.iter().map(lists).sum();
        let state = self.shared.lock();
        let sampled: u64 = state.sampled.iter().flatten().map(lists).sum();
        let ready: u64 = state.ready.iter().flatten().map(|ready| lists(&ready.sampled)).sum();
        drop(state);
        let own = pending + sampled + ready + loader.buffers.all();
        loader.dataset().budget().free().saturating_add(own)
    }

    /// Reads the first `count` pending batches together, or as many of them as there is memory for. Gives how many that
    /// were; if there is none even for one, that one goes without a window.
    fn read(
        &mut self,
        mut count: usize,
        nodes: Option<Option<Arc<HotRows>>>,
        edges: bool,
        waited: &Cell<Duration>,
    ) -> Result<(Arc<Windows>, usize)> {
        while count > 0 {
            match self.read_windows(count, nodes.clone(), edges, waited) {
                Ok((windows, share)) => {
                    let windows = Arc::new(windows);
                    let kept = windows.keep();
                    self.shared.lock().kept = Some(kept);
                    let before = self.before.replace(windows.clone());
                    self.older = before.as_ref().map_or_else(Weak::new, Arc::downgrade);
                    let loader = &self.shared.loader;
                    self.lengths.note(loader, count, share);
                    loader.sums.count_window(count);
                    return Ok((windows, count));
                }
                Err(error) if !error.is_budget() => return Err(error),
                // Nobody needs it any more but this thread.
                Err(_) if self.before.as_ref().is_some_and(|it| Arc::strong_count(it) == 1) => {
                    self.before = None;
                    self.shared.lock().kept = None;
                }
                Err(_) => count /= 2,
            }
        }
        Ok((Arc::default(), 1))
    }

    /// Reads the first `count` pending batches together, and says what part of the missing rows of nodes was distinct.
    fn read_windows(
        &self,
        count: usize,
        nodes: Option<Option<Arc<HotRows>>>,
        edges: bool,
        waited: &Cell<Duration>,
    ) -> Result<(Windows, f64)> {
        let loader = &*self.shared.loader;
        let lists = |list: fn(&Sample) -> &[i64]| -> Vec<&[i64]> {
            self.pending.iter().take(count).map(|sampled| list(&sampled.sample)).collect()
        };
        let before = self.before.as_deref();
        let mut windows = Windows::default();
        let mut distinct_share = 1.0;
        if let Some(hot) = nodes {
            let lists = lists(|sample| &sample.nodes);
            let kept = || self.kept(|kept| kept.nodes.clone());
            let before = before.and_then(|before| before.nodes.as_ref());
            let before = before.map(|window| Before { window, kept: &kept });
            let (columns, num_nodes) = (&loader.columns, loader.num_nodes());
            let (window, share) =
                self.read_window(columns, num_nodes, &lists, hot, before, waited)?;
            windows.nodes = Some(window);
            distinct_share = share;
        }
        if edges {
            let lists = lists(|sample| &sample.edge_ids);
            let kept = || self.kept(|kept| kept.edges.clone());
            let before = before.and_then(|before| before.edges.as_ref());
            let before = before.map(|window| Before { window, kept: &kept });
            let (columns, num_edges) = (&loader.edge_columns, loader.num_edge_rows());
            let (window, _) = self.read_window(columns, num_edges, &lists, None, before, waited)?;
            windows.edges = Some(window);
        }
        Ok((windows, distinct_share))
    }

    /// What is kept of the window before.
    fn kept(&self, which: impl Fn(&KeptWindows) -> Option<Arc<KeptRows>>) -> Option<Arc<KeptRows>> {
        self.shared.lock().kept.as_ref().and_then(which)
    }

    /// Plans and reads one window, and says what part of its missing rows was distinct. Adds to `waited` for how long memory
    /// was waited for.
    fn read_window(
        &self,
        columns: &Columns,
        num_rows: u64,
        lists: &[&[i64]],
        hot: Option<Arc<HotRows>>,
        before: Option<Before<'_>>,
        waited: &Cell<Duration>,
    ) -> Result<(Window, f64)> {
        let Self { shared, .. } = self;
        let loader = &shared.loader;
        let (buffers, budget) = (&loader.buffers, loader.dataset().budget());
        for rows in columns.rows() {
            lists.iter().try_for_each(|list| rows.check_ids(list))?;
        }
        let wanted = lists.iter().map(|list| list.len()).sum();
        let ids = hot.as_ref().map(|hot| &hot.ids);
        let missing: usize = lists.iter().map(|list| missing(list, ids)).sum();
        let bytes = WindowPlan::memory(wanted, missing);
        let mut memory = buffers.with_room(|| Ok(budget.reserve(bytes, "a window")?))?;
        let plan = WindowPlan::new(num_rows, lists, ids);
        memory.shrink(bytes - plan.bytes());
        let share = plan.rows().len() as f64 / missing.max(1) as f64;
        let wait_for_memory = || {
            let began = Instant::now();
            // Nobody gives memory back once all that was sampled and not delivered waits here.
            let mine = self.pending.len();
            let more =
                shared.wait_for_memory(|state| state.under_way == mine + state.sampled.len());
            waited.set(waited.get() + began.elapsed());
            more.ok_or(Error::Stopped)
        };
        let go_on = || !shared.lock().stopped;
        let (rows, work) = loader.delivery_bytes(&self.pending[0]);
        let reading = WindowReading {
            buffers,
            budget,
            left_free: rows.saturating_add(work),
            wait_for_memory: &wait_for_memory,
            go_on: &go_on,
        };
        let (window, stats): (Window, ReadStats) =
            Window::read(plan, columns, hot, before, memory, &reading)?;
        loader.sums.reads.add(&stats);
        Ok((window, share))
    }
}
