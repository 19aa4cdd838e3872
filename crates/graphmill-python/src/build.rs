//! `graphmill.build`: a dataset from sources.

use crate::arguments::{Int, read_threads};
use crate::build_sources::{Edges, Rows, Words};
use crate::errors::Result;
use crate::interruptible::interruptible;
use crate::memory::budget_of;
use crate::source_options::SourceOptions;
use crate::writers::parse_directions;
use graphmill::format::{Encoding, ListOrder};
use graphmill::ingest::EdgeSortOptions;
use graphmill::ingest::build::{
    BuildOptions, BuildReport, BuildSources, NodeOrder, SourceIds, TableReport, build,
};
use graphmill::ingest::source::{Column, ReadReport};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZero;
use std::path::PathBuf;

/// Which edges are kept in which lists, and how nodes are numbered; `graphmill.build` fills them in.
#[pyclass(frozen, module = "graphmill._native")]
pub struct BuildSettings {
    topology: EdgeSortOptions<'static>,
    order: NodeOrder,
    ids: SourceIds,
    label_column: Option<Column>,
    align_rows: bool,
    threads: Option<NonZero<usize>>,
    overwrite: bool,
}

#[pymethods]
impl BuildSettings {
    #[new]
    #[pyo3(signature = (*, undirected, direction, order, encoding, neighbor_order, label_column, edge_ids, map_ids,
        string_ids, num_nodes, dedup, drop_self_loops, add_self_loops, align_rows, threads, overwrite))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python class")]
    fn new(
        undirected: bool,
        direction: Option<&str>,
        order: &str,
        encoding: &str,
        neighbor_order: &str,
        label_column: Option<&str>,
        edge_ids: bool,
        map_ids: bool,
        string_ids: bool,
        num_nodes: Option<Int>,
        dedup: bool,
        drop_self_loops: bool,
        add_self_loops: bool,
        align_rows: bool,
        threads: Option<Int>,
        overwrite: bool,
    ) -> Result<Self> {
        let ids = match (map_ids, string_ids) {
            (false, false) => SourceIds::Numbers,
            (true, false) => SourceIds::Integers,
            (false, true) => SourceIds::Text,
            (true, true) => {
                let problem = "map_ids is for integers and string_ids for words; choose one";
                return Err(PyValueError::new_err(problem).into());
            }
        };
        let num_nodes = num_nodes.map(|number| number.within("num_nodes", 0..=u64::MAX));
        let threads = read_threads(threads)?;
        let mut topology = EdgeSortOptions::new()
            .num_nodes(num_nodes.transpose()?.unwrap_or(0))
            .order(neighbor_order.parse::<ListOrder>()?)
            .edge_ids(edge_ids)
            .dedup(dedup)
            .drop_self_loops(drop_self_loops)
            .add_self_loops(add_self_loops);
        // What is not chosen, an undirected topology decides.
        if undirected || direction.is_some() {
            let directions = parse_directions(undirected, direction.unwrap_or("both"))?;
            topology = topology.directions(directions);
        }
        let topology = topology.encoding(encoding.parse::<Encoding>()?);
        let order = order.parse()?;
        let label_column = label_column.map(str::parse).transpose()?;
        Ok(BuildSettings { topology, order, ids, label_column, align_rows, threads, overwrite })
    }
}

impl BuildSettings {
    fn options<'a>(&self, source: &SourceOptions) -> BuildOptions<'a> {
        let mut options = BuildOptions::new()
            .topology(self.topology)
            .input(source.edges())
            .order(self.order)
            .ids(self.ids)
            .align_rows(self.align_rows)
            .overwrite(self.overwrite);
        if let Some(column) = &source.id_column {
            options = options.id_column(column.clone());
        }
        if let Some(column) = &self.label_column {
            options = options.label_column(column.clone());
        }
        match source.dtype {
            Some(element) => options.features(element),
            None => options,
        }
    }
}

/// Builds a dataset and returns what it did; `graphmill.build` prepares the arguments.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called with everything by one Python function")]
pub fn build_dataset<'py>(
    py: Python<'py>,
    out: PathBuf,
    edges: Edges<'_>,
    features: Vec<Rows<'_>>,
    labels: Option<Rows<'_>>,
    edge_features: Vec<Rows<'_>>,
    edge_tables: Vec<(String, Rows<'_>)>,
    tables: Vec<(String, Rows<'_>)>,
    splits: Vec<(String, Rows<'_>)>,
    source: &SourceOptions,
    settings: &BuildSettings,
    memory: Option<&Bound<'_, PyAny>>,
) -> Result<Bound<'py, PyDict>> {
    let words_of = |rows: &[Rows<'_>]| rows.iter().map(Rows::words).collect::<Vec<Words>>();
    let named_words =
        |rows: &[(String, Rows<'_>)]| rows.iter().map(|(_, rows)| rows.words()).collect::<Vec<_>>();
    let edge_words = edges.words();
    let (feature_words, edge_feature_words) = (words_of(&features), words_of(&edge_features));
    let label_words = labels.as_ref().map(Rows::words).unwrap_or_default();
    let (table_words, split_words) = (named_words(&tables), named_words(&splits));
    let edge_table_words = named_words(&edge_tables);
    let mut sources = BuildSources::new(edges.source(&edge_words)?);
    for (rows, words) in features.iter().zip(&feature_words) {
        sources = sources.features(rows.source(words)?);
    }
    if let Some(labels) = &labels {
        sources = sources.labels(labels.source(&label_words)?);
    }
    for (rows, words) in edge_features.iter().zip(&edge_feature_words) {
        sources = sources.edge_features(rows.source(words)?);
    }
    for ((name, rows), words) in edge_tables.iter().zip(&edge_table_words) {
        sources = sources.edge_table(name, rows.source(words)?);
    }
    for ((name, rows), words) in tables.iter().zip(&table_words) {
        sources = sources.table(name, rows.source(words)?);
    }
    for ((name, rows), words) in splits.iter().zip(&split_words) {
        sources = sources.split(name, rows.source(words)?);
    }
    let options = settings.options(source).budget(budget_of(memory)?);
    let pool = graphmill::disk::with_threads(settings.threads.map(NonZero::get))?;
    let report = interruptible(py, |observer| {
        let options = options.observer(observer);
        pool.install(|| build(&out, &sources, &options))
    })?;
    Ok(reported(py, &report)?)
}

/// The report as `graphmill._build_report` takes it.
fn reported<'py>(py: Python<'py>, report: &BuildReport) -> PyResult<Bound<'py, PyDict>> {
    let edges = read_report(py, &report.edges)?;
    edges.set_item("duplicates", report.topology.duplicates_dropped)?;
    edges.set_item("self_loops", report.topology.self_loops_dropped)?;
    let tables = report.tables.iter().map(|table| table_report(py, table));
    let seconds =
        |(stage, time): &(&'static str, std::time::Duration)| (*stage, time.as_secs_f64());
    let found = PyDict::new(py);
    found.set_item("num_nodes", report.manifest.node().count)?;
    found.set_item("num_edges", report.manifest.edge().count)?;
    found.set_item("edges", edges)?;
    found.set_item("tables", tables.collect::<PyResult<Vec<_>>>()?)?;
    found.set_item("splits", &report.splits)?;
    found.set_item("stages", report.stages.iter().map(seconds).collect::<Vec<_>>())?;
    found.set_item("peak_memory", report.peak_memory)?;
    found.set_item("bytes", report.bytes())?;
    Ok(found)
}

fn table_report<'py>(py: Python<'py>, table: &TableReport) -> PyResult<Bound<'py, PyDict>> {
    let found = read_report(py, &table.read)?;
    found.set_item("name", &table.name)?;
    found.set_item("of_edges", table.of_edges)?;
    found.set_item("columns", table.columns)?;
    found.set_item("dtype", table.element.name())?;
    found.set_item("by_ids", table.by_ids)?;
    found.set_item("filled", table.filled)?;
    found.set_item("duplicates", table.duplicates)?;
    found.set_item("classes", table.classes)?;
    Ok(found)
}

fn read_report<'py>(py: Python<'py>, read: &ReadReport) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("rows", read.rows)?;
    found.set_item("skipped", read.skipped)?;
    let examples = read.bad_examples.iter().map(ToString::to_string).collect::<Vec<_>>();
    found.set_item("examples", examples)?;
    Ok(found)
}
