//! One row from where it was read to where it is wanted.
//! Rows go as they are, or half floats become single ones on the way, which costs no pass of its own. Everything that
//! delivers rows copies them through here; it does not know where they come from.

use graphmill_format::{ElementType, TableShape};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use zerocopy::FromBytes;

/// How the elements of a row change while they are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowCopy {
    /// Not at all.
    Plain,
    /// From half precision to single.
    WidenF16,
    /// From bfloat16 to single.
    WidenBf16,
}

impl RowCopy {
    /// What is done to elements of this type if half floats shall be widened.
    pub(crate) fn new(element: ElementType, widen: bool) -> Self {
        match element {
            ElementType::F16 if widen => Self::WidenF16,
            ElementType::Bf16 if widen => Self::WidenBf16,
            _ => Self::Plain,
        }
    }

    /// The type of the elements that are delivered.
    pub(crate) fn delivered(self, element: ElementType) -> ElementType {
        if self == Self::Plain { element } else { ElementType::F32 }
    }

    /// Bytes of a delivered row; None if that is no number of bytes.
    pub(crate) fn delivered_length(self, shape: &TableShape) -> Option<u64> {
        shape.columns().checked_mul(self.delivered(shape.element()).width())
    }

    /// Copies one row; both slices have the lengths that a row has on its side.
    #[inline]
    pub(crate) fn copy(self, from: &[u8], into: &mut [u8]) {
        match self {
            Self::Plain => into.copy_from_slice(from),
            Self::WidenF16 => {
                match (<[f16]>::ref_from_bytes(from), <[f32]>::mut_from_bytes(into)) {
                    (Ok(halves), Ok(singles)) => halves.convert_to_f32_slice(singles),
                    _ => widen_each(from, into, |half| f16::from_le_bytes(half).to_f32()),
                }
            }
            Self::WidenBf16 => {
                match (<[bf16]>::ref_from_bytes(from), <[f32]>::mut_from_bytes(into)) {
                    (Ok(halves), Ok(singles)) => halves.convert_to_f32_slice(singles),
                    _ => widen_each(from, into, |half| bf16::from_le_bytes(half).to_f32()),
                }
            }
        }
    }
}

/// The same for memory that is not aligned as numbers are.
fn widen_each(from: &[u8], into: &mut [u8], widen: impl Fn([u8; 2]) -> f32) {
    let (halves, _) = from.as_chunks::<2>();
    let (singles, _) = into.as_chunks_mut::<4>();
    for (half, single) in halves.iter().zip(singles) {
        *single = widen(*half).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_halves_widen_to_the_same_number_wherever_they_lie() {
        for (element, widen) in [
            (ElementType::F16, (|bits| f16::from_bits(bits).to_f32()) as fn(u16) -> f32),
            (ElementType::Bf16, |bits| bf16::from_bits(bits).to_f32()),
        ] {
            let expected: Vec<u8> =
                (0..=u16::MAX).flat_map(|bits| widen(bits).to_le_bytes()).collect();
            let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
            // Somewhere among these both are aligned, and somewhere neither is.
            for shift in 0..4 {
                let mut from = vec![0; shift];
                from.extend_from_slice(&halves);
                let mut into = vec![0; shift + expected.len()];
                RowCopy::new(element, true).copy(&from[shift..], &mut into[shift..]);
                assert!(into[shift..] == expected, "{element} shifted by {shift}");
            }
            assert_eq!(RowCopy::new(element, false), RowCopy::Plain);
        }
        assert_eq!(RowCopy::new(ElementType::F64, true), RowCopy::Plain);
    }
}
