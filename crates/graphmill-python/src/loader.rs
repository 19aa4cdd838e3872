//! What `graphmill.NeighborLoader` iterates over: batches made on request, by any thread.

use crate::dataset::Dataset;
use crate::errors::Result;
use crate::graph::{parse_direction, read_fanouts};
use crate::ids;
use crate::sample::int64;
use crate::views::{element_dtype, numpy_dtype, shape_of, to_torch};
use graphmill::format::ElementType;
use graphmill::load::{self, BatchMemory, Column, LoaderOptions, Reading, RowBuffer, Seeds};
use numpy::PyArray1;
use numpy::ndarray::ArrayView1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;

/// Batches of a dataset by epoch and index.
#[pyclass(frozen, module = "graphmill._native")]
pub struct BatchSource {
    loader: load::NeighborLoader,
}

#[pymethods]
impl BatchSource {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "called with everything by one Python class")]
    fn new(
        py: Python<'_>,
        dataset: &Dataset,
        seeds: &Bound<'_, PyAny>,
        fanouts: &Bound<'_, PyAny>,
        batch_size: usize,
        shuffle: bool,
        drop_last: bool,
        columns: Option<Vec<String>>,
        replace: bool,
        direction: &str,
        seed: u64,
        backend: &str,
        original: bool,
    ) -> Result<Self> {
        let backend: Reading = backend.parse()?;
        let options = LoaderOptions::new(read_fanouts(fanouts)?)
            .batch_size(batch_size)
            .shuffle(shuffle)
            .drop_last(drop_last)
            .columns(columns)
            .replace(replace)
            .direction(parse_direction(direction)?)
            .seed(seed)
            .backend(backend)
            .original(original);
        let dataset = dataset.inner();
        let seeds = read_seeds(seeds, dataset.ids().are_text())?;
        let loader = py.detach(|| load::NeighborLoader::over(dataset, seeds, options))?;
        Ok(BatchSource { loader })
    }

    /// Samples and reads one batch.
    fn batch(&self, py: Python<'_>, epoch: u64, index: u64) -> Result<RawBatch> {
        let batch = py.detach(|| self.loader.batch(epoch, index))?;
        Ok(RawBatch { batch: Mutex::new(Some(batch)), memory: Mutex::new(None) })
    }

    fn __len__(&self) -> usize {
        self.loader.len() as usize
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

/// Nothing for all nodes, the name of a split, or ids of the source.
fn read_seeds(seeds: &Bound<'_, PyAny>, are_text: bool) -> Result<Seeds> {
    if seeds.is_none() {
        return Ok(Seeds::All);
    }
    if let Ok(split) = seeds.extract::<String>() {
        return Ok(Seeds::Split(split));
    }
    if are_text {
        let names = ids::read_names(seeds, "seeds")?;
        return Ok(Seeds::Names(names.iter().map(|name| name.to_string()).collect()));
    }
    Ok(Seeds::Original(ids::read(seeds, "seeds")?.as_slice()?.to_vec()))
}

/// A finished batch; holds its part of the budget as long as it lives.
#[pyclass(frozen, module = "graphmill._native")]
pub struct RawBatch {
    batch: Mutex<Option<load::Batch>>,
    memory: Mutex<Option<BatchMemory>>,
}

#[pymethods]
impl RawBatch {
    /// The entries of the batch as arrays or tensors, without a copy; can be taken once.
    fn entries<'py>(&self, py: Python<'py>, torch: bool) -> Result<Bound<'py, PyDict>> {
        let batch = take(&self.batch).ok_or_else(|| {
            pyo3::exceptions::PyRuntimeError::new_err("the entries were taken already")
        })?;
        let load::Batch { batch_size, sample, input_positions, columns, edge_columns, memory } =
            batch;
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

/// Keeps the memory of rows as long as an array looks at it; then it serves another batch.
#[pyclass(frozen, module = "graphmill._native")]
struct RowOwner {
    _bytes: RowBuffer,
}

/// The bytes of rows as an array that owns them.
fn row_bytes(py: Python<'_>, mut bytes: RowBuffer) -> PyResult<Bound<'_, PyArray1<u8>>> {
    let (start, length) = (bytes.as_mut_ptr(), bytes.len());
    // SAFETY: the memory of the buffer is on the heap, so it stays where it is when the buffer moves into the owner,
    // which holds it as long as the array or any view of it lives. The owner never looks at it again, so writing
    // through the array is no aliasing.
    unsafe {
        let view = ArrayView1::from_shape_ptr(length, start.cast_const());
        let owner = Bound::new(py, RowOwner { _bytes: bytes })?;
        Ok(PyArray1::borrow_from_array(&view, owner.into_any()))
    }
}

/// Gathered rows as an array or tensor over the buffer that they were read into.
fn rows(py: Python<'_>, column: Column, torch: bool) -> Result<Bound<'_, PyAny>> {
    let element = column.shape.element();
    let shape = shape_of(py, &column.shape, None)?;
    let dtype = match element {
        ElementType::Bf16 if torch => numpy_dtype(py, "int16")?,
        other => element_dtype(py, other)?,
    };
    let bytes = row_bytes(py, column.bytes)?;
    let array = if column.shape.length() == 0 {
        py.import("numpy")?.call_method1("empty", (shape, dtype))?
    } else {
        bytes.call_method1("view", (dtype,))?.call_method1("reshape", (shape,))?
    };
    if torch { Ok(to_torch(array, element)?) } else { Ok(array) }
}
