//! What the ids of edges are like: whether they count the rows, and how many fall where.
//! One pass over the ids counts them in buckets that double in width as larger ids come; windows of
//! rows that fit into memory are cut from these. A sum of hashes tells whether the ids are 0 to
//! n - 1, each once. It must not know where the ids come from.

use std::ops::Range;

use graphmill_disk::{Budget, Reservation};

use crate::Result;

const BUCKETS: usize = 1 << 14;
/// Ids up to this many times their number are brought into order.
const SPARSEST: u64 = 64;

/// The ids of edges, counted.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Ids in each bucket of `2^shift`.
    buckets: Vec<u64>,
    shift: u32,
    count: u64,
    /// One more than the largest.
    limit: u64,
    is_negative: bool,
    hashes: u64,
    counts_rows: bool,
    _reserved: Option<Reservation>,
}

impl Survey {
    pub(super) fn new(budget: &Budget) -> Result<Self> {
        let reserved = budget.reserve((BUCKETS * 8) as u64, "counting edge ids")?;
        Ok(Survey { buckets: vec![0; BUCKETS], _reserved: Some(reserved), ..Survey::default() })
    }

    pub(super) fn add(&mut self, ids: &[i64]) {
        self.count += ids.len() as u64;
        for &id in ids {
            if id < 0 {
                self.is_negative = true;
                continue;
            }
            let id = id as u64;
            self.hashes = self.hashes.wrapping_add(hash(id));
            self.limit = self.limit.max(id + 1);
            while id >> self.shift >= BUCKETS as u64 {
                self.widen();
            }
            self.buckets[(id >> self.shift) as usize] += 1;
        }
    }

    /// Makes every bucket twice as wide.
    fn widen(&mut self) {
        for at in 0..BUCKETS / 2 {
            self.buckets[at] = self.buckets[2 * at] + self.buckets[2 * at + 1];
        }
        self.buckets[BUCKETS / 2..].fill(0);
        self.shift += 1;
    }

    /// All ids have come.
    pub(super) fn end(&mut self) {
        self.counts_rows = !self.is_negative && self.limit == self.count && {
            let expected = (0..self.count).fold(0_u64, |sum, id| sum.wrapping_add(hash(id)));
            expected == self.hashes
        };
    }

    /// Whether the ids are 0 to n - 1, each once.
    pub(super) fn counts_rows(&self) -> bool {
        self.counts_rows
    }

    /// Whether rows can be brought into the order of ids: ids that lie far apart are left alone.
    pub(super) fn can_order(&self) -> bool {
        !self.is_negative && self.limit / SPARSEST <= self.count
    }

    /// Ranges of ids in ascending order, with the rows in each: at most `most` unless a bucket has more.
    pub(super) fn windows(&self, most: u64) -> Vec<(Range<i64>, u64)> {
        let mut windows: Vec<(Range<i64>, u64)> = Vec::new();
        for (bucket, &rows) in self.buckets.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            let bounds = |at: usize| ((at as u64) << self.shift).min(i64::MAX as u64) as i64;
            match windows.last_mut() {
                Some((range, taken)) if *taken + rows <= most => {
                    range.end = bounds(bucket + 1);
                    *taken += rows;
                }
                _ => windows.push((bounds(bucket)..bounds(bucket + 1), rows)),
            }
        }
        windows
    }
}

fn hash(id: u64) -> u64 {
    let mut bits = id.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_hold_every_id_once_and_dense_ids_are_known(
            mut ids in proptest::collection::vec(prop_oneof![0_i64..300, 0_i64..5_000_000], 0..300),
            dense: bool,
            most in 1_u64..100,
        ) {
            if dense {
                ids = (0..ids.len() as i64).rev().collect();
            }
            let mut survey = Survey::new(&Budget::new(1 << 20)).unwrap();
            ids.chunks(7).for_each(|some| survey.add(some));
            survey.end();
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            prop_assert_eq!(survey.counts_rows(), sorted.iter().copied().eq(0..ids.len() as i64));
            let windows = survey.windows(most);
            let inside = |range: &Range<i64>| ids.iter().filter(|id| range.contains(id)).count();
            prop_assert!(windows.iter().all(|(range, rows)| inside(range) as u64 == *rows));
            prop_assert_eq!(windows.iter().map(|(_, rows)| rows).sum::<u64>(), ids.len() as u64);
            prop_assert!(windows.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
        }
    }
}
