//! Edges of compiled topologies: graphmill's and GraphZero's `.gl`.
//! The lists are read again as plain edges, in the order in which they are stored, with the weights,
//! times and ids that they have, between the ids that their nodes had before they were renumbered.
//! Of an undirected topology both halves of every edge come, or one. It must not know what is built
//! from them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use graphmill_disk::Budget;

use super::chunk::{EdgeChunk, ReadReport};
use super::faults::{Faults, RowFault};
use super::options::OnBadRow;
use super::pieces::{PieceReading, Pieces, RowCounter};
use crate::each_once;
use crate::edges::{EdgeStream, EdgeValues};
use crate::graph_file::GraphFile;
use crate::progress::Observer;
use crate::stored::StoredValues;
use crate::stored_ids::StoredIds;
use crate::{Error, Result};

/// Edges of one chunk.
const CHUNK: u64 = 1 << 15;
/// What reading numbers in pieces takes.
const PIECE: u64 = 64 << 10;
/// What sorting the nodes of a chunk takes, for each edge.
const SORTED: u64 = 8;
/// Nodes whose ids are handed over together.
const NODES: u64 = 1 << 13;

/// Edges of one `.gl`.
#[derive(Debug)]
pub(crate) struct CompiledEdges {
    path: PathBuf,
    file: GraphFile,
    weights: Option<StoredValues>,
    times: Option<StoredValues>,
    rows: Option<StoredValues>,
    original_ids: Option<StoredValues>,
    /// Whether each edge comes once, and whether self loops that were added may be left out then.
    once: Option<bool>,
    bytes: u64,
}

impl CompiledEdges {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = GraphFile::open(path)?;
        // Only for the report; a file that vanished since will fail when it is read.
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        Ok(CompiledEdges {
            path: path.to_path_buf(),
            weights: file.weights(),
            times: file.times(),
            rows: None,
            original_ids: file.original_ids(),
            once: None,
            bytes,
            file,
        })
    }

    /// Stored edges, or half of them where each comes once.
    pub(crate) fn edges(&self) -> u64 {
        let stored = self.file.edge_count();
        if self.once.is_some() { stored / 2 } else { stored }
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.file.node_count()
    }

    pub(crate) fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    pub(crate) fn has_times(&self) -> bool {
        self.times.is_some()
    }

    /// Whether edges come with the rows that they had in the source of the topology.
    pub(crate) fn has_rows(&self) -> bool {
        self.rows.is_some()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the file says that it stores each edge both ways; GraphZero's cannot.
    pub(crate) fn is_undirected(&self) -> Option<bool> {
        (!self.file.is_graphzero()).then_some(self.file.layout().undirected)
    }

    /// Takes the stored ids of the edges as their rows; of several files they mean nothing.
    pub(crate) fn keep_rows(&mut self) {
        self.rows = self.file.edge_ids();
    }

    /// Lets each edge of an undirected topology come once.
    ///
    /// Self loops that a build added stand in the lists once; they can be left out only if they are
    /// added again, which `loops_added` says.
    pub(crate) fn each_edge_once(&mut self, loops_added: bool) {
        self.once = Some(loops_added);
    }

    /// Hands over the ids that the nodes had before they were renumbered, if they were.
    pub(crate) fn read_node_ids(&self, take: &dyn Fn(&[u64]) -> Result<()>) -> Result<()> {
        let Some(stored) = &self.original_ids else { return Ok(()) };
        let (mut ids, mut nodes) = (Vec::new(), Vec::new());
        for first in (0..self.nodes()).step_by(NODES as usize) {
            ids.resize((self.nodes() - first).min(NODES) as usize, 0_i64);
            stored.read(first, &mut ids)?;
            nodes.clear();
            nodes.extend(ids.iter().map(|&id| id as u64));
            take(&nodes)?;
        }
        Ok(())
    }

    /// Whether every edge stands in the lists of both its nodes, with the same weight.
    pub(crate) fn holds_both_ways(
        &self,
        budget: &Budget,
        observer: Option<Observer<'_>>,
    ) -> Result<bool> {
        let (difference, alone) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut plain = CompiledEdges { once: None, rows: None, ..Self::open(&self.path)? };
        plain.original_ids = None;
        let consume = |chunk: &mut EdgeChunk| {
            let mut sum = 0_u64;
            for (at, (&source, &to)) in chunk.sources.iter().zip(&chunk.destinations).enumerate() {
                let weight = chunk.weights.as_ref().map_or(0, |weights| weights[at].to_bits());
                sum = sum.wrapping_add(mixed(source, to, weight));
                sum = sum.wrapping_sub(mixed(to, source, weight));
            }
            difference.fetch_add(sum, Ordering::Relaxed);
            let mut chosen = Vec::new();
            let first = chunk.first_row;
            let loops = each_once::choose(
                &plain.file,
                first,
                &chunk.sources,
                &chunk.destinations,
                &mut chosen,
            )?;
            alone.fetch_add(loops, Ordering::Relaxed);
            Ok(())
        };
        plain.read(0, OnBadRow::Stop, budget, &consume, observer)?;
        let has_edges = plain.edges() > 0;
        Ok(has_edges && difference.into_inner() == 0 && alone.into_inner() == 0)
    }

    /// Reads all edges, the first as row `first_row`.
    pub(crate) fn read(
        &self,
        first_row: u64,
        on_bad_row: OnBadRow,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let ids = self.original_ids.clone();
        let ids = ids.map(|ids| StoredIds::load(ids, budget)).transpose()?;
        let stored = self.file.edge_count();
        let columns = [(self.has_weights(), 4), (self.has_times(), 8), (self.has_rows(), 16)];
        let values: u64 = columns.iter().map(|(has, bytes)| u64::from(*has) * bytes).sum();
        let reading = PieceReading {
            rows: stored,
            first_row,
            memory: CHUNK.min(stored) * (16 + values + SORTED) + 2 * PIECE,
            what: "edges of a topology",
            stage: "reading edges",
            ordered: false,
            on_bad_row,
            file: Some(&self.path),
            budget,
            observer,
        };
        let pieces = Lists {
            edges: self,
            ids,
            rows: RowCounter::new(stored, CHUNK),
            alone: AtomicU64::new(0),
            row_limit: AtomicU64::new(0),
        };
        let report = reading.run(&pieces, consume)?;
        if let Some(loops_added) = self.once {
            self.check_halves(&report, pieces.alone.into_inner(), loops_added)?;
        }
        let row_limit = self.has_rows().then(|| pieces.row_limit.into_inner());
        Ok(ReadReport { bytes: self.bytes(), row_limit, ..report })
    }

    /// Every edge has two entries, but for self loops that a build added.
    fn check_halves(&self, report: &ReadReport, alone: u64, loops_added: bool) -> Result<()> {
        let stored = self.file.edge_count();
        let edges = report.rows + report.skipped;
        let error = if 2 * edges + alone != stored {
            let found = format!("{edges} edges in {stored} entries of an undirected topology");
            let remedy = "run `graphmill verify`, and build it from its source again";
            Error::source("lists", found, "two entries for every edge", remedy)
        } else if alone > 0 && !loops_added {
            let found = format!("{alone} self loops that a build added to an undirected graph");
            let remedy = "add them again (--add-self-loops, add_self_loops=True), or choose a direction (--direction both) to take all entries as directed edges";
            Error::source("lists", found, "two entries for every edge", remedy)
        } else {
            return Ok(());
        };
        Err(error.in_file(&self.path))
    }
}

/// A number that depends on both ends, their order and the weight.
fn mixed(source: u64, to: u64, weight: u32) -> u64 {
    let mut bits = source ^ to.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    bits ^= u64::from(weight) << 17;
    for factor in [0xbf58_476d_1ce4_e5b9_u64, 0x94d0_49bb_1331_11eb] {
        bits = (bits ^ bits >> 30).wrapping_mul(factor);
    }
    bits ^ bits >> 31
}

struct Lists<'a> {
    edges: &'a CompiledEdges,
    ids: Option<StoredIds>,
    rows: RowCounter,
    /// Self loops with one entry.
    alone: AtomicU64,
    row_limit: AtomicU64,
}

impl Pieces for Lists<'_> {
    type Chunk = EdgeChunk;
    type Own = Vec<u32>;

    fn own(&self) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }

    fn take(&self, _: &mut Vec<u32>) -> Result<Option<Range<u64>>> {
        Ok(self.rows.take())
    }

    fn fill(
        &self,
        chosen: &mut Vec<u32>,
        rows: Range<u64>,
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let edges = self.edges;
        let count = (rows.end - rows.start) as usize;
        chunk.sources.resize(count, 0);
        chunk.destinations.resize(count, 0);
        edges.file.read(rows.start, &mut chunk.sources, &mut chunk.destinations)?;
        if let Some(stored) = &edges.times {
            let times = chunk.times.get_or_insert_default();
            times.resize(count, 0);
            stored.read(rows.start, times)?;
        }
        if let Some(stored) = &edges.rows {
            let mut ids = vec![0_i64; count];
            stored.read(rows.start, &mut ids)?;
            let own = chunk.rows.get_or_insert_default();
            own.clear();
            own.extend(ids.iter().map(|&row| row as u64));
        }
        if let Some(stored) = &edges.weights {
            let weights = chunk.weights.get_or_insert_default();
            weights.resize(count, 0.0);
            stored.read(rows.start, weights)?;
        }
        if edges.once.is_some() {
            let (sources, destinations) = (&chunk.sources, &chunk.destinations);
            let alone = each_once::choose(&edges.file, rows.start, sources, destinations, chosen)?;
            self.alone.fetch_add(alone, Ordering::Relaxed);
            keep(chunk, chosen);
        }
        leave_out_bad_weights(rows.start, chunk, faults, chosen, edges.once.is_some())?;
        if let Some(wrong) = chunk.rows.iter().flatten().find(|&&row| row >= i64::MAX as u64) {
            let (found, remedy) = (*wrong as i64, "run `graphmill verify`");
            let error = Error::source("edge ids", found, "ids from 0 on", remedy);
            return Err(error.in_file(&edges.path));
        }
        let limit = chunk.rows.iter().flatten().max().map_or(0, |row| row + 1);
        self.row_limit.fetch_max(limit, Ordering::Relaxed);
        if let Some(ids) = &self.ids {
            ids.replace(&mut chunk.sources)?;
            ids.replace(&mut chunk.destinations)?;
        }
        Ok(())
    }
}

/// Keeps the edges at some positions, which ascend.
fn keep(chunk: &mut EdgeChunk, positions: &[u32]) {
    fn take<T: Copy>(column: &mut Vec<T>, positions: &[u32]) {
        for (into, &at) in positions.iter().enumerate() {
            column[into] = column[at as usize];
        }
        column.truncate(positions.len());
    }
    take(&mut chunk.sources, positions);
    take(&mut chunk.destinations, positions);
    chunk.weights.iter_mut().for_each(|column| take(column, positions));
    chunk.times.iter_mut().for_each(|column| take(column, positions));
    chunk.rows.iter_mut().for_each(|column| take(column, positions));
}

/// GraphZero checks no weights, so its files may hold any.
fn leave_out_bad_weights(
    first: u64,
    chunk: &mut EdgeChunk,
    faults: &mut Faults<'_>,
    chosen: &[u32],
    once: bool,
) -> Result<()> {
    let Some(weights) = &mut chunk.weights else { return Ok(()) };
    // Adding nothing turns -0.0 into 0.0.
    weights.iter_mut().for_each(|weight| *weight += 0.0);
    let is_good = |weight: f32| weight >= 0.0 && weight.is_finite();
    if weights.iter().all(|weight| is_good(*weight)) {
        return Ok(());
    }
    let mut kept = Vec::new();
    for (at, &weight) in weights.iter().enumerate() {
        if is_good(weight) {
            kept.push(at as u32);
            continue;
        }
        let entry = if once { u64::from(chosen[at]) } else { at as u64 };
        faults.add(RowFault::weight(format!("edge {}, weight", first + entry), weight))?;
    }
    keep(chunk, &kept);
    Ok(())
}
