//! Checks of what stands inside sections, a piece at a time.
//!
//! `verify` feeds them the pieces that it reads anyway; each returns the position of the first fault in the piece.
//! They are branch-free inside, so that they run at the speed of memory, and look for the culprit only when there is one.

use fearless_simd::{Level, Simd, dispatch};

/// The first offset that is below its predecessor or above `limit`; `previous` is the last offset of the piece before.
pub fn first_bad_offset(previous: u64, offsets: &[u64], limit: u64) -> Option<usize> {
    let &first = offsets.first()?;
    let descends = offsets.windows(2).fold(first < previous, |bad, pair| bad | (pair[1] < pair[0]));
    let exceeds = offsets.iter().fold(false, |bad, &offset| bad | (offset > limit));
    if !descends && !exceeds {
        return None;
    }
    let before = std::iter::once(previous).chain(offsets.iter().copied());
    offsets.iter().zip(before).position(|(&offset, before)| offset < before || offset > limit)
}

/// Integers that can be node ids.
pub trait NodeId: Copy + Ord {
    /// The value, if it is not negative.
    fn id(self) -> Option<u64>;
    /// The value as unsigned bits: a negative one becomes larger than any id.
    fn bits(self) -> u64;
    /// Whether an id is negative or not below `num_nodes`, without saying which.
    fn any_bad(ids: &[Self], num_nodes: u64) -> bool;
}

impl NodeId for i32 {
    fn id(self) -> Option<u64> {
        u64::try_from(self).ok()
    }
    fn bits(self) -> u64 {
        i64::from(self) as u64
    }
    #[inline(always)]
    fn any_bad(ids: &[Self], num_nodes: u64) -> bool {
        // Negative ids are 2^31 or more without their sign, and no valid i32 reaches that.
        let limit = num_nodes.min(1 << 31) as u32;
        ids.iter().fold(false, |bad, &id| bad | (id as u32 >= limit))
    }
}

impl NodeId for i64 {
    fn id(self) -> Option<u64> {
        u64::try_from(self).ok()
    }
    fn bits(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn any_bad(ids: &[Self], num_nodes: u64) -> bool {
        let limit = num_nodes.min(1 << 63);
        ids.iter().fold(false, |bad, &id| bad | (id as u64 >= limit))
    }
}

/// The first id that is negative or not below `num_nodes`.
pub fn first_bad_id<T: NodeId>(ids: &[T], num_nodes: u64) -> Option<usize> {
    if !T::any_bad(ids, num_nodes) {
        return None;
    }
    ids.iter().position(|id| id.id().is_none_or(|id| id >= num_nodes))
}

/// Ids that are counted at a time.
const RUN: usize = 4096;

/// How many ids are below their predecessor, or None if an id is negative or not below `num_nodes`.
///
/// Compiled for every width of registers, of which the widest that the processor has is used: with those that all of them
/// have, counting takes a fifth of the time of verifying a graph.
pub fn count_descents<T: NodeId>(ids: &[T], num_nodes: u64) -> Option<usize> {
    dispatch!(Level::new(), simd => simd.vectorize(
        #[inline(always)]
        || descents_by_runs(ids, num_nodes),
    ))
}

/// Plain loops: what iterators of the library call may be compiled apart, for the narrowest registers.
#[inline(always)]
fn descents_by_runs<T: NodeId>(ids: &[T], num_nodes: u64) -> Option<usize> {
    let mut descents = 0;
    let mut start = 0;
    while start < ids.len() {
        // Short runs keep the counters as narrow as the ids and the second look in the nearest cache. Each begins with the
        // last id of the one before.
        let run = &ids[start.saturating_sub(1)..ids.len().min(start + RUN)];
        if T::any_bad(run, num_nodes) {
            return None;
        }
        let mut count = 0_u32;
        for (id, before) in run[1..].iter().zip(run) {
            count += u32::from(id < before);
        }
        descents += count as usize;
        start += RUN;
    }
    Some(descents)
}

/// The first weight that is negative, infinite or not a number.
pub fn first_bad_weight(weights: &[f32]) -> Option<usize> {
    weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0))
}

/// The first byte of a boolean table that is neither 0 nor 1.
pub fn first_bad_bool(bytes: &[u8]) -> Option<usize> {
    if bytes.iter().fold(0, |all, &byte| all | byte) <= 1 {
        return None;
    }
    bytes.iter().position(|&byte| byte > 1)
}

/// The first byte of padding that is not zero.
pub fn first_nonzero(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_must_ascend_and_stay_below_the_limit() {
        assert_eq!(first_bad_offset(0, &[0, 3, 3, 7], 7), None);
        assert_eq!(first_bad_offset(1, &[0, 3], 7), Some(0));
        assert_eq!(first_bad_offset(0, &[0, 5, 4], 7), Some(2));
        assert_eq!(first_bad_offset(0, &[0, 8, 9], 7), Some(1));
        assert_eq!(first_bad_offset(9, &[], 7), None);
    }

    #[test]
    fn ids_must_be_nodes() {
        assert_eq!(first_bad_id(&[0_i32, 4, 2], 5), None);
        assert_eq!(first_bad_id(&[0_i32, 5, 9], 5), Some(1));
        assert_eq!(first_bad_id(&[0_i64, 1, -1], 5), Some(2));
        assert_eq!(first_bad_id::<i64>(&[], 0), None);
        assert_eq!(first_bad_id(&[0_i64], 0), Some(0));
        assert_eq!(first_bad_id(&[7_i32, -1], 1 << 40), Some(1));
        assert_eq!(first_bad_id(&[7_i64, -2], u64::MAX), Some(1));
    }

    #[test]
    fn descents_are_counted_across_runs() {
        let mut ids: Vec<i32> = (1..10_001).collect();
        assert_eq!(count_descents(&ids, 10_001), Some(0));
        assert_eq!(count_descents(&ids, 10_000), None);
        for at in [1, 4095, 4096, 4097, 8192, 9999] {
            ids[at] = 0;
        }
        let slow = ids.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert_eq!(count_descents(&ids, 10_001), Some(slow));
        assert_eq!(count_descents(&[5_i64, 5, 4, 9, 0], 10), Some(2));
        assert_eq!(count_descents(&[5_i64, -1], 10), None);
        assert_eq!(count_descents::<i64>(&[], 0), Some(0));
        assert_eq!((count_descents(&[5_i64], 6), count_descents(&[5_i64], 5)), (Some(0), None));
    }

    #[test]
    fn weights_and_booleans_must_mean_something() {
        assert_eq!(first_bad_weight(&[0.0, 1.5, f32::NAN]), Some(2));
        assert_eq!(first_bad_weight(&[0.0, -1.0]), Some(1));
        assert_eq!(first_bad_bool(&[0, 1, 1, 2]), Some(3));
        assert_eq!(first_nonzero(&[0, 0, 7]), Some(2));
    }
}
