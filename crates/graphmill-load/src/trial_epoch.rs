//! An epoch on trial: which windows it would have, and which reads.
//! An estimate goes through the first windows of an epoch here. They are formed and planned by the same code as for the
//! reader of an epoch, so that nothing else can come out; only when memory would be given back has to be guessed. It
//! samples and plans, and must not read rows.

use crate::columns::Columns;
use crate::hot_ids::HotIds;
use crate::read_plan::ReadPlan;
use crate::row_order::RowOrder;
use crate::sampled_batch::SampledBatch;
use crate::window::parts;
use crate::window_forming::WindowLengths;
use crate::window_plan::WindowPlan;
use crate::window_size::missing;
use crate::{NeighborLoader, Result};
use graphmill_disk::Reservation;
use graphmill_sample::Sample;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// Batches whose lists nobody counts as waiting when a window is formed: the one in use, and the one that is put together.
const IN_HANDS: u64 = 2;

/// Batches that are sampled a second time, by the clock.
const TIMED: u32 = 16;

/// Samples the batches of an epoch one after the other.
#[derive(Debug)]
pub(crate) struct TrialSampling<'a> {
    loader: &'a NeighborLoader,
    epoch: u64,
    next: u64,
    /// Sampled, and in no window yet.
    pub(crate) pending: VecDeque<SampledBatch>,
    timed: u32,
    sampling: Duration,
    narrowed: u32,
    narrowing: Duration,
}

impl<'a> TrialSampling<'a> {
    pub(crate) fn new(loader: &'a NeighborLoader, epoch: u64) -> Self {
        TrialSampling {
            loader,
            epoch,
            next: 0,
            pending: VecDeque::new(),
            timed: 0,
            sampling: Duration::ZERO,
            narrowed: 0,
            narrowing: Duration::ZERO,
        }
    }

    /// Samples until so many are pending, or there are no more or no memory for more. There is always one at the beginning.
    pub(crate) fn ahead(&mut self, count: usize) -> Result<()> {
        while self.pending.len() < count && self.next < self.loader.len() {
            match self.sample() {
                Err(error) if error.is_budget() && self.next > 0 => break,
                sampled => self.pending.push_back(sampled?),
            }
            self.next += 1;
        }
        Ok(())
    }

    /// The next batch.
    fn sample(&mut self) -> Result<SampledBatch> {
        let Self { loader, epoch, next, .. } = *self;
        let sampled = loader.sampled(loader.key(epoch), next)?;
        if self.timed == TIMED {
            return Ok(sampled);
        }
        // The first time may have waited for lists on the disk, which an epoch does only in the beginning.
        drop(sampled);
        let began = Instant::now();
        let sampled = loader.sampled(loader.key(epoch), next)?;
        self.sampling += began.elapsed();
        self.timed += 1;
        Ok(sampled)
    }

    /// Makes the lists of all that are pending narrow, as those are that wait for a window.
    fn narrow(&mut self) {
        for sampled in self.pending.iter_mut().filter(|sampled| sampled.narrow.len() == 0) {
            let began = Instant::now();
            sampled.narrow(self.loader.wants_edge_ids());
            self.narrowing += began.elapsed();
            self.narrowed += 1;
        }
    }

    /// Seconds that sampling and narrowing a batch took.
    pub(crate) fn seconds(&self) -> (f64, f64) {
        let mean = |time: Duration, count: u32| time.as_secs_f64() / f64::from(count.max(1));
        (mean(self.sampling, self.timed), mean(self.narrowing, self.narrowed))
    }
}

/// Goes through the windows of an epoch.
#[derive(Debug)]
pub(crate) struct TrialEpoch<'a> {
    loader: &'a NeighborLoader,
    hot: Option<&'a HotIds>,
    /// Bytes that hot rows would take.
    hot_bytes: u64,
    lengths: WindowLengths,
    before: Option<Planned>,
}

/// What is wanted together.
#[derive(Debug)]
struct Planned {
    /// The rows of nodes, and those of edges.
    plans: [WindowPlan; 2],
    memory: Reservation,
}

impl Planned {
    fn bytes(&self) -> u64 {
        self.plans.iter().map(WindowPlan::bytes).sum()
    }

    /// Bytes of the rows themselves.
    fn row_bytes(&self, columns: [&Columns; 2]) -> u64 {
        let of = |(plan, columns): (&WindowPlan, &Columns)| {
            plan.rows().len() as u64 * columns.stored_row_bytes()
        };
        self.plans.iter().zip(columns).map(of).sum()
    }

    /// Parts in which the rows are read.
    fn steps(&self, columns: [&Columns; 2]) -> usize {
        let of = |(plan, columns): (&WindowPlan, &Columns)| {
            columns.rows().count() * parts(plan.rows().len()).count()
        };
        self.plans.iter().zip(columns).map(of).sum()
    }
}

/// What a window would take.
#[derive(Debug, Default)]
pub(crate) struct TrialWindow {
    /// Batches that are read together.
    pub(crate) batches: usize,
    /// Whether later windows will have as many.
    pub(crate) is_full: bool,
    /// Rows of nodes that they want.
    pub(crate) nodes: usize,
    /// Those of them that are not hot.
    pub(crate) cold: usize,
    /// Rows of edges that they want.
    pub(crate) edge_rows: usize,
    /// Edges that they have.
    pub(crate) edges: usize,
    /// Rows that are read, of all tables.
    pub(crate) rows_read: usize,
    /// How many requests of each length there are.
    pub(crate) reads: BTreeMap<u64, u64>,
    /// What planning took.
    pub(crate) planning: Duration,
    /// Bytes that were counted for it.
    pub(crate) bytes: u64,
}

impl<'a> TrialEpoch<'a> {
    pub(crate) fn new(loader: &'a NeighborLoader, hot: Option<&'a HotIds>, hot_bytes: u64) -> Self {
        TrialEpoch { loader, hot, hot_bytes, lengths: WindowLengths::new(), before: None }
    }

    /// The next window; None when there are no more batches.
    pub(crate) fn window(
        &mut self,
        sampling: &mut TrialSampling<'_>,
    ) -> Result<Option<TrialWindow>> {
        sampling.ahead(1)?;
        sampling.narrow();
        let Some(first) = sampling.pending.front() else { return Ok(None) };
        let limit = self.loader.window_limit(self.available(first, sampling), first);
        let mut forming = self.lengths.forming(self.loader, self.hot, limit);
        while forming.is_open() {
            sampling.ahead(forming.count() + 1)?;
            sampling.narrow();
            let next = sampling.pending.get(forming.count());
            if next.is_none_or(|next| !forming.add(next)) {
                break;
            }
        }
        let (count, bytes) = (forming.count(), forming.bytes());
        let batches: Vec<SampledBatch> = sampling.pending.drain(..count).collect();
        let is_full = !self.lengths.are_growing(self.loader, count);
        // The first batch of a window is taken even if it does not fit, and is read without one.
        let bytes = bytes.min(limit);
        let window = TrialWindow { batches: count, is_full, bytes, ..TrialWindow::default() };
        self.planned(&batches, limit, window).map(Some)
    }

    /// What the reader would find for windows and batches. Asked of the budget each time: sampling may have copied the lists to
    /// memory meanwhile.
    fn available(&self, first: &SampledBatch, sampling: &TrialSampling<'_>) -> u64 {
        let pending: u64 = sampling.pending.iter().map(|batch| batch.memory.bytes()).sum();
        let free = self.loader.dataset().budget().free().saturating_add(pending);
        let lists = first.memory.bytes().saturating_add(first.narrow.bytes_saved());
        free.saturating_sub(self.hot_bytes).saturating_sub(lists.saturating_mul(IN_HANDS))
    }

    /// Plans the reads of a window.
    fn planned(
        &mut self,
        batches: &[SampledBatch],
        limit: u64,
        mut window: TrialWindow,
    ) -> Result<TrialWindow> {
        let Self { loader, hot, .. } = *self;
        window.nodes = batches.iter().map(|batch| batch.sample.nodes.len()).sum();
        window.edges = batches.iter().map(SampledBatch::num_edges).sum();
        let nodes = wanted(&loader.columns, batches, |sample| &sample.nodes)?;
        let edges = wanted(&loader.edge_columns, batches, |sample| &sample.edge_ids)?;
        window.edge_rows = edges.iter().map(|list| list.len()).sum();
        let began = Instant::now();
        window.cold = nodes.iter().map(|list| missing(list, hot)).sum();
        let of_list = |missing: usize| missing as u64 * size_of::<u64>() as u64;
        let memory = |wanted: usize, missing: usize| {
            let reads = RowOrder::memory(missing) + ReadPlan::memory(missing) + of_list(missing);
            WindowPlan::memory(wanted, missing) + reads
        };
        let bytes = memory(window.nodes, window.cold) + memory(window.edge_rows, window.edge_rows);
        let memory = loader.dataset().budget().reserve(bytes, "planning reads")?;
        let plans = [
            WindowPlan::new(loader.num_nodes(), &nodes, hot),
            WindowPlan::new(loader.num_edge_rows(), &edges, None),
        ];
        let mut planned = Planned { plans, memory };
        let lists: u64 = batches.iter().map(|batch| batch.memory.bytes()).sum();
        let plans = planned.bytes();
        // As windows are sized: three windows of lists, two of plans.
        let room = limit.saturating_sub(3 * lists).saturating_sub(2 * plans);
        (window.reads, window.rows_read) = self.reads(&planned, room);
        window.planning = began.elapsed();
        let share = planned.plans[0].rows().len() as f64 / window.cold.max(1) as f64;
        self.lengths.note(loader, window.batches, share);
        planned.memory.shrink(bytes.saturating_sub(plans));
        self.before = Some(planned);
        Ok(window)
    }

    /// The requests by their lengths and how many rows they are for, if rows of this window and the one before have so many bytes.
    ///
    /// The window before is there as a whole until that is too little. From then on only rows of those batches are there that
    /// are not put together yet; about as many are as was read of this window.
    fn reads(&self, planned: &Planned, room: u64) -> (BTreeMap<u64, u64>, usize) {
        let Self { loader, before, .. } = self;
        let sets = [&loader.columns, &loader.edge_columns];
        let all = planned.steps(sets);
        let mut held = before.as_ref().map_or(0, |before| before.row_bytes(sets));
        let (mut step, mut lengths, mut rows_read) = (0, BTreeMap::new(), 0);
        for (number, columns) in sets.into_iter().enumerate() {
            let earlier = before.as_ref().map(|before| &before.plans[number]);
            let plan = &planned.plans[number];
            for rows in columns.rows() {
                let (places, shape) = (rows.places(), rows.table().shape());
                let mut next = 0;
                for part in parts(plan.rows().len()) {
                    held += part.len() as u64 * shape.row_length();
                    // Batches of the window before that are put together by now.
                    let done = |count: usize| if held > room { count * step / all } else { 0 };
                    let mut is_there = |row: &u64| {
                        let Some(earlier) = earlier else { return false };
                        let found = earlier.find(*row, &mut next);
                        found.is_some_and(|found| {
                            earlier.slot(found).batch >= done(earlier.owned().len())
                        })
                    };
                    let wanted: Vec<u64> =
                        plan.rows()[part].iter().copied().filter(|row| !is_there(row)).collect();
                    let (count, pairs) = (wanted.len(), wanted.into_iter().zip(0..));
                    let order = RowOrder::new(shape.rows(), count, pairs);
                    let reads = ReadPlan::new(&order, &places, &rows.merging);
                    for range in &reads.ranges {
                        *lengths.entry(range.end - range.start).or_default() += 1;
                    }
                    rows_read += count;
                    step += 1;
                }
            }
        }
        (lengths, rows_read)
    }
}

/// The lists of rows that columns want for some batches, all of which they must have; none if there are no columns.
fn wanted<'b>(
    columns: &Columns,
    batches: &'b [SampledBatch],
    list: fn(&Sample) -> &[i64],
) -> Result<Vec<&'b [i64]>> {
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let lists: Vec<&[i64]> = batches.iter().map(|batch| list(&batch.sample)).collect();
    for rows in columns.rows() {
        lists.iter().try_for_each(|list| rows.check_ids(list))?;
    }
    Ok(lists)
}
