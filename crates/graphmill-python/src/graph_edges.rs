//! Questions about single edges of a `graphmill.Graph`, and all of them as arrays.

use crate::errors::Result;
use crate::graph::Graph;
use crate::ids;
use graphmill::format::Direction;
use graphmill::sample::are_neighbours;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[pymethods]
impl Graph {
    /// Whether there is an edge from each of `src` to the one of `dst` at the same position, as a bool array.
    ///
    /// Takes a binary search for each pair where lists are ordered by id, else it reads the list.
    ///
    /// Args:
    ///     src: Nodes.
    ///     dst: As many nodes.
    ///
    /// Example:
    ///     >>> g.has_edges([0, 2], [1, 0])
    ///     array([ True, False])
    fn has_edges<'py>(
        &self,
        py: Python<'py>,
        src: &Bound<'py, PyAny>,
        dst: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyArray1<bool>>> {
        let (src, dst) = (ids::read(src, "src")?, ids::read(dst, "dst")?);
        let (sources, destinations) = (src.as_slice()?, dst.as_slice()?);
        if sources.len() != destinations.len() {
            let (left, right) = (sources.len(), destinations.len());
            let problem = format!("src has {left} nodes and dst {right}; give as many of each");
            return Err(PyValueError::new_err(problem).into());
        }
        // Either direction tells edges from other pairs.
        let has_out = self.inner.sections(Direction::Out).is_ok();
        let found = py.detach(|| {
            if has_out {
                are_neighbours(&self.inner.lists(Direction::Out)?, sources, destinations)
            } else {
                are_neighbours(&self.inner.lists(Direction::In)?, destinations, sources)
            }
        })?;
        Ok(PyArray1::from_vec(py, found))
    }

    /// All edges, int64 `[2, num_edges]`: in the order of the source where edge ids are stored, else in the stored one.
    ///
    /// An undirected edge comes both ways. Takes 16 bytes an edge, and as many again while it is made.
    ///
    /// Example:
    ///     >>> gm.write_graph("pair.gl", [[0, 1], [1, 2]]).edge_index()
    ///     array([[0, 1],
    ///            [1, 2]])
    fn edge_index<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("graphmill._contents")?.call_method1("graph_edge_index", (slf,))
    }

    /// The adjacency matrix as a `scipy.sparse.csr_array`: entry `[u, v]` is the weight of the edge from u to v, or 1.
    ///
    /// A graph that stores in-edges alone gives a `csc_array`. Duplicate edges are separate entries, which SciPy adds
    /// up. Offsets and neighbours are views of the file where SciPy can take them as they are.
    ///
    /// Example:
    ///     >>> gm.write_graph("pair.gl", [[0, 1], [1, 2]]).to_scipy().toarray().tolist()
    ///     [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    fn to_scipy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("graphmill._contents")?.call_method1("graph_to_scipy", (slf,))
    }
}
