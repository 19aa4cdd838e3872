//! The edges of a log with numbers instead of ids.
//! Every thread works on pieces that stay in its cache; narrow ids whose numbers lie in memory, the
//! usual case, are looked up without becoming wide in between. It must not know who takes the edges.

use std::ops::Range;
use std::sync::Mutex;

use graphmill_disk::{Budget, Reservation};

use super::batches::Batches;
use super::edge_log::EdgeLog;
use super::lanes::Lanes;
use super::{Ids, Numbering};
use crate::edge_sort::{ChunkIds, EdgeChunk};
use crate::progress::Stage;
use crate::{Error, Result};

/// Edges of a piece, where numbers are in memory.
const PIECE: usize = 1 << 14;
/// Edges of the smallest piece.
const LEAST_PIECE: usize = 1 << 10;
/// Bytes of an edge in a piece.
const EDGE: usize = 2 * size_of::<u64>();

/// Memory for pieces, a lane for each thread.
#[derive(Debug)]
pub(super) struct Pieces {
    lanes: Lanes<Piece>,
    edges: usize,
    _reserved: Reservation,
}

#[derive(Debug, Default)]
struct Piece {
    narrow: (Vec<u32>, Vec<u32>),
    wide: (Vec<u64>, Vec<u64>),
}

impl Pieces {
    /// Takes up to an eighth of what is free; pieces are as long as batches if there are any.
    pub(super) fn new(budget: &Budget, batches: Option<&Batches>) -> Result<Self> {
        let threads = graphmill_disk::pool()?.current_num_threads();
        let affordable = usize::try_from(budget.free() / 8).unwrap_or(usize::MAX);
        let mut edges = batches.map_or(PIECE, Batches::questions);
        while edges > LEAST_PIECE && edges * EDGE * threads > affordable {
            edges /= 2;
        }
        let lanes = (affordable / (edges * EDGE)).clamp(1, threads);
        let bytes = (lanes * edges * EDGE) as u64;
        let reserved = budget.reserve(bytes, "edges on their way to the sorter")?;
        Ok(Pieces { lanes: Lanes::new(lanes), edges, _reserved: reserved })
    }
}

pub(super) fn replay(
    numbering: &Numbering,
    log: &EdgeLog,
    stage: &Mutex<Stage<'_>>,
    consume: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
) -> Result<()> {
    let keep_ids = log.holds_ranks || matches!(numbering.ids, Ids::Plain);
    if keep_ids && numbering.order.is_none() {
        return log.replay(stage, consume);
    }
    let renumber = Renumber { numbering, keep_ids, consume };
    let start = || numbering.pieces.lanes.take(Piece::default);
    log.replay_with(stage, start, |piece, chunk| renumber.chunk(piece, chunk))
}

struct Renumber<'a> {
    numbering: &'a Numbering,
    /// Whether the ids of the log are ranks, or numbers that only an order changes.
    keep_ids: bool,
    consume: &'a (dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
}

impl Renumber<'_> {
    fn chunk(&self, piece: &mut Piece, chunk: EdgeChunk<'_>) -> Result<()> {
        let table = self.numbering.order.as_ref().filter(|_| self.keep_ids);
        let table = table.and_then(|order| order.numbers.as_narrow());
        match (chunk.ids, table) {
            (ChunkIds::Narrow(sources, destinations), Some(table)) => {
                let Piece { narrow: (first, second), .. } = piece;
                for edges in self.pieces(sources.len()) {
                    look_up(table, &sources[edges.clone()], first);
                    look_up(table, &destinations[edges.clone()], second);
                    let row = chunk.first_row + edges.start as u64;
                    self.hand_over(EdgeChunk::narrow(row, first, second), &chunk, edges)?;
                }
                Ok(())
            }
            (ChunkIds::Narrow(sources, to), None) => self.wide(piece, &chunk, sources, to),
            (ChunkIds::Wide(sources, to), _) => self.wide(piece, &chunk, sources, to),
        }
    }

    fn wide<T: Copy + Into<u64>>(
        &self,
        piece: &mut Piece,
        chunk: &EdgeChunk<'_>,
        sources: &[T],
        destinations: &[T],
    ) -> Result<()> {
        let Piece { wide: (first, second), .. } = piece;
        for edges in self.pieces(sources.len()) {
            let row = chunk.first_row + edges.start as u64;
            for (end, ids, into) in
                [("source", sources, &mut *first), ("destination", destinations, &mut *second)]
            {
                into.clear();
                into.reserve_exact(edges.len());
                into.extend(ids[edges.clone()].iter().map(|&id| id.into()));
                if let Err(place) = self.numbering.number(into, self.keep_ids)? {
                    let found: u64 = ids[edges.start + place].into();
                    let place = format!("edge {}, {end}", row + place as u64);
                    let remedy = "collect the ids of all edges before they are numbered";
                    return Err(Error::source(place, found, "an id that has a number", remedy));
                }
            }
            self.hand_over(EdgeChunk::new(row, first, second), chunk, edges)?;
        }
        Ok(())
    }

    /// Hands over renumbered edges together with the values of the old ones.
    fn hand_over<'c>(
        &self,
        mut edges: EdgeChunk<'c>,
        old: &EdgeChunk<'c>,
        range: Range<usize>,
    ) -> Result<()> {
        edges.weights = old.weights.map(|weights| &weights[range.clone()]);
        edges.times = old.times.map(|times| &times[range.clone()]);
        edges.rows = old.rows.map(|rows| &rows[range]);
        (self.consume)(edges)
    }

    fn pieces(&self, edges: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let step = self.numbering.pieces.edges;
        (0..edges).step_by(step).map(move |first| first..edges.min(first + step))
    }
}

/// The numbers of ids; ids beyond the table keep theirs.
#[inline]
fn look_up(table: &[u32], ids: &[u32], into: &mut Vec<u32>) {
    into.clear();
    into.reserve_exact(ids.len());
    into.extend(ids.iter().map(|&id| table.get(id as usize).copied().unwrap_or(id)));
}
