//! Files from memory and from other files.

use crate::arguments::Int;
use crate::dataset::Dataset;
use crate::errors::Result;
use crate::ids;
use crate::interruptible::interruptible;
use crate::memory::budget_of;
use crate::source_options::SourceOptions;
use graphmill::format::{ElementType, Encoding, ListOrder, TableShape};
use graphmill::ingest::npy::ArrayType;
use graphmill::ingest::{
    self, ConvertOptions, DatasetWriter, Directions, GraphOptions, MemoryEdges, TableWriter,
};
use graphmill::store;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Which lists to store, from the names of the options.
pub fn parse_directions(undirected: bool, direction: &str) -> Result<Directions> {
    match (undirected, direction) {
        (true, "both") => Ok(Directions::Undirected),
        (false, "both") => Ok(Directions::OutAndIn),
        (false, "out") => Ok(Directions::Out),
        (false, "in") => Ok(Directions::In),
        (true, "in" | "out") => {
            let problem = "an undirected graph stores one set of lists for both directions; leave direction out";
            Err(PyValueError::new_err(problem).into())
        }
        (_, other) => {
            let problem = format!("direction is {other:?}, expected \"both\", \"out\" or \"in\"");
            Err(PyValueError::new_err(problem).into())
        }
    }
}

fn read_num_nodes(num_nodes: Option<Int>) -> Result<Option<u64>> {
    num_nodes.map(|number| number.within("num_nodes", 0..=u64::MAX)).transpose()
}

/// Writes edges as a `.gl` file; `graphmill.write_graph` prepares the arguments.
#[pyfunction]
#[pyo3(signature = (
    path, sources, destinations, num_nodes, weights, times, undirected, direction, neighbor_order, encoding, edge_ids,
    memory, overwrite, original_ids = None
))]
#[expect(clippy::too_many_arguments, reason = "called with everything by one Python function")]
pub fn write_edges(
    py: Python<'_>,
    path: PathBuf,
    sources: &Bound<'_, PyAny>,
    destinations: &Bound<'_, PyAny>,
    num_nodes: Option<Int>,
    weights: Option<PyReadonlyArray1<'_, f32>>,
    times: Option<PyReadonlyArray1<'_, i64>>,
    undirected: bool,
    direction: &str,
    neighbor_order: &str,
    encoding: &str,
    edge_ids: bool,
    memory: Option<&Bound<'_, PyAny>>,
    overwrite: bool,
    original_ids: Option<PyReadonlyArray1<'_, i64>>,
) -> Result<()> {
    let num_nodes = read_num_nodes(num_nodes)?;
    let order: ListOrder = neighbor_order.parse()?;
    let mut options = GraphOptions::new()
        .directions(parse_directions(undirected, direction)?)
        .order(order)
        .edge_ids(edge_ids);
    options = options.encoding(encoding.parse::<Encoding>()?);
    if let Some(weights) = &weights {
        options = options.weights(weights.as_slice().map_err(PyErr::from)?);
    }
    if let Some(times) = &times {
        options = options.times(times.as_slice().map_err(PyErr::from)?);
    }
    if let Some(original_ids) = &original_ids {
        options = options.original_ids(original_ids.as_slice().map_err(PyErr::from)?);
    }
    let budget = budget_of(memory)?;
    macro_rules! write {
        ($type:ty) => {{
            let sources = sources.extract::<PyReadonlyArray1<'_, $type>>().map_err(PyErr::from)?;
            let destinations =
                destinations.extract::<PyReadonlyArray1<'_, $type>>().map_err(PyErr::from)?;
            let sources = sources.as_slice().map_err(PyErr::from)?;
            let destinations = destinations.as_slice().map_err(PyErr::from)?;
            interruptible(py, |observer| {
                // As in a build, an id beyond the number of nodes raises it; what else is wrong is so without it.
                let edges = MemoryEdges::new(sources, destinations, num_nodes)
                    .or_else(|_| MemoryEdges::new(sources, destinations, None))?;
                let options = options.observer(observer);
                ingest::write_graph(&path, &edges, &options, &budget, overwrite).map(|_| ())
            })
        }};
    }
    if sources.is_instance_of::<PyArray1<i32>>() { write!(i32) } else { write!(i64) }
}

/// Writes rows as a `.gd` file from an iterator of byte arrays; `graphmill.write_features` prepares the arguments.
#[pyfunction]
pub fn write_table(
    path: PathBuf,
    element: &str,
    rows: Option<u64>,
    columns: Option<u64>,
    align_rows: bool,
    overwrite: bool,
    pieces: &Bound<'_, PyAny>,
) -> Result<()> {
    let shape = table_shape(element, rows.unwrap_or(0), columns)?;
    let shape = if align_rows { shape.with_aligned_rows()? } else { shape };
    let pieces = Pieces::new(pieces)?;
    let written = match rows {
        Some(_) => ingest::write_table(&path, shape, pieces.iter(), overwrite),
        None => ingest::write_counted_table(&path, shape, pieces.iter(), overwrite),
    };
    pieces.outcome(written).map(|_| ())
}

/// Adds a table of the nodes, or of the edges, to a dataset; `Dataset.add_table` prepares the arguments.
///
/// `numbered` is the dataset whose numbers the rows follow; one that was built anew since then is refused.
#[pyfunction]
#[pyo3(signature = (folder, name, element, rows, columns, pieces, numbered = None, of_edges = false))]
#[expect(clippy::too_many_arguments, reason = "called with everything by one Python function")]
pub fn amend_table(
    folder: PathBuf,
    name: &str,
    element: &str,
    rows: u64,
    columns: Option<u64>,
    pieces: &Bound<'_, PyAny>,
    numbered: Option<&Dataset>,
    of_edges: bool,
) -> Result<()> {
    let numbered = numbered.map(Dataset::inner);
    let shape = table_shape(element, rows, columns)?;
    let pieces = Pieces::new(pieces)?;
    let add = || {
        let mut writer = amend(&folder, numbered.as_ref())?;
        let fill = |table: &mut TableWriter<'_>| {
            pieces.iter().try_for_each(|piece| table.write_rows(&piece?))
        };
        if of_edges {
            writer.edge_table(name, shape, fill)?;
        } else {
            writer.table(name, shape, fill)?;
        }
        writer.publish()
    };
    let added = add();
    pieces.outcome(added).map(|_| ())
}

/// Adds a named list of nodes to a dataset, by their numbers in the dataset `numbered` if it is given.
#[pyfunction]
#[pyo3(signature = (folder, name, ids, numbered = None))]
pub fn amend_split(
    py: Python<'_>,
    folder: PathBuf,
    name: &str,
    ids: &Bound<'_, PyAny>,
    numbered: Option<&Dataset>,
) -> Result<()> {
    let ids = ids::read(ids, "ids")?;
    let nodes = ids.as_slice()?;
    let numbered = numbered.map(Dataset::inner);
    py.detach(|| {
        let mut writer = amend(&folder, numbered.as_ref())?;
        writer.split(name, nodes)?;
        writer.publish()
    })?;
    Ok(())
}

/// Removes a table of the nodes (`what` is "table"), one of the edges ("edge table") or a split ("split").
#[pyfunction]
pub fn amend_removal(folder: PathBuf, what: &str, name: &str) -> Result<()> {
    let mut writer = DatasetWriter::amend(&folder)?;
    match what {
        "table" => writer.remove_table(name),
        "edge table" => writer.remove_edge_table(name),
        _ => writer.remove_split(name),
    }?;
    writer.publish()?;
    Ok(())
}

/// Records a digest of what a dataset was built from, if it is still the one that is open.
pub fn amend_origin(dataset: &store::Dataset, digest: &str) -> Result<()> {
    let mut writer = amend(dataset.path(), Some(dataset))?;
    writer.origin(digest)?;
    writer.publish()?;
    Ok(())
}

/// Starts a change of a dataset whose nodes still have the numbers that they have in `numbered`.
fn amend(folder: &Path, numbered: Option<&store::Dataset>) -> ingest::Result<DatasetWriter> {
    let writer = DatasetWriter::amend(folder)?;
    let topology = numbered.map(|dataset| &dataset.manifest().edge().graph);
    if topology.is_some() && topology != writer.topology() {
        let problem = "it was built anew since it was opened, and nodes may have other numbers; open it again";
        return Err(ingest::Error::Request { what: "dataset", problem: problem.to_owned() });
    }
    Ok(writer)
}

/// Removes a dataset; `graphmill.remove` prepares the argument.
#[pyfunction]
pub fn remove_dataset(py: Python<'_>, folder: PathBuf) -> Result<()> {
    Ok(py.detach(|| ingest::remove_dataset(&folder))?)
}

/// The bytes that a table of `element` stores for rows of an array; a value that would change its meaning is an error.
#[pyfunction]
pub fn stored_rows<'py>(
    py: Python<'py>,
    bytes: PyReadonlyArray1<'py, u8>,
    numbers: &str,
    element: &str,
    columns: u64,
    first_row: u64,
) -> Result<Bound<'py, PyArray1<u8>>> {
    let (from, element): (ArrayType, ElementType) = (numbers.parse()?, element.parse()?);
    let bytes = bytes.as_slice().map_err(PyErr::from)?;
    let stored =
        py.detach(|| ingest::source::stored_rows(from, element, columns, first_row, bytes))?;
    Ok(PyArray1::from_vec(py, stored))
}

fn table_shape(element: &str, rows: u64, columns: Option<u64>) -> Result<TableShape> {
    let element: ElementType = element.parse()?;
    Ok(match columns {
        Some(columns) => TableShape::matrix(rows, columns, element)?,
        None => TableShape::vector(rows, element)?,
    })
}

/// A Python iterator of byte arrays, and the exception that it ended with.
struct Pieces<'py> {
    iterator: RefCell<Bound<'py, PyIterator>>,
    failure: RefCell<Option<PyErr>>,
}

impl<'py> Pieces<'py> {
    fn new(pieces: &Bound<'py, PyAny>) -> Result<Self> {
        let iterator = RefCell::new(pieces.try_iter()?);
        Ok(Pieces { iterator, failure: RefCell::new(None) })
    }

    fn iter(&self) -> impl Iterator<Item = ingest::Result<Vec<u8>>> {
        std::iter::from_fn(|| match next_piece(&mut self.iterator.borrow_mut()) {
            Ok(piece) => piece.map(Ok),
            Err(failure) => {
                *self.failure.borrow_mut() = Some(failure);
                Some(Err(ingest::Error::Cancelled))
            }
        })
    }

    /// The outcome, with the iterator's exception in place of the cancellation that it caused.
    fn outcome<T>(self, outcome: ingest::Result<T>) -> Result<T> {
        match self.failure.into_inner() {
            Some(failure) => Err(failure.into()),
            None => Ok(outcome?),
        }
    }
}

fn next_piece(iterator: &mut Bound<'_, PyIterator>) -> PyResult<Option<Vec<u8>>> {
    let Some(piece) = iterator.next().transpose()? else { return Ok(None) };
    let piece = piece
        .cast_into::<PyArray1<u8>>()
        .map_err(|_| PyTypeError::new_err("pieces must be arrays of bytes"))?;
    Ok(Some(piece.readonly().as_slice().map_err(PyErr::from)?.to_vec()))
}

/// Converts one file into another; `graphmill.convert` prepares the arguments.
#[pyfunction]
#[pyo3(signature = (
    sources, target, to, source, edge_ids, dedup, drop_self_loops, add_self_loops, num_nodes, undirected, direction,
    neighbor_order, encoding, align_rows, memory, overwrite, internal_ids = false, table = None
))]
#[expect(clippy::too_many_arguments, reason = "called with everything by one Python function")]
pub fn convert_file(
    py: Python<'_>,
    sources: Vec<PathBuf>,
    target: PathBuf,
    to: Option<&str>,
    source: &SourceOptions,
    edge_ids: bool,
    dedup: bool,
    drop_self_loops: bool,
    add_self_loops: bool,
    num_nodes: Option<Int>,
    undirected: bool,
    direction: Option<&str>,
    neighbor_order: Option<&str>,
    encoding: &str,
    align_rows: bool,
    memory: Option<&Bound<'_, PyAny>>,
    overwrite: bool,
    internal_ids: bool,
    table: Option<&str>,
) -> Result<()> {
    let mut options = source
        .convert(ConvertOptions::new())
        .edge_ids(edge_ids)
        .dedup(dedup)
        .drop_self_loops(drop_self_loops)
        .add_self_loops(add_self_loops)
        .align_rows(align_rows)
        .internal_ids(internal_ids)
        .overwrite(overwrite)
        .budget(budget_of(memory)?);
    if let Some(table) = table {
        options = options.exported_table(table);
    }
    if let Some(format) = to {
        options = options.to(format.parse()?);
    }
    if let Some(num_nodes) = read_num_nodes(num_nodes)? {
        options = options.num_nodes(num_nodes);
    }
    if undirected || direction.is_some() {
        options = options.directions(parse_directions(undirected, direction.unwrap_or("both"))?);
    }
    if let Some(order) = neighbor_order {
        options = options.order(order.parse::<ListOrder>()?);
    }
    options = options.encoding(encoding.parse::<Encoding>()?);
    let report = interruptible(py, |observer| {
        ingest::convert_files(&sources, &target, &options.observer(observer))
    })?;
    if report.skipped > 0 {
        let text = format!("{} rows of {} were skipped", report.skipped, sources[0].display());
        warn(py, text)?;
    }
    if let Some(what) = report.warning() {
        warn(py, what)?;
    }
    Ok(())
}

/// A warning that points at the caller of the Python function.
pub fn warn(py: Python<'_>, text: String) -> Result<()> {
    let text = std::ffi::CString::new(text).unwrap_or_default();
    Ok(PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?)
}
