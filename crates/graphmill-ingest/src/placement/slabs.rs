//! Pieces of memory of one size, for rows that wait.
//! There are so many and no more; threads take as many as they need at once or none, so that none
//! waits for another while it holds what the other waits for. It must not know what is in them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of rows.
pub(super) type Slab = Box<[u8]>;

/// All slabs that nobody uses.
pub(super) struct Slabs {
    /// Bytes of each.
    size: usize,
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    free: Vec<Slab>,
    /// Slabs that exist, free or not.
    made: usize,
}

impl Slabs {
    pub(super) fn new(size: usize, most: usize) -> Self {
        Slabs { size, most, state: Mutex::default() }
    }

    /// Adds `count` slabs to what the caller has; false, and none added, if there are fewer.
    pub(super) fn take(&self, count: usize, into: &mut Vec<Slab>) -> bool {
        let mut state = self.lock();
        let new = count.saturating_sub(state.free.len());
        if new > self.most - state.made {
            return false;
        }
        state.made += new;
        let kept = state.free.len() - (count - new);
        into.extend(state.free.drain(kept..));
        drop(state);
        into.extend((0..new).map(|_| vec![0; self.size].into_boxed_slice()));
        true
    }

    pub(super) fn give_back(&self, slabs: impl IntoIterator<Item = Slab>) {
        self.lock().free.extend(slabs);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_are_wanted_are_had_or_none() {
        let slabs = Slabs::new(16, 5);
        let (mut one, mut two) = (Vec::new(), Vec::new());
        assert!(slabs.take(3, &mut one) && !slabs.take(3, &mut two) && two.is_empty());
        assert!(slabs.take(2, &mut two) && !slabs.take(1, &mut two));
        slabs.give_back(one);
        assert!(slabs.take(1, &mut two) && slabs.take(2, &mut two) && !slabs.take(1, &mut two));
        assert!(two.len() == 5 && two.iter().all(|slab| slab.len() == 16));
    }
}
