//! Edges in any order into a `.gl`, within a fixed memory and read only once.
//!
//! Readers push chunks from several threads, in any order of rows. Every edge goes into one of a
//! few hundred parts of the node range as it comes; parts wait in memory, and in a scratch file
//! without a name when memory is full. In the end every part is sorted by itself and written to its
//! place; where both directions are stored, the in-lists are made from the out-lists on their way
//! to the file. It must not know where edges come from, nor who publishes the file.

mod buckets;
mod chunk_push;
mod distribution;
mod leaf;
mod leaf_writer;
mod list_lengths;
mod list_sort;
mod list_writer;
mod neighbour_lists;
mod options;
mod part_sort;
mod record;
mod runs;
mod sample;
mod scratch;
mod sizing;
mod splitters;
mod store;
mod transposition;
mod unique;
pub(crate) mod workers;

pub use list_lengths::ListsReport;
pub(crate) use options::ChunkIds;
pub use options::{EdgeChunk, EdgeSortOptions};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use graphmill_disk::{Budget, FileSystem, OutputFile, Reservation};
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::{Direction, Header};

use crate::edges::EdgeValues;
use crate::graph_writer::GraphReport;
use crate::progress::Stage;
use crate::section_writer::SectionWriter;
use crate::table_writer::{Written, seal};
use crate::{Error, Result};
use list_sort::{Leaves, ListSort};
use list_writer::{Plan, write_lists};
use record::{FullRecord, PairRecord, Record, RowRecord, WeightRecord};
use transposition::Transposition;

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
    /// Bytes that went through the scratch file.
    pub spilled: u64,
    /// What the lists of each stored direction are like.
    pub lists: Vec<ListsReport>,
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
    /// One more than the largest row so far.
    row_limit: AtomicU64,
    self_loops_dropped: AtomicU64,
}

/// Where the records are and how much memory there is for them.
struct Place {
    memory: u64,
    threads: usize,
    file_system: Arc<dyn FileSystem>,
    target: PathBuf,
    reserved: Arc<Reservation>,
}

/// A sort with the narrowest records that do.
enum Engine {
    Pairs(ListSort<PairRecord>),
    Rows(ListSort<RowRecord>),
    Weights(ListSort<WeightRecord>),
    Full(ListSort<FullRecord>),
}

impl Place {
    /// The scratch file lies beside the target, where there has to be room for as much anyway.
    fn start<R: Record>(&self) -> ListSort<R> {
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(".sort");
        let path = self.target.with_file_name(name);
        let (file_system, reserved) = (self.file_system.clone(), self.reserved.clone());
        ListSort::new(self.memory, self.threads, file_system, path, reserved)
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
        let threads = graphmill_disk::pool()?.current_num_threads();
        let granted = options.memory.unwrap_or(budget.free());
        let granted = granted.max(sizing::LEAST_MEMORY);
        let reserved = Arc::new(budget.reserve_pool(granted, "sorting the edges")?);
        // Every thread fills a block, and each section has about as many that are not whole yet.
        let sections = 2 + [options.needs_rows(), options.weights, options.times]
            .map(u64::from)
            .iter()
            .sum::<u64>();
        let output = BLOCK_LENGTH * (threads as u64 + (threads as u64 + 1) * sections);
        let memory = reserved.bytes() - output.min(reserved.bytes() / 4);
        let memory = memory.max(sizing::LEAST_MEMORY);
        let target = target.to_path_buf();
        let place = Place { memory, threads, file_system, target, reserved };
        let engine = if options.times {
            Engine::Full(place.start())
        } else if options.weights {
            Engine::Weights(place.start())
        } else if options.needs_rows() {
            Engine::Rows(place.start())
        } else {
            Engine::Pairs(place.start())
        };
        Ok(EdgeSorter {
            options,
            engine: RwLock::new(engine),
            place,
            num_nodes: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            row_limit: AtomicU64::new(0),
            self_loops_dropped: AtomicU64::new(0),
        })
    }

    /// Takes a chunk of edges; threads may push at once and rows may come in any order.
    pub fn push(&self, chunk: &EdgeChunk<'_>) -> Result<()> {
        chunk_push::check(chunk, &self.options)?;
        let (rows, needed) = chunk_push::extent(chunk)?;
        self.num_nodes.fetch_max(needed, Ordering::Relaxed);
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.row_limit.fetch_max(chunk_push::row_limit(chunk, rows), Ordering::Relaxed);
        if self.options.drop_self_loops {
            let dropped = chunk_push::self_loops(chunk);
            self.self_loops_dropped.fetch_add(dropped, Ordering::Relaxed);
        }
        // The second direction is made from the first.
        let direction = self.options.directions.stored()[0];
        self.put(chunk, needed, direction, self.options.drop_self_loops)
    }

    /// Which lists are stored.
    pub(crate) fn directions(&self) -> crate::graph_options::Directions {
        self.options.directions
    }

    /// Nodes that the ids pushed so far demand.
    pub fn num_nodes(&self) -> u64 {
        self.num_nodes.load(Ordering::Relaxed).max(self.options.num_nodes)
    }

    fn put(
        &self,
        chunk: &EdgeChunk<'_>,
        nodes: u64,
        direction: Direction,
        drop_self_loops: bool,
    ) -> Result<()> {
        let mut engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        if nodes > NARROW && !matches!(*engine, Engine::Full(_)) {
            drop(engine);
            self.widen()?;
            engine = self.engine.read().unwrap_or_else(PoisonError::into_inner);
        }
        match &*engine {
            Engine::Pairs(sort) => chunk_push::push(chunk, sort, direction, drop_self_loops),
            Engine::Rows(sort) => chunk_push::push(chunk, sort, direction, drop_self_loops),
            Engine::Weights(sort) => chunk_push::push(chunk, sort, direction, drop_self_loops),
            Engine::Full(sort) => chunk_push::push(chunk, sort, direction, drop_self_loops),
        }
    }

    /// Moves all records into wider ones, because an id came that the narrow ones cannot hold.
    fn widen(&self) -> Result<()> {
        let mut engine = self.engine.write().unwrap_or_else(PoisonError::into_inner);
        let wide = match std::mem::replace(&mut *engine, Engine::Full(self.place.start())) {
            Engine::Pairs(sort) => self.widened(sort)?,
            Engine::Rows(sort) => self.widened(sort)?,
            Engine::Weights(sort) => self.widened(sort)?,
            Engine::Full(sort) => sort,
        };
        *engine = Engine::Full(wide);
        Ok(())
    }

    fn widened<R: Record>(&self, sort: ListSort<R>) -> Result<ListSort<FullRecord>> {
        let wide: ListSort<FullRecord> = self.place.start();
        let (store, part) = sort.into_spilled()?;
        store.read(&part, |records| {
            wide.fill(|filler| {
                let entries = records.iter().map(Record::entry);
                entries.into_iter().try_for_each(|one| filler.add(one.major, FullRecord::new(one)))
            })
        })?;
        Ok(wide)
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
        let EdgeSorter { options, engine, rows, self_loops_dropped, place, .. } = self;
        // What is not divided among blocks and work is for what is on its way to the file.
        let output = place.reserved.bytes() - place.memory.min(place.reserved.bytes());
        let finish = Finish { options, file, name, num_nodes, original_ids, output };
        let engine = engine.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut report = EdgeSortReport {
            graph: GraphReport {
                num_nodes,
                num_edges: 0,
                source_rows: rows.into_inner(),
                undirected: false,
                passes: 1,
                length: 0,
            },
            duplicates_dropped: 0,
            self_loops_dropped: self_loops_dropped.into_inner(),
            spilled: 0,
            lists: Vec::new(),
        };
        let written = match engine {
            Engine::Pairs(sort) => finish.run(sort, &mut report),
            Engine::Rows(sort) => finish.run(sort, &mut report),
            Engine::Weights(sort) => finish.run(sort, &mut report),
            Engine::Full(sort) => finish.run(sort, &mut report),
        }?;
        report.graph.length = written.length;
        drop(place);
        // Thousands of blocks were freed, and what comes next takes memory of another kind.
        graphmill_disk::release_heap();
        Ok((written, report))
    }

    fn add_self_loops(&self, num_nodes: u64) -> Result<()> {
        if !self.options.add_self_loops {
            return Ok(());
        }
        let rows = self.row_limit.load(Ordering::Relaxed);
        let weights = vec![1.0; NODES as usize];
        let mut first = 0;
        while first < num_nodes {
            let nodes: Vec<u64> = (first..num_nodes.min(first + NODES)).collect();
            let mut chunk = EdgeChunk::new(rows + first, &nodes, &nodes);
            if self.options.weights {
                chunk = chunk.weights(&weights[..nodes.len()]);
            }
            // Once in every set of lists, the undirected one included.
            self.put(&chunk, first + nodes.len() as u64, Direction::Out, false)?;
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
    /// Bytes for blocks of the file that are not whole yet.
    output: u64,
}

impl Finish<'_> {
    /// Writes the file and completes the report.
    fn run<R: Record>(&self, sort: ListSort<R>, report: &mut EdgeSortReport) -> Result<Written> {
        let (file, options) = (self.file, &self.options);
        let working = sort.store.sizing.working(sort.records(), size_of::<R>());
        sort.store.touch(working + self.output);
        let Leaves { store, mut leaves, records, duplicates } =
            sort.into_leaves(options.order, options.dedup)?;
        let mut shape = options.shape(self.num_nodes, records);
        shape.original_ids = self.original_ids.is_some();
        let header = Header::for_graph(&shape).map_err(Error::format(self.name))?;
        let layout = header.graph_layout().map_err(Error::format(self.name))?;
        let directions = options.directions.stored();
        let total = records * directions.len() as u64;
        let stage = Mutex::new(Stage::new(options.observer, "writing lists", total));
        let advance =
            |records: u64| stage.lock().unwrap_or_else(PoisonError::into_inner).advance(records);
        let mut digests = Vec::new();
        for (index, (&direction, sections)) in directions.iter().zip(&layout.directions).enumerate()
        {
            let more = index + 1 < directions.len();
            let transposition =
                if more { Some(Transposition::begin(&mut leaves, &store)?) } else { None };
            let plan = Plan {
                num_nodes: self.num_nodes,
                order: options.order,
                transposition: transposition.as_ref(),
                advance: &advance,
            };
            let ready = std::mem::take(&mut leaves);
            let (written, lengths) = write_lists(file, sections, ready, &store, &plan)?;
            digests.extend(written);
            report.lists.push(lengths.report(direction));
            if let Some(transposition) = transposition {
                leaves = transposition.into_leaves(options.order, &store)?;
            }
        }
        if let (Some(ids), Some(section)) = (self.original_ids, &layout.original_ids) {
            digests.extend(copy_ids(SectionWriter::new(file, section), ids)?);
        }
        report.graph.num_edges = shape.num_edges;
        report.graph.undirected = shape.undirected;
        report.duplicates_dropped = duplicates;
        report.spilled = store.scratch.written();
        seal(file, header, &digests)
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
