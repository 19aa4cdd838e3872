//! How much memory windows and hot rows may take.
//! The iterator over an epoch asks it while it samples ahead, and estimates ask it without reading anything. It counts
//! bytes and takes none.

use crate::NeighborLoader;
use crate::hot_ids::HotIds;
use crate::sampled_batch::SampledBatch;
use crate::stages::FINISHED_SHARE;
use crate::window::WindowPlan;

/// More batches than this gain little and make the next one wait.
pub(crate) const MOST_BATCHES: usize = 64;
/// Hot rows have at most this share of what windows would have without them. A hot row is never read again, and what is
/// not missing need not be held: with half of the memory as hot rows, windows have nearly as many batches as without.
const HOT_SHARE: u64 = 2;

impl NeighborLoader {
    /// The most batches that may be read together, whatever memory there is.
    pub(crate) fn most_batches(&self) -> usize {
        self.options().window.unwrap_or(MOST_BATCHES)
    }

    /// Bytes that one more batch takes in a window, its lists included, if `distinct_share` of the rows that it lacks are
    /// not in the window yet.
    pub(crate) fn window_bytes(
        &self,
        sampled: &SampledBatch,
        hot: Option<&HotIds>,
        distinct_share: f64,
    ) -> u64 {
        let sample = &sampled.sample;
        let bytes = |places: usize, missing: usize, row_bytes: u64| {
            let distinct = (missing as f64 * distinct_share).ceil() as u64;
            distinct.saturating_mul(row_bytes).saturating_add(WindowPlan::memory(places, missing))
        };
        let missing = missing(&sample.nodes, hot);
        let nodes = bytes(sample.nodes.len(), missing, self.columns.stored_row_bytes());
        let edges = sample.edge_ids.len();
        let edges = bytes(edges, edges, self.edge_columns.stored_row_bytes());
        sampled.memory.bytes().saturating_add(nodes).saturating_add(edges)
    }

    /// Bytes that delivering a batch takes: its rows, and what reading them takes.
    pub(crate) fn delivery_bytes(&self, sampled: &SampledBatch) -> (u64, u64) {
        let (nodes, edges) = (sampled.sample.nodes.len(), sampled.sample.edge_ids.len());
        let rows = self.columns.delivered_bytes(nodes);
        let rows = rows.saturating_add(self.edge_columns.delivered_bytes(edges));
        (rows, self.columns.work_bytes(nodes).max(self.edge_columns.work_bytes(edges)))
    }

    /// Bytes of `free` that a window may take, if batches are like this one. The window before stays while the next is read
    /// and the lists of the one after are sampled, so each has two fifths.
    pub(crate) fn window_limit(&self, free: u64, sampled: &SampledBatch) -> u64 {
        self.beside_delivery(free, sampled) / 5 * 2
    }

    /// Bytes of `free` that hot rows may take, if `batches` like this one are still to come: two of them must still fit,
    /// and a short epoch does not pay for a large table.
    pub(crate) fn hot_bytes(&self, free: u64, sampled: &SampledBatch, batches: u64) -> u64 {
        let (rows, work) = self.delivery_bytes(sampled);
        let one = self.window_bytes(sampled, None, 1.0).saturating_add(rows).saturating_add(work);
        let asked = (sampled.sample.nodes.len() as u64).saturating_mul(batches);
        let useful = asked.saturating_mul(self.columns.stored_row_bytes());
        let share = || (self.beside_delivery(free, sampled) / HOT_SHARE).min(useful);
        let share = self.options().hot_memory.unwrap_or_else(share);
        share.min(free.saturating_sub(one.saturating_mul(2)))
    }

    /// What is left of `free` for windows and hot rows: not what reading takes, the batch in use, the one that is put
    /// together, and those that wait.
    fn beside_delivery(&self, free: u64, sampled: &SampledBatch) -> u64 {
        let (rows, work) = self.delivery_bytes(sampled);
        let waiting = rows.saturating_mul(self.options().prefetch as u64);
        let waiting = waiting.min(free / FINISHED_SHARE);
        let delivery = rows.saturating_mul(2).saturating_add(work);
        // What allocators and queues round up.
        let slack = free / 32;
        free.saturating_sub(delivery).saturating_sub(waiting).saturating_sub(slack)
    }
}

/// How many of the rows are not hot.
pub(crate) fn missing(rows: &[i64], hot: Option<&HotIds>) -> usize {
    match hot {
        None => rows.len(),
        Some(hot) => rows.iter().filter(|row| hot.place(**row as u64).is_none()).count(),
    }
}
