//! The bodies of `Graph.walk`, `Graph.negative_edges`, `Graph.neighbor_lists` and of GraphZero's matrix of neighbours.
//!
//! Each makes an array of NumPy's, whose memory is asked for where Python can refuse it, and has it filled without the
//! GIL. Arrays become tensors when nodes came as a tensor.

use crate::arguments::Int;
use crate::errors::Result;
use crate::ids;
use graphmill::disk::{self, Budget};
use graphmill::format::Direction;
use graphmill::sample::{self, NegativeOptions, WalkOptions, WholeLists};
use graphmill::store;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::num::NonZero;

/// The longest side of an array, less one for the start of a walk.
const MOST: usize = isize::MAX as usize - 1;

/// The steps of a walk as users give them; a function, because an argument with a default is of the default's type.
pub fn read_length(length: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(length.extract::<Int>()?.within("length", 0..=MOST)?)
}

/// `Graph.walk`; `options` holds everything but the length.
pub fn walk<'py>(
    graph: &store::Graph,
    starts: &Bound<'py, PyAny>,
    length: usize,
    direction: Direction,
    mut options: WalkOptions,
    threads: Option<NonZero<usize>>,
) -> Result<Bound<'py, PyAny>> {
    let py = starts.py();
    let starts = ids::read(starts, "starts")?;
    let nodes = starts.as_slice()?;
    options.length = length;
    let shape = [nodes.len(), length + 1];
    filled(py, &shape, starts.from_torch, threads, |walks| {
        let lists = graph.lists(direction)?;
        sample::walk(&lists, nodes, &options, &Budget::unlimited(), walks)
    })
}

/// `Graph.negative_edges`: pairs, or `count` destinations for each of the sources.
pub fn negative_edges<'py>(
    py: Python<'py>,
    graph: &store::Graph,
    count: Int,
    sources: Option<&Bound<'py, PyAny>>,
    options: &NegativeOptions,
    threads: Option<NonZero<usize>>,
) -> Result<Bound<'py, PyAny>> {
    let count = count.within("n", 0..=MOST)?;
    // Either direction tells edges from other pairs.
    let follow = match graph.sections(Direction::Out) {
        Ok(_) => Direction::Out,
        Err(_) => Direction::In,
    };
    let Some(sources) = sources else {
        return filled(py, &[2, count], false, threads, |pairs| {
            let (sources, destinations) = pairs.split_at_mut(count);
            sample::negative_edges(&graph.lists(follow)?, follow, options, sources, destinations)
        });
    };
    let sources = ids::read(sources, "src")?;
    let nodes = sources.as_slice()?;
    filled(py, &[nodes.len(), count], sources.from_torch, threads, |destinations| {
        let lists = graph.lists(follow)?;
        sample::negative_destinations(&lists, follow, nodes, count, options, destinations)
    })
}

/// Up to `count` out-neighbours of each node, and then `pad`.
pub fn neighbor_matrix<'py>(
    graph: &store::Graph,
    nodes: &Bound<'py, PyAny>,
    count: Int,
    pad: i64,
    seed: u64,
    threads: Option<NonZero<usize>>,
) -> Result<Bound<'py, PyAny>> {
    let py = nodes.py();
    let ids = ids::read(nodes, "nodes")?;
    let nodes = ids.as_slice()?;
    let count = count.within("the number of neighbours", 0..=MOST)?;
    filled(py, &[nodes.len(), count], ids.from_torch, threads, |matrix| {
        let lists = graph.lists(Direction::Out)?;
        sample::neighbour_matrix(&lists, nodes, count, pad, seed, &Budget::unlimited(), matrix)
    })
}

/// `Graph.neighbor_lists`: where each list begins, and the ids of all.
pub fn neighbor_lists<'py>(
    graph: &store::Graph,
    nodes: &Bound<'py, PyAny>,
    direction: Direction,
    threads: Option<NonZero<usize>>,
) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = nodes.py();
    let ids = ids::read(nodes, "ids")?;
    let nodes = ids.as_slice()?;
    // Lists that are read much may be copied to memory before.
    let (lists, found) = py.detach(|| -> sample::Result<_> {
        let lists = graph.lists(direction)?;
        let found = WholeLists::of(&lists, nodes)?;
        Ok((lists, found))
    })?;
    let indices = filled(py, &[found.num_ids()], ids.from_torch, threads, |indices| {
        found.read(&lists, indices)
    })?;
    let indptr = PyArray1::from_vec(py, found.into_offsets()).into_any();
    Ok((like_nodes(indptr, ids.from_torch)?, indices))
}

/// An int64 array of this shape, filled without the GIL on as many threads as were asked for.
fn filled<'py>(
    py: Python<'py>,
    shape: &[usize],
    torch: bool,
    threads: Option<NonZero<usize>>,
    fill: impl FnOnce(&mut [i64]) -> sample::Result<()> + Send,
) -> Result<Bound<'py, PyAny>> {
    // NumPy's zeros are pages that nobody has touched: the threads that fill them touch them first.
    let shape = PyTuple::new(py, shape)?;
    let array = py.import("numpy")?.call_method1("zeros", (shape, "int64"))?;
    let array = array.cast_into::<PyArrayDyn<i64>>().map_err(PyErr::from)?;
    {
        let mut ids = array.readwrite();
        let ids = ids.as_slice_mut().map_err(PyErr::from)?;
        py.detach(|| match threads {
            None => fill(ids),
            Some(threads) => disk::with_threads(Some(threads.get()))?.install(|| fill(ids)),
        })?;
    }
    like_nodes(array.into_any(), torch)
}

/// An array, or a tensor of the same memory if nodes came as one.
fn like_nodes<'py>(array: Bound<'py, PyAny>, torch: bool) -> Result<Bound<'py, PyAny>> {
    if !torch {
        return Ok(array);
    }
    Ok(array.py().import("torch")?.call_method1("from_numpy", (array,))?)
}
