//! Feature bits: how an old reader learns that it must not read a new file.
//!
//! An incompatible bit changes the meaning of bytes that an older reader would look at; it must refuse the file and
//! name the feature. A compatible bit only adds; it may be ignored. Bits are never reused.

use crate::FileKind;

/// Neighbour lists are a packed sequence.
pub const PACKED_NEIGHBOURS: u64 = 1 << 0;
/// Offsets are a packed sequence instead of `u64`.
pub const COMPACT_OFFSETS: u64 = 1 << 1;
/// Nodes and edges have types.
pub const TYPED: u64 = 1 << 2;

/// The incompatible features that this release can read in a kind of file.
pub fn supported(kind: FileKind) -> u64 {
    match kind {
        FileKind::Graph => PACKED_NEIGHBOURS | COMPACT_OFFSETS,
        FileKind::Table => 0,
    }
}

const NAMES: [(u64, &str); 3] = [
    (PACKED_NEIGHBOURS, "packed-neighbours"),
    (COMPACT_OFFSETS, "compact-offsets"),
    (TYPED, "typed"),
];

/// The names of the bits that are set, for messages; a bit without a name is told by its number.
pub fn names(bits: u64) -> String {
    let name = |bit: u32| match NAMES.iter().find(|(mask, _)| *mask == 1 << bit) {
        Some((_, name)) => format!("feature {name} (bit {bit})"),
        None => format!("feature bit {bit}"),
    };
    (0..64).filter(|bit| bits >> bit & 1 == 1).map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_told_by_name_or_number() {
        assert_eq!(names(0), "");
        assert_eq!(
            names(PACKED_NEIGHBOURS | 1 << 40),
            "feature packed-neighbours (bit 0), feature bit 40"
        );
    }
}
