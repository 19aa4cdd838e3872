//! Keys in a few thousand buckets, by arithmetic alone.
//! Parts are made of whole buckets where that is fair, so that one look-up finds the part of a key.
//! Buckets are equally wide, or grow with the distance from the smallest key by about a
//! sixty-fourth of it, which suits keys that crowd at the beginning. It must not know parts.

/// Number of buckets: with two bytes for each, a table of them stays in the first cache.
pub(super) const BUCKETS: usize = 4096;
/// Buckets of every doubling of the distance, as a power of two.
const OCTAVE: u32 = 6;

/// How keys fall into buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets {
    /// Bucket 0 starts here and holds all smaller keys too.
    lowest: u64,
    /// By how much keys are shifted; None if buckets grow.
    shift: Option<u32>,
}

impl Buckets {
    /// Equally wide ones, just wide enough for the keys given.
    pub(super) fn equal(lowest: u64, highest: u64) -> Self {
        let bits = u64::BITS - (highest - lowest).leading_zeros();
        Buckets { lowest, shift: Some(bits.saturating_sub(BUCKETS.ilog2())) }
    }

    /// Ones that grow with the distance from `lowest`.
    pub(super) fn growing(lowest: u64) -> Self {
        Buckets { lowest, shift: None }
    }

    /// The bucket of a key.
    #[inline(always)]
    pub(super) fn of(&self, key: u64) -> usize {
        let distance = key.saturating_sub(self.lowest);
        let bucket = match self.shift {
            Some(shift) => distance >> shift,
            None => {
                // The leading bits of a number and their place, like a float of six bits.
                let octave = u64::BITS - 1 - OCTAVE - (distance | 1 << OCTAVE).leading_zeros();
                (u64::from(octave) << OCTAVE) + (distance >> octave)
            }
        };
        bucket.min(BUCKETS as u64 - 1) as usize
    }

    /// The smallest key of a bucket beside those below all; the largest key there is if none
    /// falls into it.
    pub(super) fn start(&self, bucket: usize) -> u64 {
        let bucket = bucket as u64;
        let distance = match self.shift {
            Some(shift) => bucket.checked_shl(shift).filter(|distance| distance >> shift == bucket),
            None => {
                let octave = (bucket >> OCTAVE).saturating_sub(1);
                let leading = bucket - (octave << OCTAVE);
                let fits = leading.leading_zeros() >= octave as u32;
                fits.then(|| leading << octave)
            }
        };
        distance.and_then(|distance| self.lowest.checked_add(distance)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_holds_the_keys_from_its_start_to_the_next(
            lowest in prop_oneof![Just(0), 0_u64..1000, any::<u64>()],
            width in prop_oneof![0_u64..10_000, any::<u64>()],
            shift in 0_u32..64, share: u64, grow: bool,
        ) {
            let highest = lowest.saturating_add(width >> shift);
            let key = lowest + share.checked_rem(highest - lowest + 1).unwrap_or(share);
            let way = if grow { Buckets::growing(lowest) } else { Buckets::equal(lowest, highest) };
            let bucket = way.of(key);
            prop_assert!(bucket < BUCKETS);
            prop_assert!(way.start(bucket) <= key);
            let end = way.start(bucket + 1);
            prop_assert!(key < end || end == u64::MAX);
            prop_assert!(bucket == 0 || way.of(way.start(bucket)) == bucket);
            prop_assert!(bucket == 0 || way.of(way.start(bucket) - 1) == bucket - 1);
            prop_assert_eq!(way.of(lowest / 2), 0);
        }
    }
}
