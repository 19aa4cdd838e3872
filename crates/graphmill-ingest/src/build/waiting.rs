//! Edges that wait until every node has its number.
//! All edges are read into a log; ids or names are collected on the way, those of tables too, and
//! numbered in ascending order or in the one that is wished for. It must not know what is built with the numbers.

use graphmill_format::manifest::{Names, NodeIds};

use super::edges::EdgeBuilder;
use super::node_tables::{TableBuilder, TableTask};
use super::options::SourceIds;
use super::scattered;
use crate::Result;
use crate::dataset_writer::DatasetWriter;
use crate::edge_reading::{borrowed, reading_share};
use crate::edge_sort::EdgeChunk;
use crate::graph_options::Directions;
use crate::node_numbers::NodeNumbers;
use crate::numbering::{
    EdgeLog, EdgeLogWriter, End, Heat, IdCollector, LogColumns, NameCollector, Numbering, Order,
    Workspace,
};
use crate::source::{self, EdgeInput, ReadReport, TableChunk};

/// All edges, and the numbers of their nodes.
pub(super) struct Waiting {
    pub(super) log: EdgeLog,
    pub(super) numbering: Numbering,
    pub(super) read: ReadReport,
    pub(super) columns: LogColumns,
    pub(super) directions: Directions,
    /// Nodes that the source says there are.
    pub(super) stated_nodes: u64,
}

/// Reads the edges and, for ids that are no numbers, the ids of tables.
struct Collecting<'c> {
    edges: &'c EdgeBuilder<'c>,
    tables: &'c TableBuilder<'c>,
    tasks: &'c [TableTask<'c, 'c>],
    input: EdgeInput<'c>,
    workspace: Workspace,
}

impl Waiting {
    /// Reads everything that decides about the numbers of nodes.
    pub(super) fn new(
        edges: &EdgeBuilder<'_>,
        tables: &TableBuilder<'_>,
        tasks: &[TableTask<'_, '_>],
    ) -> Result<Self> {
        let (input, directions) = edges.open()?;
        let is_numbered = edges.options.ids == SourceIds::Numbers;
        let stated_nodes = input.num_nodes().filter(|_| is_numbered).unwrap_or(0);
        let columns = columns(&input);
        let target = edges.writer.folder().join("graph.gl");
        let workspace = Workspace::new(edges.budget, edges.file_system.clone(), &target);
        let collecting = Collecting { edges, tables, tasks, input, workspace };
        let (log, read, numbering) = match edges.options.ids {
            SourceIds::Numbers => collecting.numbers()?,
            SourceIds::Integers => collecting.integers()?,
            SourceIds::Text => collecting.names()?,
        };
        let observer = edges.options.observer;
        let (numbering, log) = match order(edges, directions) {
            None => (numbering, log),
            Some(order) => numbering.ordered(log, order, observer)?,
        };
        Ok(Waiting { log, numbering, read, columns, directions, stated_nodes })
    }

    pub(super) fn numbers(&self) -> &dyn NodeNumbers {
        &self.numbering
    }

    /// Writes what leads from original ids to nodes.
    pub(super) fn write_ids(
        &self,
        writer: &DatasetWriter,
        ids: SourceIds,
        num_nodes: u64,
    ) -> Result<NodeIds> {
        let file = writer.create("id-places", "gd")?;
        let places = match self.numbering.write_places(file.file(), num_nodes)? {
            Some(written) => Some(writer.keep(file, &written)?),
            None => {
                writer.discard(file);
                None
            }
        };
        let names = if ids == SourceIds::Text {
            let (text, ends) = (writer.create("id-names", "gd")?, writer.create("id-ends", "gd")?);
            let (wrote_text, wrote_ends) = self.numbering.write_names(text.file(), ends.file())?;
            let text = writer.keep(text, &wrote_text)?;
            Some(Names { text, ends: writer.keep(ends, &wrote_ends)? })
        } else {
            None
        };
        Ok(NodeIds { places, names })
    }
}

fn columns(input: &EdgeInput<'_>) -> LogColumns {
    let (weights, times, rows) = (input.has_weights(), input.has_times(), input.has_rows());
    LogColumns { weights, times, rows }
}

/// The order that is wished for; heat is what sampling will meet in the lists that it will follow.
fn order(edges: &EdgeBuilder<'_>, directions: Directions) -> Option<Order> {
    let end = match directions {
        Directions::In | Directions::OutAndIn => End::Source,
        Directions::Out => End::Destination,
        Directions::Undirected => End::Both,
    };
    let heat = Heat { end, skip_self_loops: edges.options.topology.drop_self_loops };
    edges.options.order.of_heat(heat)
}

type Collected = (EdgeLog, ReadReport, Numbering);

impl Collecting<'_> {
    /// What readers leave over.
    fn memory(&self) -> u64 {
        let free = self.edges.budget.free();
        free - reading_share(free)
    }

    fn log(&self) -> Result<EdgeLogWriter> {
        // Most of it is written and read front to back, which the page cache does as well.
        EdgeLogWriter::new(&self.workspace, columns(&self.input), self.memory() / 4)
    }

    fn numbers(self) -> Result<Collected> {
        let log = self.log()?;
        let push = |chunk: &mut source::EdgeChunk| log.push(&borrowed(chunk));
        let read = self.edges.read(&self.input, &push)?;
        let log = log.finish()?;
        if self.tasks.is_empty() {
            // Tables may still show that there are as many nodes.
            let stated = self.input.num_nodes().unwrap_or(0);
            scattered::check_rows(log.id_limit(), log.rows(), self.edges.least_nodes(stated))?;
        }
        Ok((log, read, Numbering::plain(&self.workspace)?))
    }

    fn integers(self) -> Result<Collected> {
        let log = self.log()?;
        let collector = IdCollector::new(&self.workspace, self.memory())?;
        let push = |chunk: &mut source::EdgeChunk| {
            collector.push(&chunk.sources)?;
            collector.push(&chunk.destinations)?;
            log.push(&borrowed(chunk))
        };
        let read = self.edges.read(&self.input, &push)?;
        self.each_table(&|chunk| match &chunk.ids {
            Some(ids) => collector.push(ids),
            None => Ok(()),
        })?;
        self.input.read_node_ids(&|ids| collector.push(ids))?;
        let log = log.finish()?;
        let distinct = collector.finish(self.edges.options.observer)?;
        Ok((log, read, Numbering::mapped(&self.workspace, distinct)?))
    }

    fn names(self) -> Result<Collected> {
        // Two names with one hash are as rare as they are unwelcome: then another hash is tried.
        let mut seed = 0;
        loop {
            if let Some(collected) = self.names_with(seed)? {
                return Ok(collected);
            }
            seed += 1;
        }
    }

    /// None if two names have the same hash.
    fn names_with(&self, seed: u64) -> Result<Option<Collected>> {
        let log = self.log()?;
        let collector = NameCollector::new(&self.workspace, seed, self.memory())?;
        let push = |chunk: &mut source::EdgeChunk| {
            chunk.sources.clear();
            chunk.destinations.clear();
            collector.push(&chunk.source_names, &mut chunk.sources)?;
            collector.push(&chunk.destination_names, &mut chunk.destinations)?;
            let hashed: EdgeChunk<'_> = borrowed(chunk);
            log.push(&hashed)
        };
        let read = self.edges.read(&self.input, &push)?;
        self.each_table(&|chunk| match &chunk.id_names {
            Some(names) => collector.push(names, &mut Vec::new()),
            None => Ok(()),
        })?;
        let log = log.finish()?;
        Ok(match collector.finish(self.edges.options.observer)? {
            Ok(names) => Some((log, read, Numbering::named(&self.workspace, names)?)),
            Err(_) => None,
        })
    }

    /// Reads all tables of nodes for their ids: a node that only a table names exists too.
    fn each_table(&self, take: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync)) -> Result<()> {
        for task in self.tasks {
            for input in self.tables.open_for_ids(task)? {
                input.read(self.edges.budget, take, self.edges.options.observer)?;
            }
        }
        Ok(())
    }
}
