//! Topologies into topologies, arrays, text and Parquet.
//! A `.gl` source keeps its directions, order, weights, times and ids unless the request says
//! otherwise: its lists are replayed as a stream and built again, so any direction and order can be
//! made of it within the budget. Arrays, text and Parquet speak the ids that the nodes had before
//! they were renumbered. It must not know how sources were recognised.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Budget, FileDraft, OutputFile, RealFileSystem};
use graphmill_format::{Direction, ElementType, Encoding, ListOrder};

use super::coverage::Coverage;
use super::export::Export;
use super::{ConvertOptions, Converted, TargetKind};
use crate::edge_csv::EdgeCsv;
#[cfg(feature = "parquet")]
use crate::edge_parquet::EdgeParquet;
use crate::edge_rows::{EdgeColumns, EdgeRows, stream_rows};
use crate::edges::EdgeRecords;
use crate::edges::{EdgeColumn, EdgeStream};
use crate::graph_file::GraphFile;
use crate::graph_options::{Directions, GraphOptions};
use crate::graph_writer::{write_graph_into, write_graphzero_into};
use crate::node_naming::NodeNaming;
use crate::npy::NpyHeader;
use crate::progress::Stage;
use crate::section_writer::SectionWriter;
use crate::source::EdgeInput;
use crate::stored_dataset::StoredDataset;
use crate::stored_ids::StoredIds;
use crate::stored_lists::{ListPlan, StoredLists};
use crate::{Error, Result};

/// Edges of an array copied at a time.
const EDGES: u64 = 1 << 16;

/// A topology, alone or that of a dataset.
pub(super) struct GraphSource {
    pub(super) graph: GraphFile,
    /// The dataset that it is the topology of.
    pub(super) dataset: Option<StoredDataset>,
    /// Whether the dataset itself is the source, rather than a file of it.
    pub(super) is_dataset: bool,
}

impl GraphSource {
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path.is_dir() {
            let dataset = StoredDataset::open(path)?;
            let graph = dataset.graph.clone();
            return Ok(GraphSource { graph, dataset: Some(dataset), is_dataset: true });
        }
        let dataset = StoredDataset::around(path);
        Ok(GraphSource { graph: GraphFile::open(path)?, dataset, is_dataset: false })
    }

    fn has_names(&self) -> bool {
        self.dataset.as_ref().is_some_and(|dataset| dataset.names().is_some())
    }

    /// What nodes are called in the target.
    fn naming(&self, options: &ConvertOptions<'_>, budget: &Budget) -> Result<NodeNaming> {
        if options.internal_ids {
            return Ok(NodeNaming::Numbers);
        }
        if let Some(dataset) = &self.dataset {
            return dataset.naming(budget);
        }
        let ids = self.graph.original_ids();
        Ok(match ids.map(|ids| StoredIds::load(ids, budget)).transpose()? {
            Some(ids) => NodeNaming::Ids(ids),
            None => NodeNaming::Numbers,
        })
    }

    /// What a dataset has besides its topology.
    fn others(&self) -> Option<&'static str> {
        let dataset = self.dataset.as_ref().filter(|_| self.is_dataset)?;
        let manifest = &dataset.manifest;
        let tables = !manifest.node().tables.is_empty() || !manifest.edge().tables.is_empty();
        match (tables, !manifest.splits.is_empty()) {
            (true, true) => Some("tables and splits"),
            (true, false) => Some("tables"),
            (false, true) => Some("splits"),
            (false, false) => None,
        }
    }
}

/// What is written from a `.gl`.
pub(super) fn from_graph(
    source: &GraphSource,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let mut converted = match kind {
        TargetKind::Graph | TargetKind::GraphZeroGraph => to_lists(source, target, kind, options)?,
        TargetKind::Csv | TargetKind::Parquet => to_rows(source, target, kind, options)?,
        _ => to_array(source, target, options)?,
    };
    converted.left_out.extend(source.others().map(str::to_owned));
    Ok(converted)
}

fn to_lists(
    source: &GraphSource,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let graph = &source.graph;
    let layout = graph.layout();
    let budget = options.memory();
    let stored: Vec<Direction> = layout.directions.iter().map(|lists| lists.direction).collect();
    let taken_over = match (kind, &stored[..]) {
        (_, [Direction::Both]) => Directions::Undirected,
        (TargetKind::GraphZeroGraph, _) => Directions::Out,
        (_, [Direction::Out]) => Directions::Out,
        (_, [Direction::In]) => Directions::In,
        _ => Directions::OutAndIn,
    };
    let directions = options.directions.unwrap_or(taken_over);
    let usual = match kind {
        TargetKind::GraphZeroGraph if graph.is_graphzero() => ListOrder::File,
        _ if graph.is_graphzero() => ListOrder::Id,
        _ => layout.order,
    };
    let symmetric =
        directions == Directions::Undirected && holds_both_ways(graph, options, &budget)?;
    let plan = ListPlan::new(graph, directions, options.order, usual, symmetric)?;
    let ListPlan { lists, in_lists, order, by_rows, loses_order } = &plan;
    let EdgeRecords { edges, rows, weights, times } = lists.records(&lists.graph);
    let original_ids = graph.original_ids();
    let wanted = GraphOptions {
        symmetric,
        by_rows: *by_rows,
        in_lists: in_lists.as_ref().map(|lists| lists.records(&lists.graph)),
        rows,
        weights,
        times,
        original_ids: original_ids.as_ref().map(|values| EdgeColumn::Stream(values)),
        ..graph_options(options, directions, *order)
    };
    // GraphZero's layout has no other than 64-bit ids.
    let packed = match kind {
        TargetKind::Graph => wanted.packed.or(Some(layout.is_packed())),
        _ => None,
    };
    let wanted = GraphOptions { packed, ..wanted };
    let mut converted = write_lists(edges, target, kind, &wanted, options, &budget)?;
    let is_foreign = kind == TargetKind::GraphZeroGraph;
    let lost = [
        (is_foreign && times.is_some(), "times"),
        (is_foreign && rows.is_some(), "edge ids"),
        (is_foreign && original_ids.is_some() && !source.has_names(), "original ids"),
        (source.has_names(), "names of nodes"),
        (*loses_order, "the order of the file"),
        (is_foreign && layout.undirected, "the mark as undirected"),
    ];
    converted.left_out.extend(named(&lost));
    Ok(converted)
}

fn named(lost: &[(bool, &str)]) -> Vec<String> {
    lost.iter().filter(|(is_lost, _)| *is_lost).map(|(_, what)| (*what).to_owned()).collect()
}

/// Whether a topology that is to be undirected stores each edge both ways already. GraphZero's
/// layout does not say it, and writes undirected graphs so.
fn holds_both_ways(
    graph: &GraphFile,
    options: &ConvertOptions<'_>,
    budget: &Budget,
) -> Result<bool> {
    if !graph.is_graphzero() {
        return Ok(graph.layout().undirected);
    }
    let input = EdgeInput::open(&[graph.path().to_path_buf()], &Default::default())?;
    input.is_undirected(true, budget, options.observer)
}

/// Rows of text or Parquet.
fn to_rows(
    source: &GraphSource,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    refuse_list_options(options, kind)?;
    let layout = source.graph.layout();
    let budget = options.memory();
    let naming = source.naming(options, &budget)?;
    let lists = StoredLists::of(source.graph.clone());
    let mut coverage = Coverage::new(layout.num_nodes, &naming, &budget)?;
    let export = Export::new(&lists, layout.undirected, &budget, options.observer)?;
    let mut loops = 0;
    let (rows, length) =
        write_rows(target, kind, export.columns(), &naming, options, &budget, &mut |take| {
            let (rows, alone) = export.rows(&mut |rows| {
                coverage.add(rows)?;
                take(rows)
            })?;
            loops = alone;
            Ok(rows)
        })?;
    // In-lists in the order of the file follow from the ids of the edges alone.
    let loses_order =
        layout.order == ListOrder::File && layout.directions.len() > 1 && lists.rows.is_none();
    let lost = [
        (source.has_names() && options.internal_ids, "names of nodes"),
        (
            source.graph.original_ids().is_some() && !source.has_names() && options.internal_ids,
            "original ids",
        ),
        (loses_order, "the order of in-lists"),
        (layout.undirected, "the mark as undirected"),
    ];
    let mut left_out = named(&lost);
    if loops > 0 {
        left_out.push(format!("{loops} self loops that a build added"));
    }
    left_out.extend(coverage.left_out());
    Ok(Converted { rows, length, left_out, ..Converted::default() })
}

/// Options that say how lists are stored must not be ignored for a target without lists.
fn refuse_list_options(options: &ConvertOptions<'_>, kind: TargetKind) -> Result<()> {
    if options.directions.is_none() && options.order.is_none() && options.encoding == Encoding::Auto
    {
        return Ok(());
    }
    let problem = format!(
        "{} has no lists of neighbours; leave out direction, order and encoding, or name a .gl target",
        kind.name()
    );
    Err(Error::request("lists", problem))
}

/// `int64 [2, E]`: the entries of the lists as they are stored.
fn to_array(
    source: &GraphSource,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    refuse_list_options(options, TargetKind::Npy)?;
    let graph = &source.graph;
    let layout = graph.layout();
    let budget = options.memory();
    let naming = source.naming(options, &budget)?;
    if naming.has_names() {
        let problem = "the names of nodes are no numbers; name a .csv or .parquet target, or ask for internal ids \
                       (--internal-ids, internal_ids=True)";
        return Err(Error::request("npy", problem));
    }
    let mut coverage = Coverage::new(layout.num_nodes, &naming, &budget)?;
    let draft = FileDraft::begin(Arc::new(RealFileSystem), target, options.overwrite)?;
    let length = write_edge_index(draft.file(), graph, &naming, &mut coverage, options)?;
    draft.publish()?;
    let lost = [
        (graph.weights().is_some(), "weights"),
        (graph.times().is_some(), "times"),
        (graph.edge_ids().is_some(), "edge ids"),
        (source.has_names(), "names of nodes"),
        (
            graph.original_ids().is_some() && !source.has_names() && options.internal_ids,
            "original ids",
        ),
        (layout.order == ListOrder::File && layout.directions.len() > 1, "the order of in-lists"),
        (layout.undirected, "the mark as undirected"),
    ];
    let mut left_out = named(&lost);
    left_out.extend(coverage.left_out());
    Ok(Converted { rows: layout.num_edges, length, left_out, ..Converted::default() })
}

/// What is written from edges that are nothing else.
pub(super) fn from_edges(
    edges: &dyn EdgeStream,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let budget = options.memory();
    let (columns, naming) = (EdgeColumns::default(), NodeNaming::Numbers);
    let (rows, length) =
        write_rows(target, kind, columns, &naming, options, &budget, &mut |take| {
            stream_rows(edges, &budget, options.observer, take)?;
            Ok(edges.edge_count())
        })?;
    Ok(Converted { rows, length, ..Converted::default() })
}

fn graph_options<'a>(
    options: &ConvertOptions<'a>,
    directions: Directions,
    order: ListOrder,
) -> GraphOptions<'a> {
    GraphOptions {
        num_nodes: options.num_nodes,
        directions,
        order,
        edge_ids: options.edge_ids,
        observer: options.observer,
        ..GraphOptions::new().encoding(options.encoding)
    }
}

fn write_lists(
    edges: &dyn EdgeStream,
    target: &Path,
    kind: TargetKind,
    wanted: &GraphOptions<'_>,
    options: &ConvertOptions<'_>,
    budget: &Budget,
) -> Result<Converted> {
    let file_system = Arc::new(RealFileSystem);
    let draft = FileDraft::begin(file_system.clone(), target, options.overwrite)?;
    let file = draft.file();
    let report = if kind == TargetKind::Graph {
        write_graph_into(&*file_system, file, target, edges, wanted, budget)?.1
    } else {
        write_graphzero_into(file, target, edges, &one_direction(wanted)?, budget)?
    };
    draft.publish()?;
    Ok(Converted { rows: report.num_edges, length: report.length, ..Converted::default() })
}

/// What hands over rows to a sink; gives their number.
type Feed<'f> = dyn FnMut(&mut dyn FnMut(&EdgeRows) -> Result<()>) -> Result<u64> + 'f;

fn write_rows(
    target: &Path,
    kind: TargetKind,
    columns: EdgeColumns,
    naming: &NodeNaming,
    options: &ConvertOptions<'_>,
    budget: &Budget,
    feed: &mut Feed<'_>,
) -> Result<(u64, u64)> {
    let draft = FileDraft::begin(Arc::new(RealFileSystem), target, options.overwrite)?;
    let file = draft.file();
    let written = match kind {
        #[cfg(feature = "parquet")]
        TargetKind::Parquet => {
            let mut sink = EdgeParquet::new(file, columns, naming, budget)?;
            (feed(&mut |rows| sink.write(rows))?, sink.finish()?)
        }
        #[cfg(not(feature = "parquet"))]
        TargetKind::Parquet => return Err(super::without_parquet()),
        _ => {
            let header = options.csv_header.then_some(["src", "dst"]);
            let mut sink = EdgeCsv::new(file, columns, header, naming)?;
            (feed(&mut |rows| sink.write(rows))?, sink.finish()?)
        }
    };
    draft.publish()?;
    Ok(written)
}

/// GraphZero's layout holds out-lists with 64-bit ids and weights, nothing else.
fn one_direction<'a>(wanted: &GraphOptions<'a>) -> Result<GraphOptions<'a>> {
    if matches!(wanted.directions, Directions::In | Directions::OutAndIn) {
        let problem = "GraphZero files store out-edges alone; ask for out or undirected";
        return Err(Error::request("direction", problem));
    }
    Ok(GraphOptions { edge_ids: false, ..wanted.encoding(Encoding::I64) })
}

/// Writes `int64 [2, E]`: all sources, then all destinations.
fn write_edge_index(
    file: &dyn OutputFile,
    edges: &GraphFile,
    naming: &NodeNaming,
    coverage: &mut Coverage<'_>,
    options: &ConvertOptions<'_>,
) -> Result<u64> {
    let total = edges.edge_count();
    let header = NpyHeader::encode(ElementType::I64, &[2, total])?;
    let start = header.len() as u64;
    let row = total.checked_mul(8).filter(|row| row.checked_mul(2).is_some()).ok_or_else(|| {
        Error::request("npy", format!("{total} edges exceed what a file can hold"))
    })?;
    let mut sources = SectionWriter::unpadded(file, start..start + row);
    let mut destinations = SectionWriter::unpadded(file, start + row..start + 2 * row);
    let mut rows = EdgeRows::default();
    let mut stage = Stage::new(options.observer, "writing edges", total);
    let mut first = 0;
    while first < total {
        let length = (total - first).min(EDGES);
        rows.sources.resize(length as usize, 0);
        rows.destinations.resize(length as usize, 0);
        edges.read(first, &mut rows.sources, &mut rows.destinations)?;
        coverage.add(&rows)?;
        naming.replace(&mut rows.sources)?;
        naming.replace(&mut rows.destinations)?;
        sources.write_values(rows.sources.iter().map(|id| id.to_le_bytes()))?;
        destinations.write_values(rows.destinations.iter().map(|id| id.to_le_bytes()))?;
        stage.advance(length)?;
        first += length;
    }
    sources.finish()?;
    destinations.finish()?;
    file.write_all_at(0, &header)?;
    Ok(start + 2 * row)
}
