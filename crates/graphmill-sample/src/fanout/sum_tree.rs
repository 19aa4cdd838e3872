//! Weights that are drawn from one after the other, without replacement.
//! The picker falls back to it when most of the weight of a list has been drawn already. Sums are added up, never
//! subtracted from, so taking an entry out leaves no rounding error behind.

/// A binary tree of sums over weights, which are finite and not negative.
#[derive(Clone, Debug, Default)]
pub(super) struct SumTree {
    /// The root is at 1, the children of `i` at `2i` and `2i + 1`, the weights in the second half.
    sums: Vec<f64>,
}

impl SumTree {
    /// Numbers held for `count` weights.
    pub(super) fn length_for(count: usize) -> usize {
        2 * count.next_power_of_two()
    }

    /// The memory to be filled, `length_for` numbers of it.
    pub(super) fn storage(&mut self) -> &mut Vec<f64> {
        &mut self.sums
    }

    /// Numbers that there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.sums.capacity()
    }

    /// Replaces all weights.
    pub(super) fn fill(&mut self, count: usize, weights: impl Iterator<Item = f64>) {
        let leaves = count.next_power_of_two();
        self.sums.clear();
        self.sums.resize(leaves, 0.0);
        self.sums.extend(weights);
        self.sums.resize(2 * leaves, 0.0);
        for at in (1..leaves).rev() {
            self.sums[at] = self.sums[2 * at] + self.sums[2 * at + 1];
        }
    }

    /// Takes out the entry that `unit` of all the weight leads to; None if there is no weight left.
    pub(super) fn take(&mut self, unit: f64) -> Option<usize> {
        let leaves = self.sums.len() / 2;
        if self.sums[1] <= 0.0 {
            return None;
        }
        let mut target = unit * self.sums[1];
        let mut at = 1;
        while at < leaves {
            let (left, right) = (self.sums[2 * at], self.sums[2 * at + 1]);
            // Rounding may lead past the end of what has weight: then it is the last that has.
            if left > 0.0 && (target < left || right <= 0.0) {
                at *= 2;
            } else {
                target -= left;
                at = 2 * at + 1;
            }
        }
        self.remove(at - leaves);
        Some(at - leaves)
    }

    /// Takes an entry out.
    pub(super) fn remove(&mut self, entry: usize) {
        let mut at = self.sums.len() / 2 + entry;
        self.sums[at] = 0.0;
        while at > 1 {
            at /= 2;
            self.sums[at] = self.sums[2 * at] + self.sums[2 * at + 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_with_weight_comes_once_and_no_other() {
        for unit in [0.0, 0.3, 0.999_999_999_999_999_9] {
            let mut tree = SumTree::default();
            tree.fill(5, [0.5, 0.0, 2.0, 1e-300, 1e300].into_iter());
            let mut taken: Vec<_> = std::iter::from_fn(|| tree.take(unit)).collect();
            taken.sort_unstable();
            assert_eq!(taken, [0, 2, 3, 4]);
        }
    }

    #[test]
    fn a_unit_leads_to_the_entry_that_covers_it() {
        let drawn = |unit| {
            let mut tree = SumTree::default();
            tree.fill(3, [1.0, 2.0, 5.0].into_iter());
            tree.take(unit)
        };
        assert_eq!(
            [0.0, 0.124, 0.125, 0.374, 0.376].map(drawn).map(Option::unwrap),
            [0, 0, 1, 1, 2]
        );
    }

    #[test]
    fn one_entry_and_none() {
        let mut tree = SumTree::default();
        tree.fill(1, [3.0].into_iter());
        assert_eq!((tree.take(0.9), tree.take(0.9)), (Some(0), None));
        tree.fill(2, [0.0, 0.0].into_iter());
        assert_eq!(tree.take(0.5), None);
    }
}
