//! Little-endian numbers at fixed places of a header.
//!
//! Callers pass offsets that are constants below the header's length, so the slices cannot be out of range.

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// The position of the first byte that is not zero in `bytes[range]`, as an offset into `bytes`.
pub(crate) fn first_nonzero(bytes: &[u8], range: std::ops::Range<usize>) -> Option<usize> {
    let start = range.start;
    bytes[range].iter().position(|&byte| byte != 0).map(|position| start + position)
}

/// The first bytes of a file as text that is safe to print.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(8)];
    if start.is_empty() {
        "an empty file".to_owned()
    } else {
        format!("\"{}\"", start.escape_ascii())
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}
