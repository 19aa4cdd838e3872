//! Batches of a dataset by epoch and index.
//! A loader joins seed order, sampler and rows; each batch is made by the call that asks for it and depends on nothing
//! but seed, epoch, index and options. It does not know who trains on the batches.

use crate::columns::Columns;
use crate::epoch::{BatchSeeds, EpochOrder};
use crate::{Batch, BatchMemory, Error, LoaderOptions, Result, Seeds};
use graphmill_disk::Reservation;
use graphmill_format::Direction;
use graphmill_sample::{FanoutOptions, Sample, Scratch, check_fanouts, sample_within};
use graphmill_store::Dataset;
use std::sync::{Arc, Mutex, TryLockError};

/// Makes the batches of a dataset. Any number of threads may ask it for batches at once.
#[derive(Debug)]
pub struct NeighborLoader {
    dataset: Dataset,
    seeds: Arc<[i64]>,
    options: LoaderOptions,
    num_batches: u64,
    columns: Columns,
    edge_columns: Columns,
    // Both are only ever tried, never waited for: after a fork they may stay locked for ever by a thread that the child
    // does not have, and then a call makes its own.
    idle: Mutex<Vec<Scratch>>,
    latest: Mutex<Option<Arc<Order>>>,
    _seeds_memory: Reservation,
}

/// The order of an epoch and the memory it takes.
#[derive(Debug)]
struct Order {
    epoch: u64,
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
        let (seeds, memory) = seeds.numbers(&dataset)?;
        if options.direction == Direction::Both {
            return Err(graphmill_sample::Error::Direction { found: options.direction }.into());
        }
        dataset.graph().sections(options.direction)?;
        let columns = Columns::of_nodes(&dataset, options.columns.as_deref(), options.backend)?;
        let edge_columns = edge_columns(&dataset, &options)?;
        let order = EpochOrder::new(seeds.clone(), options.batch_size)?;
        let num_batches = order.drop_last(options.drop_last).num_batches();
        Ok(NeighborLoader {
            dataset,
            seeds,
            options,
            num_batches,
            columns,
            edge_columns,
            idle: Mutex::default(),
            latest: Mutex::default(),
            _seeds_memory: memory,
        })
    }

    /// The dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The seeds in the order given, as numbers of nodes.
    pub fn seeds(&self) -> &[i64] {
        &self.seeds
    }

    /// The options as given.
    pub fn options(&self) -> &LoaderOptions {
        &self.options
    }

    /// Number of batches of an epoch.
    pub fn len(&self) -> u64 {
        self.num_batches
    }

    /// Whether an epoch has no batch.
    pub fn is_empty(&self) -> bool {
        self.num_batches == 0
    }

    /// Makes one batch of an epoch.
    pub fn batch(&self, epoch: u64, index: u64) -> Result<Batch> {
        let order = self.order(epoch)?;
        let batch_size = order.order.batch_len(index)?;
        let reserve = |what: &str, bytes: u64| {
            let what = format!("{what} of batch {index} of epoch {epoch}");
            self.dataset.budget().reserve(bytes, &what)
        };
        let ids_memory = reserve("the seeds", 8 * batch_size as u64)?;
        let seeds_memory = reserve("the seed positions", 8 * batch_size as u64)?;
        let mut lists_memory = reserve("the sampled lists", 0)?;
        let BatchSeeds { positions, ids } = order.order.batch(index)?;
        let mut sample = self.sample(&ids, epoch, index, &mut lists_memory)?;
        drop((ids, ids_memory));

        let (nodes, edges) = (sample.nodes.len(), sample.edge_ids.len());
        let row_bytes =
            self.columns.row_bytes(nodes).saturating_add(self.edge_columns.row_bytes(edges));
        let work_bytes = self.columns.work_bytes(nodes).max(self.edge_columns.work_bytes(edges));
        let mut rows_memory = reserve("the rows", row_bytes.saturating_add(work_bytes))?;
        let columns = self.columns.gather(&sample.nodes)?;
        let edge_columns = self.edge_columns.gather(&sample.edge_ids)?;
        rows_memory.shrink(work_bytes);
        if self.options.original {
            self.dataset.ids().make_original(&mut sample.nodes)?;
        }
        Ok(Batch {
            batch_size,
            sample,
            input_positions: positions,
            columns,
            edge_columns,
            memory: BatchMemory { parts: [seeds_memory, lists_memory, rows_memory] },
        })
    }

    fn sample(
        &self,
        seeds: &[i64],
        epoch: u64,
        index: u64,
        memory: &mut Reservation,
    ) -> Result<Sample> {
        let options = FanoutOptions::new(self.options.fanouts.as_slice())
            .replace(self.options.replace)
            .seed(self.options.seed)
            .epoch(epoch)
            .batch(index);
        let follow = self.options.direction;
        let lists = self.dataset.graph().lists(follow)?;
        let idle = with_unlocked(&self.idle, Vec::pop).flatten();
        let mut scratch = match idle {
            Some(scratch) => scratch,
            None => Scratch::within(self.dataset.budget())?,
        };
        let sampled = sample_within(&lists, seeds, &options, follow, &mut scratch, memory);
        with_unlocked(&self.idle, |idle| idle.push(scratch));
        Ok(sampled?)
    }

    /// The order of an epoch: that of the last call if it is the same epoch, else a new one.
    fn order(&self, epoch: u64) -> Result<Arc<Order>> {
        // As given, the seeds come in one order in all epochs.
        let epoch = if self.options.shuffle { epoch } else { 0 };
        let same = |latest: &mut Option<Arc<Order>>| {
            // A wrong one goes first, so that two never have to fit into the budget.
            latest.take_if(|order| order.epoch != epoch);
            latest.clone()
        };
        if let Some(order) = with_unlocked(&self.latest, same).flatten() {
            return Ok(order);
        }
        let order = EpochOrder::new(self.seeds.clone(), self.options.batch_size)?
            .drop_last(self.options.drop_last);
        let bytes =
            if self.options.shuffle { EpochOrder::shuffled_bytes(self.seeds.len()) } else { 0 };
        let memory =
            self.dataset.budget().reserve(bytes, &format!("the seed order of epoch {epoch}"))?;
        let order =
            if self.options.shuffle { order.shuffled(self.options.seed, epoch) } else { order };
        let order = Arc::new(Order { epoch, order, _memory: memory });
        with_unlocked(&self.latest, |latest| *latest = Some(order.clone()));
        Ok(order)
    }
}

/// Edge rows are found by edge id, so without edge ids there are none unless they were asked for, which is an error.
fn edge_columns(dataset: &Dataset, options: &LoaderOptions) -> Result<Columns> {
    let names = options.edge_columns.as_deref();
    if dataset.graph().has_edge_ids() {
        return Columns::of_edges(dataset, names, options.backend);
    }
    match names.and_then(<[String]>::first) {
        None => Ok(Columns::none()),
        Some(name) => {
            let path = dataset.graph().path().to_path_buf();
            Err(Error::NoEdgeIds { path, name: name.clone() })
        }
    }
}

/// Does something with what a lock guards, unless another thread has it.
fn with_unlocked<T, R>(lock: &Mutex<T>, deed: impl FnOnce(&mut T) -> R) -> Option<R> {
    match lock.try_lock() {
        Ok(mut guarded) => Some(deed(&mut guarded)),
        // What is guarded is replaced whole, so a thread that panicked cannot have left half of it.
        Err(TryLockError::Poisoned(poisoned)) => Some(deed(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}
