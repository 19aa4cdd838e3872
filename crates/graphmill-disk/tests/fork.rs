//! A forked child computes on threads of its own, whatever its parent was doing at that moment.
//! Alone in its process, because it forks.

#![cfg(unix)]

mod in_child;

use std::sync::atomic::{AtomicBool, Ordering};

use in_child::in_child;
use rayon::prelude::*;

const FORKS: usize = 12;

fn sum_on_pool(threads: Option<usize>) -> u64 {
    let pool = graphmill_disk::with_threads(threads).unwrap();
    pool.install(|| (0..100_000u64).into_par_iter().sum())
}

#[test]
fn children_of_a_busy_parent_compute_the_same_and_so_do_grandchildren() {
    let expected = sum_on_pool(None);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Forks then happen while other threads look pools up, start new ones and run jobs.
        for worker in 0..2 {
            let done = &done;
            scope.spawn(move || {
                let mut size = worker;
                while !done.load(Ordering::Relaxed) {
                    assert_eq!(sum_on_pool(Some(1 + size % 6)), expected);
                    size += 1;
                }
            });
        }
        let failed = (0..FORKS).find_map(|_| {
            let outcome = in_child(|| {
                let own = sum_on_pool(None) == expected && sum_on_pool(Some(2)) == expected;
                let below = in_child(|| i32::from(sum_on_pool(None) != expected));
                i32::from(!own) + 2 * i32::from(below != Some(0))
            });
            (outcome != Some(0)).then_some(outcome)
        });
        done.store(true, Ordering::Relaxed);
        assert_eq!(failed, None, "Some(None) is a child that hung");
    });
    assert_eq!(sum_on_pool(None), expected);
}
