//! Words at any bit of a slice, and the k-th one of a word.
//! All of it is portable; readers that care have it compiled for processors with instructions for it.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The eight bytes from a byte of the slice on; None if they are not all there.
#[inline(always)]
pub(super) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// At most 57 bits from a bit of the slice on, above them anything.
#[inline(always)]
pub(super) fn bits_at(bytes: &[u8], bit: usize) -> Option<u64> {
    word_at(bytes, bit / 8).map(|word| word >> (bit % 8))
}

/// A number whose `count` low bits are set; `count` is below 64.
#[inline(always)]
pub(super) fn low_mask(count: u32) -> u64 {
    (1 << count) - 1
}

/// The three words from a byte of the slice on; None if they are not all there.
#[inline(always)]
pub(super) fn words_at(bytes: &[u8], at: usize) -> Option<[u64; 3]> {
    let chunk: &[u8; 24] = bytes.get(at..)?.first_chunk()?;
    let ([first, second, third], []) = chunk.as_chunks::<8>() else { return None };
    Some([u64::from_le_bytes(*first), u64::from_le_bytes(*second), u64::from_le_bytes(*third)])
}

/// The ones of a word, counted in each byte together with all bytes below it.
#[derive(Clone, Copy)]
pub(super) struct Counts(u64);

impl Counts {
    #[inline(always)]
    pub(super) fn of(word: u64) -> Self {
        let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
        let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
        Counts(((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES))
    }

    /// Where the one number `number`, of fewer than there are, is in the word that was counted.
    #[inline(always)]
    pub(super) fn select(self, word: u64, number: u64) -> u64 {
        // A byte's top bit stays if no more ones than `number` are in it and below: then the one is further up.
        let below = (((number * ONES) | TOPS).wrapping_sub(self.0) & TOPS) >> 7;
        let shift = (below.wrapping_mul(ONES) >> 56) * 8;
        let before = (self.0 << 8) >> (shift & 63) & 0xff;
        let byte = word >> (shift & 63) & 0xff;
        shift + u64::from(IN_BYTE[((number - before) & 7) as usize][byte as usize])
    }
}

/// Where the ones of every byte are: `[number][byte]`.
static IN_BYTE: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut number) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[number][byte] = bit as u8;
                number += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_ones_of_a_word_are_found(dense: u64, mask: u64) {
            for word in [dense, dense & mask, dense | mask, u64::MAX, 1, 1 << 63] {
                let counts = Counts::of(word);
                let ones = (0..64).filter(|bit| word >> bit & 1 == 1);
                for (number, bit) in ones.enumerate() {
                    prop_assert_eq!(counts.select(word, number as u64), bit);
                }
            }
        }
    }

    #[test]
    fn words_end_with_the_slice() {
        let bytes: Vec<u8> = (1..=9).collect();
        assert_eq!(word_at(&bytes, 1), Some(0x0908_0706_0504_0302));
        assert_eq!((word_at(&bytes, 2), word_at(&bytes, usize::MAX)), (None, None));
        assert_eq!(bits_at(&bytes, 12).map(|bits| bits & 0xff), Some(0x30));
    }
}
