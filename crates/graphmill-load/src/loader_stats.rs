//! What a loader has done so far.
//! Loaders count here while they work, and show the sums to whoever asks. Nothing is decided here.

use crate::ReadStats;
use crate::read_stats::StatsSum;
use graphmill_disk::Budget;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
    /// Time that the consumer waited for batches.
    pub starved: Duration,
    /// Time that finished batches waited for the consumer while another could have been made.
    pub blocked: Duration,
    /// Time spent sampling.
    pub sampling: Duration,
    /// Time spent planning and reading windows.
    pub reading: Duration,
    /// Time spent putting batches together, including reading rows that are in no window.
    pub assembly: Duration,
    /// What fetching rows took, hot rows included.
    pub reads: ReadStats,
    /// The most memory of the dataset's budget that was ever reserved, by whomever.
    pub peak_memory: u64,
}

/// What an epoch waits for most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// The consumer: batches wait for it.
    Compute,
    /// Finding neighbours.
    Sampling,
    /// Reading rows.
    Disk,
    /// Copying rows that are in memory.
    Copying,
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Bound::Compute => "compute",
            Bound::Sampling => "sampling",
            Bound::Disk => "disk",
            Bound::Copying => "copying",
        })
    }
}

impl LoaderStats {
    /// What limits the pace; None if no batch was made ahead yet.
    pub fn bound(&self) -> Option<Bound> {
        let stages = [
            (self.sampling, Bound::Sampling),
            (self.reading, Bound::Disk),
            (self.assembly, Bound::Copying),
        ];
        let (busiest, bound) = stages.into_iter().max_by_key(|(time, _)| *time)?;
        if busiest.is_zero() {
            return None;
        }
        Some(if self.blocked >= self.starved { Bound::Compute } else { bound })
    }
}

/// The sums, to which any number of threads add.
#[derive(Debug, Default)]
pub(crate) struct LoaderSums {
    pub(crate) reads: StatsSum,
    batches: AtomicU64,
    windows: AtomicU64,
    largest_window: AtomicU64,
    hot_rows: AtomicU64,
    starved: TimeSum,
    blocked: TimeSum,
    sampling: TimeSum,
    reading: TimeSum,
    assembly: TimeSum,
}

/// Nanoseconds.
#[derive(Debug, Default)]
struct TimeSum(AtomicU64);

impl TimeSum {
    fn add(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl LoaderSums {
    pub(crate) fn starved(&self, time: Duration) {
        self.starved.add(time);
    }

    pub(crate) fn blocked(&self, time: Duration) {
        self.blocked.add(time);
    }

    pub(crate) fn sampling(&self, time: Duration) {
        self.sampling.add(time);
    }

    pub(crate) fn reading(&self, time: Duration) {
        self.reading.add(time);
    }

    pub(crate) fn assembly(&self, time: Duration) {
        self.assembly.add(time);
    }

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
            starved: self.starved.total(),
            blocked: self.blocked.total(),
            sampling: self.sampling.total(),
            reading: self.reading.total(),
            assembly: self.assembly.total(),
            reads: self.reads.total(),
            peak_memory: budget.peak(),
        }
    }
}
