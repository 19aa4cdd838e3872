//! Edges of a dataset: straight into the sorter, or into a log until nodes have their numbers.
//! Either way they are read once, and the sorter gets what memory is left. It must not know what
//! the numbers are for.

use std::path::Path;
use std::sync::{Arc, Mutex};

use graphmill_disk::{Budget, FileSystem, OutputFile};
use graphmill_format::manifest::{EdgeType, FileEntry};

use super::options::{BuildOptions, NodeOrder, SourceIds};
use super::scattered;
use super::sources::{BuildSources, EdgeSource};
use super::waiting::Waiting;
use crate::dataset_writer::{DatasetWriter, NewFile};
use crate::edge_reading::{borrowed, reading_share, refuse_empty};
use crate::edge_sort::{EdgeSortOptions, EdgeSortReport, EdgeSorter};
use crate::edges::EdgeValues;
use crate::graph_options::Directions;
use crate::numbering::LogColumns;
use crate::pack::{self, write_packed};
use crate::progress::Stage;
use crate::source::{self, EdgeInput, ReadReport};
use crate::table_writer::Written;
use crate::{Error, Result};

/// What building the topology needs.
pub(super) struct EdgeBuilder<'b> {
    pub(super) sources: &'b BuildSources<'b>,
    pub(super) options: &'b BuildOptions<'b>,
    pub(super) budget: &'b Budget,
    pub(super) file_system: &'b Arc<dyn FileSystem>,
    pub(super) writer: &'b DatasetWriter,
}

/// The topology on the disk.
pub(super) struct BuiltGraph {
    entry: FileEntry,
    pub(super) read: ReadReport,
    pub(super) report: EdgeSortReport,
    /// The edges bring rows of their own, and the last of their source may have been left out when
    /// the topology was made that they are read from.
    pub(super) may_have_more_rows: bool,
}

impl BuiltGraph {
    pub(super) fn num_nodes(&self) -> u64 {
        self.report.graph.num_nodes
    }

    pub(super) fn edge_type(&self) -> EdgeType {
        EdgeType {
            count: self.report.graph.num_edges,
            source_rows: self.report.graph.source_rows,
            undirected: self.report.graph.undirected,
            graph: self.entry.clone(),
            tables: Default::default(),
        }
    }
}

impl EdgeBuilder<'_> {
    /// Opens the edges, and says which lists they become.
    ///
    /// An undirected topology stays one unless a direction was chosen: its edges come once then, to
    /// be stored both ways again.
    pub(super) fn open(&self) -> Result<(EdgeInput<'_>, Directions)> {
        let topology = &self.options.topology;
        let mut input = self.open_input()?;
        let is_chosen = topology.chose_directions;
        let wants_undirected = is_chosen && topology.directions == Directions::Undirected;
        let may_stay = !is_chosen || wants_undirected;
        let observer = self.options.observer;
        if may_stay && input.is_undirected(wants_undirected, self.budget, observer)? {
            input.each_edge_once(topology.add_self_loops);
            return Ok((input, Directions::Undirected));
        }
        Ok((input, topology.directions))
    }

    fn open_input(&self) -> Result<EdgeInput<'_>> {
        let scratch = self.writer.folder().join(".edges.scratch");
        let options = self.options.edge_input(self.file_system.clone(), scratch);
        let options = options.budget(self.budget);
        match &self.sources.edges {
            EdgeSource::Files(paths) => EdgeInput::open(paths, &options),
            EdgeSource::Part(part) => {
                let paths = std::slice::from_ref(&part.path);
                EdgeInput::open(paths, &part.edge_options(&options))
            }
            EdgeSource::Memory(arrays) if arrays.has_words() && !self.takes_words() => {
                let remedy =
                    "say that ids are words (SourceIds::Text, string_ids=True), or give integers";
                Err(Error::source("ids of the edges", "words", "integers from 0 on", remedy))
            }
            EdgeSource::Memory(arrays) => EdgeInput::memory(*arrays, &options),
        }
    }

    fn takes_words(&self) -> bool {
        self.options.ids == SourceIds::Text
    }

    /// Whether nodes get other numbers than their ids.
    pub(super) fn renumbers(&self) -> bool {
        self.options.order != NodeOrder::None || self.options.ids != SourceIds::Numbers
    }

    /// Builds the topology of nodes that keep their ids; tables cover `covered` nodes.
    pub(super) fn plain(&self, covered: u64) -> Result<BuiltGraph> {
        let (input, directions) = self.open()?;
        let file = self.writer.create("graph", "gl")?;
        let free = self.budget.free();
        let (weights, times) = (input.has_weights(), input.has_times());
        let memory = free - reading_share(free);
        let num_nodes = self.least_nodes(covered.max(input.num_nodes().unwrap_or(0)));
        let options = self.sort_options(weights, times, num_nodes, memory);
        let edge_ids = options.edge_ids || input.has_rows();
        let options = EdgeSortOptions { directions, edge_ids, ..options };
        let sorter = self.sorter(options, &file)?;
        let push = |chunk: &mut source::EdgeChunk| sorter.push(&borrowed(chunk));
        let read = self.read(&input, &push)?;
        let nodes = (sorter.num_nodes(), num_nodes);
        self.finish(sorter, file, read, nodes, None)
    }

    /// Builds the topology from the log, with the numbers that the nodes have now.
    pub(super) fn renumbered(&self, waiting: &Waiting, covered: u64) -> Result<BuiltGraph> {
        let Waiting { log, numbering, read, columns, directions, stated_nodes } = waiting;
        let file = self.writer.create("graph", "gl")?;
        let covered = covered.max(*stated_nodes);
        let num_nodes = self.least_nodes(covered).max(numbering.count());
        let LogColumns { weights, times, rows } = *columns;
        let options = self.sort_options(weights, times, num_nodes, self.budget.free());
        let edge_ids = options.edge_ids || rows;
        let options = EdgeSortOptions { directions: *directions, edge_ids, ..options };
        let sorter = self.sorter(options, &file)?;
        let stage = Mutex::new(Stage::new(self.options.observer, "sorting edges", log.rows()));
        numbering.replay(log, &stage, &|chunk| sorter.push(&chunk))?;
        let original_ids = numbering.original_ids(num_nodes)?;
        let original_ids = original_ids.as_ref().map(|ids| ids as &dyn EdgeValues<i64>);
        // Mapped ids are never scattered.
        let needed = if self.options.ids == SourceIds::Numbers { log.id_limit() } else { 0 };
        let nodes = (needed, self.least_nodes(covered));
        let mut built = self.finish(sorter, file, read.clone(), nodes, original_ids)?;
        built.report.spilled += log.bytes();
        Ok(built)
    }

    /// Reads all edges once.
    pub(super) fn read(
        &self,
        input: &EdgeInput<'_>,
        push: &(dyn Fn(&mut source::EdgeChunk) -> Result<()> + Sync),
    ) -> Result<ReadReport> {
        let read = input.read(self.budget, push, self.options.observer)?;
        let said = Some(self.least_nodes(0)).filter(|&nodes| nodes > 0);
        match &self.sources.edges {
            EdgeSource::Files(paths) => {
                let first = paths.first().map_or(Path::new(""), |path| path);
                refuse_empty(input, &read, said, first)?
            }
            EdgeSource::Part(part) => refuse_empty(input, &read, said, &part.path)?,
            // An empty array is empty on purpose, but not one whose rows are all left out.
            EdgeSource::Memory(_) if read.rows == 0 && read.skipped > 0 => {
                let found = format!("{} edges, none of which can be used", read.skipped);
                let remedy = "correct the ids and weights, or let the first bad row stop the build";
                return Err(Error::source("edges", found, "at least one", remedy));
            }
            EdgeSource::Memory(_) => {}
        }
        Ok(read)
    }

    /// Nodes that there are at least, whatever the edges say.
    pub(super) fn least_nodes(&self, covered: u64) -> u64 {
        covered.max(self.options.topology.num_nodes).max(self.sources.num_nodes.unwrap_or(0))
    }

    fn sort_options(
        &self,
        weights: bool,
        times: bool,
        num_nodes: u64,
        memory: u64,
    ) -> EdgeSortOptions<'_> {
        let mut options = self.options.topology;
        options = options.num_nodes(num_nodes).weights(weights).times(times).memory(memory);
        if weights || times || self.sources.has_edge_tables() {
            options = options.edge_ids(true);
        }
        match self.options.observer {
            Some(observer) => options.observer(observer),
            None => options,
        }
    }

    fn sorter<'s>(&self, options: EdgeSortOptions<'s>, file: &NewFile) -> Result<EdgeSorter<'s>> {
        EdgeSorter::new(options, self.budget, self.file_system.clone(), file.file().path())
    }

    /// Whether lists are packed: as asked for, or else where plain ones would be too large for the machine.
    fn packs(&self, sorter: &EdgeSorter<'_>, rows: u64) -> bool {
        let topology = &self.options.topology;
        topology.packed.unwrap_or_else(|| {
            let twice = sorter.directions() == Directions::Undirected;
            let edges = if twice { rows.saturating_mul(2) } else { rows };
            let topology = EdgeSortOptions { directions: sorter.directions(), ..*topology };
            pack::pays(&topology.shape(sorter.num_nodes(), edges))
        })
    }

    /// Writes the lists; `needed` nodes are demanded by the ids of the edges.
    fn finish(
        &self,
        sorter: EdgeSorter<'_>,
        file: NewFile,
        read: ReadReport,
        (needed, covered): (u64, u64),
        original_ids: Option<&dyn EdgeValues<i64>>,
    ) -> Result<BuiltGraph> {
        scattered::check_rows(needed, read.rows, covered)?;
        let path = file.file().path().to_path_buf();
        let packed = self.packs(&sorter, read.rows);
        let write_plain = |plain: &dyn OutputFile| -> Result<(Written, EdgeSortReport)> {
            let (written, report) = sorter.finish(plain, &path, original_ids)?;
            let added = self.options.topology.add_self_loops;
            let nodes = (needed, covered);
            scattered::check_lists(plain, &written, &report, nodes, added, self.budget)?;
            Ok((written, report))
        };
        let (written, mut report) = if packed {
            let (file, observer) = (file.file(), self.options.observer);
            write_packed(&**self.file_system, file, &path, self.budget, observer, write_plain)?
        } else {
            write_plain(file.file())?
        };
        report.graph.length = written.length;
        report.graph.source_rows = read.row_limit.unwrap_or(report.graph.source_rows);
        let entry = self.writer.keep(file, &written)?;
        let may_have_more_rows = read.row_limit.is_some();
        Ok(BuiltGraph { entry, read, report, may_have_more_rows })
    }
}
