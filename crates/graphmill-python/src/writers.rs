//! Files from memory and from other files.

use crate::errors::Result;
use crate::memory::budget_of;
use graphmill::format::{ElementType, ListOrder, TableShape};
use graphmill::ingest::{self, ConvertOptions, Directions, GraphOptions, MemoryEdges, Progress};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Lets Ctrl-C stop long work, and keeps the exception that Python made of it.
#[derive(Default)]
struct Watch {
    interrupt: Mutex<Option<PyErr>>,
}

impl Watch {
    fn go_on(&self) -> bool {
        let Err(interrupt) = Python::attach(|py| py.check_signals()) else { return true };
        *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = Some(interrupt);
        false
    }

    /// The outcome, with the interrupt in place of the cancellation that it caused.
    fn outcome<T>(self, outcome: ingest::Result<T>) -> Result<T> {
        match self.interrupt.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(interrupt) => Err(interrupt.into()),
            None => Ok(outcome?),
        }
    }
}

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

/// How neighbours are stored, from the name of the option; None chooses.
pub fn parse_encoding(encoding: &str) -> Result<Option<ElementType>> {
    match encoding {
        "auto" => Ok(None),
        "i32" => Ok(Some(ElementType::I32)),
        "i64" => Ok(Some(ElementType::I64)),
        other => {
            let problem = format!("encoding is {other:?}, expected \"auto\", \"i32\" or \"i64\"");
            Err(PyValueError::new_err(problem).into())
        }
    }
}

/// Writes edges as a `.gl` file; `graphmill.write_graph` prepares the arguments.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called with everything by one Python function")]
pub fn write_edges(
    py: Python<'_>,
    path: PathBuf,
    sources: &Bound<'_, PyAny>,
    destinations: &Bound<'_, PyAny>,
    num_nodes: Option<u64>,
    weights: Option<PyReadonlyArray1<'_, f32>>,
    times: Option<PyReadonlyArray1<'_, i64>>,
    undirected: bool,
    direction: &str,
    neighbor_order: &str,
    encoding: &str,
    edge_ids: bool,
    memory: Option<&Bound<'_, PyAny>>,
    overwrite: bool,
) -> Result<()> {
    let order: ListOrder = neighbor_order.parse()?;
    let watch = Watch::default();
    let observer = |_: Progress| watch.go_on();
    let mut options = GraphOptions::new()
        .directions(parse_directions(undirected, direction)?)
        .order(order)
        .edge_ids(edge_ids)
        .observer(&observer);
    if let Some(element) = parse_encoding(encoding)? {
        options = options.neighbours(element);
    }
    if let Some(weights) = &weights {
        options = options.weights(weights.as_slice().map_err(PyErr::from)?);
    }
    if let Some(times) = &times {
        options = options.times(times.as_slice().map_err(PyErr::from)?);
    }
    let budget = budget_of(memory)?;
    macro_rules! write {
        ($type:ty) => {{
            let sources = sources.extract::<PyReadonlyArray1<'_, $type>>().map_err(PyErr::from)?;
            let destinations =
                destinations.extract::<PyReadonlyArray1<'_, $type>>().map_err(PyErr::from)?;
            let sources = sources.as_slice().map_err(PyErr::from)?;
            let destinations = destinations.as_slice().map_err(PyErr::from)?;
            py.detach(|| -> ingest::Result<()> {
                let edges = MemoryEdges::new(sources, destinations, num_nodes)?;
                ingest::write_graph(&path, &edges, &options, &budget, overwrite).map(|_| ())
            })
        }};
    }
    let written = if sources.is_instance_of::<PyArray1<i32>>() { write!(i32) } else { write!(i64) };
    watch.outcome(written)
}

/// Writes rows as a `.gd` file from an iterator of byte arrays; `graphmill.write_features` prepares the arguments.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called with everything by one Python function")]
pub fn write_table(
    py: Python<'_>,
    path: PathBuf,
    element: &str,
    rows: Option<u64>,
    columns: Option<u64>,
    align_rows: bool,
    overwrite: bool,
    pieces: &Bound<'_, PyAny>,
) -> Result<()> {
    let element: ElementType = element.parse()?;
    let shape = match columns {
        Some(columns) => TableShape::matrix(rows.unwrap_or(0), columns, element)?,
        None => TableShape::vector(rows.unwrap_or(0), element)?,
    };
    let shape = if align_rows { shape.with_aligned_rows()? } else { shape };
    let pieces = Pieces { iterator: pieces.try_iter()?.unbind(), failure: RefCell::new(None) };
    let outcome = write_pieces(py, &path, shape, rows.is_some(), overwrite, &pieces);
    match pieces.failure.into_inner() {
        Some(failure) => Err(failure.into()),
        None => Ok(outcome?),
    }
}

/// A Python iterator of byte arrays, and the exception that it ended with.
struct Pieces {
    iterator: Py<PyIterator>,
    failure: RefCell<Option<PyErr>>,
}

fn write_pieces(
    py: Python<'_>,
    path: &Path,
    shape: TableShape,
    counted: bool,
    overwrite: bool,
    pieces: &Pieces,
) -> ingest::Result<()> {
    let mut iterator = pieces.iterator.bind(py).clone();
    let chunks = std::iter::from_fn(|| match next_piece(&mut iterator) {
        Ok(piece) => piece.map(Ok),
        Err(failure) => {
            *pieces.failure.borrow_mut() = Some(failure);
            Some(Err(ingest::Error::Cancelled))
        }
    });
    let written = if counted {
        ingest::write_table(path, shape, chunks, overwrite)
    } else {
        ingest::write_counted_table(path, shape, chunks, overwrite)
    };
    written.map(|_| ())
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
#[expect(clippy::too_many_arguments, reason = "called with everything by one Python function")]
pub fn convert_file(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    to: Option<&str>,
    num_nodes: Option<u64>,
    undirected: bool,
    direction: Option<&str>,
    neighbor_order: Option<&str>,
    encoding: &str,
    edge_ids: bool,
    align_rows: bool,
    memory: Option<&Bound<'_, PyAny>>,
    overwrite: bool,
) -> Result<()> {
    let watch = Watch::default();
    let observer = |_: Progress| watch.go_on();
    let mut options = ConvertOptions::new()
        .edge_ids(edge_ids)
        .align_rows(align_rows)
        .overwrite(overwrite)
        .budget(budget_of(memory)?)
        .observer(&observer);
    if let Some(format) = to {
        options = options.to(format.parse()?);
    }
    if let Some(num_nodes) = num_nodes {
        options = options.num_nodes(num_nodes);
    }
    if undirected || direction.is_some() {
        options = options.directions(parse_directions(undirected, direction.unwrap_or("both"))?);
    }
    if let Some(order) = neighbor_order {
        options = options.order(order.parse::<ListOrder>()?);
    }
    if let Some(element) = parse_encoding(encoding)? {
        options = options.neighbours(element);
    }
    let converted = py.detach(|| ingest::convert(&source, &target, &options));
    watch.outcome(converted).map(|_| ())
}
