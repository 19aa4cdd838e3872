//! The same as `eights` with the instructions of AVX2, four values at once.
//! A value of up to 48 bits lies within eight bytes, wherever it begins; two that follow each other lie within sixteen. So a
//! half of a register holds the bytes of two values, a shuffle brings each to a lane of its own, and a shift to its
//! beginning. How far to shuffle and to shift is the same for all eights of a block.

use super::bits::low_mask;
use super::{PackedSequence, Place, READ_TOGETHER, TAIL_LENGTH};
use std::arch::x86_64::*;

fearless_simd::kernel!(
    /// Reads some values of a sequence and tells a number that none of them exceeds.
    #[inline]
    pub(super) fn read_wide(
        avx2: Avx2,
        sequence: &PackedSequence<'_>,
        place: Place,
        first: u64,
        count: usize,
        into: &mut [i64],
    ) -> Option<u64> {
        sequence.in_blocks(place, first, count, |place, index, range| {
            let eights = WideEights::new(place.bit_of(index), place);
            sequence.by_eights(place, index, range, into, |from, into| eights.read(from, into))?;
            Some(place.bound())
        })
    }
);

/// What [`Eights`](super::eights::Eights) is, in registers.
pub(super) struct WideEights {
    base: __m256i,
    mask: __m256i,
    fours: [Four; 2],
}

/// How four values are brought to their lanes.
#[derive(Clone, Copy)]
struct Four {
    /// Where the bytes of the first two and of the last two begin.
    at: [usize; 2],
    shuffle: __m256i,
    shift: __m256i,
}

impl Four {
    /// For values that begin at some bits.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn new(first: usize, width: usize, bits: __m256i) -> Self {
        // Counted from the byte with which the sixteen begin that a value shares with its neighbour.
        let shared = _mm256_andnot_si256(_mm256_set1_epi64x(7), _mm256_unpacklo_epi64(bits, bits));
        let bits = _mm256_sub_epi64(bits, shared);
        let first_byte = _mm256_srli_epi64::<3>(bits);
        // To all bytes of its lane.
        let lane = _mm256_setr_epi64x(0, 0x0808_0808_0808_0808, 0, 0x0808_0808_0808_0808);
        let first_byte = _mm256_shuffle_epi8(first_byte, lane);
        Four {
            at: [first / 8, (first + 2 * width) / 8],
            shuffle: _mm256_add_epi8(first_byte, _mm256_set1_epi64x(0x0706_0504_0302_0100)),
            shift: _mm256_and_si256(bits, _mm256_set1_epi64x(7)),
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn lanes(&self, bytes: &[u8; TAIL_LENGTH as usize]) -> __m256i {
        let [low, high] = self.at.map(|at| two_words(bytes, at));
        let both = _mm256_setr_epi64x(low[0], low[1], high[0], high[1]);
        _mm256_srlv_epi64(_mm256_shuffle_epi8(both, self.shuffle), self.shift)
    }
}

/// Sixteen bytes, of which all are there for any bits that an eight can have.
#[inline(always)]
fn two_words(bytes: &[u8; TAIL_LENGTH as usize], at: usize) -> [i64; 2] {
    let at = at.min(TAIL_LENGTH as usize - 16);
    let (words, _) = bytes[at..at + 16].as_chunks();
    [i64::from_le_bytes(words[0]), i64::from_le_bytes(words[1])]
}

impl WideEights {
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn new(bit: usize, place: Place) -> Self {
        let (bit, width) = (bit % 8, place.width as usize);
        let widths = _mm256_set1_epi64x(width as i64);
        let steps = _mm256_mul_epu32(widths, _mm256_setr_epi64x(0, 1, 2, 3));
        let bits = _mm256_add_epi64(steps, _mm256_set1_epi64x(bit as i64));
        let later = _mm256_add_epi64(bits, _mm256_slli_epi64::<2>(widths));
        WideEights {
            base: _mm256_set1_epi64x(place.base as i64),
            mask: _mm256_set1_epi64x(low_mask(place.width) as i64),
            fours: [Four::new(bit, width, bits), Four::new(bit + 4 * width, width, later)],
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn read(
        &self,
        bytes: &[u8; TAIL_LENGTH as usize],
        values: &mut [i64; READ_TOGETHER],
    ) {
        for (four, values) in self.fours.iter().zip(values.as_chunks_mut::<4>().0) {
            let differences = _mm256_and_si256(four.lanes(bytes), self.mask);
            *values = lanes_of(_mm256_add_epi64(differences, self.base));
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn lanes_of(register: __m256i) -> [i64; 4] {
    [
        _mm256_extract_epi64::<0>(register),
        _mm256_extract_epi64::<1>(register),
        _mm256_extract_epi64::<2>(register),
        _mm256_extract_epi64::<3>(register),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::encode;
    use fearless_simd::Level;

    #[test]
    fn wide_and_portable_reading_agree_for_every_width_and_beginning() {
        let Some(avx2) = Level::new().as_avx2() else { return };
        for width in 0..=super::super::VALUE_BITS {
            let mut state = u64::from(width) + 1;
            let values: Vec<u64> = (0..200)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 13) & low_mask(width)
                })
                .collect();
            let bytes = encode(&values).unwrap();
            let sequence = PackedSequence::new(&bytes, values.len() as u64).unwrap();
            for first in 0..values.len() as u64 {
                for count in [0, 1, 7, 8, 9, 31, 33, 70] {
                    let count = count.min(values.len() - first as usize);
                    let place = sequence.place(first);
                    let (mut wide, mut portable) = (vec![-1; count], vec![-1; count]);
                    let bounds = [
                        read_wide(avx2, &sequence, place, first, count, &mut wide),
                        sequence.read_portably(place, first, count, &mut portable),
                    ];
                    assert_eq!(bounds[0], bounds[1]);
                    assert_eq!(wide, portable, "{count} of {width} bits from {first}");
                    let expected = &values[first as usize..first as usize + count];
                    assert!(wide.iter().zip(expected).all(|(&one, &other)| one as u64 == other));
                    assert!(bounds[0] >= expected.iter().copied().max());
                }
            }
        }
    }
}
