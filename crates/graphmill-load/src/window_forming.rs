//! Which batches make up the next window.
//! The reader of an epoch asks while batches are sampled ahead, and an estimate while it goes through an epoch on trial, so
//! that both have windows of the same lengths. It counts bytes and takes none.

use crate::NeighborLoader;
use crate::hot_ids::HotIds;
use crate::sampled_batch::SampledBatch;
use crate::window_plan::WindowPlan;

/// What one window says about the length of the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowLengths {
    /// How many batches the next window may have: the first come soon, later windows are long.
    width: usize,
    /// Batches of the window before.
    count: usize,
    /// What part of the rows that they lacked was distinct.
    distinct_share: f64,
}

impl WindowLengths {
    /// Before the first window.
    pub(crate) fn new() -> Self {
        WindowLengths { width: 1, count: 1, distinct_share: 1.0 }
    }

    /// Whether a window of so many batches has fewer than there is memory for, because windows still grow.
    pub(crate) fn are_growing(&self, loader: &NeighborLoader, count: usize) -> bool {
        count == self.width && self.width < loader.most_batches()
    }

    /// The next window, still empty, for which there are `limit` bytes.
    pub(crate) fn forming<'a>(
        &self,
        loader: &'a NeighborLoader,
        hot: Option<&'a HotIds>,
        limit: u64,
    ) -> FormingWindow<'a> {
        let most = self.width.min(loader.most_batches());
        let (nodes, edges) = (Sums::default(), Sums::default());
        FormingWindow { loader, hot, limit, most, before: *self, count: 0, bytes: 0, nodes, edges }
    }

    /// A window of so many batches was planned, and such a part of the rows that they lack was distinct.
    pub(crate) fn note(&mut self, loader: &NeighborLoader, count: usize, distinct_share: f64) {
        let width = (2 * self.width).min(loader.most_batches());
        *self = WindowLengths { width, count, distinct_share };
    }

    /// What part of the rows that the batch at `place` lacks will be new to its window.
    ///
    /// The first batch of a window has new rows only, and each batch has fewer than the one before it. So one more batch
    /// than last time has at most as many as those after the first had on average.
    fn share_at(&self, place: usize) -> f64 {
        let count = self.count as f64;
        if place < self.count || self.count < 2 {
            return self.distinct_share;
        }
        ((count * self.distinct_share - 1.0) / (count - 1.0)).max(0.0)
    }
}

/// A window to which batches are added.
#[derive(Debug)]
pub(crate) struct FormingWindow<'a> {
    loader: &'a NeighborLoader,
    hot: Option<&'a HotIds>,
    limit: u64,
    most: usize,
    before: WindowLengths,
    count: usize,
    bytes: u64,
    nodes: Sums,
    edges: Sums,
}

/// Rows that batches want, those of all together and of the largest.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    all: usize,
    largest: usize,
}

impl Sums {
    fn with(self, count: usize) -> Self {
        Sums { all: self.all + count, largest: self.largest.max(count) }
    }
}

impl FormingWindow<'_> {
    /// Whether it may have one more batch, if that fits.
    pub(crate) fn is_open(&self) -> bool {
        self.count < self.most
    }

    /// How many batches it has.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Bytes that are counted for them.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a batch, whose lists must be narrow, unless it does not fit; the first always does.
    pub(crate) fn add(&mut self, sampled: &SampledBatch) -> bool {
        let Self { loader, .. } = self;
        let nodes = self.nodes.with(sampled.sample.nodes.len());
        let edges = self.edges.with(sampled.sample.edge_ids.len());
        let more = loader.window_bytes(sampled, self.hot, self.before.share_at(self.count));
        let bytes = self.bytes.saturating_add(more);
        let can_hold = WindowPlan::can_hold(loader.num_nodes(), nodes.all, nodes.largest)
            && WindowPlan::can_hold(loader.num_edge_rows(), edges.all, edges.largest);
        if self.count > 0 && (bytes > self.limit || !can_hold) {
            return false;
        }
        (self.nodes, self.edges, self.bytes) = (nodes, edges, bytes);
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_more_than_last_time_brings_no_more_than_the_others_did() {
        let first = WindowLengths::new();
        assert_eq!((first.share_at(0), first.share_at(1)), (1.0, 1.0));
        // Of four batches, the first had 10 rows, all of them new, and each of the others 8.
        let later = WindowLengths { width: 8, count: 4, distinct_share: 34.0 / 40.0 };
        assert_eq!(later.share_at(3), 34.0 / 40.0);
        assert!((later.share_at(4) - 0.8).abs() < 1e-9);
        // All batches the same: nothing is new after the first.
        let same = WindowLengths { width: 8, count: 4, distinct_share: 0.25 };
        assert_eq!(same.share_at(4), 0.0);
    }
}
