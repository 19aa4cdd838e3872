//! `Graph.sample` and its result.

use crate::errors::Result;
use graphmill::sample;
use numpy::PyArray1;
use pyo3::prelude::*;

/// A sampled neighbourhood, in PyG's order: seeds first, nodes grouped by hop, edges by local ids.
///
/// Entries are torch tensors when the seeds were given as one, else NumPy arrays.
#[pyclass(frozen, module = "graphmill")]
pub struct Sample {
    /// Ids of the nodes; the first are the seeds in their order.
    #[pyo3(get)]
    n_id: Py<PyAny>,
    /// Local ids of the edges' sources.
    #[pyo3(get)]
    row: Py<PyAny>,
    /// Local ids of the edges' destinations.
    #[pyo3(get)]
    col: Py<PyAny>,
    /// Edge ids, see `Graph.has_edge_ids`.
    #[pyo3(get)]
    e_id: Py<PyAny>,
    /// How many nodes each hop found, the seeds first.
    #[pyo3(get)]
    nodes_per_hop: Vec<u64>,
    /// How many edges each hop found.
    #[pyo3(get)]
    edges_per_hop: Vec<u64>,
}

impl Sample {
    pub(crate) fn of(py: Python<'_>, sample: sample::Sample, torch: bool) -> Result<Self> {
        let array = |ids: Vec<i64>| -> PyResult<Py<PyAny>> { Ok(int64(py, ids, torch)?.unbind()) };
        Ok(Sample {
            n_id: array(sample.nodes)?,
            row: array(sample.row)?,
            col: array(sample.col)?,
            e_id: array(sample.edge_ids)?,
            nodes_per_hop: sample.nodes_per_hop,
            edges_per_hop: sample.edges_per_hop,
        })
    }
}

/// Hands a vector to NumPy or torch without a copy.
pub fn int64(py: Python<'_>, ids: Vec<i64>, torch: bool) -> PyResult<Bound<'_, PyAny>> {
    let array = PyArray1::from_vec(py, ids).into_any();
    if torch { py.import("torch")?.call_method1("from_numpy", (array,)) } else { Ok(array) }
}

#[pymethods]
impl Sample {
    fn __repr__(&self) -> String {
        let nodes: u64 = self.nodes_per_hop.iter().sum();
        let edges: u64 = self.edges_per_hop.iter().sum();
        format!(
            "Sample(nodes={nodes}, edges={edges}, nodes_per_hop={:?}, edges_per_hop={:?})",
            self.nodes_per_hop, self.edges_per_hop
        )
    }
}
