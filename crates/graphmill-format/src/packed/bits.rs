//! Words of a slice, and masks.

/// The eight bytes from a byte of the slice on; None if they are not all there.
#[inline(always)]
pub(super) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// A number whose `count` low bits are set; `count` is below 64.
#[inline(always)]
pub(super) fn low_mask(count: u32) -> u64 {
    (1 << count) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_with_the_slice() {
        let bytes: Vec<u8> = (1..=9).collect();
        assert_eq!(word_at(&bytes, 1), Some(0x0908_0706_0504_0302));
        assert_eq!((word_at(&bytes, 2), word_at(&bytes, usize::MAX)), (None, None));
    }
}
