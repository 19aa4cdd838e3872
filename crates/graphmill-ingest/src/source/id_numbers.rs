//! Ids as arrays hold them, as numbers of 64 bits.
//! Files, archives and memory give integers of any type; here they become ids, and what is
//! negative or too large stays recognisable, so that one comparison finds it. It must not know
//! edges or rows.

use graphmill_format::ElementType;

use crate::npy::ArrayType;

/// The largest id; whatever a bad one is sign-extended to is larger.
pub(crate) const LARGEST_ID: u64 = i64::MAX as u64;

/// Appends every integer of some bytes, sign-extended.
pub(crate) fn extend_ids(numbers: ArrayType, bytes: &[u8], into: &mut Vec<u64>) {
    fn each<const N: usize>(bytes: &[u8], into: &mut Vec<u64>, id: impl Fn([u8; N]) -> u64) {
        into.extend(bytes.as_chunks::<N>().0.iter().map(|bytes| id(*bytes)));
    }
    match numbers {
        ArrayType::Element(ElementType::I8) => {
            each(bytes, into, |bytes| i8::from_le_bytes(bytes) as u64);
        }
        ArrayType::Element(ElementType::I16) => {
            each(bytes, into, |bytes| i16::from_le_bytes(bytes) as u64);
        }
        ArrayType::Element(ElementType::I32) => {
            each(bytes, into, |bytes| i32::from_le_bytes(bytes) as u64);
        }
        ArrayType::Element(ElementType::U8 | ElementType::Bool) => {
            each(bytes, into, |[byte]: [u8; 1]| byte.into());
        }
        ArrayType::U16 => each(bytes, into, |bytes| u16::from_le_bytes(bytes).into()),
        ArrayType::U32 => each(bytes, into, |bytes| u32::from_le_bytes(bytes).into()),
        _ => each(bytes, into, u64::from_le_bytes),
    }
}

/// A bad id as the source has it.
pub(crate) fn shown(numbers: ArrayType, id: u64) -> String {
    match numbers {
        ArrayType::U64 => id.to_string(),
        _ => (id as i64).to_string(),
    }
}

/// Whether none of some ids is bad.
pub(crate) fn all_good(ids: &[u64]) -> bool {
    ids.iter().fold(0, |largest, &id| largest.max(id)) <= LARGEST_ID
}
