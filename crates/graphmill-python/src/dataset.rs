//! `graphmill.Dataset`.

use crate::errors::Result;
use crate::features::Features;
use crate::graph::Graph;
use crate::memory::budget_of;
use crate::views::{Map, section_view};
use graphmill::disk::{ReadAt, format_size};
use graphmill::format::manifest;
use graphmill::store;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

/// A dataset on disk: topology, features, labels, other tables and splits, under one memory budget.
///
/// Made by :func:`graphmill.open`. Handles may be shared by threads, pickled (by path) and used after a fork.
#[pyclass(frozen, module = "graphmill")]
pub struct Dataset {
    /// Replaced as a whole when this handle adds to the dataset.
    current: RwLock<store::Dataset>,
}

impl Dataset {
    /// The dataset as this handle sees it now.
    pub(crate) fn inner(&self) -> store::Dataset {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reopen(&self) -> Result<()> {
        let old = self.inner();
        let new = store::Dataset::open(old.path(), old.budget().clone())?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }
}

#[pymethods]
impl Dataset {
    #[new]
    #[pyo3(signature = (path, memory = None))]
    fn new(path: PathBuf, memory: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let path = std::path::absolute(&path).unwrap_or(path);
        Ok(Dataset { current: RwLock::new(store::Dataset::open(path, budget_of(memory)?)?) })
    }

    /// Absolute path of the folder.
    #[getter]
    fn path(&self) -> PathBuf {
        self.inner().path().to_path_buf()
    }

    /// Number of nodes.
    #[getter]
    fn num_nodes(&self) -> u64 {
        self.inner().graph().num_nodes()
    }

    /// Number of stored edges of one direction.
    #[getter]
    fn num_edges(&self) -> u64 {
        self.inner().graph().num_edges()
    }

    /// Bytes of memory that loading from this dataset may take.
    #[getter]
    fn memory(&self) -> u64 {
        self.inner().budget().total()
    }

    /// Rises each time the dataset is written; this handle keeps the one it opened.
    #[getter]
    fn generation(&self) -> u64 {
        self.inner().manifest().generation
    }

    /// The topology.
    #[getter]
    fn graph(&self) -> Graph {
        Graph::of(self.inner().graph().clone())
    }

    /// The features, table `x`, or None.
    #[getter]
    fn features(&self) -> Option<Features> {
        self.inner().tables().get(manifest::FEATURES).cloned().map(Features::of)
    }

    /// The labels, table `y`, or None.
    #[getter]
    fn labels(&self) -> Option<Features> {
        self.inner().tables().get(manifest::LABELS).cloned().map(Features::of)
    }

    /// A table of the nodes by name; `KeyError` names those that exist.
    fn table(&self, name: &str) -> Result<Features> {
        Ok(Features::of(self.inner().table(name)?.clone()))
    }

    /// The names of all tables of the nodes.
    #[getter]
    fn tables(&self) -> Vec<String> {
        self.inner().tables().keys().cloned().collect()
    }

    /// A named list of nodes as a read-only int64 view; `KeyError` names those that exist.
    fn split<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PyAny>> {
        let dataset = self.inner();
        let table = dataset.split(name)?;
        table.mapped().check_length()?;
        section_view(py, Map::Shared(table.mapped().clone()), table.section(), "int64")
    }

    /// The names of all splits.
    #[getter]
    fn splits(&self) -> Vec<String> {
        self.inner().splits().keys().cloned().collect()
    }

    /// Adds a table with one row per node, without touching the rest of the dataset.
    ///
    /// Args:
    ///     name: Letters, digits, `_` and `-`.
    ///     array: NumPy or torch, of one or two dimensions, or an iterable of chunks of it.
    ///     dtype: Store as this type; by default as the data is.
    ///
    /// Example:
    ///     >>> ds.add_table("year", np.arange(ds.num_nodes))
    ///     >>> ds.table("year")[[0, 1]]
    ///     array([0, 1])
    #[pyo3(signature = (name, array, dtype = None))]
    fn add_table(
        &self,
        py: Python<'_>,
        name: &str,
        array: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> Result<()> {
        let writers = py.import("graphmill._writers")?;
        writers.call_method1("add_table", (self.path(), name, array, dtype, self.num_nodes()))?;
        self.reopen()
    }

    /// Adds a named list of nodes, or a mask with one bool per node.
    ///
    /// Example:
    ///     >>> ds.add_split("first", [0, 1])
    ///     >>> ds.split("first")
    ///     array([0, 1])
    fn add_split(&self, py: Python<'_>, name: &str, nodes: &Bound<'_, PyAny>) -> Result<()> {
        py.import("graphmill._writers")?
            .call_method1("add_split", (self.path(), name, nodes, self.num_nodes()))?;
        self.reopen()
    }

    fn __repr__(&self) -> String {
        let dataset = self.inner();
        let graph = dataset.graph();
        let tables = dataset.tables().iter().map(|(name, table)| {
            let shape = table.shape();
            let columns =
                if shape.is_vector() { String::new() } else { format!(", {}", shape.columns()) };
            format!("{name}=[{}{columns}] {}", shape.rows(), shape.element())
        });
        let splits =
            dataset.splits().iter().map(|(name, split)| format!("{name}={}", split.shape().rows()));
        let size: u64 = dataset.manifest().files().map(|file| file.bytes).sum();
        let mut parts = vec![
            format!("num_nodes={}", graph.num_nodes()),
            format!("num_edges={}", graph.num_edges()),
        ];
        parts.extend(tables.chain(splits));
        parts.push(format!("{} on disk", format_size(size)));
        parts.push(format!("memory={}", format_size(dataset.budget().total())));
        format!("Dataset({})", parts.join(", "))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        let arguments = (slf.get().path(), slf.get().memory()).into_pyobject(slf.py())?;
        Ok(PyTuple::new(slf.py(), [slf.get_type().into_any(), arguments.into_any()])?)
    }
}
