//! `Graph.sample`, `Graph.sample_edges` and their result.

use crate::arguments::{Int, Seed, parse_direction, read_fanouts, read_threads};
use crate::errors::Result;
use crate::graph::Graph;
use crate::ids::{self, Ids};
use graphmill::disk::room;
use graphmill::format::Direction;
use graphmill::sample::{self, Exclude, FanoutOptions, Links, Method, Seeds, Strategy, Subgraph};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::num::NonZero;

/// What both calls have in common, as it comes from Python.
pub struct Wishes<'a, 'py> {
    pub fanouts: &'a Bound<'py, PyAny>,
    pub direction: &'a str,
    pub replace: bool,
    pub weighted: bool,
    pub disjoint: bool,
    pub method: &'a str,
    pub seed: Option<Seed>,
    pub threads: Option<Int>,
    pub time: Option<&'a Bound<'py, PyAny>>,
    pub node_time: Option<&'a Bound<'py, PyAny>>,
    pub temporal: &'a str,
    pub window: Option<Int>,
    pub layer_dependency: bool,
    pub subgraph: &'a str,
}

/// The same, read and ready.
struct Request<'py> {
    options: FanoutOptions,
    follow: Direction,
    time: Option<Ids<'py>>,
    node_time: Option<Ids<'py>>,
}

impl<'py> Wishes<'_, 'py> {
    fn read(&self, py: Python<'py>) -> Result<Request<'py>> {
        let method = parse_method(self.method, self.layer_dependency)?;
        let seed = Seed::or_fresh(py, self.seed)?;
        let window = self.window.map(|window| window.within("window", 0..=u64::MAX)).transpose()?;
        let threads = read_threads(self.threads)?.map_or_else(
            || std::thread::available_parallelism().map_or(1, NonZero::get),
            NonZero::get,
        );
        let options = FanoutOptions::new(read_fanouts(self.fanouts)?)
            .replace(self.replace)
            .weighted(self.weighted)
            .disjoint(self.disjoint)
            .method(method)
            .strategy(parse_temporal(self.temporal)?)
            .window(window)
            .subgraph(parse_subgraph(self.subgraph)?)
            .seed(seed)
            .threads(threads);
        Ok(Request {
            options,
            follow: parse_direction(self.direction)?,
            time: self.time.map(|time| ids::read(time, "time")).transpose()?,
            node_time: self.node_time.map(|time| ids::read(time, "node_time")).transpose()?,
        })
    }
}

/// How edges are picked, by name.
pub fn parse_method(method: &str, layer_dependency: bool) -> Result<Method> {
    match (method, layer_dependency) {
        ("uniform", false) => Ok(Method::Uniform),
        ("uniform", true) => {
            let problem = "layer_dependency is for method=\"labor\"; choose it or leave this out";
            Err(PyValueError::new_err(problem).into())
        }
        ("labor", layer_dependency) => Ok(Method::Labor { layer_dependency }),
        (other, _) => Err(unknown("method", other, "\"uniform\" or \"labor\"")),
    }
}

/// Which of the edges that are old enough are picked, by name.
pub fn parse_temporal(temporal: &str) -> Result<Strategy> {
    match temporal {
        "uniform" => Ok(Strategy::Uniform),
        "last" => Ok(Strategy::Last),
        other => Err(unknown("temporal", other, "\"uniform\" or \"last\"")),
    }
}

/// Which edges a sample holds, by name.
pub fn parse_subgraph(subgraph: &str) -> Result<Subgraph> {
    match subgraph {
        "directional" => Ok(Subgraph::Directional),
        "bidirectional" => Ok(Subgraph::Bidirectional),
        "induced" => Ok(Subgraph::Induced),
        other => {
            let expected = "\"directional\", \"bidirectional\" or \"induced\"";
            Err(unknown("subgraph", other, expected))
        }
    }
}

fn unknown(what: &str, found: &str, expected: &str) -> crate::errors::Raised {
    PyValueError::new_err(format!("{what} is {found:?}, expected {expected}")).into()
}

/// The slice of some ids, if there are any.
fn slice<'a>(ids: &'a Option<Ids<'_>>) -> Result<Option<&'a [i64]>> {
    ids.as_ref().map(Ids::as_slice).transpose()
}

/// `Graph.sample`.
pub fn sample_nodes<'py>(
    graph: &Graph,
    py: Python<'py>,
    seeds: &Bound<'py, PyAny>,
    wishes: &Wishes<'_, 'py>,
) -> Result<Sample> {
    let seeds = ids::read(seeds, "seeds")?;
    let Request { options, follow, time, node_time } = wishes.read(py)?;
    let start = Seeds::new(seeds.as_slice()?);
    let start = slice(&time)?.map_or(start, |times| start.times(times));
    let start = slice(&node_time)?.map_or(start, |times| start.node_times(times));
    let found = py.detach(|| -> sample::Result<sample::Sample> {
        let lists = graph.inner.lists(follow)?;
        graph.recycled.with(|scratch| sample::sample(&lists, start, &options, follow, scratch))
    })?;
    let trees = options.disjoint || time.is_some();
    Sample::of(graph, py, found, None, trees, seeds.from_torch)
}

/// `Graph.sample_edges`.
pub fn sample_links<'py>(
    graph: &Graph,
    py: Python<'py>,
    edges: &Bound<'py, PyAny>,
    exclude: Option<&str>,
    wishes: &Wishes<'_, 'py>,
) -> Result<Sample> {
    if edges.len()? != 2 {
        let problem = "edges must be two rows, sources and destinations";
        return Err(PyValueError::new_err(format!("{problem}, found {}", edges.len()?)).into());
    }
    let exclude = match exclude {
        None => Exclude::None,
        Some("edges") => Exclude::Links,
        Some("both") => Exclude::Both,
        Some(other) => return Err(unknown("exclude", other, "None, \"edges\" or \"both\"")),
    };
    let sources = ids::read(&edges.get_item(0)?, "edges[0]")?;
    let destinations = ids::read(&edges.get_item(1)?, "edges[1]")?;
    let Request { options, follow, time, node_time } = wishes.read(py)?;
    let links = Links::new(sources.as_slice()?, destinations.as_slice()?).exclude(exclude);
    let links = slice(&time)?.map_or(links, |times| links.times(times));
    let links = slice(&node_time)?.map_or(links, |times| links.node_times(times));
    let found = py.detach(|| -> sample::Result<sample::LinkSample> {
        let lists = graph.inner.lists(follow)?;
        graph
            .recycled
            .with(|scratch| sample::sample_links(&lists, links, &options, follow, scratch))
    })?;
    let count = found.link_row.len();
    let torch = sources.from_torch || ids::is_tensor(edges);
    let mut labels = room::vector(2 * count)?;
    labels.extend(found.link_row);
    labels.extend(found.link_col);
    let labels = int64(py, labels, torch)?;
    let labels = labels.call_method1("reshape", (2, count))?;
    let trees = options.disjoint || time.is_some();
    Sample::of(graph, py, found.sample, Some(labels.unbind()), trees, torch)
}

/// A sampled neighbourhood, in PyG's order: seeds first, nodes grouped by hop, edges by local ids.
///
/// Entries are torch tensors when the seeds were given as one, else NumPy arrays. Made by `Graph.sample` and
/// `Graph.sample_edges`.
///
/// Example:
///     >>> s = g.sample([2], [-1])
///     >>> s.n_id
///     array([2, 0, 1])
///     >>> s.row, s.col
///     (array([1, 2]), array([0, 0]))
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
    /// How many edges each hop found; one number for all edges of an induced or bidirectional subgraph.
    #[pyo3(get)]
    edges_per_hop: Vec<u64>,
    /// The tree of each node, which is the place of its seed; None unless trees are disjoint.
    #[pyo3(get)]
    batch: Option<Py<PyAny>>,
    /// Local ids of the ends of the edges that were sampled from, int64 [2, n]; None if nodes were.
    #[pyo3(get)]
    edge_label_index: Option<Py<PyAny>>,
}

impl Sample {
    fn of(
        graph: &Graph,
        py: Python<'_>,
        sample: sample::Sample,
        edge_label_index: Option<Py<PyAny>>,
        trees: bool,
        torch: bool,
    ) -> Result<Self> {
        let array = |ids: Vec<i64>| graph.recycled.array(py, ids, torch).map(Bound::unbind);
        Ok(Sample {
            n_id: array(sample.nodes)?,
            row: array(sample.row)?,
            col: array(sample.col)?,
            e_id: array(sample.edge_ids)?,
            nodes_per_hop: sample.nodes_per_hop,
            edges_per_hop: sample.edges_per_hop,
            batch: trees.then(|| array(sample.batch)).transpose()?,
            edge_label_index,
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
