//! Reads in the order of the file, announced to the disk before they are done.
//! When a topology is not in memory, a hop does not read its lists and edges as it finds them: it collects them, and this
//! goes through them once, front to back or back to front, always one window behind what has been announced. So every
//! page is asked for once, together with its neighbours. What is read is told by place, so the order changes no result.

use crate::Result;
use crate::room::make_exact_room;
use graphmill_disk::Reservation;

/// Reads that are announced at once. The disk's queue is shorter; more would only push each other out of memory.
const WINDOW: usize = 2048;

/// Sorts and announces; keeps its memory between sweeps.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// What is read (a node or a position), and the place of the reader.
    order: Vec<(u64, usize)>,
    window: Vec<u64>,
    /// Whether the next sweep goes back to front: what the last one read last is likely to be in memory still.
    is_backward: bool,
}

impl Sweep {
    /// Calls `read` for every key with its place among the keys, after `announce` has been called for it.
    pub(crate) fn run(
        &mut self,
        keys: impl ExactSizeIterator<Item = u64>,
        memory: &mut Reservation,
        announce: impl Fn(&[u64]),
        mut read: impl FnMut(u64, usize) -> Result<()>,
    ) -> Result<()> {
        self.order.clear();
        make_exact_room(&mut self.order, keys.len(), memory)?;
        self.window.clear();
        make_exact_room(&mut self.window, WINDOW, memory)?;
        self.order.extend(keys.zip(0..));
        self.order.sort_unstable();
        let windows = self.order.len().div_ceil(WINDOW);
        let (order, is_backward) = (&self.order, self.is_backward);
        let window_of = |number: usize| {
            let number = if is_backward { windows - 1 - number } else { number };
            order.chunks(WINDOW).nth(number).unwrap_or_default()
        };
        self.is_backward = !is_backward;
        for number in 0..=windows {
            if number < windows {
                self.window.clear();
                self.window.extend(window_of(number).iter().map(|(key, _)| key));
                self.window.dedup();
                announce(&self.window);
            }
            if number > 0 {
                for &(key, place) in window_of(number - 1) {
                    read(key, place)?;
                }
            }
        }
        Ok(())
    }

    /// Bytes held now.
    pub(crate) fn bytes(&self) -> u64 {
        (self.order.capacity() * size_of::<(u64, usize)>() + self.window.capacity() * 8) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::Budget;
    use std::cell::RefCell;
    use std::collections::HashSet;

    #[test]
    fn every_key_is_announced_and_then_read_at_its_place() {
        let mut sweep = Sweep::default();
        let budget = Budget::new(1 << 20);
        let mut memory = budget.reserve(0, "a test").unwrap();
        for count in [0, 1, 2, WINDOW, WINDOW + 1, 5 * WINDOW - 3] {
            for _ in 0..2 {
                let keys: Vec<u64> = (0..count as u64).map(|at| at * 7919 % 4001).collect();
                let announced = RefCell::new(HashSet::<u64>::new());
                let mut found = vec![None; count];
                let read = |key: u64, place: usize| {
                    assert!(announced.borrow().contains(&key));
                    assert!(found[place].replace(key).is_none());
                    Ok(())
                };
                let announce = |some: &[u64]| {
                    assert!(some.len() <= WINDOW && some.is_sorted());
                    announced.borrow_mut().extend(some);
                };
                sweep.run(keys.iter().copied(), &mut memory, announce, read).unwrap();
                assert!(found.into_iter().flatten().eq(keys));
                assert!(sweep.bytes() <= memory.bytes());
            }
        }
    }
}
