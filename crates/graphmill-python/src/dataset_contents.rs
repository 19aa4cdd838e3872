//! What users ask a `graphmill.Dataset` about its tables and edges, and how tables come and go.
//!
//! Forwards to `graphmill._contents` and `graphmill._amend`, which speak NumPy: arrays are made there, and files
//! written by [`crate::writers`].

use crate::dataset::Dataset;
use crate::errors::Result;
use pyo3::prelude::*;
use pyo3::types::PyModule;

fn contents<'py>(slf: &Bound<'py, Dataset>) -> PyResult<Bound<'py, PyModule>> {
    slf.py().import("graphmill._contents")
}

#[pymethods]
impl Dataset {
    /// Number of edges that the source had, which is the number of rows of every edge table.
    #[getter]
    fn num_source_rows(&self) -> u64 {
        self.inner().manifest().edge().source_rows
    }

    /// Columns of the features, as PyG counts them: 1 for a vector, 0 without features.
    #[getter]
    fn num_features<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("num_columns", (slf, "x"))
    }

    /// The same as `num_features`.
    #[getter]
    fn num_node_features<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Dataset::num_features(slf)
    }

    /// Columns of the edge table `edge_attr`; 0 without one.
    #[getter]
    fn num_edge_features<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("num_edge_columns", (slf, "edge_attr"))
    }

    /// Number of classes of the labels: that of their names where these are stored, else as PyG counts it: one more than
    /// the largest label (-1 is a missing one), the columns of a matrix of labels, the distinct values of float ones.
    /// Reads all labels; 0 without labels.
    #[getter]
    fn num_classes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("num_classes", (slf,))
    }

    /// A split as a bool array with an entry for every id from 0 on, as PyG's `train_mask`.
    ///
    /// Example:
    ///     >>> ds.mask("train").nonzero()[0].tolist() == sorted(ds.split("train").tolist())
    ///     True
    fn mask<'py>(slf: &Bound<'py, Self>, split: &str) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("mask", (slf, split))
    }

    /// A table of the nodes or edges by name, or a split's mask by its name in PyG: `ds["x"]`, `ds["train_mask"]`.
    ///
    /// Example:
    ///     >>> ds["x"].shape, ds["train_mask"].dtype
    ///     ((4, 2), dtype('bool'))
    fn __getitem__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("entry", (slf, name))
    }

    fn __contains__(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        contents(slf)?.call_method1("has_entry", (slf, name))?.extract()
    }

    /// Whether there is an edge from `src` to `dst`, by the ids of the source.
    ///
    /// Args:
    ///     src: One id, or many.
    ///     dst: One id, or as many.
    ///
    /// Returns:
    ///     A bool, or a bool array for many.
    ///
    /// Example:
    ///     >>> links = gm.build("links", edges=[[0, 1], [1, 2]])
    ///     >>> links.has_edge(0, 1), links.has_edge([0, 1], [1, 0])
    ///     (True, array([ True, False]))
    fn has_edge<'py>(
        slf: &Bound<'py, Self>,
        src: &Bound<'py, PyAny>,
        dst: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("has_edge", (slf, src, dst))
    }

    /// All edges by the ids of the source, int64 `[2, num_edges]`: what was PyG's `data.edge_index`.
    ///
    /// They come in the order of the source where edge ids are stored, else in the stored one; an undirected edge comes
    /// both ways. Takes 16 bytes an edge, and some more while it is made, which the dataset's memory must have.
    ///
    /// Example:
    ///     >>> ds.edge_index().shape[0]
    ///     2
    fn edge_index<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("edge_index", (slf,))
    }

    /// The adjacency matrix as a `scipy.sparse.csr_array`: entry `[u, v]` is the weight of the edge from u to v, or 1.
    ///
    /// Rows and columns are ids of the source, which have to be the numbers from 0 on. Lists are views of the file where
    /// nodes were not renumbered.
    ///
    /// Example:
    ///     >>> ds.to_scipy().shape
    ///     (4, 4)
    fn to_scipy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        contents(slf)?.call_method1("to_scipy", (slf,))
    }

    /// Adds a table with one row for each edge of the source, found by `e_id`; edge ids must be stored.
    ///
    /// Args:
    ///     name: Letters, digits, `_` and `-`.
    ///     array: NumPy or torch, or an iterable of chunks: row i belongs to edge i of the source.
    ///     dtype: Store as this type; by default as the data is.
    ///
    /// Example:
    ///     >>> links = gm.build("links", edges=[[0, 1], [1, 2]], edge_ids=True)
    ///     >>> links.add_edge_table("kind", np.array([7, 8]))
    ///     >>> links.edge_table("kind")[links.graph.sample([2], [1]).e_id]
    ///     array([8])
    #[pyo3(signature = (name, array, dtype = None))]
    fn add_edge_table(
        slf: &Bound<'_, Self>,
        name: &str,
        array: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> Result<()> {
        Dataset::amend(slf, "add_edge_table", (slf, name, array, dtype))
    }

    /// Removes a table of the nodes or, if there is none of this name, of the edges; its file goes with it.
    ///
    /// Example:
    ///     >>> ds.add_table("spare", np.zeros(ds.num_nodes))
    ///     >>> ds.remove_table("spare")
    ///     >>> "spare" in ds
    ///     False
    fn remove_table(slf: &Bound<'_, Self>, name: &str) -> Result<()> {
        Dataset::amend(slf, "remove_table", (slf, name))
    }

    /// Removes a split.
    ///
    /// Example:
    ///     >>> ds.add_split("spare", [0])
    ///     >>> ds.remove_split("spare")
    ///     >>> "spare" in ds.splits
    ///     False
    fn remove_split(slf: &Bound<'_, Self>, name: &str) -> Result<()> {
        Dataset::amend(slf, "remove_split", (slf, name))
    }
}
