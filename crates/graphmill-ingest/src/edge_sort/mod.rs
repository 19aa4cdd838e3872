//! Edges in any order into a `.gl`, within a fixed memory and read only once.
//!
//! Readers push chunks from several threads, in any order of rows. Every edge goes into one of a
//! few hundred parts of the node range as it comes; parts wait in memory, and in a scratch file
//! without a name when memory is full. In the end every part is sorted by itself and written to its
//! place. It must not know where edges come from, nor who publishes the file.

mod chunk_push;
mod distribution;
mod list_sort;
mod list_writer;
mod options;
mod part_sort;
mod record;
mod scratch;
mod sizing;
mod splitters;
mod store;
mod unique;
mod workers;

pub use options::{EdgeChunk, EdgeSortOptions};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use graphmill_disk::{Budget, FileSystem, OutputFile, Reservation};
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::{Direction, GraphShape, Header};

use crate::edges::EdgeValues;
use crate::graph_writer::GraphReport;
use crate::progress::Stage;
use crate::section_writer::SectionWriter;
use crate::table_writer::{Written, seal};
use crate::{Error, Result};
use list_sort::{Leaves, ListSort};
use record::{FullRecord, PairRecord, Record, RowRecord};

/// Ids that the narrow records can hold are smaller.
const NARROW: u64 = if cfg!(test) { 1 << 8 } else { 1 << 32 };
/// Nodes that get their self loops at a time, and original ids copied at a time.
const NODES: u64 = 1 << 16;

/// What the sorter made of the edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeSortReport {
    /// What is in the file.
    pub graph: GraphReport,
    /// Stored edges of one direction that were left out because an earlier row has the same ends.
    pub duplicates_dropped: u64,
    /// Edges of the source that were left out because they lead from a node to itself.
    pub self_loops_dropped: u64,
    /// Bytes that went through the scratch files.
    pub spilled: u64,
}

/// Sorts pushed edges into neighbour lists.
///
/// ```
/// use std::sync::Arc;
/// use graphmill_disk::{Budget, FileDraft, RealFileSystem};
/// use graphmill_ingest::{EdgeChunk, EdgeSortOptions, EdgeSorter};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let target = folder.path().join("triangle.gl");
/// let draft = FileDraft::begin(Arc::new(RealFileSystem), &target, false)?;
/// let budget = Budget::new(4 << 20);
/// let sorter =
///     EdgeSorter::new(EdgeSortOptions::new(), &budget, Arc::new(RealFileSystem), &target)?;
/// sorter.push(&EdgeChunk::narrow(2, &[2], &[0]))?;
/// sorter.push(&EdgeChunk::narrow(0, &[0, 1], &[1, 2]))?;
/// let (_, report) = sorter.finish(draft.file(), &target, None)?;
/// draft.publish()?;
/// assert_eq!((report.graph.num_nodes, report.graph.num_edges), (3, 3));
/// # Ok(())
/// # }
/// ```
pub struct EdgeSorter<'a> {
    options: EdgeSortOptions<'a>,
    engine: RwLock<Engine>,
    place: Place,
    /// Nodes that the ids so far demand.
    num_nodes: AtomicU64,
    rows: AtomicU64,
    self_loops_dropped: AtomicU64,
    _reserved: Reservation,
}

/// Where the records are and how much memory each direction has for them.
struct Place {
    memory: u64,
    threads: usize,
    file_system: Arc<dyn FileSystem>,
    target: PathBuf,
}

/// One sort for each stored direction, with the narrowest records that do.
enum Engine {
    Pairs(Vec<ListSort<PairRecord>>),
    Rows(Vec<ListSort<RowRecord>>),
    Full(Vec<ListSort<FullRecord>>),
}

impl Place {
    fn start<R: Record>(&self, directions: &[Direction]) -> Vec<ListSort<R>> {
        let start = |&direction: &Direction| self.start_one(direction);
        directions.iter().map(start).collect()
    }

    /// The scratch file lies beside the target, where there has to be room for as much anyway.
    fn start_one<R: Record>(&self, direction: Direction) -> ListSort<R> {
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(if direction == Direction::In { ".sort-in" } else { ".sort" });
        let path = self.target.with_file_name(name);
        ListSort::new(self.memory, self.threads, self.file_system.clone(), path)
    }
}

impl<'a> EdgeSorter<'a> {
    /// Takes its memory from the budget; `target` is the file that will be published, of which one
    /// sorter at a time may exist.
    pub fn new(
        options: EdgeSortOptions<'a>,
        budget: &Budget,
        file_system: Arc<dyn FileSystem>,
        target: &Path,
    ) -> Result<Self> {
        options.check()?;
        let directions = options.directions.stored();
        let threads = graphmill_disk::pool()?.current_num_threads();
        let granted = options.memory.unwrap_or(budget.free());
        let least = sizing::LEAST_MEMORY * directions.len() as u64;
        let reserved = budget.reserve(granted.max(least), "sorting the edges")?;
        // Every thread fills a block, and each section has about as many that are not whole yet.
        let sections = 2 + [options.needs_rows(), options.weights, options.times]
            .map(u64::from)
            .iter()
            .sum::<u64>();
        let output = BLOCK_LENGTH * (threads as u64 + (threads as u64 + 1) * sections);
        let memory = reserved.bytes() - output.min(reserved.bytes() / 4);
        let memory = memory.max(least) / directions.len() as u64;
        let target = target.to_path_buf();
        let place = Place { memory, threads, file_system, target };
        let engine = if options.weights || options.times {
            Engine::Full(place.start(directions))
        } else if options.needs_rows() {
            Engine::Rows(place.start(directions))
        } else {
            Engine::Pairs(place.start(directions))
        };
        Ok(EdgeSorter {
            options,
            engine: RwLock::new(engine),
            place,
            num_nodes: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            self_loops_dropped: AtomicU64::new(0),
            _reserved: reserved,
        })
    }

    /// Takes a chunk of edges; threads may push at once and rows may come in any order.
    pub fn push(&self, chunk: &EdgeChunk<'_>) -> Result<()> {
        chunk_push::check(chunk, &self.options)?;
        let (rows, needed) = chunk_push::extent(chunk)?;
        self.num_nodes.fetch_max(needed, Ordering::Relaxed);
        self.rows.fetch_add(rows, Ordering::Relaxed);
        if self.options.drop_self_loops {
            let dropped = chunk_push::self_loops(chunk);
            self.self_loops_dropped.fetch_add(dropped, Ordering::Relaxed);
        }
        self.put(chunk, needed, self.options.directions.stored(), self.options.drop_self_loops)
    }

    /// Nodes that the ids pushed so far demand.
    pub fn num_nodes(&self) -> u64 {
        self.num_nodes.load(Ordering::Relaxed).max(self.options.num_nodes)
    }

    fn put(
        &self,
        chunk: &EdgeChunk<'_>,
        nodes: u64,
        directions: &[Direction],
        drop_self_loops: bool,
    ) -> Result<()> {
        let mut engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        if nodes > NARROW && !matches!(*engine, Engine::Full(_)) {
            drop(engine);
            self.widen()?;
            engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        }
        match &*engine {
            Engine::Pairs(sorts) => chunk_push::push(chunk, sorts, directions, drop_self_loops),
            Engine::Rows(sorts) => chunk_push::push(chunk, sorts, directions, drop_self_loops),
            Engine::Full(sorts) => chunk_push::push(chunk, sorts, directions, drop_self_loops),
        }
    }

    /// Moves all records into wider ones, because an id came that the narrow ones cannot hold.
    fn widen(&self) -> Result<()> {
        let mut engine = self.engine.write().unwrap_or_else(PoisonError::into_inner);
        let wide = match std::mem::replace(&mut *engine, Engine::Full(Vec::new())) {
            Engine::Pairs(sorts) => self.widened(sorts)?,
            Engine::Rows(sorts) => self.widened(sorts)?,
            Engine::Full(sorts) => sorts,
        };
        *engine = Engine::Full(wide);
        Ok(())
    }

    fn widened<R: Record>(&self, sorts: Vec<ListSort<R>>) -> Result<Vec<ListSort<FullRecord>>> {
        let directions = self.options.directions.stored();
        let widen = |(sort, &direction): (ListSort<R>, &Direction)| {
            let wide: ListSort<FullRecord> = self.place.start_one(direction);
            let (store, part) = sort.into_spilled()?;
            store.read(&part, |records| {
                let records = records.iter().map(|record| FullRecord::new(record.entry()));
                wide.fill(|filler| records.into_iter().try_for_each(|record| filler.add(record)))
            })?;
            Ok(wide)
        };
        sorts.into_iter().zip(directions).map(widen).collect()
    }

    /// Writes the `.gl` into an empty file that somebody else publishes as `name`.
    ///
    /// `original_ids` are the ids that the nodes had before they were numbered.
    pub fn finish(
        self,
        file: &dyn OutputFile,
        name: &Path,
        original_ids: Option<&dyn EdgeValues<i64>>,
    ) -> Result<(Written, EdgeSortReport)> {
        let num_nodes = self.num_nodes();
        if let Some(count) = original_ids.map(|ids| ids.count()).filter(|&ids| ids != num_nodes) {
            let expected = format!("{num_nodes}, one for each node");
            let remedy = "give the original id of every node";
            return Err(Error::source("original ids", format!("{count} ids"), expected, remedy));
        }
        self.add_self_loops(num_nodes)?;
        let EdgeSorter { options, engine, rows, self_loops_dropped, _reserved, .. } = self;
        let finish = Finish { options, file, name, num_nodes, original_ids };
        let engine = engine.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (written, shape, duplicates_dropped, spilled) = match engine {
            Engine::Pairs(sorts) => finish.run(sorts),
            Engine::Rows(sorts) => finish.run(sorts),
            Engine::Full(sorts) => finish.run(sorts),
        }?;
        let graph = GraphReport {
            num_nodes,
            num_edges: shape.num_edges,
            source_rows: rows.into_inner(),
            undirected: shape.undirected,
            passes: 1,
            length: written.length,
        };
        let self_loops_dropped = self_loops_dropped.into_inner();
        Ok((written, EdgeSortReport { graph, duplicates_dropped, self_loops_dropped, spilled }))
    }

    fn add_self_loops(&self, num_nodes: u64) -> Result<()> {
        if !self.options.add_self_loops {
            return Ok(());
        }
        let rows = self.rows.load(Ordering::Relaxed);
        // Once in every set of lists, the undirected one included.
        let directions = vec![Direction::Out; self.options.directions.stored().len()];
        let weights = vec![1.0; NODES as usize];
        let mut first = 0;
        while first < num_nodes {
            let nodes: Vec<u64> = (first..num_nodes.min(first + NODES)).collect();
            let mut chunk = EdgeChunk::new(rows + first, &nodes, &nodes);
            if self.options.weights {
                chunk = chunk.weights(&weights[..nodes.len()]);
            }
            self.put(&chunk, first + nodes.len() as u64, &directions, false)?;
            first += nodes.len() as u64;
        }
        Ok(())
    }
}

/// What is known when all edges have come.
struct Finish<'f> {
    options: EdgeSortOptions<'f>,
    file: &'f dyn OutputFile,
    name: &'f Path,
    num_nodes: u64,
    original_ids: Option<&'f dyn EdgeValues<i64>>,
}

impl Finish<'_> {
    /// Gives what was written, its shape, the duplicates of one direction and the spilled bytes.
    fn run<R: Record>(&self, sorts: Vec<ListSort<R>>) -> Result<(Written, GraphShape, u64, u64)> {
        let (file, options) = (self.file, &self.options);
        let leaves = sorts.into_iter().map(|sort| sort.into_leaves(options.order, options.dedup));
        let leaves: Vec<Leaves<R>> = leaves.collect::<Result<_>>()?;
        let (num_edges, duplicates) = (leaves[0].records, leaves[0].duplicates);
        let mut shape = options.shape(self.num_nodes, num_edges);
        shape.original_ids = self.original_ids.is_some();
        let header = Header::for_graph(&shape).map_err(Error::format(self.name))?;
        let layout = header.graph_layout().map_err(Error::format(self.name))?;
        let total = num_edges * leaves.len() as u64;
        let stage = Mutex::new(Stage::new(options.observer, "writing lists", total));
        let mut digests = Vec::new();
        let mut spilled = 0;
        for (leaves, sections) in leaves.into_iter().zip(&layout.directions) {
            spilled += leaves.store.scratch.written();
            let written = list_writer::write_lists(
                file,
                sections,
                leaves,
                self.num_nodes,
                options.order,
                &stage,
            )?;
            digests.extend(written);
        }
        if let (Some(ids), Some(section)) = (self.original_ids, &layout.original_ids) {
            digests.extend(copy_ids(SectionWriter::new(file, section), ids)?);
        }
        Ok((seal(file, header, &digests)?, shape, duplicates, spilled))
    }
}

/// Copies the original ids of the nodes, a piece at a time.
fn copy_ids(mut section: SectionWriter<'_>, ids: &dyn EdgeValues<i64>) -> Result<Vec<u64>> {
    let mut piece = Vec::new();
    let mut first = 0;
    while first < ids.count() {
        piece.resize((ids.count() - first).min(NODES) as usize, 0);
        ids.read(first, &mut piece)?;
        section.write_values(piece.iter().map(|id| id.to_le_bytes()))?;
        first += piece.len() as u64;
    }
    section.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphOptions, MemoryEdges, write_graph};
    use graphmill_disk::{FileDraft, RealFileSystem};

    /// Wide ids are those of 256 and more here.
    #[test]
    fn wide_ids_that_come_late_give_the_file_that_the_writer_of_graphs_makes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, expected) = (folder.path().join("x.gl"), folder.path().join("y.gl"));
        let id = |row: i64, salt: i64| (row * 7919 + salt) % if row < 20_000 { 250 } else { 1000 };
        let sources: Vec<i64> = (0..30_000).map(|row| id(row, 3)).collect();
        let destinations: Vec<i64> = (0..30_000).map(|row| id(row * row % 10_007, row)).collect();
        let edges = MemoryEdges::new(&sources, &destinations, None).unwrap();
        for edge_ids in [false, true] {
            let options = GraphOptions::new().edge_ids(edge_ids);
            write_graph(&expected, &edges, &options, &Budget::new(16 << 20), true).unwrap();
            let files = Arc::new(RealFileSystem);
            let draft = FileDraft::begin(files.clone(), &path, true).unwrap();
            let options = EdgeSortOptions::new().edge_ids(edge_ids);
            let sorter = EdgeSorter::new(options, &Budget::new(512 << 10), files, &path).unwrap();
            let wide = |ids: &[i64]| -> Vec<u64> { ids.iter().map(|&id| id as u64).collect() };
            for first in (0..30_000).step_by(1000) {
                let (sources, destinations) =
                    (wide(&sources[first..first + 1000]), wide(&destinations[first..first + 1000]));
                sorter.push(&EdgeChunk::new(first as u64, &sources, &destinations)).unwrap();
                let is_wide = matches!(*sorter.engine.read().unwrap(), Engine::Full(_));
                assert_eq!(is_wide, first >= 20_000);
            }
            sorter.finish(draft.file(), &path, None).unwrap();
            draft.publish().unwrap();
            assert!(std::fs::read(&path).unwrap() == std::fs::read(&expected).unwrap());
        }
    }
}
