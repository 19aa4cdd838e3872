//! The batches of an epoch in their order, read several at a time.
//! Batches are sampled ahead, and as many as the memory allows are read as one window; batches whose rows are in the page
//! cache are made one by one, since there is nothing to plan. Memory that is short costs speed first: the window before
//! goes, then windows become shorter, then batches are read alone; only a batch that does not fit by itself is an error.

use crate::columns::Columns;
use crate::hot_ids::HotIds;
use crate::hot_rows::HotRows;
use crate::sampled_batch::SampledBatch;
use crate::window::{Window, WindowPlan};
use crate::window_size::missing;
use crate::{Batch, Column, NeighborLoader, ReadStats, Result};
use graphmill_sample::Sample;
use std::collections::VecDeque;
use std::sync::Arc;

/// Makes the batches of an epoch; see [`NeighborLoader::epoch`].
#[derive(Debug)]
pub struct EpochBatches {
    loader: Arc<NeighborLoader>,
    epoch: u64,
    /// The next batch to sample.
    next: u64,
    /// Sampled, and in no window yet.
    sampled: VecDeque<SampledBatch>,
    /// Whose rows are in the window, or are to be gathered if there is none.
    ready: VecDeque<SampledBatch>,
    /// The place of the first of them in the window.
    place: usize,
    windows: Windows,
    /// How many batches the next window may have: the first come soon, later windows are long.
    width: usize,
    /// What part of the rows that batches lack was distinct in the window before.
    distinct_share: f64,
    is_finished: bool,
}

/// The rows of nodes and edges; None if they are not read together.
#[derive(Debug, Default)]
struct Windows {
    nodes: Option<Window>,
    edges: Option<Window>,
}

impl Windows {
    fn bytes(&self) -> u64 {
        self.nodes.iter().chain(&self.edges).map(Window::bytes).sum()
    }
}

impl Iterator for EpochBatches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        if self.is_finished {
            return None;
        }
        let outcome = self.next_batch().transpose();
        self.is_finished = !matches!(outcome, Some(Ok(_)));
        if self.is_finished {
            self.windows = Windows::default();
        }
        outcome
    }
}

impl EpochBatches {
    pub(crate) fn new(loader: Arc<NeighborLoader>, epoch: u64, first: u64) -> Self {
        EpochBatches {
            loader,
            epoch,
            next: first,
            sampled: VecDeque::new(),
            ready: VecDeque::new(),
            place: 0,
            windows: Windows::default(),
            width: 1,
            distinct_share: 1.0,
            is_finished: false,
        }
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        if self.ready.is_empty() && !self.fill()? {
            return Ok(None);
        }
        let Some(sampled) = self.ready.pop_front() else { return Ok(None) };
        let loader = self.loader.clone();
        let outcome = match self.assemble(&sampled) {
            Err(error) if error.is_budget() => {
                self.forget_ahead(sampled.index + 1);
                loader.gathered(&sampled.sample)
            }
            outcome => outcome,
        };
        let (columns, edge_columns) =
            outcome.map_err(|error| loader.too_large(error, self.epoch, &sampled))?;
        self.place += 1;
        loader.finished(sampled, columns, edge_columns).map(Some)
    }

    /// The rows of the first batch that is ready.
    fn assemble(&self, sampled: &SampledBatch) -> Result<(Vec<Column>, Vec<Column>)> {
        let loader = &self.loader;
        let (buffers, budget) = (&loader.buffers, loader.dataset().budget());
        let rows = |window: &Option<Window>, columns: &Columns, ids: &[i64]| -> Result<_> {
            let (rows, stats) = match window {
                Some(window) => window.assemble(self.place, ids, columns, buffers, budget)?,
                None => columns.gather(ids, buffers, budget)?,
            };
            loader.sums.reads.add(&stats);
            Ok(rows)
        };
        let columns = rows(&self.windows.nodes, &loader.columns, &sampled.sample.nodes)?;
        let edges = &sampled.sample.edge_ids;
        Ok((columns, rows(&self.windows.edges, &loader.edge_columns, edges)?))
    }

    /// Gives up all memory that only makes batches come sooner; batches from `next` on are sampled again.
    fn forget_ahead(&mut self, next: u64) {
        self.windows = Windows::default();
        self.ready.clear();
        self.sampled.clear();
        self.loader.forget_hot_rows();
        (self.next, self.width) = (next, 1);
    }

    /// Makes batches ready; false if there are no more.
    fn fill(&mut self) -> Result<bool> {
        let loader = self.loader.clone();
        if self.sampled.is_empty() {
            if self.next >= loader.len() {
                return Ok(false);
            }
            match self.sample_next() {
                Err(error) if error.is_budget() => {
                    self.forget_ahead(self.next);
                    self.sample_next()?;
                }
                outcome => outcome?,
            }
        }
        let Sample { nodes, edge_ids, .. } = &self.sampled[0].sample;
        let cold_nodes = WindowPlan::can_hold(self.num_nodes(), nodes.len())
            && loader.columns.are_cold(nodes)?;
        let cold_edges = WindowPlan::can_hold(self.num_edges(), edge_ids.len())
            && loader.edge_columns.are_cold(edge_ids)?;
        let mut count = 1;
        let mut windows = None;
        if cold_nodes || cold_edges {
            let hot = if cold_nodes { self.hot()? } else { None };
            count = self.sample_ahead(hot.as_ref().map(|hot| &hot.ids))?;
            while windows.is_none() && count > 0 {
                match self.read(count, cold_nodes.then(|| hot.clone()), cold_edges) {
                    Ok((read, share)) => (windows, self.distinct_share) = (Some(read), share),
                    Err(error) if !error.is_budget() => return Err(error),
                    Err(_) if self.windows.bytes() > 0 => self.windows = Windows::default(),
                    Err(_) => count /= 2,
                }
            }
        }
        if windows.is_some() {
            loader.sums.count_window(count);
            self.width = (2 * self.width).min(loader.most_batches());
        }
        self.windows = windows.unwrap_or_default();
        self.ready.extend(self.sampled.drain(..count.max(1)));
        self.place = 0;
        Ok(true)
    }

    fn num_nodes(&self) -> u64 {
        self.loader.dataset().graph().num_nodes()
    }

    fn num_edges(&self) -> u64 {
        let rows = self.loader.edge_columns.rows().map(|rows| rows.table().shape().rows());
        rows.max().unwrap_or(0)
    }

    fn sample_next(&mut self) -> Result<()> {
        let loader = &self.loader;
        let sampled = loader.buffers.with_room(|| loader.sampled(self.epoch, self.next))?;
        self.sampled.push_back(sampled);
        self.next += 1;
        Ok(())
    }

    /// Samples as many batches as a window can hold; at least one is there.
    fn sample_ahead(&mut self, hot: Option<&HotIds>) -> Result<usize> {
        let budget = self.loader.dataset().budget().clone();
        let lists: u64 = self.sampled.iter().map(|sampled| sampled.memory.bytes()).sum();
        let own = self.windows.bytes() + self.loader.buffers.idle() + lists;
        let limit = self.loader.window_limit(budget.free() + own, &self.sampled[0]);
        let most = self.width.min(self.loader.most_batches());
        let (mut count, mut bytes, mut nodes, mut edges) = (0, 0_u64, 0, 0);
        while count < most {
            if count == self.sampled.len() {
                if self.next >= self.loader.len() {
                    break;
                }
                match self.sample_next() {
                    Err(error) if error.is_budget() => break,
                    outcome => outcome?,
                }
            }
            let sampled = &self.sampled[count];
            nodes += sampled.sample.nodes.len();
            edges += sampled.sample.edge_ids.len();
            let more = self.loader.window_bytes(sampled, hot, self.distinct_share);
            bytes = bytes.saturating_add(more);
            let can_hold = WindowPlan::can_hold(self.num_nodes(), nodes)
                && WindowPlan::can_hold(self.num_edges(), edges);
            if count > 0 && (bytes > limit || !can_hold) {
                break;
            }
            count += 1;
        }
        Ok(count)
    }

    /// Reads the first `count` sampled batches together, and says what part of the missing rows of nodes was distinct.
    fn read(
        &self,
        count: usize,
        nodes: Option<Option<Arc<HotRows>>>,
        edges: bool,
    ) -> Result<(Windows, f64)> {
        let loader = &self.loader;
        let lists = |list: fn(&Sample) -> &[i64]| -> Vec<&[i64]> {
            self.sampled.iter().take(count).map(|sampled| list(&sampled.sample)).collect()
        };
        let mut windows = Windows::default();
        let mut distinct_share = self.distinct_share;
        if let Some(hot) = nodes {
            let (lists, before) = (lists(|sample| &sample.nodes), self.windows.nodes.as_ref());
            let (columns, num_nodes) = (&loader.columns, self.num_nodes());
            let (window, share) = read_window(loader, columns, num_nodes, &lists, hot, before)?;
            windows.nodes = Some(window);
            distinct_share = share;
        }
        if edges {
            let (lists, before) = (lists(|sample| &sample.edge_ids), self.windows.edges.as_ref());
            let (columns, num_edges) = (&loader.edge_columns, self.num_edges());
            let (window, _) = read_window(loader, columns, num_edges, &lists, None, before)?;
            windows.edges = Some(window);
        }
        Ok((windows, distinct_share))
    }

    /// The hot rows; made by the first who needs them, if there is memory for any.
    fn hot(&mut self) -> Result<Option<Arc<HotRows>>> {
        let loader = self.loader.clone();
        if let Some(known) = loader.known_hot_rows() {
            return Ok(known);
        }
        while self.sampled.len() < loader.presampled() && self.next < loader.len() {
            match self.sample_next() {
                Err(error) if error.is_budget() => break,
                outcome => outcome?,
            }
        }
        let free = loader.dataset().budget().free();
        let batches = loader.len() - self.next + self.sampled.len() as u64;
        let bytes = loader.hot_bytes(free, &self.sampled[0], batches);
        let lists: Vec<&[i64]> =
            self.sampled.iter().map(|sampled| sampled.sample.nodes.as_slice()).collect();
        loader.make_hot_rows(bytes, &lists)
    }
}

/// Plans and reads one window, and says what part of its missing rows was distinct.
fn read_window(
    loader: &NeighborLoader,
    columns: &Columns,
    num_rows: u64,
    lists: &[&[i64]],
    hot: Option<Arc<HotRows>>,
    before: Option<&Window>,
) -> Result<(Window, f64)> {
    let budget = loader.dataset().budget();
    for rows in columns.rows() {
        lists.iter().try_for_each(|list| rows.check_ids(list))?;
    }
    let places = lists.iter().map(|list| list.len()).sum();
    let missing: usize =
        lists.iter().map(|list| missing(list, hot.as_ref().map(|hot| &hot.ids))).sum();
    let bytes = WindowPlan::memory(places, missing);
    let mut memory = loader.buffers.with_room(|| Ok(budget.reserve(bytes, "a window")?))?;
    let plan = WindowPlan::new(num_rows, lists, hot.as_ref().map(|hot| &hot.ids));
    memory.shrink(bytes - plan.bytes());
    let share = plan.distinct() as f64 / missing.max(1) as f64;
    let (window, stats): (Window, ReadStats) =
        Window::read(plan, columns, hot, before, &loader.buffers, budget, memory)?;
    loader.sums.reads.add(&stats);
    Ok((window, share))
}
