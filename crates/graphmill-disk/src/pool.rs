//! The threads graphmill computes with.
//! Sampling, sorting and gathering run on these pools, never on rayon's global one, which belongs
//! to the host program. It must not know what the jobs are.
//!
//! Threads do not survive a fork, and a lock that another thread held at that moment stays locked
//! in the child for ever. So pools are keyed by process id, found in a list that is only ever
//! prepended to by compare-and-exchange, and leaked: a child walks past the entries of its parent
//! and adds its own.

use std::cell::Cell;
use std::num::NonZero;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// What std gives a thread by default. Said outright, because looking the default up reads the
/// environment, whose lock another thread may have held at the fork.
const STACK_BYTES: usize = 2 << 20;

struct Entry {
    process: u32,
    threads: usize,
    pool: ThreadPool,
    next: *const Entry,
}

static NEWEST: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// The size of the pool that this thread works for; 0 for threads of others.
    static WORKS_FOR: Cell<usize> = const { Cell::new(0) };
}

/// The pool that the calling thread works for, or else the one with a thread for every core.
///
/// So whoever runs work inside a smaller pool, by `install`, limits all that the work calls.
pub fn pool() -> Result<&'static ThreadPool> {
    with_threads(None)
}

/// The pool with `threads` threads (at least one), or as [`pool`] chooses when None.
///
/// Each size is started once per process and kept until its end, so ask for few different sizes.
pub fn with_threads(threads: Option<usize>) -> Result<&'static ThreadPool> {
    let threads = threads.unwrap_or_else(usual_threads).max(1);
    let process = std::process::id();
    let newest = NEWEST.load(Ordering::Acquire);
    if let Some(pool) = find(newest, process, threads) {
        return Ok(pool);
    }
    let started = ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK_BYTES)
        .start_handler(move |_| WORKS_FOR.set(threads))
        .thread_name(|index| format!("graphmill-{index}"))
        .build()
        .map_err(|error| Error::Threads { wanted: threads, reason: error.to_string() })?;
    Ok(insert(newest, Entry { process, threads, pool: started, next: newest }))
}

fn usual_threads() -> usize {
    match WORKS_FOR.get() {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    }
}

fn find(mut entry: *const Entry, process: u32, threads: usize) -> Option<&'static ThreadPool> {
    // SAFETY: the list holds only leaked entries, complete before they were published by the
    // release in `insert` and never changed or freed afterwards.
    while let Some(known) = unsafe { entry.as_ref() } {
        if known.process == process && known.threads == threads {
            return Some(&known.pool);
        }
        entry = known.next;
    }
    None
}

/// Publishes an entry, unless another thread was faster to publish its like.
fn insert(mut seen: *mut Entry, entry: Entry) -> &'static ThreadPool {
    let entry = Box::into_raw(Box::new(entry));
    loop {
        match NEWEST.compare_exchange(seen, entry, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: leaked above, and from now on never changed or freed.
            Ok(_) => return unsafe { &(*entry).pool },
            Err(newest) => {
                // SAFETY: the entry is not published, so this thread alone knows it.
                let ours = unsafe { &mut *entry };
                if let Some(pool) = find(newest, ours.process, ours.threads) {
                    // SAFETY: as above; it came from a box and nobody will use it again.
                    drop(unsafe { Box::from_raw(entry) });
                    return pool;
                }
                ours.next = newest;
                seen = newest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn a_size_is_started_once_and_has_its_threads() {
        let three = with_threads(Some(3)).unwrap();
        assert_eq!(three.current_num_threads(), 3);
        assert!(ptr::eq(three, with_threads(Some(3)).unwrap()));
        assert!(!ptr::eq(three, with_threads(Some(2)).unwrap()));
        assert_eq!(with_threads(Some(0)).unwrap().current_num_threads(), 1);
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        assert_eq!(pool().unwrap().current_num_threads(), cores);
    }

    #[test]
    fn work_inside_a_pool_stays_in_it() {
        let inner =
            with_threads(Some(7)).unwrap().install(|| pool().unwrap().current_num_threads());
        assert_eq!(inner, 7);
    }

    #[test]
    fn racing_threads_get_the_same_pool() {
        let addresses: Vec<usize> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| ptr::from_ref(with_threads(Some(5)).unwrap()) as usize))
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert!(addresses.iter().all(|address| *address == addresses[0]));
    }

    #[test]
    fn jobs_run_on_the_pool_asked_for() {
        let sum: u64 =
            with_threads(Some(2)).unwrap().install(|| (0..10_000u64).into_par_iter().sum());
        assert_eq!(sum, 49_995_000);
    }
}
