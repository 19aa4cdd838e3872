//! Where a range of keys is cut into parts.
//! A sample of the keys decides: parts hold about equally many records, and a key that is a part's
//! worth by itself gets a part of its own. The distribution asks for the part of every record, so
//! finding it is one table look-up for almost all keys. It must not know what keys mean.

use super::buckets::{BUCKETS, Buckets};

/// The lower bounds of parts that cover all keys.
#[derive(Clone, Debug)]
pub(super) struct Splitters {
    /// The first is 0; strictly ascending.
    bounds: Vec<u64>,
    buckets: Buckets,
    /// For every bucket the part of its smallest key, and once more the last part.
    parts: Vec<u16>,
    /// Whether no part begins inside a bucket.
    even: bool,
}

impl Splitters {
    /// One part for everything.
    pub(super) fn none() -> Self {
        Self::from_bounds(vec![0])
    }

    /// About `parts` parts of equal weight. At least two are not empty unless all keys are equal.
    pub(super) fn of_sample(mut sample: Vec<u64>, parts: usize) -> Self {
        sample.sort_unstable();
        let (Some(&smallest), Some(&largest)) = (sample.first(), sample.last()) else {
            return Self::none();
        };
        // Bounds are numbered by u16, and a heavy key has two of them.
        let parts = parts.clamp(2, usize::from(u16::MAX) / 4);
        // Ids as they come are spread evenly; those of hot nodes crowd at the beginning.
        let ways = [Buckets::equal(smallest, largest), Buckets::growing(smallest)];
        if let Some(splitters) =
            ways.into_iter().find_map(|way| Self::of_buckets(way, &sample, parts))
        {
            return splitters;
        }
        // Keys around a heavy one belong to other parts, which makes them sortable apart from it.
        let mut bounds = vec![0, largest];
        bounds.extend(smallest.checked_add(1));
        for part in 1..parts {
            let at = sample.len() * part / parts;
            let key = sample[at];
            bounds.push(key);
            let heavy = sample.get(at + sample.len().div_ceil(parts)) == Some(&key);
            if heavy || smallest == largest {
                bounds.extend(key.checked_add(1));
            }
        }
        bounds.sort_unstable();
        bounds.dedup();
        Self::from_bounds(bounds)
    }

    /// Parts of whole buckets, if the keys fall into them evenly enough for that.
    fn of_buckets(buckets: Buckets, sample: &[u64], parts: usize) -> Option<Self> {
        let fair = sample.len().div_ceil(parts);
        let mut bounds = vec![0];
        let mut filled = 0;
        for keys in sample.chunk_by(|&one, &two| buckets.of(one) == buckets.of(two)) {
            let bucket = buckets.of(keys[0]);
            let (start, end) = (buckets.start(bucket), buckets.start(bucket + 1));
            // The outermost buckets hold keys beyond the sample, too.
            let alone = end - start == 1 && (bucket > 0 || start == 0) && bucket + 1 < BUCKETS;
            if alone && keys.len() > fair {
                bounds.extend([start, end]);
                filled = 0;
                continue;
            }
            if keys.len() > 4 * fair {
                return None;
            }
            if filled >= fair {
                bounds.push(start);
                filled = 0;
            }
            filled += keys.len();
        }
        bounds.dedup();
        let mut splitters = Splitters { bounds, buckets, parts: Vec::new(), even: true };
        splitters.fill_table();
        (splitters.len() > 1).then_some(splitters)
    }

    fn from_bounds(bounds: Vec<u64>) -> Self {
        let lowest = bounds.get(1).copied().unwrap_or(0);
        let buckets = Buckets::equal(lowest, bounds[bounds.len() - 1].max(lowest));
        let mut splitters = Splitters { bounds, buckets, parts: Vec::new(), even: false };
        splitters.fill_table();
        splitters
    }

    fn fill_table(&mut self) {
        let Splitters { bounds, buckets, .. } = &*self;
        let part_of = |key: u64| (bounds.partition_point(|&bound| bound <= key) - 1) as u16;
        let mut parts: Vec<u16> = (0..BUCKETS)
            .map(|bucket| match bucket {
                // It holds what lies below its start, too.
                0 if !self.even => 0,
                _ => part_of(buckets.start(bucket)),
            })
            .collect();
        parts.push(bounds.len() as u16 - 1);
        self.parts = parts;
    }

    /// Number of parts.
    pub(super) fn len(&self) -> usize {
        self.bounds.len()
    }

    /// The smallest key that a part may hold.
    pub(super) fn lower_bound(&self, part: usize) -> u64 {
        self.bounds[part]
    }

    /// Whether a part can hold one key only.
    pub(super) fn is_single(&self, part: usize) -> bool {
        match self.bounds.get(part + 1) {
            Some(&end) => end - self.bounds[part] == 1,
            None => self.bounds[part] == u64::MAX,
        }
    }

    /// The part of a key.
    #[inline(always)]
    pub(super) fn part(&self, key: u64) -> usize {
        let bucket = self.buckets.of(key);
        let mut low = usize::from(self.parts[bucket]);
        if self.even {
            return low;
        }
        let mut high = usize::from(self.parts[bucket + 1]);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if self.bounds[middle] <= key {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..50, any::<u64>(), Just(0), Just(u64::MAX), (1_u64 << 40)..(1 << 41)]
    }

    proptest! {
        #[test]
        fn every_key_is_found_in_the_part_whose_bounds_enclose_it(
            sample in proptest::collection::vec(key(), 0..300),
            keys in proptest::collection::vec(key(), 1..100),
            parts in 0..40_usize,
        ) {
            let splitters = Splitters::of_sample(sample.clone(), parts);
            for &key in keys.iter().chain(&sample) {
                let part = splitters.part(key);
                prop_assert!(splitters.lower_bound(part) <= key);
                if part + 1 < splitters.len() {
                    prop_assert!(key < splitters.lower_bound(part + 1));
                }
                prop_assert!(!splitters.is_single(part) || splitters.lower_bound(part) == key);
            }
        }

        #[test]
        fn keys_beyond_the_sample_keep_to_the_bounds(
            heavy in 1_u64..5000, count in 1_usize..400, others in proptest::collection::vec(0_u64..5000, 0..200),
            parts in 2..40_usize,
        ) {
            let mut sample = others;
            sample.retain(|&key| key >= heavy);
            sample.extend(vec![heavy; count]);
            for sample in [sample.clone(), sample.iter().map(|key| 10_000 - key).collect()] {
                let splitters = Splitters::of_sample(sample, parts);
                for key in 0..11_000 {
                    let part = splitters.part(key);
                    prop_assert!(splitters.lower_bound(part) <= key);
                    let end = (part + 1 < splitters.len()).then(|| splitters.lower_bound(part + 1));
                    prop_assert!(end.is_none_or(|end| key < end));
                }
            }
        }

        #[test]
        fn different_keys_are_told_apart_and_equal_ones_stand_alone(
            sample in proptest::collection::vec(key(), 1..300),
            parts in 0..40_usize,
        ) {
            let splitters = Splitters::of_sample(sample.clone(), parts);
            let first = splitters.part(sample[0]);
            let together = sample.iter().all(|&key| splitters.part(key) == first);
            prop_assert!(!together || splitters.is_single(first));
        }
    }

    #[test]
    fn crowded_keys_are_found_by_one_look_up() {
        // As many keys in every octave: hot nodes first.
        let sample: Vec<u64> = (0..22)
            .flat_map(|octave| (0..2000).map(move |at| ((2000 + at) << octave) / 2000))
            .collect();
        let splitters = Splitters::of_sample(sample.clone(), 256);
        assert!(splitters.even);
        let mut counts = vec![0; splitters.len()];
        sample.iter().for_each(|&key| counts[splitters.part(key)] += 1);
        let fair = sample.len() / 256;
        let largest = |part: usize| splitters.is_single(part) || counts[part] <= 5 * fair;
        assert!((0..counts.len()).all(largest), "{counts:?}");
    }

    #[test]
    fn a_hub_gets_a_part_of_its_own_and_the_rest_is_even() {
        let mut sample: Vec<u64> = (0..10_000).collect();
        sample.extend([5000; 5000]);
        let splitters = Splitters::of_sample(sample.clone(), 30);
        assert!(splitters.is_single(splitters.part(5000)));
        let mut counts = vec![0; splitters.len()];
        sample.iter().for_each(|&key| counts[splitters.part(key)] += 1);
        counts.sort_unstable();
        assert!(counts[counts.len() - 2] <= 600, "{counts:?}");
    }
}
