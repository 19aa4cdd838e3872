//! Digests of data: XXH3-64 of every MiB of a section.
//!
//! Blocks start at the section's start, so sections can be written and digested independently of each other; the last
//! block of a section is short. The digest table is itself digested in the header, which its CRC protects.

use crate::Section;
use twox_hash::XxHash3_64;

/// Bytes covered by one digest.
pub const BLOCK_LENGTH: u64 = 1 << 20;

/// Digest of one block, or of the digest table.
pub fn digest(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// How many digests a section of `length` bytes has.
pub fn block_count(length: u64) -> u64 {
    length.div_ceil(BLOCK_LENGTH)
}

/// The bytes of the file that block `index` of a section covers.
pub fn block_range(section: &Section, index: u64) -> std::ops::Range<u64> {
    let start = section.offset + index * BLOCK_LENGTH;
    start..(start + BLOCK_LENGTH).min(section.end())
}

/// The digest table as it is stored.
pub fn encode(digests: &[u64]) -> Vec<u8> {
    digests.iter().flat_map(|digest| digest.to_le_bytes()).collect()
}

/// Digests one section as it is written from front to back, in pieces of any size.
#[derive(Default)]
pub struct BlockDigester {
    hasher: XxHash3_64,
    filled: u64,
    digests: Vec<u64>,
}

impl BlockDigester {
    /// Takes the next bytes of the section.
    pub fn update(&mut self, mut bytes: &[u8]) {
        use std::hash::Hasher;
        while !bytes.is_empty() {
            let room = (BLOCK_LENGTH - self.filled) as usize;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.hasher.write(now);
            self.filled += now.len() as u64;
            bytes = later;
            if self.filled == BLOCK_LENGTH {
                self.close_block();
            }
        }
    }

    /// The digests of all blocks, the short last one included.
    pub fn finish(mut self) -> Vec<u64> {
        if self.filled > 0 {
            self.close_block();
        }
        self.digests
    }

    fn close_block(&mut self) {
        use std::hash::Hasher;
        self.digests.push(self.hasher.finish());
        self.hasher = XxHash3_64::new();
        self.filled = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn pieces_of_any_size_give_the_digests_of_whole_blocks(
            length in 0_usize..3_000_000, piece in 1_usize..1_500_000, seed: u8,
        ) {
            let data: Vec<u8> = (0..length).map(|i| (i as u8).wrapping_mul(31) ^ seed).collect();
            let mut digester = BlockDigester::default();
            data.chunks(piece).for_each(|chunk| digester.update(chunk));
            let expected: Vec<u64> = data.chunks(BLOCK_LENGTH as usize).map(digest).collect();
            prop_assert_eq!(block_count(length as u64), expected.len() as u64);
            prop_assert_eq!(digester.finish(), expected);
        }
    }
}
