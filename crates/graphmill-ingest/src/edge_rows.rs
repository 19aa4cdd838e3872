//! Edges as rows: what a text or a Parquet file of edges is written from, a batch at a time.
//! Batches come in the order of the target, from a stream or from the lists of a topology; sinks
//! turn nodes into their ids and write them. It must not know formats.

use graphmill_disk::Budget;
use rayon::prelude::*;

use crate::Result;
use crate::edges::EdgeStream;
use crate::progress::{Observer, Stage};

/// Rows of a batch that one thread reads.
const ROWS: u64 = 1 << 15;
/// Bytes of a row on its way, the text that it becomes included.
const ROW: u64 = 160;

/// Which columns edges have besides their ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeColumns {
    pub(crate) weights: bool,
    pub(crate) times: bool,
    /// Ids that the position of a row does not tell.
    pub(crate) edge_ids: bool,
}

/// Consecutive rows; nodes by their numbers in the topology. A column that edges lack is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeRows {
    pub(crate) sources: Vec<u64>,
    pub(crate) destinations: Vec<u64>,
    pub(crate) weights: Vec<f32>,
    pub(crate) times: Vec<i64>,
    pub(crate) edge_ids: Vec<i64>,
}

impl EdgeRows {
    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    pub(crate) fn clear(&mut self) {
        self.sources.clear();
        self.destinations.clear();
        self.weights.clear();
        self.times.clear();
        self.edge_ids.clear();
    }

    /// Keeps the rows at some positions, which ascend.
    pub(crate) fn keep(&mut self, positions: &[u32]) {
        fn take<T: Copy>(column: &mut Vec<T>, positions: &[u32]) {
            if column.is_empty() {
                return;
            }
            for (into, &at) in positions.iter().enumerate() {
                column[into] = column[at as usize];
            }
            column.truncate(positions.len());
        }
        take(&mut self.sources, positions);
        take(&mut self.destinations, positions);
        take(&mut self.weights, positions);
        take(&mut self.times, positions);
        take(&mut self.edge_ids, positions);
    }
}

/// Rows of a batch that every one of `threads` threads may hold.
pub(crate) fn rows_for_each(budget: &Budget, threads: u64) -> u64 {
    (budget.free() / 4 / threads / ROW).clamp(1, ROWS)
}

/// Reads the edges `0..total` in parallel pieces and hands the pieces over in order.
pub(crate) fn each_piece(
    total: u64,
    budget: &Budget,
    stage: &mut Stage<'_>,
    read: &(dyn Fn(u64, usize, &mut EdgeRows) -> Result<()> + Sync),
    take: &mut dyn FnMut(&EdgeRows) -> Result<()>,
) -> Result<()> {
    let pool = graphmill_disk::pool()?;
    let threads = pool.current_num_threads() as u64;
    let step = rows_for_each(budget, threads).min(total.max(1));
    let _reserved = budget.reserve(step * threads * ROW, "rows of edges")?;
    let mut pieces = vec![EdgeRows::default(); threads as usize];
    let mut first = 0;
    while first < total {
        let end = first.saturating_add(step * threads).min(total);
        pool.install(|| {
            pieces.par_iter_mut().enumerate().try_for_each(|(index, rows)| {
                let start = first.saturating_add(index as u64 * step).min(end);
                rows.clear();
                read(start, (end - start).min(step) as usize, rows)
            })
        })?;
        pieces.iter().filter(|rows| rows.len() > 0).try_for_each(&mut *take)?;
        stage.advance(end - first)?;
        first = end;
    }
    Ok(())
}

/// Hands over the edges of a stream, which have no columns.
pub(crate) fn stream_rows(
    edges: &dyn EdgeStream,
    budget: &Budget,
    observer: Option<Observer<'_>>,
    take: &mut dyn FnMut(&EdgeRows) -> Result<()>,
) -> Result<()> {
    let mut stage = Stage::new(observer, "writing rows", edges.edge_count());
    let read = |first: u64, count: usize, rows: &mut EdgeRows| {
        rows.sources.resize(count, 0);
        rows.destinations.resize(count, 0);
        edges.read(first, &mut rows.sources, &mut rows.destinations)
    };
    each_piece(edges.edge_count(), budget, &mut stage, &read, take)
}
