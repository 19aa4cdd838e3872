//! Feature bits: how an old reader learns that it must not read a new file.
//!
//! An incompatible bit changes the meaning of bytes that an older reader would look at; it must refuse the file and
//! name the feature. A compatible bit only adds; it may be ignored. Bits are never reused.

use crate::FileKind;

/// Neighbours and offsets in the encoding by Elias and Fano that was given up before the first release.
const ELIAS_FANO_NEIGHBOURS: u64 = 1 << 0;
const ELIAS_FANO_OFFSETS: u64 = 1 << 1;
/// Nodes and edges have types.
pub const TYPED: u64 = 1 << 2;
/// Packed sequences whose blocks held their bases, given up before the first release too.
const BLOCKS_WITH_BASES: u64 = 1 << 3;
/// Neighbours and offsets are packed sequences.
pub const PACKED_LISTS: u64 = 1 << 4;

/// The incompatible features that this release can read in a kind of file.
pub fn supported(kind: FileKind) -> u64 {
    match kind {
        FileKind::Graph => PACKED_LISTS,
        FileKind::Table => 0,
    }
}

const NAMES: [(u64, &str); 5] = [
    (ELIAS_FANO_NEIGHBOURS, "elias-fano-neighbours"),
    (ELIAS_FANO_OFFSETS, "elias-fano-offsets"),
    (TYPED, "typed"),
    (BLOCKS_WITH_BASES, "blocks-with-bases"),
    (PACKED_LISTS, "packed-lists"),
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
        assert_eq!(names(PACKED_LISTS | 1 << 40), "feature packed-lists (bit 4), feature bit 40");
    }
}
