//! The thread that puts batches together from rows that have been read.
//! It keeps as many finished as are to be prefetched and then waits for the consumer, so it is where the consumer's pace
//! is felt. Rows that no window has are read here, for one batch.

use super::{ReadyBatch, Shared, State, Windows};
use crate::columns::Columns;
use crate::window::Window;
use crate::{Batch, Column, NeighborLoader, Result};
use std::sync::Arc;
use std::time::Instant;

/// Finished batches hold at most this share of the budget, unless there is only one.
pub(crate) const FINISHED_SHARE: u64 = 16;

pub(super) fn run(shared: &Shared) {
    while let Some(ready) = next(shared) {
        let Some(finished) =
            ready.map_or_else(|error| Some(Err(error)), |ready| finish(shared, ready))
        else {
            return;
        };
        let failed = finished.is_err();
        shared.change(|state| state.finished.push_back(finished));
        if failed {
            break;
        }
    }
    shared.change(|state| state.all_finished = true);
}

/// The next batch to be put together, once the consumer can use it; None at the end.
fn next(shared: &Shared) -> Option<Result<ReadyBatch>> {
    let mut blocked = None;
    let next = shared.wait(|state| {
        if state.ready.is_empty() {
            return state.all_ready.then_some(None);
        }
        if !has_room(shared, state) {
            blocked.get_or_insert_with(Instant::now);
            return None;
        }
        Some(state.ready.pop_front())
    });
    if let Some(since) = blocked {
        shared.loader.sums.blocked(since.elapsed());
    }
    next.flatten()
}

/// Whether one more batch may be finished.
fn has_room(shared: &Shared, state: &State) -> bool {
    if state.finished.is_empty() && state.wanted {
        return true;
    }
    if state.finished.len() >= shared.loader.options().prefetch {
        return false;
    }
    let Some(Ok(next)) = state.ready.front() else { return true };
    let waiting: u64 = state.finished.iter().flatten().map(Batch::bytes).sum();
    let more = shared.loader.delivery_bytes(&next.sampled).0;
    let most = shared.loader.dataset().budget().total() / FINISHED_SHARE;
    state.finished.is_empty() || waiting.saturating_add(more) <= most
}

/// A batch with its rows, when there is memory for them; the shortage if nobody will give any back; None if everything is
/// to stop.
fn finish(shared: &Shared, ready: ReadyBatch) -> Option<Result<Batch>> {
    let ReadyBatch { mut sampled, windows, place } = ready;
    let loader = &shared.loader;
    loop {
        let began = Instant::now();
        let widened = loader.buffers.with_room(|| sampled.widen());
        let outcome = widened.and_then(|()| assemble(loader, &windows, place, &sampled.sample));
        loader.sums.assembly(began.elapsed());
        match outcome {
            Err(error) if error.is_budget() => {
                if !shared.wait_for_memory(|state| state.finished.is_empty())? {
                    return Some(Err(error));
                }
            }
            Err(error) => return Some(Err(error)),
            Ok((columns, edge_columns)) => {
                // The memory of rows that no other batch wants is what the next window is read into.
                windows.release(place);
                drop(windows);
                return Some(loader.finished(sampled, columns, edge_columns));
            }
        }
    }
}

/// The rows of a batch.
fn assemble(
    loader: &NeighborLoader,
    windows: &Arc<Windows>,
    place: usize,
    sample: &graphmill_sample::Sample,
) -> Result<(Vec<Column>, Vec<Column>)> {
    let (buffers, budget) = (&loader.buffers, loader.dataset().budget());
    let rows = |window: &Option<Window>, columns: &Columns, ids: &[i64]| -> Result<_> {
        let (rows, stats) = match window {
            Some(window) => window.assemble(place, ids, columns, buffers, budget)?,
            None => columns.gather(ids, buffers, budget)?,
        };
        loader.sums.reads.add(&stats);
        Ok(rows)
    };
    let columns = rows(&windows.nodes, &loader.columns, &sample.nodes)?;
    Ok((columns, rows(&windows.edges, &loader.edge_columns, &sample.edge_ids)?))
}
