//! Batches of a dataset by epoch and index.
//! A loader joins seed order, sampler and rows; each batch is made by the call that asks for it and depends on nothing
//! but seed, epoch, index and options. It does not know who trains on the batches.

use crate::buffers::Buffers;
use crate::columns::Columns;
use crate::epoch::{EpochKey, EpochOrder};
use crate::epoch_batches::EpochBatches;
use crate::heat::Heat;
use crate::hot_rows::HotRows;
use crate::loader_stats::{LoaderStats, LoaderSums};
use crate::narrow_edges::NarrowEdges;
use crate::sampled_batch::SampledBatch;
use crate::seed_times::{KnownTimes, time_table};
use crate::stages::Course;
use crate::start::{BatchStart, LinkSeeds, Start};
use crate::with_unlocked::with_unlocked;
use crate::{Batch, BatchMemory, Column, Error, LoaderOptions, Result, Seeds};
use graphmill_disk::{Budget, Reservation};
use graphmill_format::Direction;
use graphmill_sample::{
    self as sampler, Sample, Scratch, check_fanouts, sample_ends_within, sample_within,
};
use graphmill_store::{Dataset, Lists, Table};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

/// Batches that tell which rows are hot, if nothing else does.
const PRESAMPLED: usize = 4;

/// Bytes that each node a batch starts from takes while it is sampled: ids, owners, times, labels, excluded edges.
const START_BYTES: u64 = 96;

/// Makes the batches of a dataset. Any number of threads may ask it for batches at once.
#[derive(Debug)]
pub struct NeighborLoader {
    dataset: Dataset,
    start: Start,
    times: Option<KnownTimes>,
    node_times: Option<Table>,
    options: LoaderOptions,
    num_batches: u64,
    pub(crate) columns: Columns,
    pub(crate) edge_columns: Columns,
    pub(crate) buffers: Buffers,
    pub(crate) sums: LoaderSums,
    // All are only ever tried: whoever does not get one makes its own, or does without.
    pub(crate) idle: Mutex<Vec<Scratch>>,
    pub(crate) latest: Mutex<Option<Arc<Order>>>,
    /// The hot rows, or that there shall be none; outside None until the first window.
    pub(crate) hot: Mutex<Option<Option<Arc<HotRows>>>>,
    /// Epochs under way.
    pub(crate) running: AtomicUsize,
}

/// The order of an epoch and the memory it takes.
#[derive(Debug)]
pub(crate) struct Order {
    key: EpochKey,
    order: EpochOrder,
    _memory: Reservation,
}

impl NeighborLoader {
    /// A loader over the neighbourhoods of `seeds`, which are ids of the source; everything that can be checked now is.
    pub fn new(dataset: Dataset, seeds: Vec<i64>, options: LoaderOptions) -> Result<Self> {
        Self::over(dataset, Seeds::Original(seeds), options)
    }

    /// The same for seeds that are named in any way.
    pub fn over(dataset: Dataset, seeds: Seeds, options: LoaderOptions) -> Result<Self> {
        check_fanouts(&options.fanouts)?;
        let start = Start::nodes(seeds, &dataset)?;
        Self::from(dataset, start, options)
    }

    /// A loader over the neighbourhoods of pairs of nodes, for link prediction.
    pub fn over_links(dataset: Dataset, links: LinkSeeds, options: LoaderOptions) -> Result<Self> {
        check_fanouts(&options.fanouts)?;
        let start = Start::links(links, &dataset)?;
        Self::from(dataset, start, options)
    }

    fn from(dataset: Dataset, mut start: Start, options: LoaderOptions) -> Result<Self> {
        if options.direction == Direction::Both {
            return Err(graphmill_sample::Error::Direction { found: options.direction }.into());
        }
        dataset.graph().sections(options.direction)?;
        let times =
            options.times.as_ref().map(|times| times.known(&dataset, &start)).transpose()?;
        let node_times = options.node_times.as_ref().map(|name| time_table(&dataset, name));
        let node_times = node_times.transpose()?;
        if let Some(table) = &node_times {
            start.draw_by_time(table.as_i64()?, dataset.budget())?;
        }
        let columns = Columns::of_nodes(&dataset, &options)?;
        let edge_columns = edge_columns(&dataset, &options)?;
        let num_batches = options.order(start.len(), options.key(0))?.num_batches();
        let loader = NeighborLoader {
            edge_columns,
            buffers: Buffers::new(dataset.budget()),
            sums: LoaderSums::default(),
            idle: Mutex::default(),
            latest: Mutex::default(),
            hot: Mutex::default(),
            running: AtomicUsize::new(0),
            dataset,
            start,
            times,
            node_times,
            options,
            num_batches,
            columns,
        };
        loader.check_sampling()?;
        Ok(loader)
    }

    /// The dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The seeds in the order given, as numbers of nodes; the sources if they are links.
    pub fn seeds(&self) -> &[i64] {
        self.start.seeds()
    }

    /// Numbers that stand for the seeds and for their times, if they have any.
    pub fn digests(&self) -> (u64, Option<u64>) {
        (self.start.digest(), self.times.as_ref().map(KnownTimes::digest))
    }

    /// The options as given.
    pub fn options(&self) -> &LoaderOptions {
        &self.options
    }

    /// The key of an epoch with the seed and the share that the options have.
    pub fn key(&self, epoch: u64) -> EpochKey {
        self.options.key(epoch)
    }

    /// Number of batches of an epoch for each of `world_size` processes that share its seeds.
    pub fn num_batches(&self, world_size: u64) -> Result<u64> {
        let key = EpochKey { rank: 0, world_size, ..self.key(0) };
        Ok(self.options.order(self.start.len(), key)?.num_batches())
    }

    /// Number of batches of an epoch, for the share that the options have.
    pub fn len(&self) -> u64 {
        self.num_batches
    }

    /// Whether an epoch has no batch.
    pub fn is_empty(&self) -> bool {
        self.num_batches == 0
    }

    /// Makes one batch of an epoch.
    pub fn batch(&self, epoch: u64, index: u64) -> Result<Batch> {
        let batch = self.make(self.key(epoch), index)?;
        self.sums.count_batch();
        Ok(batch)
    }

    /// Makes one batch of an epoch that is not delivered yet.
    pub(crate) fn make(&self, key: EpochKey, index: u64) -> Result<Batch> {
        let sampled = self.buffers.with_room(|| self.sampled(key, index))?;
        let outcome = self.gathered(&sampled.sample);
        let (columns, edge_columns) =
            outcome.map_err(|error| self.too_large(error, key.epoch, &sampled))?;
        self.finished(sampled, columns, edge_columns)
    }

    /// The batches of an epoch from `first` on, made ahead by threads and read several at a time as far as the memory
    /// allows.
    ///
    /// They are the same as [`batch`](Self::batch) makes. The iterator ends after an error.
    pub fn epoch(self: &Arc<Self>, epoch: u64, first: u64) -> EpochBatches {
        self.every(epoch, first, 1)
    }

    /// Like [`epoch`](Self::epoch), but only every `step`-th batch (at least 1), for one of several that share an epoch.
    pub fn every(self: &Arc<Self>, epoch: u64, first: u64, step: u64) -> EpochBatches {
        let end = self.num_batches;
        let course = Course { key: self.key(epoch), next: first, step: step.max(1), end };
        EpochBatches::new(self.clone(), course)
    }

    /// Like [`every`](Self::every), for any seed and any share of the epoch.
    pub fn batches(self: &Arc<Self>, key: EpochKey, first: u64, step: u64) -> Result<EpochBatches> {
        let end = self.options.order(self.start.len(), key)?.num_batches();
        let course = Course { key, next: first, step: step.max(1), end };
        Ok(EpochBatches::new(self.clone(), course))
    }

    /// Lets lists that the page cache cannot keep have their memory before rows take it.
    pub(crate) fn settle(&self) -> Result<()> {
        Ok(self.dataset.graph().settle(self.options.direction)?)
    }

    /// What reading has taken so far.
    pub fn stats(&self) -> LoaderStats {
        self.sums.total(self.dataset.budget())
    }

    /// The hot rows, or that there are none, if that was decided already.
    pub(crate) fn known_hot_rows(&self) -> Option<Option<Arc<HotRows>>> {
        if self.options.hot_memory == Some(0) {
            return Some(None);
        }
        with_unlocked(&self.hot, |hot| hot.clone()).flatten()
    }

    /// How many batches tell which rows are hot, if nothing else does.
    pub(crate) fn presampled(&self) -> usize {
        let heat = Heat::of(&self.dataset, self.options.direction);
        if matches!(heat, Heat::Batches) { PRESAMPLED } else { 1 }
    }

    /// Reads hot rows of so many bytes, unless another loader has some, and remembers them. Goes without if that does
    /// not fit.
    pub(crate) fn make_hot_rows(
        &self,
        bytes: u64,
        batches: &[&[i64]],
    ) -> Result<Option<Arc<HotRows>>> {
        let followed = self.options.direction;
        let hot = match HotRows::shared(&self.columns, followed) {
            Some(shared) => Some(shared),
            None => match HotRows::read(&self.dataset, &self.columns, followed, bytes, batches) {
                Ok((hot, stats)) => {
                    self.sums.reads.add(&stats);
                    hot
                }
                Err(error) if error.is_budget() => None,
                Err(error) => return Err(error),
            },
        };
        self.sums.hot_rows(hot.as_ref().map_or(0, |hot| hot.ids.len()));
        with_unlocked(&self.hot, |known| *known = Some(hot.clone()));
        Ok(hot)
    }

    /// Goes without hot rows from now on, because memory is short.
    pub(crate) fn forget_hot_rows(&self) {
        self.sums.hot_rows(0);
        with_unlocked(&self.hot, |known| *known = Some(None));
    }

    /// Samples a batch without its rows.
    pub(crate) fn sampled(&self, key: EpochKey, index: u64) -> Result<SampledBatch> {
        let order = self.order(key)?;
        let batch_size = order.order.batch_len(index)?;
        let ids = self.start.most_ids(batch_size) as u64;
        let reserve = |what: &str, bytes: u64| {
            let what = format!("{what} of batch {index} of epoch {}", key.epoch);
            self.dataset.budget().reserve(bytes, &what)
        };
        let _start_memory = reserve("the seeds", START_BYTES.saturating_mul(ids))?;
        let ends = if self.start.is_links() { ids } else { 0 };
        let per_seed = if self.times.is_some() { 2 } else { 1 };
        let kept = ends.saturating_add(per_seed * batch_size as u64).saturating_mul(8);
        let seeds_memory = reserve("the seed positions", kept)?;
        let mut lists_memory = reserve("the sampled lists", 0)?;
        let input_positions = order.order.batch(index)?;
        let seed_times = self.times.as_ref().map(|times| times.of(&input_positions));
        // Processes that share an epoch have batches of their own numbers.
        let number = index * key.world_size + key.rank;
        let lists = self.dataset.graph().lists(self.options.direction)?;
        let address = (key.seed, key.epoch, number);
        let node_times = self.node_times.as_ref().map(Table::as_i64).transpose()?;
        let times = node_times.zip(seed_times.as_deref());
        let start =
            self.start.batch(&input_positions, address, times, &lists, self.options.direction)?;
        let (sample, link_ends) =
            self.sample(&lists, &start, seed_times.as_deref(), address, &mut lists_memory)?;
        let memory = BatchMemory { parts: [seeds_memory, lists_memory] };
        Ok(SampledBatch {
            index,
            batch_size,
            sample,
            narrow: NarrowEdges::default(),
            input_positions,
            seed_times,
            link_ends,
            memory,
        })
    }

    /// The rows of a sampled batch, read for it alone.
    pub(crate) fn gathered(&self, sample: &Sample) -> Result<(Vec<Column>, Vec<Column>)> {
        let budget = self.dataset.budget();
        let (columns, stats) = self.columns.gather(&sample.nodes, &self.buffers, budget)?;
        self.sums.reads.add(&stats);
        let (edge_columns, stats) =
            self.edge_columns.gather(&sample.edge_ids, &self.buffers, budget)?;
        self.sums.reads.add(&stats);
        Ok((columns, edge_columns))
    }

    /// Joins a sampled batch and its rows.
    pub(crate) fn finished(
        &self,
        mut sampled: SampledBatch,
        columns: Vec<Column>,
        edge_columns: Vec<Column>,
    ) -> Result<Batch> {
        if self.options.original {
            self.dataset.ids().make_original(&mut sampled.sample.nodes)?;
        }
        Ok(sampled.with_rows(columns, edge_columns))
    }

    /// Says what a whole batch needs instead of the part of it that did not fit.
    pub(crate) fn too_large(&self, error: Error, epoch: u64, sampled: &SampledBatch) -> Error {
        if !error.is_budget() {
            return error;
        }
        let (rows, work) = self.delivery_bytes(sampled);
        let lists = sampled.memory.bytes();
        let budget = self.dataset.budget();
        let wanted = rows.saturating_add(work).saturating_add(lists);
        let error = graphmill_disk::Error::Budget {
            what: format!("batch {} of epoch {epoch} with its rows", sampled.index),
            wanted,
            free: budget.free().saturating_add(self.buffers.idle()).saturating_add(lists),
            total: budget.total(),
        };
        error.into()
    }

    /// The neighbourhood of a start, and the local ids of the ends of links.
    fn sample(
        &self,
        lists: &Lists<'_>,
        start: &BatchStart,
        times: Option<&[i64]>,
        (seed, epoch, number): (u64, u64, u64),
        memory: &mut Reservation,
    ) -> Result<(Sample, Option<Vec<i64>>)> {
        let options = self.options.fanout().seed(seed).epoch(epoch).batch(number);
        let follow = self.options.direction;
        let of_owner = |times: &[i64]| start.owners.iter().map(|&owner| times[owner]).collect();
        let times: Option<Vec<i64>> = times.map(of_owner);
        let node_times = self.node_times.as_ref().map(Table::as_i64).transpose()?;
        let idle = with_unlocked(&self.idle, Vec::pop).flatten();
        let mut scratch = match idle {
            Some(scratch) => scratch,
            None => Scratch::within(self.dataset.budget())?,
        };
        let seeds = sampler::Seeds::new(&start.ids);
        let seeds = times.as_deref().map_or(seeds, |times| seeds.times(times));
        let seeds = node_times.map_or(seeds, |times| seeds.node_times(times));
        let seeds = start.excluded.as_ref().map_or(seeds, |edges| seeds.excluded(edges));
        let sampled = if start.links.is_none() {
            let sample = sample_within(lists, seeds, &options, follow, &mut scratch, memory);
            sample.map(|sample| (sample, None))
        } else {
            let sample = sample_ends_within(lists, seeds, &options, follow, &mut scratch, memory);
            sample.map(|(mut sample, ends)| {
                // A tree is told by its link.
                for tree in &mut sample.batch {
                    *tree = start.owners[*tree as usize] as i64;
                }
                (sample, Some(ends))
            })
        };
        with_unlocked(&self.idle, |idle| idle.push(scratch));
        Ok(sampled?)
    }

    /// Fails if the graph cannot be sampled as the options say: what the sampler refuses, it refuses for no seeds too.
    fn check_sampling(&self) -> Result<()> {
        let lists = self.dataset.graph().lists(self.options.direction)?;
        let nothing =
            BatchStart { ids: Vec::new(), links: None, owners: Vec::new(), excluded: None };
        let times = self.times.is_some().then_some(&[][..]);
        let mut memory = Budget::unlimited().reserve(0, "a batch of nothing")?;
        self.sample(&lists, &nothing, times, (0, 0, 0), &mut memory)?;
        // The work memory that this left is not paid for as long as nothing is sampled.
        with_unlocked(&self.idle, Vec::clear);
        Ok(())
    }

    /// The order of an epoch: that of the last call if it is the same epoch, else a new one.
    fn order(&self, key: EpochKey) -> Result<Arc<Order>> {
        // As given, the seeds come in one order in all epochs, whatever the seed.
        let key = if self.options.shuffle { key } else { EpochKey { seed: 0, epoch: 0, ..key } };
        let same = |latest: &mut Option<Arc<Order>>| {
            // A wrong one goes first, so that two never have to fit into the budget.
            latest.take_if(|order| order.key != key);
            latest.clone()
        };
        if let Some(order) = with_unlocked(&self.latest, same).flatten() {
            return Ok(order);
        }
        let order = self.options.order(self.start.len(), key)?;
        let bytes =
            if self.options.shuffle { EpochOrder::shuffled_bytes(self.start.len()) } else { 0 };
        let what = format!("the seed order of epoch {}", key.epoch);
        let memory = self.dataset.budget().reserve(bytes, &what)?;
        let order = if self.options.shuffle { order.shuffled(key.seed, key.epoch) } else { order };
        let order = Arc::new(Order { key, order, _memory: memory });
        with_unlocked(&self.latest, |latest| *latest = Some(order.clone()));
        Ok(order)
    }
}

/// Edge rows are found by edge id, so without edge ids there are none unless they were asked for, which is an error.
fn edge_columns(dataset: &Dataset, options: &LoaderOptions) -> Result<Columns> {
    let names = options.edge_columns.as_deref();
    if dataset.graph().has_edge_ids() {
        return Columns::of_edges(dataset, options);
    }
    match names.and_then(<[String]>::first) {
        None => Ok(Columns::none()),
        Some(name) => {
            let path = dataset.graph().path().to_path_buf();
            Err(Error::NoEdgeIds { path, name: name.clone() })
        }
    }
}
