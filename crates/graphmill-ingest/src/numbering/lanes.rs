//! Things that threads take, work with and put back, of which there are only so many.
//! Logs, collectors and lookups give every thread a lane of its own as long as memory allows, and
//! let further threads wait. It must not know what a lane is.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// At most `most` lanes, made when they are needed first.
#[derive(Debug)]
pub(super) struct Lanes<T> {
    most: usize,
    state: Mutex<State<T>>,
    returned: Condvar,
}

#[derive(Debug)]
struct State<T> {
    made: usize,
    idle: Vec<T>,
}

impl<T> Lanes<T> {
    pub(super) fn new(most: usize) -> Self {
        Self::with_idle(most, Vec::new())
    }

    /// Lanes of which some exist already.
    pub(super) fn with_idle(most: usize, idle: Vec<T>) -> Self {
        let state = Mutex::new(State { made: idle.len(), idle });
        Lanes { most: most.max(1), state, returned: Condvar::new() }
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Takes a lane, waiting for one if all are in use.
    pub(super) fn take(&self, make: impl FnOnce() -> T) -> Lane<'_, T> {
        let mut state = self.lock();
        let own = loop {
            if let Some(idle) = state.idle.pop() {
                break idle;
            }
            if state.made < self.most {
                state.made += 1;
                drop(state);
                break make();
            }
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        Lane { lanes: self, own: Some(own) }
    }

    /// All lanes that were made; nobody uses one any more.
    pub(super) fn into_idle(self) -> Vec<T> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).idle
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lane in use, put back on drop.
pub(super) struct Lane<'a, T> {
    lanes: &'a Lanes<T>,
    own: Option<T>,
}

impl<T> Deref for Lane<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.own.as_ref().expect("only drop takes it")
    }
}

impl<T> DerefMut for Lane<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.own.as_mut().expect("only drop takes it")
    }
}

impl<T> Drop for Lane<'_, T> {
    fn drop(&mut self) {
        self.lanes.lock().idle.extend(self.own.take());
        self.lanes.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_lanes_exist_than_allowed_and_all_come_back() {
        let lanes = Lanes::new(2);
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let mut lane = lanes.take(|| {
                            made.fetch_add(1, Ordering::Relaxed);
                            0_u64
                        });
                        *lane += 1;
                    }
                });
            }
        });
        assert!(made.into_inner() <= 2);
        assert_eq!(lanes.into_idle().iter().sum::<u64>(), 1600);
    }
}
