//! A dataset in another order: the same edges, tables and splits, the nodes numbered anew.
//! Nothing is read but the dataset itself. What its nodes were called stays what they are called:
//! original ids, names and ids of edges go along. It must not know how orders are found, nor how
//! rows and lists are written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use graphmill_disk::{Backend, Budget, FileSystem, OutputFile, RealFileSystem};
use graphmill_format::manifest::{self, EdgeType, FileEntry, Names, NodeIds, Split};
use graphmill_format::{Direction, Header, Manifest};
use rayon::prelude::*;

use super::node_tables::{Role, TableBuilder, TableTask};
use super::options::{BuildOptions, NodeOrder};
use super::report::Stopwatch;
use super::sources::TableSource;
use super::splits::SplitReader;
use crate::dataset_writer::DatasetWriter;
use crate::edge_reading::reading_share;
use crate::edge_sort::EdgeChunk;
use crate::edges::{EdgeColumn, EdgeRecords, EdgeStream, EdgeValues};
use crate::graph_file::GraphFile;
use crate::graph_options::{Directions, GraphOptions};
use crate::graph_writer::write_graph_into;
use crate::node_numbers::NodeNumbers;
use crate::numbering::{EdgeLogWriter, End, Heat, LogColumns, Numbering, OriginalIds, Workspace};
use crate::progress::Stage;
use crate::stored::read_integers;
use crate::stored_dataset::{StoredDataset, start_of};
use crate::stored_ids::StoredIds;
use crate::stored_lists::{ListPlan, StoredLists};
use crate::table_writer::{TableWriter, Written};
use crate::{Error, Result};

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;
/// Places of ids renumbered at a time.
const PLACES: u64 = 1 << 13;
/// Edges that one thread reads at a time, and the bytes of one.
const EDGES: u64 = 1 << 15;
const EDGE: u64 = 16;

/// What was made, and how long it took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReorderReport {
    /// The dataset as it was published.
    pub manifest: Manifest,
    /// How long each stage took.
    pub stages: Vec<(&'static str, Duration)>,
    /// The most of the budget that was in use at once.
    pub peak_memory: u64,
}

/// Writes the dataset in `source` to `folder` once more, its nodes in another order.
///
/// Of the options, the order, the budget, the observer and whether to overwrite count.
pub fn reorder(source: &Path, folder: &Path, options: &BuildOptions<'_>) -> Result<ReorderReport> {
    if options.order == NodeOrder::None {
        let problem = "none is the order of the source: build the dataset from it again";
        return Err(Error::request("order", problem));
    }
    let of = |path: &Path| std::fs::canonicalize(path).ok();
    if of(folder).is_some_and(|folder| Some(folder) == of(source)) {
        let problem = format!("`{}` is source and target; name another folder", source.display());
        return Err(Error::request("reorder", problem));
    }
    let StoredDataset { manifest, graph, .. } = StoredDataset::open(source)?;
    let budget = options.budget.clone();
    let budget = budget.unwrap_or_else(|| Budget::new(graphmill_disk::default_budget()));
    let file_system: Arc<dyn FileSystem> = Arc::new(RealFileSystem);
    let writer = DatasetWriter::begin_on(file_system.clone(), folder, options.overwrite)?;
    let mut options = options.clone();
    if let Some(features) = manifest.node().tables.get(manifest::FEATURES) {
        options = options.align_rows(has_aligned_rows(&source.join(&features.name))?);
    }
    let reordering = Reordering {
        source,
        manifest: &manifest,
        graph: &graph,
        options: &options,
        budget: &budget,
        file_system: &file_system,
    };
    reordering.run(writer)
}

/// A dataset on its way into another order.
struct Reordering<'r> {
    source: &'r Path,
    manifest: &'r Manifest,
    graph: &'r GraphFile,
    options: &'r BuildOptions<'r>,
    budget: &'r Budget,
    file_system: &'r Arc<dyn FileSystem>,
}

impl Reordering<'_> {
    fn run(&self, mut writer: DatasetWriter) -> Result<ReorderReport> {
        let mut watch = Stopwatch::start();
        let numbering = self.numbering(&writer)?;
        watch.lap("numbering nodes");
        let tables = self.tables(&writer, &numbering)?;
        watch.lap("tables");
        let graph = self.topology(&writer, &numbering)?;
        watch.lap("edges");
        let splits = self.splits(&writer, &numbering)?;
        let ids = self.ids(&writer, &numbering)?;
        let of_edges = self.manifest.edge();
        let copy = |(name, entry): (&String, &FileEntry)| {
            Ok((name.clone(), self.copy(&writer, &format!("edge-{name}"), entry)?))
        };
        let edges = EdgeType {
            graph,
            tables: of_edges.tables.iter().map(copy).collect::<Result<_>>()?,
            ..of_edges.clone()
        };
        writer.record_graph(self.manifest.node().count, edges, false)?;
        let made = writer.manifest_mut()?;
        made.order = self.options.order.name().to_owned();
        made.splits = splits;
        let node = made.nodes.get_mut(manifest::NODE_TYPE).expect(super::ONLY_TYPE);
        node.tables = tables;
        node.classes = self.manifest.node().classes.clone();
        node.ids = Some(ids);
        let manifest = writer.publish()?;
        watch.lap("splits, ids and syncing");
        Ok(ReorderReport { manifest, stages: watch.finish(), peak_memory: self.budget.peak() })
    }

    /// Finds the new number of every node.
    fn numbering(&self, writer: &DatasetWriter) -> Result<Numbering> {
        let target = writer.folder().join("graph.gl");
        let workspace = Workspace::new(self.budget, self.file_system.clone(), &target);
        let (free, columns) = (self.budget.free(), LogColumns::default());
        let memory = (free - reading_share(free)) / 4;
        let log = EdgeLogWriter::new(&workspace, columns, memory)?;
        self.read_edges(&log)?;
        let log = log.finish()?;
        // Both halves of an undirected edge are there, so one end counts every neighbour once.
        let end = match self.graph.layout().directions[..] {
            [ref lists] if lists.direction == Direction::Out => End::Destination,
            _ => End::Source,
        };
        let heat = Heat { end, skip_self_loops: false };
        let numbering = Numbering::plain(&workspace)?;
        match self.options.order.of_heat(heat) {
            Some(order) => Ok(numbering.ordered(log, order, self.options.observer)?.0),
            None => Ok(numbering),
        }
    }

    /// Puts the edges into the log, by the numbers that nodes have in the dataset.
    fn read_edges(&self, log: &EdgeLogWriter) -> Result<()> {
        let total = self.graph.edge_count();
        let pool = graphmill_disk::pool()?;
        let threads = pool.current_num_threads() as u64;
        let step = (self.budget.free() / 4 / threads / EDGE).clamp(1, EDGES).min(total.max(1));
        let _reserved = self.budget.reserve(step * threads * EDGE, "edges of the dataset")?;
        let mut stage = Stage::new(self.options.observer, "reading edges", total);
        let mut chunks = vec![(Vec::new(), Vec::new()); threads as usize];
        for first in (0..total).step_by((step * threads) as usize) {
            let end = total.min(first + step * threads);
            pool.install(|| {
                chunks.par_iter_mut().enumerate().try_for_each(|(index, (sources, to))| {
                    let start = end.min(first + index as u64 * step);
                    let count = (end - start).min(step) as usize;
                    sources.resize(count, 0);
                    to.resize(count, 0);
                    self.graph.read(start, sources, to)?;
                    log.push(&EdgeChunk::new(start, sources, to))
                })
            })?;
            stage.advance(end - first)?;
        }
        Ok(())
    }

    fn tables(
        &self,
        writer: &DatasetWriter,
        numbering: &Numbering,
    ) -> Result<BTreeMap<String, FileEntry>> {
        let Reordering { options, budget, file_system, .. } = *self;
        let numbers: Option<&dyn NodeNumbers> = Some(numbering);
        let builder = TableBuilder { options, budget, file_system, writer, numbers, rows: None };
        let build = |(name, entry): (&String, &FileEntry)| {
            let role = if name == manifest::FEATURES { Role::Features } else { Role::Other };
            let sources = [TableSource::Files(vec![self.path(entry)])];
            let table =
                builder.build(&TableTask { name, role, of_edges: false, sources: &sources })?;
            let (entry, ..) = table.keep(writer)?;
            Ok((name.clone(), entry))
        };
        self.manifest.node().tables.iter().map(build).collect()
    }

    fn topology(&self, writer: &DatasetWriter, numbering: &Numbering) -> Result<FileEntry> {
        let layout = self.graph.layout();
        let stored: Vec<Direction> = layout.directions.iter().map(|one| one.direction).collect();
        let directions = match stored[..] {
            [Direction::Both] => Directions::Undirected,
            [Direction::Out] => Directions::Out,
            [Direction::In] => Directions::In,
            _ => Directions::OutAndIn,
        };
        let plan = ListPlan::new(self.graph, directions, None, layout.order, layout.undirected)?;
        let renumbered = |lists: &StoredLists| Renumbered { edges: lists.graph.clone(), numbering };
        let edges = renumbered(&plan.lists);
        let in_edges = plan.in_lists.as_ref().map(renumbered);
        let EdgeRecords { rows, weights, times, .. } = plan.lists.records(&edges);
        let in_lists = plan.in_lists.as_ref().zip(in_edges.as_ref());
        let order = numbering.original_ids(layout.num_nodes)?;
        let stored = self.graph.original_ids();
        let stored = stored.map(|ids| StoredIds::load(ids, self.budget)).transpose()?;
        let before = order.map(|order| IdsBefore { order, stored });
        let options = GraphOptions {
            num_nodes: Some(layout.num_nodes),
            directions,
            symmetric: layout.undirected,
            order: plan.order,
            by_rows: plan.by_rows,
            in_lists: in_lists.map(|(lists, edges)| lists.records(edges)),
            neighbours: (!layout.is_packed()).then_some(layout.directions[0].neighbours.element),
            packed: Some(layout.is_packed()),
            rows,
            weights,
            times,
            original_ids: before.as_ref().map(|values| EdgeColumn::Stream(values)),
            observer: self.options.observer,
            ..GraphOptions::new()
        };
        writer.file("graph", "gl", |file| {
            let (system, budget) = (&**self.file_system, self.budget);
            let (written, _) =
                write_graph_into(system, file, file.path(), &edges, &options, budget)?;
            Ok(written)
        })
    }

    fn splits(
        &self,
        writer: &DatasetWriter,
        numbering: &Numbering,
    ) -> Result<BTreeMap<String, Split>> {
        let (options, budget) = (self.options, self.budget);
        let (numbers, num_nodes) =
            (Some(numbering as &dyn NodeNumbers), self.manifest.node().count);
        let reader = SplitReader { options, budget, numbers, num_nodes };
        let write = |(name, split): (&String, &Split)| {
            let source = TableSource::Files(vec![self.path(&split.file)]);
            let file = writer.file(&format!("split-{name}"), "gd", |file| {
                Ok(reader.write(name, &source, file)?.0)
            })?;
            Ok((name.clone(), Split { file, ..split.clone() }))
        };
        self.manifest.splits.iter().map(write).collect()
    }

    /// What leads from original ids to the new numbers.
    fn ids(&self, writer: &DatasetWriter, numbering: &Numbering) -> Result<NodeIds> {
        let num_nodes = self.manifest.node().count;
        let ids = self.manifest.node().ids.as_ref();
        let places = writer.file("id-places", "gd", |file| {
            match ids.and_then(|ids| ids.places.as_ref()) {
                Some(before) => renumber_places(&self.path(before), numbering, file),
                None => numbering.write_places(file, num_nodes)?.ok_or_else(|| {
                    Error::request("order", "nodes have no order; this is a mistake of graphmill")
                }),
            }
        })?;
        let names = match ids.and_then(|ids| ids.names.as_ref()) {
            Some(names) => Some(Names {
                text: self.copy(writer, "id-names", &names.text)?,
                ends: self.copy(writer, "id-ends", &names.ends)?,
            }),
            None => None,
        };
        Ok(NodeIds { places: Some(places), names })
    }

    /// Takes over a file that does not depend on the numbers of nodes.
    fn copy(&self, writer: &DatasetWriter, stem: &str, entry: &FileEntry) -> Result<FileEntry> {
        writer.file(stem, "gd", |file| copy_file(&self.path(entry), file))
    }

    fn path(&self, entry: &FileEntry) -> PathBuf {
        self.source.join(&entry.name)
    }
}

/// Edges between new numbers.
struct Renumbered<'a> {
    edges: GraphFile,
    numbering: &'a Numbering,
}

impl EdgeStream for Renumbered<'_> {
    fn node_count(&self) -> u64 {
        self.edges.node_count()
    }

    fn edge_count(&self) -> u64 {
        self.edges.edge_count()
    }

    fn read(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) -> Result<()> {
        self.edges.read(first, sources, destinations)?;
        renumber(self.numbering, sources)?;
        renumber(self.numbering, destinations)
    }
}

fn renumber(numbering: &Numbering, nodes: &mut [u64]) -> Result<()> {
    numbering.of_ids(nodes)?.map_err(|at| {
        let found = format!("node {}", nodes[at]);
        Error::source("numbers of nodes", found, "a node of the dataset", "verify the dataset")
    })
}

/// What the nodes were called, by their new numbers.
struct IdsBefore<'a> {
    order: OriginalIds<'a>,
    /// By their old numbers, if they had other names than these.
    stored: Option<StoredIds>,
}

impl EdgeValues<i64> for IdsBefore<'_> {
    fn count(&self) -> u64 {
        self.order.count()
    }

    fn read(&self, first: u64, values: &mut [i64]) -> Result<()> {
        self.order.read(first, values)?;
        let Some(stored) = &self.stored else { return Ok(()) };
        let mut nodes: Vec<u64> = values.iter().map(|&node| node as u64).collect();
        stored.replace(&mut nodes)?;
        values.iter_mut().zip(&nodes).for_each(|(value, &id)| *value = id as i64);
        Ok(())
    }
}

fn has_aligned_rows(path: &Path) -> Result<bool> {
    let file = graphmill_disk::open(path, Backend::Pread)?;
    let header = Header::parse(&start_of(&*file)?, file.len());
    let shape = header.and_then(|header| header.table_shape()).map_err(Error::format(path))?;
    Ok(!shape.is_contiguous())
}

/// Copies a vector of numbers of nodes, each replaced by the new one.
fn renumber_places(path: &Path, numbering: &Numbering, into: &dyn OutputFile) -> Result<Written> {
    let file = graphmill_disk::open(path, Backend::Pread)?;
    let header = Header::parse(&start_of(&*file)?, file.len()).map_err(Error::format(path))?;
    let shape = header.table_shape().map_err(Error::format(path))?;
    let at = header.table_section().map_err(Error::format(path))?.offset;
    let width = shape.element().width();
    let mut writer = TableWriter::new(into, shape)?;
    let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
    for first in (0..shape.rows()).step_by(PLACES as usize) {
        let count = PLACES.min(shape.rows() - first) as usize;
        numbers.resize(count, 0);
        let at = at + first * width;
        read_integers(&*file, shape.element(), at, count, |index, node| numbers[index] = node)?;
        renumber(numbering, &mut numbers)?;
        bytes.clear();
        for number in &numbers {
            bytes.extend_from_slice(&number.to_le_bytes()[..width as usize]);
        }
        writer.write_rows(&bytes)?;
    }
    writer.finish()
}

fn copy_file(path: &Path, into: &dyn OutputFile) -> Result<Written> {
    let file = graphmill_disk::open(path, Backend::Pread)?;
    let header = start_of(&*file)?;
    let mut piece = vec![0; PIECE.min(file.len() as usize)];
    for at in (0..file.len()).step_by(PIECE) {
        let piece = &mut piece[..PIECE.min((file.len() - at) as usize)];
        file.read_exact_at(at, piece)?;
        into.write_all_at(at, piece)?;
    }
    Ok(Written { length: file.len(), header })
}
