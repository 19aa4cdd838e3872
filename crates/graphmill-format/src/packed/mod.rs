//! Packed sequences: integers below 2^48 in a few bits each, of which any one can be read by itself.
//! Neighbour lists, one after the other, and their offsets are stored this way; the store reads them from a map, the
//! packer writes them. What the integers mean is unknown here.
//!
//! A sequence is cut into blocks of [`BLOCK`] values, wherever lists begin and end. A block holds the differences of its
//! values from one that is not above them, its base, each in as many bits as the largest of them takes. A directory
//! tells where blocks are, how wide, and their bases: a value is found by one look at it and one read whose place follows
//! from that. `DESIGN.md` draws the bytes.
//!
//! Whatever the bytes say, reads stay within the slice, and no loop is longer than a block.

mod bits;
mod eights;
#[cfg(target_arch = "x86_64")]
mod eights_avx2;
mod encode;
mod entry;
mod sequence;
mod window;

pub use encode::{Directory, append_blocks, encode};
pub use entry::MOST_OF_ENTRY;
pub use sequence::{PackedSequence, Place};
pub use window::PackedWindow;

/// Values of one block.
pub const BLOCK: u64 = 32;
/// Blocks that share an entry of the directory.
pub const BLOCKS_PER_ENTRY: u64 = 16;
/// Values that share an entry of the directory.
pub const VALUES_PER_ENTRY: u64 = BLOCK * BLOCKS_PER_ENTRY;
/// Bytes of an entry of the directory.
pub const ENTRY_LENGTH: u64 = 64;
/// Values that are read together: reading some of them may go on to the end of the last so many.
pub const READ_TOGETHER: usize = 8;
/// Zeros after the last block, so that as many bytes can be read from any byte of a block on.
pub const TAIL_LENGTH: u64 = 64;
/// Values are less than two to this power.
pub const VALUE_BITS: u32 = 48;
/// Bytes of a block for every bit of a difference.
const BYTES_PER_BIT: usize = BLOCK as usize / 8;

/// Bytes of the directory of a sequence.
pub fn directory_length(count: u64) -> u64 {
    count.div_ceil(VALUES_PER_ENTRY) * ENTRY_LENGTH
}

/// Bytes of a sequence at least: its directory and what follows the last block.
pub fn least_length(count: u64) -> u64 {
    directory_length(count) + TAIL_LENGTH
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(values: &[u64]) {
        let bytes = encode(values).unwrap();
        let sequence = PackedSequence::new(&bytes, values.len() as u64).unwrap();
        for (index, &value) in values.iter().enumerate() {
            assert_eq!(sequence.get(index as u64), Some(value), "value {index}");
        }
        assert_eq!(sequence.get(values.len() as u64), None);
        let (from, to) = (values.len() / 3, values.len() - values.len() / 4);
        for range in [0..values.len(), from..to, to..to] {
            let (mut read, mut handed) = (vec![-1; range.len()], Vec::new());
            let bound = sequence.read_into(range.start as u64, &mut read);
            assert!(
                sequence.read(range.start as u64..range.end as u64, |value| handed.push(value))
            );
            let expected = &values[range];
            assert_eq!(handed, expected);
            let most = expected.iter().copied().max().unwrap_or(0);
            assert!(bound.is_some_and(|bound| bound >= most && bound < 1 << (VALUE_BITS + 2)));
            assert!(read.iter().map(|&value| value as u64).eq(handed));
        }
        let beyond = &mut vec![0; values.len() - from + 1];
        assert_eq!(sequence.read_into(from as u64, beyond), None);
        for pair in 0..values.len().saturating_sub(1) {
            assert_eq!(sequence.pair(pair as u64), Some((values[pair], values[pair + 1])));
        }
        assert_eq!(sequence.first_bad_block(), None);
    }

    #[test]
    fn sequences_of_every_small_length_come_back() {
        for length in 0..200 {
            check(&(0..length).map(|value| value * value % 77).collect::<Vec<_>>());
            check(&(0..length).collect::<Vec<_>>());
            check(&vec![(1 << VALUE_BITS) - 1; length as usize]);
            check(&vec![0; length as usize]);
        }
    }

    #[test]
    fn the_widest_blocks_fit_the_directory() {
        let most = (1 << VALUE_BITS) - 1;
        // A turn for every second value, and steps as large as they get.
        check(&(0..5000).map(|at| if at % 2 == 0 { most - at } else { at }).collect::<Vec<_>>());
        check(&(0..5000).map(|at| (at % 64) * (most / 64)).collect::<Vec<_>>());
        check(&(0..5000).map(|at| most - at).collect::<Vec<_>>());
    }

    #[test]
    fn values_that_are_too_large_are_refused() {
        assert!(encode(&[0, 1 << VALUE_BITS]).is_err());
        assert!(encode(&[u64::MAX]).is_err());
    }

    #[test]
    fn sorted_lists_take_few_bits() {
        // A list of 64,000 among 64 million nodes: 32 of them span 2^15, and a bit more is for the directory.
        let ids = (0..64_000_u64).map(|at| at * 1000 + at * 7919 % 1000);
        let bits = encode(&ids.collect::<Vec<_>>()).unwrap().len() * 8;
        assert!(bits <= 64_000 * 33 / 2 + 64, "{} bits each", bits as f64 / 64_000.0);
    }

    /// Lists as graphs have them: sorted runs of any length, of any range.
    fn lists() -> impl Strategy<Value = Vec<u64>> {
        let list = (0_u32..=VALUE_BITS, 0_usize..300).prop_flat_map(|(bits, length)| {
            prop::collection::vec(0..1_u64 << bits, length).prop_map(|mut list| {
                list.sort_unstable();
                list
            })
        });
        prop::collection::vec(list, 0..12).prop_map(|lists| lists.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn lists_come_back(values in lists()) {
            check(&values);
        }

        #[test]
        fn values_in_any_order_come_back(values in prop::collection::vec(0..1_u64 << VALUE_BITS, 0..300)) {
            check(&values);
        }

        #[test]
        fn changed_bytes_change_values_or_are_found(
            values in lists(), at: prop::sample::Index, bit in 0_u8..8,
        ) {
            let mut bytes = encode(&values).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let count = values.len() as u64;
            let sequence = PackedSequence::new(&bytes, count).unwrap();
            let read: Vec<Option<u64>> = (0..count).map(|index| sequence.get(index)).collect();
            // A sequence has one spelling: a flipped bit is another sequence, or none.
            let is_same = read.iter().zip(&values).all(|(read, value)| *read == Some(*value));
            prop_assert!(!is_same || sequence.first_bad_block().is_some());
        }
    }
}
