//! `graphmill.Graph`.

use crate::arguments::{Int, NodeNumber, Seed, parse_direction, parse_residency, read_threads};
use crate::errors::Result;
use crate::ids;
use crate::memory::budget_of;
use crate::recycled::Recycled;
use crate::sample::{Sample, Wishes, sample_links, sample_nodes};
use crate::views::{Map, private_map, section_view, to_torch};
use crate::walk;
use graphmill::disk::{PrivateMap, room};
use graphmill::format::{Direction, ElementType, Section};
use graphmill::sample::{NegativeOptions, WalkOptions};
use graphmill::store::{self, inspect};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Topology on disk: degrees, neighbour lists and samples straight from a mapped `.gl` file.
///
/// Opening takes microseconds whatever the size of the file. Handles may be shared by threads, pickled (by path) and
/// used after a fork.
///
/// Args:
///     path: A `.gl` file of graphmill's, or GraphZero's.
///     residency: `"mapped"` reads lists from the mapped file; `"ram"` copies them to memory, on huge pages, so that
///         nothing can evict them; `"auto"` copies a direction once it has been read much, if that takes little of `memory`.
///         Views such as `indices` are of the file either way.
///     memory: What a copy may take, such as `"4GiB"`; a quarter of the machine's memory by default.
///
/// Raises:
///     MemoryBudgetError: The copy does not fit into `memory`.
///
/// Example:
///     >>> g = gm.Graph("graph.gl")
///     >>> g.num_nodes, g.num_edges
///     (4, 5)
#[pyclass(frozen, module = "graphmill", subclass)]
pub struct Graph {
    pub(crate) inner: store::Graph,
    pub(crate) recycled: Recycled,
    private: OnceLock<Arc<PrivateMap>>,
}

impl Graph {
    pub(crate) fn of(inner: store::Graph) -> Self {
        Graph { inner, recycled: Recycled::default(), private: OnceLock::new() }
    }

    fn direction_names(&self) -> Vec<&'static str> {
        if self.inner.layout().undirected {
            return vec!["out", "in"];
        }
        self.inner.layout().directions.iter().map(|lists| lists.direction.name()).collect()
    }

    /// The stored sections behind `indptr` and `indices` of a direction.
    fn csr_views<'py>(
        &self,
        py: Python<'py>,
        direction: Direction,
        framework: &str,
    ) -> Result<Bound<'py, PyTuple>> {
        let sections = self.inner.plain_sections(direction)?;
        let offsets = self.view(py, &sections.offsets, framework)?;
        let neighbours = self.view(py, &sections.neighbours, framework)?;
        Ok(PyTuple::new(py, [offsets, neighbours])?)
    }

    /// A view of a section of a file that is as long as it was: a shorter one ends whoever reads past its end.
    fn view<'py>(
        &self,
        py: Python<'py>,
        section: &Section,
        framework: &str,
    ) -> Result<Bound<'py, PyAny>> {
        self.check()?;
        self.view_of_checked(py, section, framework)
    }

    fn view_of_checked<'py>(
        &self,
        py: Python<'py>,
        section: &Section,
        framework: &str,
    ) -> Result<Bound<'py, PyAny>> {
        // Offsets are below 2^63, so the same bytes are valid int64, which torch and PyG expect.
        let element = match section.element {
            ElementType::U64 => ElementType::I64,
            other => other,
        };
        match framework {
            "numpy" => {
                let map = Map::Shared(self.inner.mapped().clone());
                section_view(py, map, section, element.name())
            }
            "torch" => {
                let map = Map::Private(private_map(&self.private, self.inner.mapped())?);
                Ok(to_torch(section_view(py, map, section, element.name())?, element)?)
            }
            other => Err(PyValueError::new_err(format!(
                "framework is {other:?}, expected \"numpy\" or \"torch\""
            ))
            .into()),
        }
    }
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (path, residency = "auto", memory = None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        residency: &str,
        memory: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let placement = parse_residency(residency)?;
        let budget = budget_of(memory)?;
        let opened = store::Graph::open(std::path::absolute(&path).unwrap_or(path))?;
        Ok(Graph::of(py.detach(|| opened.placed(placement, &budget))?))
    }

    /// Absolute path of the file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.inner.path().to_path_buf()
    }

    /// Where lists are read from: `"mapped"`, the file, or `"ram"`, a copy in memory.
    #[getter]
    fn residency(&self) -> &'static str {
        self.inner.placement().name()
    }

    /// Number of nodes.
    #[getter]
    fn num_nodes(&self) -> u64 {
        self.inner.num_nodes()
    }

    /// Number of stored edges of one direction; an undirected graph stores each edge both ways.
    #[getter]
    fn num_edges(&self) -> u64 {
        self.inner.num_edges()
    }

    /// Whether edges have weights.
    #[getter]
    fn has_weights(&self) -> bool {
        self.inner.has_weights()
    }

    /// Whether `e_id` is the row of the source (True) or the position in the stored order (False).
    #[getter]
    fn has_edge_ids(&self) -> bool {
        self.inner.has_edge_ids()
    }

    /// Whether each edge is stored both ways in one set of lists.
    #[getter]
    fn is_undirected(&self) -> bool {
        self.inner.layout().undirected
    }

    /// The stored directions: `("out",)`, `("in",)` or `("out", "in")`.
    #[getter]
    fn directions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.direction_names())
    }

    /// How neighbours are stored: `"i32"`, `"i64"` or `"packed"`.
    #[getter]
    fn encoding(&self) -> &'static str {
        self.inner.layout().directions[0].encoding()
    }

    /// The order of neighbours within a list: `"id"`, `"time"` or `"file"`.
    #[getter]
    fn neighbor_order(&self) -> &'static str {
        self.inner.order().name()
    }

    /// Where the list of each node starts in `indices`: read-only int64 view of N + 1 offsets, out-direction.
    ///
    /// Raises:
    ///     ValueError: If lists are packed.
    #[getter]
    fn indptr<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.view(py, &self.inner.plain_sections(Direction::Out)?.offsets, "numpy")
    }

    /// All neighbour lists, one after the other: read-only view in the stored type, out-direction.
    ///
    /// Raises:
    ///     ValueError: If lists are packed.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        self.view(py, &self.inner.plain_sections(Direction::Out)?.neighbours, "numpy")
    }

    /// `(indptr, indices)` of the out-edges, without a copy.
    ///
    /// Args:
    ///     framework: `"numpy"` for read-only arrays, `"torch"` for private copy-on-write tensors.
    ///
    /// Example:
    ///     >>> indptr, indices = g.csr()
    ///     >>> indices[indptr[0]:indptr[1]]     # where edges of node 0 lead to
    ///     array([1, 2], dtype=int32)
    #[pyo3(signature = (framework = "numpy"))]
    fn csr<'py>(&self, py: Python<'py>, framework: &str) -> Result<Bound<'py, PyTuple>> {
        self.csr_views(py, Direction::Out, framework)
    }

    /// `(indptr, indices)` of the in-edges, without a copy; the argument is that of `csr`.
    ///
    /// Example:
    ///     >>> indptr, indices = g.csc()
    ///     >>> indices[indptr[2]:indptr[3]]     # where edges of node 2 come from
    ///     array([0, 1], dtype=int32)
    #[pyo3(signature = (framework = "numpy"))]
    fn csc<'py>(&self, py: Python<'py>, framework: &str) -> Result<Bound<'py, PyTuple>> {
        self.csr_views(py, Direction::In, framework)
    }

    /// The weights of the stored edges, a float32 view without a copy, or None.
    ///
    /// Args:
    ///     direction: Whose lists: `"out"` or `"in"`.
    ///     framework: `"numpy"` for a read-only array, `"torch"` for a private copy-on-write tensor.
    ///
    /// Example:
    ///     >>> weighted = gm.write_graph("weighted.gl", [[0, 0], [2, 1]], weights=[0.5, 2.0])
    ///     >>> weighted.neighbors(0), weighted.weights()
    ///     (array([1, 2], dtype=int32), array([2. , 0.5], dtype=float32))
    #[pyo3(signature = (direction = "out", framework = "numpy"))]
    fn weights<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
        framework: &str,
    ) -> Result<Option<Bound<'py, PyAny>>> {
        let sections = self.inner.sections(parse_direction(direction)?)?;
        sections.weights.as_ref().map(|section| self.view(py, section, framework)).transpose()
    }

    /// The times of the stored edges, an int64 view without a copy, or None; the arguments are those of `weights`.
    ///
    /// Example:
    ///     >>> timed = gm.write_graph("timed.gl", [[0, 0], [2, 1]], times=[2019, 2024])
    ///     >>> timed.neighbors(0), timed.times()
    ///     (array([1, 2], dtype=int32), array([2024, 2019]))
    #[pyo3(signature = (direction = "out", framework = "numpy"))]
    fn times<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
        framework: &str,
    ) -> Result<Option<Bound<'py, PyAny>>> {
        let sections = self.inner.sections(parse_direction(direction)?)?;
        sections.edge_times.as_ref().map(|section| self.view(py, section, framework)).transpose()
    }

    /// The source rows of the stored edges, an int64 view without a copy, or None; the arguments are those of `weights`.
    ///
    /// Example:
    ///     >>> numbered = gm.write_graph("numbered.gl", [[0, 0], [2, 1]], edge_ids=True)
    ///     >>> numbered.neighbors(0), numbered.edge_ids()
    ///     (array([1, 2], dtype=int32), array([1, 0]))
    #[pyo3(signature = (direction = "out", framework = "numpy"))]
    fn edge_ids<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
        framework: &str,
    ) -> Result<Option<Bound<'py, PyAny>>> {
        let sections = self.inner.sections(parse_direction(direction)?)?;
        sections.edge_ids.as_ref().map(|section| self.view(py, section, framework)).transpose()
    }

    /// Number of neighbours of each node; of all nodes when `ids` is None.
    ///
    /// Example:
    ///     >>> g.degrees([0, 1])
    ///     array([2, 1])
    #[pyo3(signature = (ids = None, direction = "out"))]
    fn degrees<'py>(
        &self,
        py: Python<'py>,
        ids: Option<&Bound<'py, PyAny>>,
        direction: &str,
    ) -> Result<Bound<'py, PyArray1<i64>>> {
        let direction = parse_direction(direction)?;
        let ids = ids.map(|ids| ids::read(ids, "ids")).transpose()?;
        let slice = ids.as_ref().map(ids::Ids::as_slice).transpose()?;
        let degrees = py.detach(|| -> store::Result<Vec<i64>> {
            let lists = self.inner.lists(direction)?;
            let degree = |node: u64| lists.degree(node).map(|degree| degree as i64);
            let nodes = 0..self.inner.num_nodes();
            let mut degrees = room::vector(slice.map_or(nodes.end as usize, <[i64]>::len))?;
            match slice {
                Some(ids) => {
                    for &id in ids {
                        degrees.push(degree(self.checked(id)?)?);
                    }
                }
                None => {
                    for node in nodes {
                        degrees.push(degree(node)?);
                    }
                }
            }
            Ok(degrees)
        })?;
        Ok(PyArray1::from_vec(py, degrees))
    }

    /// The neighbours of one node: a read-only view of its list in the stored type; of packed lists a new int64 array.
    ///
    /// Example:
    ///     >>> g.neighbors(0)
    ///     array([1, 2], dtype=int32)
    #[pyo3(signature = (id, direction = "out"))]
    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        id: NodeNumber,
        direction: &str,
    ) -> Result<Bound<'py, PyAny>> {
        let direction = parse_direction(direction)?;
        let lists = self.inner.lists(direction)?;
        let range = lists.range(self.checked(id.0)?)?;
        let sections = self.inner.sections(direction)?;
        if sections.is_packed() {
            let ids = py.detach(|| lists.decode(range))?;
            return Ok(PyArray1::from_vec(py, ids).into_any());
        }
        let mut section = sections.neighbours;
        section.offset += range.start as u64 * section.element.width();
        section.count = range.len() as u64;
        self.view_of_checked(py, &section, "numpy")
    }

    /// The neighbours of many nodes, one list after the other, whatever the encoding.
    ///
    /// Lists are looked up many at a time and, where there are thousands, read on all cores: several times as fast as one by one.
    ///
    /// Args:
    ///     ids: Nodes; any may come again.
    ///     direction: Whose lists: `"out"` or `"in"`.
    ///     threads: Threads to use, all cores by default.
    ///
    /// Returns:
    ///     `(indptr, indices)`, both int64: the neighbours of `ids[i]` are `indices[indptr[i]:indptr[i + 1]]`. Tensors if `ids`
    ///     is one.
    ///
    /// Example:
    ///     >>> indptr, indices = g.neighbor_lists([1, 0])
    ///     >>> indptr
    ///     array([0, 1, 3])
    ///     >>> indices
    ///     array([2, 1, 2])
    #[pyo3(signature = (ids, direction = "out", *, threads = None))]
    fn neighbor_lists<'py>(
        &self,
        ids: &Bound<'py, PyAny>,
        direction: &str,
        threads: Option<Int>,
    ) -> Result<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        walk::neighbor_lists(&self.inner, ids, parse_direction(direction)?, read_threads(threads)?)
    }

    /// Where the list of a node lies in `indices`: `(start, end)`.
    ///
    /// Example:
    ///     >>> g.list_range(1)
    ///     (2, 3)
    #[pyo3(signature = (id, direction = "out"))]
    fn list_range(&self, id: NodeNumber, direction: &str) -> Result<(usize, usize)> {
        let range = self.inner.lists(parse_direction(direction)?)?.range(self.checked(id.0)?)?;
        Ok((range.start, range.end))
    }

    /// Samples the neighbourhood of seeds, hop by hop, relabelled in PyG's order.
    ///
    /// Args:
    ///     seeds: Node ids; duplicates are kept.
    ///     fanouts: Neighbours to pick per node in each hop; -1 takes all.
    ///     direction: `"in"` follows edges against their direction, as message passing wants; `"out"` along it.
    ///     replace: Whether an edge may be picked several times.
    ///     weighted: Whether edges are picked in proportion to their stored weights; those without weight never are.
    ///     disjoint: Whether every seed grows a tree of its own; `Sample.batch` names the tree of each node.
    ///     method: `"uniform"`, or `"labor"`, which picks fewer different nodes for the same number of edges.
    ///     seed: An int gives the same bytes every time; None draws fresh entropy.
    ///     threads: How many may share the work of a large hop, by default all cores; results do not depend on it.
    ///     time: The time of each seed. No edge that is later enters its tree; implies disjoint trees.
    ///     node_time: The time of every node, used instead of the stored times of edges.
    ///     temporal: `"uniform"` or `"last"`: which of the edges that are old enough are picked.
    ///     window: How much older than its seed an edge may be.
    ///     layer_dependency: Whether hops share the random numbers of `"labor"`.
    ///     subgraph: `"directional"` gives the edges that were followed, `"bidirectional"` also their reverses, each pair of
    ///         nodes once, and `"induced"` all edges among the nodes found.
    ///
    /// Example:
    ///     >>> s = g.sample([0], [2], seed=0)
    ///     >>> s.n_id[0]
    ///     np.int64(0)
    #[pyo3(signature = (seeds, fanouts, direction = "in", replace = false, weighted = false, disjoint = false,
        method = "uniform", seed = None, threads = None, *, time = None, node_time = None, temporal = "uniform",
        window = None, layer_dependency = false, subgraph = "directional"))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        seeds: &Bound<'py, PyAny>,
        fanouts: &Bound<'py, PyAny>,
        direction: &str,
        replace: bool,
        weighted: bool,
        disjoint: bool,
        method: &str,
        seed: Option<Seed>,
        threads: Option<Int>,
        time: Option<&Bound<'py, PyAny>>,
        node_time: Option<&Bound<'py, PyAny>>,
        temporal: &str,
        window: Option<Int>,
        layer_dependency: bool,
        subgraph: &str,
    ) -> Result<Sample> {
        let wishes = Wishes {
            fanouts,
            direction,
            replace,
            weighted,
            disjoint,
            method,
            seed,
            threads,
            time,
            node_time,
            temporal,
            window,
            layer_dependency,
            subgraph,
        };
        sample_nodes(self, py, seeds, &wishes)
    }

    /// Samples the neighbourhood of both ends of edges, for link prediction.
    ///
    /// The seeds are the distinct ends in ascending order, as PyG has them; with disjoint trees all sources and then
    /// all destinations. `Sample.edge_label_index` has the local ids of the edges' ends. The other arguments are those
    /// of `sample`; `time` has one entry per edge.
    ///
    /// Args:
    ///     edges: Sources and destinations, two lists or an array of two rows. They need not be edges of the graph.
    ///     exclude: `"edges"` keeps these very edges out of the sample, `"both"` their reverses too, as undirected
    ///         graphs need; others are picked in their place.
    ///
    /// Example:
    ///     >>> s = g.sample_edges([[0, 1], [2, 2]], [2], seed=0)
    ///     >>> s.edge_label_index
    ///     array([[0, 1],
    ///            [2, 2]])
    #[pyo3(signature = (edges, fanouts, direction = "in", replace = false, weighted = false, disjoint = false,
        method = "uniform", seed = None, threads = None, *, exclude = None, time = None, node_time = None,
        temporal = "uniform", window = None, layer_dependency = false, subgraph = "directional"))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn sample_edges<'py>(
        &self,
        py: Python<'py>,
        edges: &Bound<'py, PyAny>,
        fanouts: &Bound<'py, PyAny>,
        direction: &str,
        replace: bool,
        weighted: bool,
        disjoint: bool,
        method: &str,
        seed: Option<Seed>,
        threads: Option<Int>,
        exclude: Option<&str>,
        time: Option<&Bound<'py, PyAny>>,
        node_time: Option<&Bound<'py, PyAny>>,
        temporal: &str,
        window: Option<Int>,
        layer_dependency: bool,
        subgraph: &str,
    ) -> Result<Sample> {
        let wishes = Wishes {
            fanouts,
            direction,
            replace,
            weighted,
            disjoint,
            method,
            seed,
            threads,
            time,
            node_time,
            temporal,
            window,
            layer_dependency,
            subgraph,
        };
        sample_links(self, py, edges, exclude, &wishes)
    }

    /// Walks from every start along edges: uniformly, by weight, or as node2vec does.
    ///
    /// Args:
    ///     starts: Node ids; a node given twice is walked from twice, differently.
    ///     length: Steps of each walk.
    ///     p: node2vec's return parameter: going back to the node before is weighed by 1/p.
    ///     q: node2vec's in-out parameter: going where no edge leads from the node before is weighed by 1/q.
    ///     weighted: Whether edges are taken in proportion to their weights; None for yes where weights are stored.
    ///     restart: Probability, at each step, of going back to the start instead.
    ///     direction: `"out"` follows edges along their direction, `"in"` against it.
    ///     seed: An int gives the same bytes every time; None draws fresh entropy.
    ///     threads: Threads to use, all cores by default; the walks do not depend on it.
    ///     stay: Whether a walk stays at a dead end; otherwise what follows is -1.
    ///
    /// Returns:
    ///     int64 `[len(starts), length + 1]`, the starts in column 0; a torch tensor if the starts were one.
    ///
    /// Example:
    ///     >>> g.walk([3, 0], length=4, seed=0).shape
    ///     (2, 5)
    #[pyo3(signature = (starts, length = 20, p = 1.0, q = 1.0, weighted = None, restart = 0.0, direction = "out",
        seed = None, threads = None, *, stay = false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn walk<'py>(
        &self,
        starts: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = walk::read_length)] length: usize,
        p: f64,
        q: f64,
        weighted: Option<bool>,
        restart: f64,
        direction: &str,
        seed: Option<Seed>,
        threads: Option<Int>,
        stay: bool,
    ) -> Result<Bound<'py, PyAny>> {
        let seed = Seed::or_fresh(starts.py(), seed)?;
        let options = WalkOptions::new(0).node2vec(p, q).weighted(weighted).restart(restart);
        let options = options.stay(stay).seed(seed);
        let (follow, threads) = (parse_direction(direction)?, read_threads(threads)?);
        walk::walk(&self.inner, starts, length, follow, options, threads)
    }

    /// Draws pairs of nodes that are no edges, for link prediction.
    ///
    /// Sources are drawn uniformly, or given. Pairs are independent, so one may come twice.
    ///
    /// Args:
    ///     n: Number of pairs; with `src`, number of destinations for each source.
    ///     weighted: Whether destinations are drawn in proportion to their in-degree; else all alike.
    ///     strict: Whether edges, and pairs of a node with itself, are drawn again; if so many pairs are edges that none
    ///         is found, raises `ValueError`.
    ///     seed: An int gives the same bytes every time; None draws fresh entropy.
    ///     src: Source nodes, for triplets.
    ///     threads: Threads to use, all cores by default; the pairs do not depend on it.
    ///
    /// Returns:
    ///     int64 `[2, n]`, sources and destinations; with `src`, the destinations `[len(src), n]`.
    ///
    /// Example:
    ///     >>> g.negative_edges(5, seed=0).shape
    ///     (2, 5)
    ///     >>> g.negative_edges(2, src=[1, 3], seed=0).shape
    ///     (2, 2)
    #[pyo3(signature = (n, weighted = false, strict = true, seed = None, *, src = None, threads = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn negative_edges<'py>(
        &self,
        py: Python<'py>,
        n: Int,
        weighted: bool,
        strict: bool,
        seed: Option<Seed>,
        src: Option<&Bound<'py, PyAny>>,
        threads: Option<Int>,
    ) -> Result<Bound<'py, PyAny>> {
        let seed = Seed::or_fresh(py, seed)?;
        let options = NegativeOptions::new().weighted(weighted).strict(strict).seed(seed);
        walk::negative_edges(py, &self.inner, n, src, &options, read_threads(threads)?)
    }

    /// Up to `count` distinct out-edges of each node as rows of neighbours, then `pad`.
    #[pyo3(signature = (nodes, count, pad, seed = None, threads = None))]
    fn _neighbor_matrix<'py>(
        &self,
        nodes: &Bound<'py, PyAny>,
        count: Int,
        pad: i64,
        seed: Option<Seed>,
        threads: Option<Int>,
    ) -> Result<Bound<'py, PyAny>> {
        let seed = Seed::or_fresh(nodes.py(), seed)?;
        walk::neighbor_matrix(&self.inner, nodes, count, pad, seed, read_threads(threads)?)
    }

    /// Raises `CorruptError` unless the file is as long as it was when it was opened.
    ///
    /// Every call checks that by itself; views that were made before cannot.
    ///
    /// Example:
    ///     >>> g.check()
    fn check(&self) -> Result<()> {
        use graphmill::disk::ReadAt;
        Ok(self.inner.mapped().check_length()?)
    }

    fn __len__(&self) -> usize {
        self.inner.num_nodes() as usize
    }

    fn __repr__(&self) -> String {
        use graphmill::disk::{ReadAt, format_size};
        let layout = self.inner.layout();
        let kind = if layout.undirected {
            "undirected".to_owned()
        } else {
            self.direction_names().join("+")
        };
        let bits = inspect::bits_per_edge(&self.inner);
        let bits = bits.map_or(String::new(), |bits| format!(", {bits:.1} bits per edge"));
        let weights = if self.has_weights() { ", weighted" } else { "" };
        format!(
            "Graph(num_nodes={}, num_edges={}, {kind}{weights}, {}, {} on disk{bits}, {})",
            layout.num_nodes,
            layout.num_edges,
            inspect::encoding(&self.inner),
            format_size(self.inner.mapped().len()),
            match self.inner.copied_bytes() {
                0 => "mapped".to_owned(),
                bytes => format!("{} in RAM", format_size(bytes)),
            },
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        let path = slf.get().path();
        let inner = &slf.get().inner;
        let asked = inner.asked_placement();
        let memory = match asked {
            // Another process needs a copy of its own, for which exactly its size is enough.
            store::Placement::Ram => inner.copied_bytes(),
            _ => inner.copies_budget().total(),
        };
        let arguments = (path, asked.name(), memory).into_pyobject(slf.py())?;
        Ok(PyTuple::new(slf.py(), [slf.get_type().into_any(), arguments.into_any()])?)
    }
}

impl Graph {
    fn checked(&self, id: i64) -> store::Result<u64> {
        u64::try_from(id).map_err(|_| store::Error::OutOfRange {
            path: self.inner.path().to_path_buf(),
            what: "node",
            index: id,
            count: self.inner.num_nodes(),
        })
    }
}
