//! A dataset from raw sources: edges, tables and splits in one go.
//!
//! Everything is read once and within one budget. Tables come first where nodes keep their ids,
//! because they decide with the edges how many nodes there are; where nodes are renumbered, the
//! edges come first and wait in a log until every node has its number. It must not know what
//! sources look like inside, nor how rows and edges are sorted.

mod classes;
mod edges;
mod node_tables;
mod options;
mod reorder;
mod repeats;
mod report;
pub(crate) mod scattered;
mod sources;
mod splits;
mod table_checks;
mod waiting;

pub use options::{BuildOptions, NodeOrder, SourceIds};
pub use reorder::{ReorderReport, reorder};
pub use report::{BuildReport, TableReport};
pub use sources::{BuildSources, EdgeSource, TableSource};

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Budget, FileSystem, RealFileSystem};
use graphmill_format::manifest::{self, FileEntry, NodeIds, Split};

use crate::dataset_writer::{self, DatasetWriter};
use crate::node_numbers::NodeNumbers;
use crate::{Error, Result};
use edges::{BuiltGraph, EdgeBuilder};
use node_tables::{BuiltTable, Role, TableBuilder, TableTask};
use report::Stopwatch;
use splits::SplitReader;
use waiting::Waiting;

/// The table that holds the features of the edges.
pub const EDGE_FEATURES: &str = "edge_attr";

/// Builds a dataset in `folder`; it appears whole or not at all.
///
/// ```
/// use graphmill_ingest::build::{BuildOptions, BuildSources, EdgeSource, TableSource, build};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let (edges, labels) = (folder.path().join("edges.csv"), folder.path().join("labels.csv"));
/// std::fs::write(&edges, "src,dst\n0,1\n1,2\n")?;
/// std::fs::write(&labels, "kind\npaper\nbook\npaper\n")?;
/// let sources = BuildSources::new(EdgeSource::Files(vec![edges]))
///     .labels(TableSource::Files(vec![labels]));
/// let report = build(&folder.path().join("dataset"), &sources, &BuildOptions::new())?;
/// assert_eq!(report.manifest.node().count, 3);
/// assert_eq!(report.manifest.node().classes["y"], ["book", "paper"]);
/// # Ok(())
/// # }
/// ```
pub fn build(
    folder: &Path,
    sources: &BuildSources<'_>,
    options: &BuildOptions<'_>,
) -> Result<BuildReport> {
    build_on(Arc::new(RealFileSystem), folder, sources, options)
}

/// The same on another file system, such as one that fails on purpose.
pub fn build_on(
    file_system: Arc<dyn FileSystem>,
    folder: &Path,
    sources: &BuildSources<'_>,
    options: &BuildOptions<'_>,
) -> Result<BuildReport> {
    let budget = options.budget.clone();
    let budget = budget.unwrap_or_else(|| Budget::new(graphmill_disk::default_budget()));
    let sources = sources.clone().with_folder(options.input.format, &budget)?;
    check_names(&sources)?;
    check_self_loops(&sources, options)?;
    refuse_sources_of_ours(folder, &sources)?;
    let writer = DatasetWriter::begin_on(file_system.clone(), folder, options.overwrite)?;
    Build { sources: &sources, options, budget: &budget, file_system: &file_system }.run(writer)
}

/// A build under way.
struct Build<'b> {
    sources: &'b BuildSources<'b>,
    options: &'b BuildOptions<'b>,
    budget: &'b Budget,
    file_system: &'b Arc<dyn FileSystem>,
}

impl Build<'_> {
    fn run(&self, mut writer: DatasetWriter) -> Result<BuildReport> {
        let mut watch = Stopwatch::start();
        let (graph, tables, splits, ids) = self.write(&writer, &mut watch)?;
        writer.record_graph(graph.num_nodes(), graph.edge_type(), false)?;
        let manifest = writer.manifest_mut()?;
        manifest.order = self.options.order.name().to_owned();
        let mut reports = Vec::new();
        for (entry, classes, report) in tables {
            let name = report.name.clone();
            if report.of_edges {
                let edge = manifest.edges.get_mut(manifest::EDGE_TYPE).expect(ONLY_TYPE);
                edge.tables.insert(name, entry);
            } else {
                let node = manifest.nodes.get_mut(manifest::NODE_TYPE).expect(ONLY_TYPE);
                if !classes.is_empty() {
                    node.classes.insert(name.clone(), classes);
                }
                node.tables.insert(name, entry);
            }
            reports.push(report);
        }
        manifest.nodes.get_mut(manifest::NODE_TYPE).expect(ONLY_TYPE).ids = ids;
        let counts = splits.iter().map(|(name, split)| (name.clone(), split.count)).collect();
        manifest.splits = splits.into_iter().collect();
        let manifest = writer.publish()?;
        watch.lap("publishing");
        Ok(BuildReport {
            manifest,
            edges: graph.read,
            topology: graph.report,
            tables: reports,
            splits: counts,
            stages: watch.finish(),
            peak_memory: self.budget.peak(),
        })
    }

    /// Writes every file of the dataset.
    #[expect(
        clippy::type_complexity,
        reason = "the parts of a manifest, named where they are used"
    )]
    fn write(
        &self,
        writer: &DatasetWriter,
        watch: &mut Stopwatch,
    ) -> Result<(
        BuiltGraph,
        Vec<(FileEntry, Vec<String>, TableReport)>,
        Vec<(String, Split)>,
        Option<NodeIds>,
    )> {
        let Build { sources, options, budget, file_system } = *self;
        let edges = EdgeBuilder { sources, options, budget, file_system, writer };
        let waiting = if edges.renumbers() {
            let (numbers, rows) = (None, None);
            let tables = TableBuilder { options, budget, file_system, writer, numbers, rows };
            let waiting = Waiting::new(&edges, &tables, &self.node_tasks())?;
            watch.lap("numbering nodes");
            Some(waiting)
        } else {
            None
        };
        let numbers = waiting.as_ref().map(Waiting::numbers);
        let mut tables = self.tables(writer, numbers)?;
        if !tables.is_empty() {
            watch.lap("tables");
        }
        let of_nodes = tables.iter().filter(|table| !table.report.of_edges);
        let covered = of_nodes.map(|table| table.rows).max().unwrap_or(0);
        let mut graph = match &waiting {
            Some(waiting) => edges.renumbered(waiting, covered)?,
            None => edges.plain(covered)?,
        };
        watch.lap("edges");
        tables.iter_mut().try_for_each(|table| complete(table, &mut graph))?;
        let splits = self.splits(writer, numbers, graph.num_nodes())?;
        let ids = match &waiting {
            Some(waiting) => Some(waiting.write_ids(writer, options.ids, graph.num_nodes())?),
            None => None,
        };
        let kept = tables.into_iter().map(|table| table.keep(writer));
        let kept = kept.collect::<Result<_>>()?;
        watch.lap("splits and syncing");
        Ok((graph, kept, splits, ids))
    }

    /// The tables of the nodes.
    fn node_tasks(&self) -> Vec<TableTask<'_, '_>> {
        let sources = self.sources;
        let mut tasks = Vec::new();
        if !sources.features.is_empty() {
            let (name, role) = (manifest::FEATURES, Role::Features);
            tasks.push(TableTask { name, role, of_edges: false, sources: &sources.features });
        }
        if let Some(labels) = &sources.labels {
            let (name, role) = (manifest::LABELS, Role::Labels);
            let sources = std::slice::from_ref(labels);
            tasks.push(TableTask { name, role, of_edges: false, sources });
        }
        tasks.extend(sources.tables.iter().map(|named| further(named, false)));
        tasks
    }

    /// The tables of the edges.
    fn edge_tasks(&self) -> Vec<TableTask<'_, '_>> {
        let mut tasks = Vec::new();
        if !self.sources.edge_features.is_empty() {
            let (name, sources) = (EDGE_FEATURES, &self.sources.edge_features);
            tasks.push(TableTask { name, role: Role::Features, of_edges: true, sources });
        }
        tasks.extend(self.sources.edge_tables.iter().map(|named| further(named, true)));
        tasks
    }

    fn tables(
        &self,
        writer: &DatasetWriter,
        numbers: Option<&dyn NodeNumbers>,
    ) -> Result<Vec<BuiltTable>> {
        let Build { options, budget, file_system, .. } = *self;
        let rows = Some(options.topology.num_nodes).filter(|nodes| *nodes > 0);
        let mut builder = TableBuilder { options, budget, file_system, writer, numbers, rows };
        let mut built = Vec::new();
        for task in self.node_tasks().iter().chain(&self.edge_tasks()) {
            let table = builder.build(task)?;
            if task.role == Role::Features && !task.of_edges {
                builder.rows = builder.rows.or(Some(table.rows));
            }
            built.push(table);
        }
        Ok(built)
    }

    fn splits(
        &self,
        writer: &DatasetWriter,
        numbers: Option<&dyn NodeNumbers>,
        num_nodes: u64,
    ) -> Result<Vec<(String, Split)>> {
        let reader = SplitReader { options: self.options, budget: self.budget, numbers, num_nodes };
        let write = |(name, source): &(String, TableSource<'_>)| {
            let file = writer.create(&format!("split-{name}"), "gd")?;
            let (written, count) = reader.write(name, source, file.file())?;
            let file = writer.keep(file, &written)?;
            Ok((name.clone(), Split { node_type: manifest::NODE_TYPE.to_owned(), count, file }))
        };
        self.sources.splits.iter().map(write).collect()
    }
}

const ONLY_TYPE: &str = "a manifest that was just made has the only type";

/// A table that is neither features nor labels.
fn further<'t, 'a>(
    (name, source): &'t (String, TableSource<'a>),
    of_edges: bool,
) -> TableTask<'t, 'a> {
    TableTask { name, role: Role::Other, of_edges, sources: std::slice::from_ref(source) }
}

/// Gives a table the rows that it lacks.
fn complete(table: &mut BuiltTable, graph: &mut BuiltGraph) -> Result<()> {
    if !table.report.of_edges {
        return table.extend(graph.num_nodes());
    }
    let rows = graph.report.graph.source_rows;
    if graph.may_have_more_rows && table.rows >= rows {
        graph.may_have_more_rows = false;
        graph.report.graph.source_rows = table.rows;
        return Ok(());
    }
    // Edges that bring their rows keep them, whatever is left out.
    let is_shifted = graph.read.skipped > 0 && graph.read.row_limit.is_none();
    if table.rows == rows && !is_shifted {
        return Ok(());
    }
    let (found, remedy) = if is_shifted {
        let found = format!("{} rows, and {} edges left out", table.rows, graph.read.skipped);
        (found, "correct the edges: features cannot be joined to edges that were left out")
    } else {
        (format!("{} rows", table.rows), "give a row for each row of the edges, in their order")
    };
    let expected = format!("{rows}, one for each row of the edges");
    Err(Error::source("features of the edges", found, expected, remedy))
}

/// Names are checked before anything is read.
fn check_names(sources: &BuildSources<'_>) -> Result<()> {
    let mut seen = Vec::new();
    if !sources.features.is_empty() {
        seen.push(manifest::FEATURES);
    }
    if sources.labels.is_some() {
        seen.push(manifest::LABELS);
    }
    for (name, _) in &sources.tables {
        dataset_writer::check_table_name(name, seen.contains(&name.as_str()))?;
        seen.push(name);
    }
    // A batch has both kinds under their names, so that names of nodes' tables are taken here too.
    if !sources.edge_features.is_empty() {
        seen.push(EDGE_FEATURES);
    }
    for (name, _) in &sources.edge_tables {
        dataset_writer::check_name("edge table", name, seen.contains(&name.as_str()))?;
        seen.push(name);
    }
    let mut seen = Vec::new();
    for (name, _) in &sources.splits {
        dataset_writer::check_name("split", name, seen.contains(&name))?;
        seen.push(name);
    }
    Ok(())
}

/// An edge that is added has no row in a table of edges.
fn check_self_loops(sources: &BuildSources<'_>, options: &BuildOptions<'_>) -> Result<()> {
    if !options.topology.add_self_loops || !sources.has_edge_tables() {
        return Ok(());
    }
    let problem = "an edge that is added has no row in a table of edges; leave out those tables or the \
                   self loops, or add the loops and their rows to the sources";
    Err(Error::request("self loops", problem))
}

/// A build clears files of ours from its folder; a source among them would be lost.
fn refuse_sources_of_ours(folder: &Path, sources: &BuildSources<'_>) -> Result<()> {
    let Ok(folder) = std::fs::canonicalize(folder) else { return Ok(()) };
    for path in sources.paths() {
        let Ok(path) = std::fs::canonicalize(path) else { continue };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_ours = manifest::is_file_name(name) || name == manifest::FILE_NAME;
        if path == folder || (path.parent() == Some(&folder) && is_ours) {
            let problem =
                format!("`{}` is source and target; build into another folder", path.display());
            return Err(Error::request("build", problem));
        }
    }
    Ok(())
}
