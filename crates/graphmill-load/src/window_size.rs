//! How much memory windows and hot rows may take.
//! The iterator over an epoch asks it while it samples ahead, and estimates ask it without reading anything. It counts
//! bytes and takes none.

use crate::NeighborLoader;
use crate::columns::Columns;
use crate::hot_ids::HotIds;
use crate::sampled_batch::SampledBatch;
use crate::stages::FINISHED_SHARE;
use crate::window_plan::{MOST_BATCHES, WindowPlan};
use crate::window_rows;

/// Hot rows have at most this share of what windows would have without them. A hot row is never read again, and what is
/// not missing need not be held: with half of the memory as hot rows, windows have nearly as many batches as without.
const HOT_SHARE: u64 = 2;

impl NeighborLoader {
    /// Whether edge ids are looked up while a batch waits.
    pub(crate) fn wants_edge_ids(&self) -> bool {
        !self.edge_columns.is_empty()
    }

    /// Rows that a table of nodes has.
    pub(crate) fn num_nodes(&self) -> u64 {
        self.dataset().graph().num_nodes()
    }

    /// Rows that the largest table of edges has.
    pub(crate) fn num_edge_rows(&self) -> u64 {
        let rows = self.edge_columns.rows().map(|rows| rows.table().shape().rows());
        rows.max().unwrap_or(0)
    }

    /// The most batches that may be read together, whatever memory there is.
    pub(crate) fn most_batches(&self) -> usize {
        self.options().window.unwrap_or(MOST_BATCHES).min(MOST_BATCHES)
    }

    /// Bytes that one more batch in each window takes, if `distinct_share` of the nodes that it lacks are not in the window
    /// yet. Its rows take the place of others that are given back meanwhile, but a third more must be there so that neither
    /// the disk waits for that nor who takes batches; its plan is there until the next is used up; and there are lists of
    /// the window that is used, of the one that is read, and of the one after.
    pub(crate) fn window_bytes(
        &self,
        sampled: &SampledBatch,
        hot: Option<&HotIds>,
        distinct_share: f64,
    ) -> u64 {
        let sample = &sampled.sample;
        let bytes = |wanted: usize, missing: usize, share: f64, columns: &Columns| {
            if columns.is_empty() {
                return 0;
            }
            let distinct = (missing as f64 * share).ceil() as u64;
            let waste = columns.rows().count() as u64 * window_rows::WASTE;
            let rows = distinct.saturating_mul(columns.stored_row_bytes()).saturating_add(waste);
            let plans = WindowPlan::memory(wanted, missing).saturating_mul(2);
            (rows / 3).saturating_mul(4).saturating_add(plans)
        };
        let missing = missing(&sample.nodes, hot);
        let nodes = bytes(sample.nodes.len(), missing, distinct_share, &self.columns);
        // Batches that share nodes need not share edges.
        let edges = sample.edge_ids.len();
        let edges = bytes(edges, edges, 1.0, &self.edge_columns);
        sampled.memory.bytes().saturating_mul(3).saturating_add(nodes).saturating_add(edges)
    }

    /// Bytes that delivering a batch takes: its rows and lists, and what reading them takes.
    pub(crate) fn delivery_bytes(&self, sampled: &SampledBatch) -> (u64, u64) {
        let (nodes, edges) = (sampled.sample.nodes.len(), sampled.sample.edge_ids.len());
        let rows = self.columns.delivered_bytes(nodes);
        let rows = rows.saturating_add(self.edge_columns.delivered_bytes(edges));
        let rows = rows.saturating_add(sampled.narrow.bytes_saved());
        (rows, self.columns.work_bytes(nodes).max(self.edge_columns.work_bytes(edges)))
    }

    /// Bytes of `free` that windows may take, if batches are like this one.
    pub(crate) fn window_limit(&self, free: u64, sampled: &SampledBatch) -> u64 {
        self.beside_delivery(free, sampled)
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
