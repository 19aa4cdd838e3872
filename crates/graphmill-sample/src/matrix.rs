//! One hop as a matrix: some neighbours of each node, a row for each.
//! For those who want plain ids and no relabelling; fan-outs are elsewhere. A row holds the positions of its picks until
//! they have come from memory, so nothing is needed beside the result.

use crate::choose::Chooser;
use crate::random::{Key, Purpose, Stream};
use crate::room::make_exact_room;
use crate::rows::{check_room, fill_rows};
use crate::typed_lists::over_lists;
use crate::{Result, Topology};
use graphmill_disk::{Budget, Reservation};
use graphmill_store::Lists;
use std::ops::Range;

/// Rows whose edges are announced before the first of them is read.
const BLOCK: usize = 32;

/// Edges that are announced before the first of them is read when they are on a disk.
const COLD_EDGES: usize = 4096;

/// Rows that are handed to a thread at once.
const ROWS_PER_JOB: usize = 2048;

/// Up to this many picks a scan of those already made beats hashing them.
const SCANNED: usize = 48;

/// Neighbours that share a cache line, at least.
const TOGETHER: usize = 8;

/// Picks up to `count` distinct edges of every node in stored lists; see [`neighbour_matrix_over`].
pub fn neighbour_matrix(
    lists: &Lists<'_>,
    nodes: &[i64],
    count: usize,
    pad: i64,
    seed: u64,
    budget: &Budget,
    matrix: &mut [i64],
) -> Result<()> {
    lists.count_edges_read(matrix.len() as u64);
    over_lists!(lists, |lists| neighbour_matrix_over(
        lists, nodes, count, pad, seed, budget, matrix
    ))
}

/// Picks up to `count` distinct edges of every node, each subset equally likely.
///
/// `matrix` gets a row of `count` ids for each node: the neighbours picked, or all of them in their order if there are
/// no more than `count`, then `pad`. A row depends on the seed, its number and its node alone. More than a few picks
/// need a table to find repeated ones, whose memory is taken from `budget`.
pub fn neighbour_matrix_over<T: Topology + ?Sized>(
    topology: &T,
    nodes: &[i64],
    count: usize,
    pad: i64,
    seed: u64,
    budget: &Budget,
    matrix: &mut [i64],
) -> Result<()> {
    crate::check_seeds(nodes, topology.num_nodes())?;
    check_room("neighbours", matrix.len(), nodes.len(), count)?;
    if matrix.is_empty() {
        return Ok(());
    }
    let key = Key::new(seed, Purpose::Matrix);
    let rows_per_job = (ROWS_PER_JOB * 16 / count.max(16)).max(1);
    fill_rows(matrix, count, rows_per_job, |first, rows| {
        let nodes = &nodes[first..first + rows.len() / count];
        let mut picks_of_row = Picks::within(budget)?;
        // Of rows on a disk many more are announced before the first is read.
        let mut ahead = topology.is_cold().then(Vec::new);
        if let Some(ahead) = &mut ahead {
            ahead.extend(nodes.iter().map(|&node| node as u64));
            ahead.sort_unstable();
            topology.announce_lists(ahead);
        }
        let together = if ahead.is_some() { (COLD_EDGES / count).max(BLOCK) } else { BLOCK };
        let mut picked = vec![0; together];
        announce(topology, &nodes[..nodes.len().min(BLOCK)]);
        for (block, rows) in rows.chunks_mut(together * count).enumerate() {
            let start = block * together;
            let end = nodes.len().min(start + together);
            announce(topology, &nodes[end..nodes.len().min(end + BLOCK)]);
            for (number, row) in rows.chunks_mut(count).enumerate() {
                let list = topology.list(nodes[start + number] as u64)?;
                let picks = list.len().min(count);
                let (chosen, rest) = row.split_at_mut(picks);
                if list.len() <= count {
                    for (pick, position) in chosen.iter_mut().zip(list.clone()) {
                        *pick = position as i64;
                    }
                } else {
                    let mut stream = key.with((first + start + number) as u64).stream();
                    picks_of_row.choose(&mut stream, list, chosen)?;
                }
                rest.fill(pad);
                picked[number] = picks;
            }
            if let Some(ahead) = &mut ahead {
                ahead.clear();
                for (row, &picks) in rows.chunks(count).zip(&picked) {
                    ahead.extend(row[..picks].iter().map(|&pick| pick as u64));
                }
                ahead.sort_unstable();
                topology.announce_edges(ahead);
            }
            // All together, for the reason that `announcements` gives.
            for (row, &picks) in rows.chunks(count).zip(&picked) {
                // Fewer picks than places are a whole list, whose neighbours share lines.
                let stride = if picks < count { TOGETHER } else { 1 };
                row[..picks]
                    .iter()
                    .step_by(stride)
                    .for_each(|&at| topology.prefetch_position(at as usize));
            }
            for (row, &picks) in rows.chunks_mut(count).zip(&picked) {
                for pick in &mut row[..picks] {
                    *pick = topology.neighbour(*pick as usize)? as i64;
                }
            }
        }
        Ok(())
    })
}

fn announce<T: Topology + ?Sized>(topology: &T, nodes: &[i64]) {
    nodes.iter().for_each(|&node| topology.prefetch_offsets(node as u64));
}

/// Chooses the edges of a row; keeps its memory between rows.
struct Picks {
    chooser: Chooser,
    positions: Vec<usize>,
    /// Bytes held for the chooser.
    held: u64,
    memory: Reservation,
}

impl Picks {
    fn within(budget: &Budget) -> Result<Self> {
        let memory = budget.reserve(0, "the picks of a row")?;
        Ok(Picks { chooser: Chooser::default(), positions: Vec::new(), held: 0, memory })
    }

    /// Fills a row with distinct positions of a longer list, by Floyd's rounds as [`Chooser`] does them.
    #[inline]
    fn choose(&mut self, stream: &mut Stream, list: Range<usize>, row: &mut [i64]) -> Result<()> {
        if row.len() > SCANNED {
            return self.choose_many(stream, list, row);
        }
        let least = list.len() - row.len();
        for round in 0..row.len() {
            let drawn = (list.start as u64 + stream.below((least + round) as u64 + 1)) as i64;
            // Looks at all of them, since that is faster than a branch for each.
            let is_taken = row[..round].iter().fold(false, |found, &pick| found | (pick == drawn));
            row[round] = if is_taken { (list.start + least + round) as i64 } else { drawn };
        }
        Ok(())
    }

    #[inline(never)]
    fn choose_many(
        &mut self,
        stream: &mut Stream,
        list: Range<usize>,
        row: &mut [i64],
    ) -> Result<()> {
        let table = Chooser::bytes_for(row.len());
        if table > self.held {
            self.memory.grow(table - self.held)?;
            self.held = table;
        }
        self.positions.clear();
        make_exact_room(&mut self.positions, row.len(), &mut self.memory)?;
        self.chooser.choose(stream, list.start, list.len(), row.len(), &mut self.positions);
        for (pick, &position) in row.iter_mut().zip(&self.positions) {
            *pick = position as i64;
        }
        Ok(())
    }
}
