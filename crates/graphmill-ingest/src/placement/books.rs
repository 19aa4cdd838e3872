//! The memory for what grows slowly: lists of windows, of regions and of digests.
//! A share of what was granted pays first, the budget itself afterwards, so that a table that is
//! absurdly long is refused rather than allocated. It must not know what is listed.

use std::sync::{Mutex, PoisonError};

use graphmill_disk::{Budget, Reservation};

use crate::Result;

/// Taken from the budget at a time.
const STEP: u64 = 64 << 10;

/// What the lists are called when there is no memory for them.
const WHAT: &str = "lists of the pieces of a table";

/// An account of small things.
pub(super) struct Books {
    state: Mutex<State>,
    total: u64,
}

struct State {
    /// Bytes that are reserved and not spent.
    left: u64,
    /// Bytes that may be reserved besides.
    more: u64,
    reserved: Reservation,
}

impl Books {
    /// Starts with `share` bytes that are reserved already, and takes at most `more` besides,
    /// however much is free: lists that are longer than what they list are a mistake.
    pub(super) fn new(share: u64, more: u64, budget: &Budget) -> Result<Self> {
        let reserved = budget.reserve(0, WHAT)?;
        let state = Mutex::new(State { left: share, more, reserved });
        Ok(Books { state, total: budget.total() })
    }

    /// Pays for bytes that are about to be allocated and stay until the end.
    pub(super) fn claim(&self, bytes: u64) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { left, more, reserved } = &mut *state;
        if *left < bytes {
            let missing = bytes - *left;
            if missing > *more {
                let (what, free, total) = (WHAT.to_owned(), *left + *more, self.total);
                let error = graphmill_disk::Error::Budget { what, wanted: bytes, free, total };
                return Err(error.into());
            }
            let missing = missing.max(STEP.min(*more));
            reserved.grow(missing)?;
            *more -= missing;
            *left += missing;
        }
        *left -= bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_spent_first_then_the_budget_and_never_more_than_agreed() {
        let budget = Budget::new(200 << 10);
        let books = Books::new(1000, 100 << 10, &budget).unwrap();
        books.claim(1000).unwrap();
        assert_eq!(budget.used(), 0);
        books.claim(1).unwrap();
        assert_eq!(budget.used(), STEP);
        books.claim(90 << 10).unwrap();
        assert!(budget.used() > 90 << 10 && budget.used() <= 100 << 10);
        assert!(books.claim(20 << 10).is_err());
        let greedy = Books::new(0, u64::MAX, &budget).unwrap();
        assert!(greedy.claim(1 << 40).is_err());
        drop((books, greedy));
        assert_eq!(budget.used(), 0);
    }
}
