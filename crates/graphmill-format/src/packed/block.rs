//! How the values of a block are stored, and how large that is.
//! Planning needs one look at the values, so that the directory of a sequence can be made before its blocks.

use super::{BLOCK, BYTES_PER_BIT, VALUE_BITS};

/// How a block will be stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The least value.
    pub(super) base: u64,
    /// Bits that hold the difference of any value from it.
    pub(super) width: u32,
}

impl Plan {
    /// The plan of 1 to 32 values; None if one is too large.
    pub(super) fn of(values: &[u64]) -> Option<Self> {
        debug_assert!((1..=BLOCK as usize).contains(&values.len()));
        let (least, most) = values
            .iter()
            .fold((u64::MAX, 0), |(least, most), &value| (least.min(value), most.max(value)));
        let width = u64::BITS - (most - least).leading_zeros();
        (most >> VALUE_BITS == 0).then_some(Plan { base: least, width })
    }

    /// Bytes that the base takes, if it needs no more than others that it shares an entry with.
    pub(super) fn base_length(&self) -> usize {
        (u64::BITS - self.base.leading_zeros()).div_ceil(8) as usize
    }

    /// Bytes of the block behind a base of so many.
    pub(super) fn length(&self, base_length: usize) -> usize {
        base_length + self.width as usize * BYTES_PER_BIT
    }

    /// Adds the block to bytes. Where there are fewer than 32 values, zeros take the place of the others.
    pub(super) fn append(&self, values: &[u64], base_length: usize, bytes: &mut Vec<u8>) {
        let end = bytes.len() + self.length(base_length);
        bytes.extend_from_slice(&self.base.to_le_bytes()[..base_length]);
        let (mut word, mut filled) = (0, 0);
        for value in values {
            let difference = value - self.base;
            word |= difference << filled;
            filled += self.width;
            if filled >= u64::BITS {
                bytes.extend_from_slice(&u64::to_le_bytes(word));
                filled -= u64::BITS;
                // What did not fit any more; nothing if all did.
                word = difference.checked_shr(self.width - filled).unwrap_or(0);
            }
        }
        bytes.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
        bytes.resize(end, 0);
    }
}
