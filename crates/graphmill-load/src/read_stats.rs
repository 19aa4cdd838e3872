//! What fetching rows took, counted where it happens.
//! Every fetch gives one; loaders add them up. Counts are of what was asked of the backends, so they can be held
//! against what the operating system counts. Nothing is decided here.

use graphmill_disk::Backend;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What fetching some rows took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadStats {
    /// Rows delivered.
    pub rows: u64,
    /// Different rows among those that were planned together; rows copied straight from a map are not told apart.
    pub distinct: u64,
    /// Rows delivered from the hot rows.
    pub from_hot: u64,
    /// Rows that the window before had already.
    pub from_window: u64,
    /// Rows copied from a map.
    pub from_page_cache: u64,
    /// Different rows that were read by requests.
    pub from_disk: u64,
    /// Requests to the backend; a mapped file has none.
    pub requests: u64,
    /// Bytes of all requests.
    pub bytes_read: u64,
    /// Bytes of the rows among them.
    pub bytes_used: u64,
    /// Bytes that the kernel was asked to bring into the page cache, beside the requests.
    pub bytes_announced: u64,
    /// Time from the first request to the last answer, summed over all fetches.
    pub waited: Duration,
    /// Time of that in which the device had something to do, as the system counts it; 0 where it does not.
    pub device_busy: Duration,
    /// Time that the requests of the device took, added up; over `device_busy`, how many were under way on average.
    pub device_queued: Duration,
    /// What the requests went to, if there were any.
    pub backend: Option<Backend>,
}

impl AddAssign for ReadStats {
    fn add_assign(&mut self, more: Self) {
        self.rows += more.rows;
        self.distinct += more.distinct;
        self.from_hot += more.from_hot;
        self.from_window += more.from_window;
        self.from_page_cache += more.from_page_cache;
        self.from_disk += more.from_disk;
        self.requests += more.requests;
        self.bytes_read += more.bytes_read;
        self.bytes_used += more.bytes_used;
        self.bytes_announced += more.bytes_announced;
        self.waited += more.waited;
        self.device_busy += more.device_busy;
        self.device_queued += more.device_queued;
        self.backend = more.backend.or(self.backend);
    }
}

/// Sums that any number of threads add to. No lock: one that was held at a fork would stay locked in the child.
#[derive(Debug, Default)]
pub struct StatsSum {
    counts: [AtomicU64; 13],
    /// One more than the place of the backend among all of them; 0 for none.
    backend: AtomicU64,
}

impl StatsSum {
    /// Adds one fetch.
    pub fn add(&self, stats: &ReadStats) {
        let counts = [
            stats.rows,
            stats.distinct,
            stats.from_hot,
            stats.from_window,
            stats.from_page_cache,
            stats.from_disk,
            stats.requests,
            stats.bytes_read,
            stats.bytes_used,
            stats.bytes_announced,
            stats.waited.as_nanos() as u64,
            stats.device_busy.as_nanos() as u64,
            stats.device_queued.as_nanos() as u64,
        ];
        for (sum, count) in self.counts.iter().zip(counts) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
        let place = |known: &Backend| Some(*known) == stats.backend;
        if let Some(place) = Backend::ALL.iter().position(place) {
            self.backend.store(place as u64 + 1, Ordering::Relaxed);
        }
    }

    /// All that was added.
    pub fn total(&self) -> ReadStats {
        let count = |at: usize| self.counts[at].load(Ordering::Relaxed);
        let backend = self.backend.load(Ordering::Relaxed) as usize;
        ReadStats {
            rows: count(0),
            distinct: count(1),
            from_hot: count(2),
            from_window: count(3),
            from_page_cache: count(4),
            from_disk: count(5),
            requests: count(6),
            bytes_read: count(7),
            bytes_used: count(8),
            bytes_announced: count(9),
            waited: Duration::from_nanos(count(10)),
            device_busy: Duration::from_nanos(count(11)),
            device_queued: Duration::from_nanos(count(12)),
            backend: backend.checked_sub(1).and_then(|place| Backend::ALL.get(place).copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_adding_agree() {
        let one = ReadStats {
            rows: 1,
            distinct: 2,
            from_hot: 3,
            from_window: 4,
            from_page_cache: 5,
            from_disk: 6,
            requests: 7,
            bytes_read: 8,
            bytes_used: 9,
            bytes_announced: 11,
            waited: Duration::from_nanos(10),
            device_busy: Duration::from_nanos(11),
            device_queued: Duration::from_nanos(12),
            backend: Some(Backend::Pread),
        };
        let other = ReadStats { rows: 100, ..ReadStats::default() };
        let (mut plain, shared) = (ReadStats::default(), StatsSum::default());
        for stats in [one, one, other] {
            plain += stats;
            shared.add(&stats);
        }
        assert_eq!(shared.total(), plain);
        assert_eq!((plain.rows, plain.backend), (102, Some(Backend::Pread)));
        assert_eq!(StatsSum::default().total(), ReadStats::default());
    }
}
