//! Eight differences after the other, and what they are added to.
//! Lists of many lengths take the same way through this code, which has no decision for each value. Where a block is, and
//! how many of its values are wanted, is known elsewhere; `eights_avx2` does the same with other instructions.

use super::bits::low_mask;
use super::{Place, READ_TOGETHER, TAIL_LENGTH};

/// Bits of a difference if two of them lie within a word that begins with a byte.
pub(super) const WIDTH_OF_PAIRS: usize = 28;

/// Reads eight values after the other, which all begin at the same bit of a byte: eight values of so many bits take as
/// many bytes.
pub(super) struct Eights {
    base: u64,
    width: usize,
    mask: u64,
    bit: usize,
}

impl Eights {
    #[inline(always)]
    pub(super) fn new(bit: usize, place: Place) -> Self {
        // No width has more than six bits, and by this the compiler knows that no word ends behind the bytes.
        let width = (place.width & 63) as usize;
        Eights { base: place.base, width, mask: low_mask(place.width), bit: bit % 8 }
    }

    #[inline(always)]
    pub(super) fn read(
        &self,
        bytes: &[u8; TAIL_LENGTH as usize],
        values: &mut [i64; READ_TOGETHER],
    ) {
        if self.width <= WIDTH_OF_PAIRS {
            for (number, [one, other]) in values.as_chunks_mut().0.iter_mut().enumerate() {
                let both = self.word(bytes, 2 * number);
                *one = self.value(both);
                *other = self.value(both >> self.width);
            }
        } else {
            for (number, one) in values.iter_mut().enumerate() {
                *one = self.value(self.word(bytes, number));
            }
        }
    }

    #[inline(always)]
    fn word(&self, bytes: &[u8; TAIL_LENGTH as usize], number: usize) -> u64 {
        let (mut word, bit) = ([0; 8], self.bit + number * self.width);
        word.copy_from_slice(&bytes[bit / 8..bit / 8 + 8]);
        u64::from_le_bytes(word) >> (bit % 8)
    }

    #[inline(always)]
    fn value(&self, bits: u64) -> i64 {
        (self.base + (bits & self.mask)) as i64
    }
}
