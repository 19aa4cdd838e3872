//! Memory for rows that is used again and again.
//! A fresh buffer of a batch is tens of thousands of page faults, so a buffer goes back to its pool when the last who
//! looks at it lets go, and the next batch takes it from there. All buffers are paid for by the budget, idle ones too;
//! a pool gives idle ones up when memory is short. It does not know what the rows are.

use crate::with_unlocked::with_unlocked;
use crate::{Error, Result};
use graphmill_disk::{Budget, PageBuffer, Reservation};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Idle buffers hold at most this share of the budget.
const IDLE_SHARE: u64 = 4;
/// New buffers are longer than asked for by this share of themselves, so that a somewhat longer batch finds them fitting.
const ROUNDING: usize = 32;
/// A buffer serves whoever wants at least this share of it; for less it would be a waste.
const LEAST_SHARE: usize = 2;

/// Buffers of one loader.
#[derive(Debug)]
pub(crate) struct Buffers {
    budget: Budget,
    idle: Arc<Pool>,
    /// Bytes of the budget that all buffers have, whoever holds them.
    all: Arc<AtomicU64>,
}

/// What waits for its next use.
#[derive(Debug, Default)]
struct Pool {
    /// The latest last. Only ever tried, never waited for, because of forks.
    idle: Mutex<Vec<Memory>>,
    /// Whether nobody is about to use any of it.
    is_resting: AtomicBool,
}

/// A buffer and its part of the budget.
#[derive(Debug)]
struct Memory {
    bytes: PageBuffer,
    held: Reservation,
    all: Arc<AtomicU64>,
}

impl Memory {
    fn new(bytes: PageBuffer, held: Reservation, all: &Arc<AtomicU64>) -> Self {
        all.fetch_add(held.bytes(), Ordering::Relaxed);
        Memory { bytes, held, all: all.clone() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.all.fetch_sub(self.held.bytes(), Ordering::Relaxed);
    }
}

impl Buffers {
    pub(crate) fn new(budget: &Budget) -> Self {
        Buffers { budget: budget.clone(), idle: Arc::default(), all: Arc::default() }
    }

    /// A buffer of `length` bytes with any content.
    pub(crate) fn take(&self, length: usize, what: &str) -> Result<RowBuffer> {
        let fits = |memory: &Memory| {
            memory.bytes.len() >= length && memory.bytes.len() / LEAST_SHARE <= length
        };
        let recycle = |idle: &mut Vec<Memory>| {
            // Of equal ones the latest, so that those that are not needed grow old.
            let fitting = idle.iter().enumerate().rev().filter(|(_, memory)| fits(memory));
            let (place, _) = fitting.min_by_key(|(_, memory)| memory.bytes.len())?;
            Some(idle.remove(place))
        };
        let memory = match with_unlocked(&self.idle.idle, recycle).flatten() {
            Some(memory) => memory,
            None => {
                let capacity = length.saturating_add(length / ROUNDING);
                let bytes = Self::memory(length as u64);
                let held = self.with_room(|| Ok(self.budget.reserve(bytes, what)?))?;
                Memory::new(PageBuffer::with_huge_pages(capacity), held, &self.all)
            }
        };
        let pool = Arc::downgrade(&self.idle);
        Ok(RowBuffer { memory: Some(memory), length, pool, most: self.budget.total() / IDLE_SHARE })
    }

    /// Bytes that a buffer of `length` bytes takes from the budget.
    pub(crate) fn memory(length: u64) -> u64 {
        let capacity = length.saturating_add(length / ROUNDING as u64);
        capacity.saturating_add(PageBuffer::MARGIN)
    }

    /// Bytes of the budget that lie idle.
    pub(crate) fn idle(&self) -> u64 {
        let sum = |idle: &mut Vec<Memory>| idle.iter().map(|memory| memory.held.bytes()).sum();
        with_unlocked(&self.idle.idle, sum).unwrap_or(0)
    }

    /// Frees what is idle, and from now on what comes back, until [`wake`](Self::wake).
    pub(crate) fn rest(&self) {
        self.idle.is_resting.store(true, Ordering::Relaxed);
        with_unlocked(&self.idle.idle, Vec::clear);
    }

    /// Keeps what comes back for its next use.
    pub(crate) fn wake(&self) {
        self.idle.is_resting.store(false, Ordering::Relaxed);
    }

    /// Bytes of the budget that buffers have, idle or not, those of batches in use included.
    pub(crate) fn all(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    /// Does something that needs memory; if the budget says no, again with fewer idle buffers, as long as there are any.
    pub(crate) fn with_room<T>(&self, mut deed: impl FnMut() -> Result<T>) -> Result<T> {
        loop {
            match deed() {
                Err(error) => match error.missing() {
                    Some(missing) if self.give_up(missing) => {}
                    _ => return Err(error),
                },
                done => return done,
            }
        }
    }

    /// Gives up idle buffers until so many bytes are free, or none is left.
    pub(crate) fn make_room(&self, bytes: u64) {
        let missing = bytes.saturating_sub(self.budget.free());
        if missing > 0 {
            self.give_up(missing);
        }
    }

    /// Gives up so many bytes of idle buffers, or all; false if there are none. Those that wait longest go first: their
    /// length is wanted least.
    fn give_up(&self, bytes: u64) -> bool {
        let oldest = |idle: &mut Vec<Memory>| {
            let mut given = 0;
            let enough = |memory: &Memory| {
                given += memory.held.bytes();
                given >= bytes
            };
            let count = idle.iter().position(enough).map_or(idle.len(), |last| last + 1);
            idle.drain(..count).count()
        };
        with_unlocked(&self.idle.idle, oldest).is_some_and(|count| count > 0)
    }
}

impl Error {
    /// Whether the memory budget was too small.
    pub(crate) fn is_budget(&self) -> bool {
        self.budget_error().is_some()
    }

    /// Bytes that the memory budget was short of, if that is what it is.
    fn missing(&self) -> Option<u64> {
        match self.budget_error()? {
            graphmill_disk::Error::Budget { wanted, free, .. } => {
                Some(wanted.saturating_sub(*free))
            }
            _ => None,
        }
    }

    /// Says that batches which the consumer keeps are part of the shortage.
    pub(crate) fn beside_batches_in_use(mut self) -> Self {
        let source = match &mut self {
            Error::Disk(source) => Some(source),
            Error::Sample(error) => match &mut **error {
                graphmill_sample::Error::Memory(source) => Some(source),
                _ => None,
            },
            _ => None,
        };
        if let Some(graphmill_disk::Error::Budget { what, .. }) = source {
            what.push_str(", beside batches that are still in use,");
        }
        self
    }

    fn budget_error(&self) -> Option<&graphmill_disk::Error> {
        let error = match self {
            Error::Disk(error) => error,
            Error::Sample(error) => match &**error {
                graphmill_sample::Error::Memory(error) => error,
                _ => return None,
            },
            _ => return None,
        };
        matches!(error, graphmill_disk::Error::Budget { .. }).then_some(error)
    }
}

/// Bytes of rows. Their memory goes back to the loader when this is dropped, or is freed if the loader is gone.
#[derive(Debug)]
pub struct RowBuffer {
    /// Always there until the drop.
    memory: Option<Memory>,
    length: usize,
    pool: Weak<Pool>,
    /// Bytes that may lie idle.
    most: u64,
}

impl RowBuffer {
    /// Bytes that it takes from the budget.
    pub fn held(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.held.bytes())
    }
}

impl Deref for RowBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], |memory| &memory.bytes[..self.length])
    }
}

impl DerefMut for RowBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut().map_or(&mut [], |memory| &mut memory.bytes[..self.length])
    }
}

impl PartialEq for RowBuffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for RowBuffer {}

impl Drop for RowBuffer {
    fn drop(&mut self) {
        let (Some(memory), Some(pool)) = (self.memory.take(), self.pool.upgrade()) else { return };
        if pool.is_resting.load(Ordering::Relaxed) {
            return;
        }
        with_unlocked(&pool.idle, |idle| {
            let waiting: u64 = idle.iter().map(|memory| memory.held.bytes()).sum();
            if waiting.saturating_add(memory.held.bytes()) <= self.most {
                idle.push(memory);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_and_given_up_when_memory_is_short() {
        let budget = Budget::new(1 << 20);
        let buffers = Buffers::new(&budget);
        let mut first = buffers.take(100_000, "a").unwrap();
        assert_eq!((first.len(), first.held()), (100_000, Buffers::memory(100_000)));
        first[5] = 77;
        let address = first.as_ptr();
        drop(first);
        let held = budget.used();
        assert!(held > 0);
        // A little longer is the same buffer, much shorter is another.
        let second = buffers.take(101_000, "a").unwrap();
        assert_eq!((second.as_ptr(), second[5], budget.used()), (address, 77, held));
        drop(second);
        drop(buffers.take(50_000, "a").unwrap());
        assert!(budget.used() > held);
        assert_eq!(buffers.all(), budget.used());
        drop(buffers.take((1 << 20) - 50_000, "a").unwrap());
        assert_eq!((budget.used(), buffers.all()), (0, 0));
        let error = buffers.take(1 << 20, "too much").unwrap_err();
        assert!(error.is_budget() && error.to_string().contains("too much"));
    }

    #[test]
    fn buffers_outlive_their_pool_and_the_idle_are_few() {
        let budget = Budget::new(1 << 20);
        let buffers = Buffers::new(&budget);
        let some: Vec<_> = (0..8).map(|_| buffers.take(100_000, "a").unwrap()).collect();
        drop(some);
        assert!(budget.used() <= budget.total() / IDLE_SHARE);
        let last = buffers.take(0, "a").unwrap();
        assert!(last.is_empty());
        let last = buffers.take(1000, "a").unwrap();
        drop(buffers);
        assert!(budget.used() > 0 && last.len() == 1000);
        drop(last);
    }
}
