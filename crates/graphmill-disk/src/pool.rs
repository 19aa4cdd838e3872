//! The threads graphmill computes with.
//! Sampling, sorting and gathering run on these pools, never on rayon's global one, which belongs
//! to the host program. It must not know what the jobs are.

use std::cell::Cell;
use std::num::NonZero;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};
use crate::per_process::PerProcess;

/// What std gives a thread by default. Said outright, because looking the default up reads the
/// environment, whose lock another thread may have held at the fork.
const STACK_BYTES: usize = 2 << 20;

struct Kept {
    threads: usize,
    pool: ThreadPool,
}

static POOLS: PerProcess<Kept> = PerProcess::new();
static READING_POOLS: PerProcess<Kept> = PerProcess::new();

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
    started(&POOLS, "graphmill", threads.unwrap_or_else(usual_threads).max(1))
}

/// A pool as large as [`pool`], for work that waits for the disk most of the time: who computes on the other is not kept
/// waiting behind it.
pub fn reading_pool() -> Result<&'static ThreadPool> {
    started(&READING_POOLS, "graphmill-read", usual_threads())
}

fn started(
    pools: &'static PerProcess<Kept>,
    name: &'static str,
    threads: usize,
) -> Result<&'static ThreadPool> {
    let kept = pools.get_or_make(
        |kept| kept.threads == threads,
        || {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .stack_size(STACK_BYTES)
                .start_handler(move |_| WORKS_FOR.set(threads))
                .thread_name(move |index| format!("{name}-{index}"))
                .build()
                .map_err(|error| Error::Threads { wanted: threads, reason: error.to_string() })?;
            Ok(Kept { threads, pool })
        },
    )?;
    Ok(&kept.pool)
}

fn usual_threads() -> usize {
    match WORKS_FOR.get() {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::ptr;

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
    fn reading_has_threads_of_its_own() {
        let reading = reading_pool().unwrap();
        assert_eq!(reading.current_num_threads(), pool().unwrap().current_num_threads());
        assert!(!ptr::eq(reading, pool().unwrap()) && ptr::eq(reading, reading_pool().unwrap()));
        let inner = with_threads(Some(6)).unwrap().install(|| reading_pool().unwrap());
        assert_eq!(inner.current_num_threads(), 6);
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
