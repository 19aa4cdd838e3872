//! Pairs of ids, straight into the neighbour lists of a few nodes.
//! Pairs are brought into the order of their neighbours digit by digit, unless they come in it; the
//! last pass goes by node, and places bare neighbours where the lists will have them. Its counters
//! are the offsets. What is too large for the caches is cut into ranges of nodes first. It must not
//! know where the pairs came from.

use zerocopy::{FromBytes, IntoBytes};

/// Bits of a digit: its counters and the lines that they point to stay in the second cache.
const DIGIT: u32 = 13;
/// Fewer pairs are compared instead.
const FEW: usize = 2048;
/// More pairs are cut into pieces of about a quarter as many: passes over them would miss the caches
/// at every step.
const MANY: usize = if cfg!(test) { 1 << 12 } else { 1 << 19 };

/// Where the lists of consecutive nodes end, and the first of these nodes.
pub(super) struct ListEnds<'w> {
    pub(super) first: u64,
    pub(super) ends: &'w mut [u32],
}

impl ListEnds<'_> {
    /// Counts the pairs of each node.
    fn count(&mut self, pairs: &[u64]) {
        let first = self.first as usize;
        for pair in pairs {
            self.ends[((pair >> 32) as usize).wrapping_sub(first)] += 1;
        }
    }

    /// Makes counts places: where the list of each node begins.
    fn place(&mut self) {
        places(self.ends);
    }

    /// Puts neighbours into the lists of their nodes, behind those that are there.
    fn put(&mut self, pairs: &[u64], neighbours: &mut [u32]) {
        let first = self.first as usize;
        for &pair in pairs {
            let place = &mut self.ends[((pair >> 32) as usize).wrapping_sub(first)];
            neighbours[*place as usize] = pair as u32;
            *place += 1;
        }
    }
}

/// Makes lists of pairs in any order, whose neighbours have this many bits.
///
/// `spare` is memory for as many pairs; `lists.ends` are zeros when it begins.
pub(super) fn sort<'w>(
    pairs: &'w mut [u64],
    spare: &'w mut [u64],
    lists: &mut ListEnds<'_>,
    bits: u32,
) -> &'w [u32] {
    lists.count(pairs);
    lists.place();
    if pairs.len() > MANY {
        return sort_pieces(pairs, spare, lists, bits);
    }
    let moved = by_neighbour(pairs, spare, bits);
    let (sorted, other) = if moved { (spare, pairs) } else { (pairs, spare) };
    let neighbours = narrow(other, sorted.len());
    lists.put(sorted, neighbours);
    neighbours
}

/// Does the same, a range of nodes at a time.
fn sort_pieces<'w>(
    pairs: &'w mut [u64],
    spare: &mut [u64],
    lists: &mut ListEnds<'_>,
    bits: u32,
) -> &'w [u32] {
    let wanted = (pairs.len() * 4).div_ceil(MANY);
    let nodes = lists.ends.len().div_ceil(wanted).next_power_of_two();
    // The counters are places by now, that of the first node of a range is the range's.
    let mut starts: Vec<u32> = lists.ends.iter().step_by(nodes).copied().collect();
    let ends: Vec<usize> = starts[1..].iter().map(|&start| start as usize).collect();
    let (first, shift) = (lists.first, u32::BITS + nodes.ilog2());
    for &pair in &*pairs {
        let start = &mut starts[((pair - (first << 32)) >> shift) as usize];
        spare[*start as usize] = pair;
        *start += 1;
    }
    let all = pairs.len();
    let mut start = 0;
    for end in ends.into_iter().chain([all]) {
        let (piece, other) = (&mut spare[start..end], &mut pairs[start..end]);
        if by_neighbour(piece, other, bits) {
            // Where neighbours go is no place for pairs.
            piece.copy_from_slice(other);
        }
        lists.put(piece, narrow(pairs, all));
        start = end;
    }
    narrow(pairs, all)
}

/// Makes lists of pairs that `runs` hands out in the order of their neighbours.
pub(super) fn gather<'w>(
    pairs: &[u64],
    spare: &'w mut [u64],
    lists: &mut ListEnds<'_>,
    runs: impl FnOnce(&mut dyn FnMut(&[u64])),
) -> &'w [u32] {
    lists.count(pairs);
    lists.place();
    let neighbours = narrow(spare, pairs.len());
    runs(&mut |run| lists.put(run, neighbours));
    neighbours
}

/// The first half of some memory.
fn narrow(memory: &mut [u64], count: usize) -> &mut [u32] {
    let words = <[u32]>::mut_from_bytes(memory.as_mut_bytes());
    &mut words.expect("u64 is two u32 and at least as aligned")[..count]
}

/// Sorts by the low half, of which so many bits are used; true if `spare` is what is sorted then.
fn by_neighbour<'w>(mut pairs: &'w mut [u64], mut spare: &'w mut [u64], bits: u32) -> bool {
    if pairs.len() < FEW {
        pairs.sort_unstable_by_key(|&pair| pair as u32);
        return false;
    }
    let passes = bits.div_ceil(DIGIT).max(1);
    let width = bits.div_ceil(passes);
    let mut counters = vec![0; 1 << width];
    for shift in (0..passes).map(|pass| pass * width) {
        counters.fill(0);
        count_digits(pairs, &mut counters, shift);
        places(&mut counters);
        scatter(pairs, spare, &mut counters, shift);
        (pairs, spare) = (spare, pairs);
    }
    passes % 2 == 1
}

fn count_digits(pairs: &[u64], counters: &mut [u32], shift: u32) {
    let mask = counters.len() - 1;
    for pair in pairs {
        counters[(*pair as u32 >> shift) as usize & mask] += 1;
    }
}

fn scatter(pairs: &[u64], into: &mut [u64], places: &mut [u32], shift: u32) {
    let mask = places.len() - 1;
    for &pair in pairs {
        let place = &mut places[(pair as u32 >> shift) as usize & mask];
        into[*place as usize] = pair;
        *place += 1;
    }
}

/// Turns numbers into the sums of those before them.
fn places(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += std::mem::replace(count, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs() -> impl Strategy<Value = (Vec<(u32, u32)>, u32)> {
        (1..=32_u32, 0..9000_usize).prop_flat_map(|(bits, count)| {
            let neighbour = any::<u32>().prop_map(move |id| id >> (32 - bits));
            let pair = (100..600_u32, neighbour);
            (proptest::collection::vec(pair, count), Just(bits))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lists_and_their_ends_are_those_of_sorted_pairs((mut pairs, bits) in pairs()) {
            let join = |&(node, neighbour): &(u32, u32)| {
                u64::from(node) << 32 | u64::from(neighbour)
            };
            let mut loose: Vec<u64> = pairs.iter().map(join).collect();
            let mut spare = vec![7; loose.len()];
            pairs.sort_by_key(|&(_, neighbour)| neighbour);
            let by_neighbour: Vec<u64> = pairs.iter().map(join).collect();
            pairs.sort_unstable();
            let expected: Vec<u32> = pairs.iter().map(|&(_, neighbour)| neighbour).collect();
            let end = |node: u32| pairs.partition_point(|&(other, _)| other <= node) as u32;
            let expected_ends: Vec<u32> = (90..610).map(end).collect();
            let mut ends = [0; 520];
            let mut lists = ListEnds { first: 90, ends: &mut ends };
            prop_assert_eq!(sort(&mut loose, &mut spare, &mut lists, bits), &expected);
            prop_assert_eq!(&ends[..], &expected_ends);
            ends.fill(0);
            let mut lists = ListEnds { first: 90, ends: &mut ends };
            let middle = by_neighbour.len() / 3;
            let found = gather(&by_neighbour, &mut spare, &mut lists, |take| {
                take(&by_neighbour[..middle]);
                take(&by_neighbour[middle..]);
            });
            prop_assert_eq!(found, &expected);
            prop_assert_eq!(&ends[..], &expected_ends);
        }
    }
}
