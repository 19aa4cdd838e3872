//! What a loader has done so far.
//! Loaders count here while they work, and show the sums to whoever asks. Nothing is decided here.

use crate::ReadStats;
use crate::read_stats::StatsSum;
use graphmill_disk::Budget;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sums over all batches that a loader has made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoaderStats {
    /// Batches delivered.
    pub batches: u64,
    /// Windows read; batches whose rows are all in memory need none.
    pub windows: u64,
    /// The most batches that were read together.
    pub largest_window: u64,
    /// Rows that are held in memory because they are wanted most often.
    pub hot_rows: u64,
    /// What fetching rows took, hot rows included.
    pub reads: ReadStats,
    /// The most memory of the dataset's budget that was ever reserved, by whomever.
    pub peak_memory: u64,
}

/// The sums, to which any number of threads add.
#[derive(Debug, Default)]
pub(crate) struct LoaderSums {
    pub(crate) reads: StatsSum,
    batches: AtomicU64,
    windows: AtomicU64,
    largest_window: AtomicU64,
    hot_rows: AtomicU64,
}

impl LoaderSums {
    pub(crate) fn count_batch(&self) {
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_window(&self, batches: usize) {
        self.windows.fetch_add(1, Ordering::Relaxed);
        self.largest_window.fetch_max(batches as u64, Ordering::Relaxed);
    }

    pub(crate) fn hot_rows(&self, count: u64) {
        self.hot_rows.store(count, Ordering::Relaxed);
    }

    pub(crate) fn total(&self, budget: &Budget) -> LoaderStats {
        LoaderStats {
            batches: self.batches.load(Ordering::Relaxed),
            windows: self.windows.load(Ordering::Relaxed),
            largest_window: self.largest_window.load(Ordering::Relaxed),
            hot_rows: self.hot_rows.load(Ordering::Relaxed),
            reads: self.reads.total(),
            peak_memory: budget.peak(),
        }
    }
}
