//! What loaders iterate over: batches made ahead by threads of Rust, which never need the GIL.

use crate::arguments::{Int, Keywords, parse_direction, read_fanouts};
use crate::dataset::Dataset;
use crate::errors::Result;
use crate::ids;
use crate::memory::size_of;
use crate::sample::{int64, parse_method, parse_subgraph, parse_temporal};
use crate::views::{element_dtype, numpy_dtype, shape_of, to_torch};
use graphmill::disk::{Backend, anonymous_memory, ring_available, room};
use graphmill::format::ElementType;
use graphmill::load::{
    self, Awaited, BatchMemory, Column, EpochKey, LinkSeeds, LoaderOptions, Negatives, ReadStats,
    Reading, RowBuffer, SeedTimes, Seeds,
};
use numpy::PyArray1;
use numpy::ndarray::ArrayView1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a waiting caller listens for signals.
const LISTENING: Duration = Duration::from_millis(20);

/// Batches of a dataset by epoch and index.
#[pyclass(frozen, module = "graphmill._native")]
pub struct BatchSource {
    loader: Arc<load::NeighborLoader>,
}

#[pymethods]
impl BatchSource {
    #[new]
    fn new(
        py: Python<'_>,
        dataset: &Dataset,
        start: &Bound<'_, PyAny>,
        options: &Bound<'_, PyDict>,
    ) -> Result<Self> {
        let options = read_options(&Keywords(options))?;
        let dataset = dataset.inner();
        let are_text = dataset.ids().are_text();
        let loader = match start.cast::<PyDict>() {
            Ok(links) => {
                let links = read_links(&Keywords(links), are_text)?;
                py.detach(|| load::NeighborLoader::over_links(dataset, links, options))?
            }
            Err(_) => {
                let seeds = read_seeds(start, are_text)?;
                py.detach(|| load::NeighborLoader::over(dataset, seeds, options))?
            }
        };
        Ok(BatchSource { loader: Arc::new(loader) })
    }

    /// The batches from `first` on, or every `step`-th of them, of the share `(rank, world_size)` of an epoch.
    fn epoch(
        &self,
        seed: u64,
        epoch: Int,
        share: (u64, u64),
        first: Int,
        step: u64,
    ) -> Result<EpochStream> {
        let epoch = epoch.within("epoch", 0..=u64::MAX)?;
        let first = first.within("batches", 0..=u64::MAX)?;
        let (rank, world_size) = share;
        let key = EpochKey { seed, epoch, rank, world_size };
        let batches = Mutex::new(Some(self.loader.batches(key, first, step)?));
        Ok(EpochStream { batches, process: std::process::id() })
    }

    /// How many batches an epoch has for each of `world_size` processes.
    fn num_batches(&self, world_size: u64) -> Result<u64> {
        Ok(self.loader.num_batches(world_size)?)
    }

    /// How many seeds or links an epoch goes through, in all processes.
    fn num_seeds(&self) -> usize {
        self.loader.seeds().len()
    }

    /// Numbers that stand for the seeds and for their times, if they have any.
    fn digests(&self, py: Python<'_>) -> (u64, Option<u64>) {
        py.detach(|| self.loader.digests())
    }

    /// What the loader has done so far.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.loader.stats();
        let entries = read_stats(py, &stats.reads)?;
        entries.set_item("batches", stats.batches)?;
        entries.set_item("windows", stats.windows)?;
        entries.set_item("largest_window", stats.largest_window)?;
        entries.set_item("hot_rows", stats.hot_rows)?;
        entries.set_item("seconds_starved", stats.starved.as_secs_f64())?;
        entries.set_item("seconds_blocked", stats.blocked.as_secs_f64())?;
        entries.set_item("seconds_sampling", stats.sampling.as_secs_f64())?;
        entries.set_item("seconds_reading", stats.reading.as_secs_f64())?;
        entries.set_item("seconds_assembling", stats.assembly.as_secs_f64())?;
        entries.set_item("bound", stats.bound().map(|bound| bound.to_string()))?;
        entries.set_item("peak_memory", stats.peak_memory)?;
        entries.set_item("anonymous_memory", anonymous_memory())?;
        Ok(entries)
    }

    /// Why rows were read in a slower way than was asked for; None if they were not.
    fn slow_reading(&self) -> Option<String> {
        let asked = self.loader.options().backend;
        let wants_rings = matches!(asked, Reading::Auto | Reading::Ring);
        let is_slow = self.loader.stats().reads.backend == Some(Backend::Pread);
        let denied = ring_available().err()?;
        (wants_rings && is_slow).then(|| denied.to_string())
    }

    fn __repr__(&self) -> String {
        let options = self.loader.options();
        format!(
            "{} seeds, batch_size={}, fanouts={:?}",
            self.loader.seeds().len(),
            options.batch_size,
            options.fanouts
        )
    }
}

/// The options of a loader from its keywords.
fn read_options(given: &Keywords<'_, '_>) -> Result<LoaderOptions> {
    let fanouts: Bound<'_, PyAny> = given.get("fanouts")?;
    let (time, hot_memory): (Option<Bound<'_, PyAny>>, Option<Bound<'_, PyAny>>) =
        (given.get("time")?, given.get("hot_memory")?);
    let method: String = given.get("method")?;
    let options = LoaderOptions::new(read_fanouts(&fanouts)?)
        .batch_size(given.number("batch_size", 0..=usize::MAX)?)
        .shuffle(given.get("shuffle")?)
        .drop_last(given.get("drop_last")?)
        .columns(given.get("columns")?)
        .edge_columns(given.get("edge_columns")?)
        .replace(given.get("replace")?)
        .weighted(given.get("weighted")?)
        .disjoint(given.get("disjoint")?)
        .method(parse_method(&method, given.get("layer_dependency")?)?)
        .times(time.as_ref().map(read_times).transpose()?)
        .node_times(given.get("node_time")?)
        .strategy(parse_temporal(&given.get::<String>("temporal")?)?)
        .time_window(given.optional("time_window", 0..=u64::MAX)?)
        .subgraph(parse_subgraph(&given.get::<String>("subgraph")?)?)
        .direction(parse_direction(&given.get::<String>("direction")?)?)
        .threads(given.number("threads", 0..=usize::MAX)?)
        .prefetch(given.number("prefetch", 0..=usize::MAX)?)
        .backend(given.get::<String>("backend")?.parse::<Reading>()?)
        .window(given.optional("window", 0..=usize::MAX)?)
        .hot_memory(hot_memory.as_ref().map(size_of).transpose()?)
        .widen(given.get("widen")?)
        .original(given.get("original")?);
    Ok(options)
}

/// The name of a table, or one time for each seed.
fn read_times(times: &Bound<'_, PyAny>) -> Result<SeedTimes> {
    match times.extract::<String>() {
        Ok(table) => Ok(SeedTimes::Table(table)),
        Err(_) => Ok(SeedTimes::Given(room::copy_of(ids::read(times, "time")?.as_slice()?)?)),
    }
}

/// What reading rows took, by names.
pub fn read_stats<'py>(py: Python<'py>, stats: &ReadStats) -> PyResult<Bound<'py, PyDict>> {
    let entries = PyDict::new(py);
    entries.set_item("rows", stats.rows)?;
    entries.set_item("distinct", stats.distinct)?;
    entries.set_item("from_hot", stats.from_hot)?;
    entries.set_item("from_window", stats.from_window)?;
    entries.set_item("from_page_cache", stats.from_page_cache)?;
    entries.set_item("from_disk", stats.from_disk)?;
    entries.set_item("requests", stats.requests)?;
    entries.set_item("bytes_read", stats.bytes_read)?;
    entries.set_item("bytes_used", stats.bytes_used)?;
    entries.set_item("bytes_announced", stats.bytes_announced)?;
    entries.set_item("seconds_waiting", stats.waited.as_secs_f64())?;
    let part = |above: Duration, below: Duration| {
        let known = above > Duration::ZERO && below > Duration::ZERO;
        known.then(|| above.as_secs_f64() / below.as_secs_f64())
    };
    entries.set_item("device_utilisation", part(stats.device_busy, stats.waited))?;
    entries.set_item("queue_depth", part(stats.device_queued, stats.device_busy))?;
    entries.set_item("backend", stats.backend.map(|backend| backend.to_string()))?;
    Ok(entries)
}

/// The batches of one epoch, one after the other.
#[pyclass(frozen, module = "graphmill._native")]
pub struct EpochStream {
    /// None once it was stopped, so that a suspended loop keeps nothing of a loader that was closed.
    batches: Mutex<Option<load::EpochBatches>>,
    /// The process that the threads belong to; others must not even look whether the lock is free.
    process: u32,
}

#[pymethods]
impl EpochStream {
    /// Waits for the next batch; None after the last. After an error there are no more.
    ///
    /// Signals are listened to meanwhile: what a handler raises is raised here.
    fn take(&self, py: Python<'_>) -> Result<Option<RawBatch>> {
        if self.process != std::process::id() {
            return Err(load::Error::Forked.into());
        }
        loop {
            let awaited = py.detach(|| match &mut *self.lock() {
                Some(batches) => batches.await_next(Some(LISTENING)),
                None => Ok(Awaited::End),
            })?;
            match awaited {
                Awaited::Batch(batch) => return Ok(Some(RawBatch::of(batch))),
                Awaited::NotYet => py.check_signals()?,
                _ => return Ok(None),
            }
        }
    }

    /// Ends the epoch and waits until its threads have gone.
    fn stop(&self, py: Python<'_>) {
        if self.process == std::process::id() {
            py.detach(|| drop(self.lock().take()));
        }
    }
}

impl EpochStream {
    /// Whole even after a panic: batches are taken out by one step each.
    fn lock(&self) -> MutexGuard<'_, Option<load::EpochBatches>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Pairs of nodes to start from.
fn read_links(given: &Keywords<'_, '_>, are_text: bool) -> Result<LinkSeeds> {
    let negatives = match (given.get("binary")?, given.get::<Option<Int>>("triplet")?) {
        (Some(ratio), _) => Negatives::Binary(ratio),
        (None, Some(each)) => Negatives::Triplet(each.within("neg_ratio", 0..=usize::MAX)?),
        (None, None) => Negatives::None,
    };
    let sources = read_ids(&given.get("sources")?, "edge_label_index[0]", are_text)?;
    let destinations = read_ids(&given.get("destinations")?, "edge_label_index[1]", are_text)?;
    let links = LinkSeeds::new(sources, destinations).negatives(negatives);
    Ok(links.strict(given.get("strict")?).exclude(given.get("exclude")?))
}

/// Nothing for all nodes, the name of a split, or ids of the source.
fn read_seeds(seeds: &Bound<'_, PyAny>, are_text: bool) -> Result<Seeds> {
    if seeds.is_none() {
        return Ok(Seeds::All);
    }
    if let Ok(split) = seeds.extract::<String>() {
        return Ok(Seeds::Split(split));
    }
    read_ids(seeds, "seeds", are_text)
}

/// Ids of the source.
fn read_ids(ids: &Bound<'_, PyAny>, what: &str, are_text: bool) -> Result<Seeds> {
    if are_text {
        let names = ids::read_names(ids, what)?;
        return Ok(Seeds::Names(names.iter().map(|name| name.to_string()).collect()));
    }
    Ok(Seeds::Original(room::copy_of(ids::read(ids, what)?.as_slice()?)?))
}

/// A finished batch; holds its part of the budget as long as it lives.
#[pyclass(frozen, module = "graphmill._native")]
pub struct RawBatch {
    batch: Mutex<Option<load::Batch>>,
    memory: Mutex<Option<BatchMemory>>,
}

impl RawBatch {
    fn of(batch: load::Batch) -> Self {
        RawBatch { batch: Mutex::new(Some(batch)), memory: Mutex::new(None) }
    }
}

#[pymethods]
impl RawBatch {
    /// The entries of the batch as arrays or tensors, without a copy; can be taken once.
    fn entries<'py>(&self, py: Python<'py>, torch: bool) -> Result<Bound<'py, PyDict>> {
        let batch = take(&self.batch).ok_or_else(|| {
            pyo3::exceptions::PyRuntimeError::new_err("the entries were taken already")
        })?;
        let load::Batch {
            batch_size,
            sample,
            input_positions,
            seed_times,
            link_ends,
            columns,
            edge_columns,
            memory,
        } = batch;
        let entries = PyDict::new(py);
        for column in columns {
            let name = column.name.clone();
            entries.set_item(name, rows(py, column, torch)?)?;
        }
        for column in edge_columns {
            let name = column.name.clone();
            entries.set_item(name, rows(py, column, torch)?)?;
        }
        entries.set_item("edge_index", stacked(py, sample.row, sample.col, torch)?)?;
        entries.set_item("n_id", int64(py, sample.nodes, torch)?)?;
        entries.set_item("e_id", int64(py, sample.edge_ids, torch)?)?;
        entries.set_item("input_id", int64(py, input_positions, torch)?)?;
        if !sample.batch.is_empty() {
            entries.set_item("batch", int64(py, sample.batch, torch)?)?;
        }
        if let Some(times) = seed_times {
            entries.set_item("seed_time", int64(py, times, torch)?)?;
        }
        if let Some(ends) = link_ends {
            entries.set_item("link_ends", int64(py, ends, torch)?)?;
        }
        entries.set_item("batch_size", batch_size)?;
        entries.set_item("num_sampled_nodes", sample.nodes_per_hop)?;
        entries.set_item("num_sampled_edges", sample.edges_per_hop)?;
        if let Ok(mut held) = self.memory.lock() {
            *held = Some(memory);
        }
        Ok(entries)
    }
}

fn take<T>(cell: &Mutex<Option<T>>) -> Option<T> {
    cell.lock().ok().and_then(|mut value| value.take())
}

/// `[2, E]` from two lists, written once.
fn stacked(
    py: Python<'_>,
    mut row: Vec<i64>,
    col: Vec<i64>,
    torch: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let edges = row.len();
    row.extend_from_slice(&col);
    int64(py, row, torch)?.call_method1("reshape", ((2, edges),))
}

/// Gathered rows as an array or tensor over the buffer that they were read into.
fn rows(py: Python<'_>, column: Column, torch: bool) -> Result<Bound<'_, PyAny>> {
    let element = column.shape.element();
    let shape = shape_of(py, &column.shape, None)?;
    let dtype = match element {
        ElementType::Bf16 if torch => numpy_dtype(py, "int16")?,
        other => element_dtype(py, other)?,
    };
    let array = if column.shape.length() == 0 {
        py.import("numpy")?.call_method1("empty", (shape, dtype))?
    } else {
        let bytes = bytes_of(py, column.bytes)?;
        bytes.call_method1("view", (dtype,))?.call_method1("reshape", (shape,))?
    };
    if torch { Ok(to_torch(array, element)?) } else { Ok(array) }
}

/// The bytes of a buffer as an array, which goes back to its loader when the last array over it dies.
fn bytes_of(py: Python<'_>, mut bytes: RowBuffer) -> PyResult<Bound<'_, PyAny>> {
    let (start, length) = (bytes.as_mut_ptr(), bytes.len());
    let owner = Bound::new(py, RowsOwner { _bytes: bytes })?;
    // SAFETY: the buffer has this many bytes, which stay where they are while their owner is moved; it holds them,
    // untouched, as long as the array or any view of it lives, and nobody else forms a reference to them.
    let array = unsafe {
        let view = ArrayView1::from_shape_ptr(length, start.cast_const());
        PyArray1::<u8>::borrow_from_array(&view, owner.into_any())
    };
    Ok(array.into_any())
}

/// What keeps a buffer alive as long as an array looks at it.
#[pyclass(frozen, module = "graphmill._native")]
struct RowsOwner {
    _bytes: RowBuffer,
}
