//! Numbers for nodes whose ids cannot be their numbers: ids that are scattered, names, and nodes in
//! the order of their heat.
//!
//! Edges are read once and wait in an [`EdgeLog`], whose ids are as the source has them (names as
//! hashes). Collectors gather distinct ids or names meanwhile, and the place of each in ascending
//! order is its rank. A [`Numbering`] then turns ids into ranks and, if asked for, puts ranks in an
//! [`Order`]; it replays the log with numbers for the sorter and answers those who place rows. It must
//! not know where edges come from, nor what is built of them.

mod batches;
mod bfs_order;
mod community_order;
mod dictionary;
mod edge_log;
mod edge_log_writer;
mod extent;
mod hot_order;
mod id_collector;
mod id_set;
mod key_index;
mod key_tree;
mod lanes;
mod merge_queue;
mod name_collector;
mod name_merge;
mod name_set;
mod number_table;
mod occurrences;
mod original_ids;
mod replay;
mod runs;
mod scratch_array;
mod symmetric_lists;
mod tally;
#[cfg(test)]
mod tests;
mod visits;
mod workspace;

pub(crate) use edge_log::EdgeLog;
pub(crate) use edge_log_writer::EdgeLogWriter;
pub(crate) use extent::LogColumns;
pub(crate) use id_collector::{DistinctIds, IdCollector};
pub(crate) use name_collector::{DistinctNames, NameCollector};
pub(crate) use occurrences::{End, Heat};
pub(crate) use original_ids::OriginalIds;
pub(crate) use workspace::Workspace;

use std::sync::Mutex;

use graphmill_disk::OutputFile;
use graphmill_format::{ElementType, TableShape};

use crate::edge_sort::EdgeChunk;
use crate::node_numbers::NodeNumbers;
use crate::progress::{Observer, Stage};
use crate::source::TextCells;
use crate::table_writer::{TableWriter, Written};
use crate::{Error, Result};
use batches::Batches;
use dictionary::Dictionary;
use key_index::KeyIndex;
use number_table::NumberTable;
use replay::Pieces;
use scratch_array::ScratchArray;
use symmetric_lists::SymmetricLists;

/// Numbers copied at a time.
const COPIED: usize = 1 << 13;

/// The numbers of all nodes.
#[derive(Debug)]
pub(crate) struct Numbering {
    workspace: Workspace,
    ids: Ids,
    order: Option<Ordered>,
    /// For lookups in files.
    batches: Option<Batches>,
    pieces: Pieces,
}

/// What original ids are.
#[derive(Debug)]
enum Ids {
    /// Numbers already.
    Plain,
    /// Scattered numbers; their places in ascending order are ranks.
    Mapped(KeyIndex),
    /// Names; in the log of edges, their hashes.
    Named(Dictionary),
}

/// How ranks are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By descending heat; of equally hot ones the smaller id, or the name that comes first, has the
    /// smaller number.
    Heat(Heat),
    /// By how often sampling is expected to meet them; equals as above.
    Visits(Heat),
    /// Breadth first from the node with most neighbours.
    Bfs,
    /// By community, and within it by heat.
    Community(Heat),
}

/// Nodes in an order.
#[derive(Debug)]
struct Ordered {
    /// The number of every rank, or of every id that is no rank.
    numbers: NumberTable,
    /// The original id of every number; for names, the rank.
    originals: ScratchArray<u64>,
}

impl Order {
    /// Numbers all ranks below `limit`.
    fn number(
        self,
        workspace: &Workspace,
        log: &EdgeLog,
        limit: u64,
        observer: Option<Observer<'_>>,
    ) -> Result<NumberTable> {
        match self {
            Order::Heat(heat) => hot_order::number(workspace, log, limit, heat, observer),
            Order::Visits(heat) => visits::number(workspace, log, limit, heat, observer),
            Order::Bfs => {
                let lists = SymmetricLists::of(workspace, log, limit, observer)?;
                bfs_order::number(workspace, &lists, observer)
            }
            Order::Community(heat) => {
                let lists = SymmetricLists::of(workspace, log, limit, observer)?;
                let heat = hot_order::number(workspace, log, limit, heat, observer)?;
                community_order::number(workspace, &lists, heat, observer)
            }
        }
    }
}

impl Numbering {
    /// Every id is its number.
    pub(crate) fn plain(workspace: &Workspace) -> Result<Self> {
        Self::new(workspace, Ids::Plain)
    }

    /// The number of an id is its place among all of them.
    pub(crate) fn mapped(workspace: &Workspace, ids: DistinctIds) -> Result<Self> {
        Self::new(workspace, Ids::Mapped(KeyIndex::new(ids.keys, workspace.budget())?))
    }

    /// The number of a name is its place among all of them, by bytes.
    pub(crate) fn named(workspace: &Workspace, names: DistinctNames) -> Result<Self> {
        Self::new(workspace, Ids::Named(Dictionary::new(names, workspace.budget())?))
    }

    fn new(workspace: &Workspace, ids: Ids) -> Result<Self> {
        let needs_batches = match &ids {
            Ids::Plain => false,
            Ids::Mapped(index) => index.needs_batches(),
            Ids::Named(_) => true,
        };
        let budget = workspace.budget();
        let batches = needs_batches.then(|| Batches::new(budget)).transpose()?;
        let pieces = Pieces::new(budget, batches.as_ref())?;
        Ok(Numbering { workspace: workspace.clone(), ids, order: None, batches, pieces })
    }

    /// Numbers nodes in an order.
    ///
    /// The log comes back, its ids replaced by ranks if they were scattered or names: what belongs
    /// to this numbering is to be replayed from then on.
    pub(crate) fn ordered(
        self,
        log: EdgeLog,
        order: Order,
        observer: Option<Observer<'_>>,
    ) -> Result<(Self, EdgeLog)> {
        if self.order.is_some() {
            return Err(Error::request("order", "nodes can be put in an order only once"));
        }
        let log = match self.ids {
            Ids::Plain => log,
            Ids::Mapped(_) | Ids::Named(_) => self.ranked(log, observer)?,
        };
        let Numbering { workspace, ids, mut batches, mut pieces, .. } = self;
        // Ranks that only tables know have no edges, but originals all the same.
        let (limit, keys) = match &ids {
            Ids::Plain => {
                hot_order::check_density(&log)?;
                (log.id_limit(), None)
            }
            Ids::Mapped(index) => (index.keys().count(), Some(index.keys())),
            Ids::Named(names) => (names.count(), None),
        };
        let numbers = order.number(&workspace, &log, limit, observer)?;
        let originals = hot_order::invert(&workspace, &numbers, keys, observer)?;
        if batches.is_none() && numbers.needs_batches() {
            drop(pieces);
            batches = Some(Batches::new(workspace.budget())?);
            pieces = Pieces::new(workspace.budget(), batches.as_ref())?;
        }
        let order = Some(Ordered { numbers, originals });
        Ok((Numbering { workspace, ids, order, batches, pieces }, log))
    }

    /// The same edges between ranks.
    fn ranked(&self, log: EdgeLog, observer: Option<Observer<'_>>) -> Result<EdgeLog> {
        if log.holds_ranks {
            return Ok(log);
        }
        let memory = log.memory.min(self.workspace.budget().free() / 2);
        let ranked = EdgeLogWriter::new(&self.workspace, log.columns, memory)?;
        let stage = Mutex::new(Stage::new(observer, "mapping ids", log.rows()));
        self.replay(&log, &stage, &|chunk| ranked.push(&chunk))?;
        ranked.finish_ranks()
    }

    /// Nodes that have a number here. Without mapping there may be more, which keep their ids.
    pub(crate) fn count(&self) -> u64 {
        match &self.ids {
            Ids::Plain => self.order.as_ref().map_or(0, |order| order.numbers.count()),
            Ids::Mapped(index) => index.keys().count(),
            Ids::Named(names) => names.count(),
        }
    }

    /// Replays a log with numbers instead of ids, from several threads at once.
    pub(crate) fn replay(
        &self,
        log: &EdgeLog,
        stage: &Mutex<Stage<'_>>,
        consume: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
    ) -> Result<()> {
        replay::replay(self, log, stage, consume)
    }

    /// Replaces ids of the log by numbers; fails with the place of the first that has none.
    fn number(&self, ids: &mut [u64], are_ranks: bool) -> Result<std::result::Result<(), usize>> {
        let batches = self.batches.as_ref();
        let found = match &self.ids {
            _ if are_ranks => Ok(()),
            Ids::Plain => Ok(()),
            Ids::Mapped(index) => index.places(ids, batches)?,
            Ids::Named(names) => names.ranks_of_hashes(ids, batches)?,
        };
        if let (Ok(()), Some(order)) = (found, &self.order) {
            order.numbers.look_up(ids, batches)?;
        }
        Ok(found)
    }

    /// What the file of the graph says the nodes were: ids, or for names in an order their ranks. None if every node is what it was.
    pub(crate) fn original_ids(&self, num_nodes: u64) -> Result<Option<OriginalIds<'_>>> {
        self.check_nodes(num_nodes)?;
        let originals = match (&self.ids, &self.order) {
            (_, Some(order)) => &order.originals,
            (Ids::Mapped(index), None) => index.keys(),
            (Ids::Plain | Ids::Named(_), None) => return Ok(None),
        };
        Ok(Some(OriginalIds::new(originals, num_nodes)))
    }

    /// Writes the numbers of the nodes in ascending order of their original ids; nothing if that is
    /// the order of the numbers.
    pub(crate) fn write_places(
        &self,
        file: &dyn OutputFile,
        num_nodes: u64,
    ) -> Result<Option<Written>> {
        self.check_nodes(num_nodes)?;
        let Some(Ordered { numbers, .. }) = &self.order else { return Ok(None) };
        let is_narrow = num_nodes < 1 << 31;
        let element = if is_narrow { ElementType::I32 } else { ElementType::I64 };
        let shape = TableShape::vector(num_nodes, element).map_err(Error::format(file.path()))?;
        let mut writer = TableWriter::new(file, shape)?;
        let (mut piece, mut bytes) = (vec![0_u64; COPIED], Vec::new());
        for first in (0..num_nodes).step_by(COPIED) {
            let piece = &mut piece[..(num_nodes - first).min(COPIED as u64) as usize];
            let known = numbers.count().saturating_sub(first).min(piece.len() as u64) as usize;
            numbers.read(first, &mut piece[..known])?;
            for (further, id) in piece.iter_mut().zip(first..).skip(known) {
                *further = id;
            }
            bytes.clear();
            if is_narrow {
                bytes.extend(piece.iter().flat_map(|&number| (number as u32).to_le_bytes()));
            } else {
                bytes.extend(piece.iter().flat_map(|&number| number.to_le_bytes()));
            }
            writer.write_rows(&bytes)?;
        }
        writer.finish().map(Some)
    }

    /// Writes all names, ascending by their bytes and one after the other, and where each ends.
    pub(crate) fn write_names(
        &self,
        text_file: &dyn OutputFile,
        ends_file: &dyn OutputFile,
    ) -> Result<(Written, Written)> {
        match &self.ids {
            Ids::Named(names) => names.write(text_file, ends_file),
            Ids::Plain | Ids::Mapped(_) => {
                Err(Error::request("names", "the nodes have numbers as ids, not names"))
            }
        }
    }

    /// Only ids that are not mapped can be more than the numbering knows.
    fn check_nodes(&self, num_nodes: u64) -> Result<()> {
        let count = self.count();
        let fits = match &self.ids {
            Ids::Plain => num_nodes >= count,
            Ids::Mapped(_) | Ids::Named(_) => num_nodes == count,
        };
        if fits {
            return Ok(());
        }
        let problem = format!(
            "{num_nodes} were asked for, but the ids are those of {count} nodes; leave out the \
             number of nodes"
        );
        Err(Error::request("number of nodes", problem))
    }
}

impl NodeNumbers for Numbering {
    fn of_ids(&self, ids: &mut [u64]) -> Result<std::result::Result<(), usize>> {
        if let Ids::Named(_) = self.ids {
            let problem = "the nodes have names as ids; give names instead of numbers";
            return Err(Error::request("ids of nodes", problem));
        }
        self.number(ids, false)
    }

    fn of_names(
        &self,
        names: &TextCells,
        into: &mut Vec<u64>,
    ) -> Result<std::result::Result<(), usize>> {
        let (Ids::Named(dictionary), Some(batches)) = (&self.ids, &self.batches) else {
            let problem = "the nodes have numbers as ids; give numbers instead of names";
            return Err(Error::request("names of nodes", problem));
        };
        let before = into.len();
        let found = dictionary.ranks_of_names(names, batches, into)?;
        match (found, &self.order) {
            (Err(_), _) => into.truncate(before),
            (Ok(()), Some(order)) => order.numbers.look_up(&mut into[before..], Some(batches))?,
            (Ok(()), None) => {}
        }
        Ok(found)
    }
}
