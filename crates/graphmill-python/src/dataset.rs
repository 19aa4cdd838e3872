//! `graphmill.Dataset`.

use crate::arguments::parse_residency;
use crate::errors::{Result, raise};
use crate::features::Features;
use crate::graph::Graph;
use crate::ids;
use crate::memory::{Held, budget_of};
use crate::sample::int64;
use crate::views::{Map, section_view};
use crate::writers::amend_origin;
use graphmill::disk::{self, Backend, format_size, room};
use graphmill::format::manifest;
use graphmill::load::Reading;
use graphmill::store;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{OnceLock, PoisonError, RwLock};

/// Files that opening a changed dataset may need beyond those of the dataset before.
const SPARE: usize = 4;

/// A dataset on disk: topology, features, labels, other tables and splits, under one memory budget.
///
/// Made by :func:`graphmill.open`. Handles may be shared by threads, pickled (by path) and used after a fork.
///
/// A build may have given nodes other numbers than they had in the source, to bring together what is sampled together
/// or because ids were scattered or text; ``repr(ds)`` says so. ``ds.graph``, ``ds.features`` and ``batch.n_id`` speak
/// numbers. Seeds and splits are ids of the source, and :meth:`node_ids` and :meth:`original_ids` lead from one to the
/// other.
///
/// Example:
///     >>> ds = gm.open("papers")
///     >>> ds.num_nodes, ds.tables
///     (4, ['x', 'y'])
///     >>> ds.features.shape, ds.labels.shape
///     ((4, 2), (4,))
#[pyclass(frozen, module = "graphmill")]
pub struct Dataset {
    /// Replaced as a whole when this handle adds to the dataset.
    current: RwLock<store::Dataset>,
    /// What the build that returned this handle did.
    build_report: OnceLock<Py<PyAny>>,
}

impl Dataset {
    /// The dataset as this handle sees it now.
    pub(crate) fn inner(&self) -> store::Dataset {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A handle to a table, if there is one, whose reading the dataset's budget pays for.
    fn handle(&self, table: Option<&store::Table>) -> Option<Features> {
        let budget = self.inner().budget().clone();
        table.map(|table| Features::of(table.clone(), Reading::Auto, budget))
    }

    /// Changes the dataset on disk by a function of `graphmill._amend`, and opens what came out of it.
    ///
    /// The descriptors for that are held from before the change on, so that a process without any is refused before
    /// anything is published.
    pub(crate) fn amend<'py>(
        slf: &Bound<'py, Self>,
        function: &str,
        arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    ) -> Result<()> {
        let py = slf.py();
        let inner = slf.get().inner();
        let trial = store::Dataset::open(inner.path(), inner.budget().clone())?;
        let manifest = inner.path().join(manifest::FILE_NAME);
        let spare = (0..SPARE).map(|_| disk::open(&manifest, Backend::Pread));
        let spare = spare.collect::<std::result::Result<Vec<_>, _>>()?;
        let amended =
            py.import("graphmill._amend")?.call_method1(function, arguments.into_pyobject(py)?);
        drop((trial, spare));
        amended?;
        slf.get().reopen().map_err(|error| {
            let error = PyErr::from(error);
            let problem = format!(
                "{} was changed, but opening it again failed: {}; this handle shows the state before, gm.open the new one",
                inner.path().display(),
                error.value(py)
            );
            match error.get_type(py).call1((problem,)) {
                Ok(error) => PyErr::from_value(error).into(),
                Err(error) => error.into(),
            }
        })
    }

    /// Opens what this handle has just written.
    pub(crate) fn reopen(&self) -> Result<()> {
        let old = self.inner();
        let opened = store::Dataset::open(old.path(), old.budget().clone());
        let new = opened.and_then(|new| new.placed_like(&old)).map_err(|error| {
            let problem = "the change is published, but this handle could not open it";
            let problem = format!(
                "{problem}: {error}; make room for it, such as descriptors by `ulimit -n`, and"
            );
            raise("DiskError", &format!("{problem} open the dataset again with gm.open"))
        })?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(())
    }
}

#[pymethods]
impl Dataset {
    #[new]
    #[pyo3(signature = (path, memory = None, residency = "auto"))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        memory: Option<&Bound<'_, PyAny>>,
        residency: &str,
    ) -> Result<Self> {
        let placement = parse_residency(residency)?;
        let path = std::path::absolute(&path).unwrap_or(path);
        let opened = store::Dataset::open(path, budget_of(memory)?)?;
        let current = RwLock::new(py.detach(|| opened.placed(placement))?);
        Ok(Dataset { current, build_report: OnceLock::new() })
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
        self.handle(self.inner().tables().get(manifest::FEATURES))
    }

    /// The labels, table `y`, or None.
    #[getter]
    fn labels(&self) -> Option<Features> {
        self.handle(self.inner().tables().get(manifest::LABELS))
    }

    /// A table of the nodes by name; `KeyError` names those that exist.
    ///
    /// Example:
    ///     >>> ds.table("y").dtype
    ///     dtype('int64')
    fn table(&self, name: &str) -> Result<Features> {
        let dataset = self.inner();
        Ok(Features::of(dataset.table(name)?.clone(), Reading::Auto, dataset.budget().clone()))
    }

    /// The names of all tables of the nodes.
    #[getter]
    fn tables(&self) -> Vec<String> {
        self.inner().tables().keys().cloned().collect()
    }

    /// A table of the edges by name, such as `edge_attr`; its rows are found by edge id. `KeyError` names those that exist.
    ///
    /// Example:
    ///     >>> links = gm.build("links", edges=[[0, 1], [1, 2]], edge_features=np.eye(2))
    ///     >>> s = links.graph.sample([2], [1])
    ///     >>> links.edge_table("edge_attr")[s.e_id]
    ///     array([[0., 1.]])
    fn edge_table(&self, name: &str) -> Result<Features> {
        let dataset = self.inner();
        let table = dataset.edge_table(name)?.clone();
        if !dataset.graph().has_edge_ids() {
            let problem = format!(
                "rows of edge table {name:?} are found by edge ids, which {} does not store; build it with edge_ids=True",
                dataset.path().display()
            );
            return Err(PyValueError::new_err(problem).into());
        }
        Ok(Features::of(table, Reading::Auto, dataset.budget().clone()))
    }

    /// The names of all tables of the edges.
    #[getter]
    fn edge_tables(&self) -> Vec<String> {
        self.inner().edge_tables().keys().cloned().collect()
    }

    /// A named list of nodes by their ids in the source, as `seeds=` of a loader takes them.
    ///
    /// A read-only int64 view of the file; where nodes were renumbered an array of its own, and of str if ids were
    /// text. `KeyError` names the splits that exist.
    ///
    /// Example:
    ///     >>> train = ds.split("train")
    ///     >>> ds.features[ds.node_ids(train)].shape[1]     # rows are found by number
    ///     2
    fn split<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PyAny>> {
        let dataset = self.inner();
        let table = dataset.split(name)?;
        let numbers = table.as_i64()?;
        if dataset.is_renumbered() {
            return original_ids(py, &dataset, room::copy_of(numbers)?, false);
        }
        section_view(py, Map::Shared(table.mapped().clone()), table.section(), "int64")
    }

    /// The names of all splits.
    #[getter]
    fn splits(&self) -> Vec<String> {
        self.inner().splits().keys().cloned().collect()
    }

    /// By what nodes were ordered when the dataset was built: `"none"` as in the source, `"hot"` ...
    #[getter]
    fn order(&self) -> String {
        self.inner().manifest().order.clone()
    }

    /// What the ids of the source are: `"same"` as the numbers of the nodes, `"reordered"` (the numbers from 0 on, but
    /// those of other nodes), `"mapped"` (any integers) or `"text"`.
    #[getter]
    fn ids(&self) -> Result<&'static str> {
        Ok(self.inner().ids().kind()?.name())
    }

    /// The names of the classes that numbers in a table stand for, by table; most datasets have none.
    #[getter]
    fn classes(&self) -> BTreeMap<String, Vec<String>> {
        self.inner().manifest().node().classes.clone()
    }

    /// The ids in the source of nodes given by number, such as those in `batch.n_id`.
    ///
    /// Args:
    ///     ids: Numbers of nodes; a torch tensor is answered with one.
    ///
    /// Returns:
    ///     An int64 array, or an array of str objects where the ids are text.
    ///
    /// Example:
    ///     >>> ds.original_ids([2, 0])
    ///     array([2, 0])
    fn original_ids<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        let given = ids::read(ids, "ids")?;
        original_ids(py, &self.inner(), room::copy_of(given.as_slice()?)?, given.from_torch)
    }

    /// The numbers of nodes given by their ids in the source: how to find rows of tables and lists of the graph.
    ///
    /// Args:
    ///     original: Ids of the source; str where the ids are text. A torch tensor is answered with one.
    ///
    /// Raises:
    ///     IndexError: No node has an id; the message says which. For text it is a `KeyError`.
    ///
    /// Example:
    ///     >>> ds.node_ids([2, 0])
    ///     array([2, 0])
    ///     >>> ds.labels[ds.node_ids([2, 0])].shape
    ///     (2,)
    fn node_ids<'py>(
        &self,
        py: Python<'py>,
        original: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        let dataset = self.inner();
        if dataset.ids().are_text() {
            let names = ids::read_names(original, "original")?;
            return Ok(int64(py, py.detach(|| dataset.node_ids_of_names(&names))?, false)?);
        }
        let given = ids::read(original, "original")?;
        let ids = given.as_slice()?;
        Ok(int64(py, py.detach(|| dataset.node_ids(ids))?, given.from_torch)?)
    }

    /// Adds a table with one row per node, without touching the rest of the dataset.
    ///
    /// Args:
    ///     name: Letters, digits, `_` and `-`.
    ///     array: NumPy or torch, of one or two dimensions: row i belongs to the node with id i in the source. Where
    ///         nodes have those numbers, an iterable of chunks will do.
    ///     dtype: Store as this type; by default as the data is.
    ///     ids: The id in the source of each row, for rows in another order. Needed where ids are not the numbers from
    ///         0 on.
    ///     fill: The value of rows that `ids` leaves out; without it they are an error.
    ///
    /// Example:
    ///     >>> ds.add_table("year", np.arange(ds.num_nodes))
    ///     >>> ds.table("year")[[0, 1]]
    ///     array([0, 1])
    ///     >>> ds.add_table("rank", np.array([7, 9]), ids=[3, 0], fill=-1)
    ///     >>> ds.table("rank")[ds.node_ids([0, 1, 3])]
    ///     array([ 9, -1,  7])
    #[pyo3(signature = (name, array, dtype = None, *, ids = None, fill = None))]
    fn add_table(
        slf: &Bound<'_, Self>,
        name: &str,
        array: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        ids: Option<&Bound<'_, PyAny>>,
        fill: Option<&Bound<'_, PyAny>>,
    ) -> Result<()> {
        Dataset::amend(slf, "add_table", (slf, name, array, dtype, ids, fill))
    }

    /// Adds a named list of nodes by their ids in the source, or a mask with one bool per id from 0 on.
    ///
    /// Example:
    ///     >>> ds.add_split("first", [0, 1])
    ///     >>> ds.split("first")
    ///     array([0, 1])
    fn add_split(slf: &Bound<'_, Self>, name: &str, nodes: &Bound<'_, PyAny>) -> Result<()> {
        Dataset::amend(slf, "add_split", (slf, name, nodes))
    }

    /// What the build that returned this handle did, a :class:`graphmill.BuildReport`; None if it was opened.
    ///
    /// Example:
    ///     >>> built = gm.build("links", edges=[[0, 1], [1, 2]], labels={"id": [2, 0], "y": [4, 7]})
    ///     >>> built.build_report.tables["y"].filled
    ///     1
    #[getter]
    fn build_report(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.build_report.get().map(|report| report.clone_ref(py))
    }

    /// Attaches what a build did; the first report stays.
    fn _set_build_report(&self, report: Py<PyAny>) {
        let _ = self.build_report.set(report);
    }

    /// A digest of what the dataset was built from, if its builder recorded one.
    #[getter]
    fn _origin(&self) -> Option<String> {
        self.inner().manifest().origin.clone()
    }

    /// Records a digest of what the dataset was built from.
    fn _record_origin(&self, digest: &str) -> Result<()> {
        amend_origin(&self.inner(), digest)?;
        self.reopen()
    }

    /// Takes memory out of the budget for the length of a `with` block.
    fn _reserve(&self, bytes: u64, what: &str) -> Result<Held> {
        Ok(Held::of(self.inner().budget().reserve(bytes, what)?))
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
        if dataset.is_renumbered() {
            // A repr tells what it can, even of a damaged file.
            let ids = dataset.ids().kind().map_or("unreadable", |kind| kind.name());
            parts.push(format!("renumbered(order={}, ids={ids})", dataset.manifest().order));
        }
        parts.extend(tables.chain(splits));
        parts.push(format!("{} on disk", format_size(size)));
        if graph.copied_bytes() > 0 {
            parts.push(format!("{} of topology in RAM", format_size(graph.copied_bytes())));
        }
        parts.push(format!("memory={}", format_size(dataset.budget().total())));
        format!("Dataset({})", parts.join(", "))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        let residency = slf.get().inner().graph().asked_placement().name();
        let arguments =
            (slf.get().path(), slf.get().memory(), residency).into_pyobject(slf.py())?;
        Ok(PyTuple::new(slf.py(), [slf.get_type().into_any(), arguments.into_any()])?)
    }
}

/// The ids of the source as an array; of str objects where they are text, because names may be of any length.
fn original_ids<'py>(
    py: Python<'py>,
    dataset: &store::Dataset,
    mut numbers: Vec<i64>,
    torch: bool,
) -> Result<Bound<'py, PyAny>> {
    if !dataset.ids().are_text() {
        py.detach(|| dataset.ids().make_original(&mut numbers))?;
        return Ok(int64(py, numbers, torch)?);
    }
    let mut names = room::vector(numbers.len())?;
    dataset.ids().visit_names(&numbers, |name| names.push(PyString::new(py, name)))?;
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", "object")?;
    Ok(py.import("numpy")?.call_method("array", (names,), Some(&keywords))?)
}
