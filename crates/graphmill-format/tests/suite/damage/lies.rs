//! Headers whose checksum is right and whose numbers are not.
//!
//! The sample topology has its sections one page apart: offsets, neighbours, edge ids and weights of the out-direction,
//! the same of the in-direction, digests. The sample table has one section and its digests.

use super::sample::{
    self, BLOCK_LENGTH, COUNT, DESCRIPTION, DIRECTION, ELEMENT, HEADER_LENGTH_FIELD, KIND, LENGTH,
    OFFSET, PAGE, SECTION_COUNT, assert_field, edited, entry, layout, parse, shape,
};

const DIGESTS: usize = 8;

#[test]
fn fixed_lengths_must_be_the_ones_of_the_format() {
    let header = sample::graph();
    for length in [0_u32, 64, 4095, 4097, 8192, u32::MAX] {
        let lying = edited(&header, &[(HEADER_LENGTH_FIELD, &length.to_le_bytes())]);
        assert_field(parse(&lying), "header length", HEADER_LENGTH_FIELD, length, 4096);
        let lying = edited(&header, &[(BLOCK_LENGTH, &length.to_le_bytes())]);
        assert_field(parse(&lying), "digest block length", BLOCK_LENGTH, length, 1 << 20);
    }
}

#[test]
fn every_reserved_byte_must_be_zero() {
    for (header, sections) in [(sample::graph(), 9), (sample::table(), 2)] {
        let in_entries = (0..sections)
            .flat_map(|index| (entry(index) + 32..entry(index + 1)).chain([entry(index) + 3]));
        let reserved = (56..64).chain(entry(sections)..sample::CHECKSUM).chain(in_entries);
        for at in reserved {
            for value in [1_u8, 0x80] {
                let lying = edited(&header, &[(at, &[value])]);
                assert_field(parse(&lying), "reserved byte", at, value, 0);
            }
        }
    }
    for at in DESCRIPTION + 18..entry(0) {
        let lying = edited(&sample::graph(), &[(at, &[7])]);
        assert_field(layout(&lying), "reserved byte", at, 7, 0);
    }
    for at in DESCRIPTION + 32..entry(0) {
        let lying = edited(&sample::table(), &[(at, &[7])]);
        assert_field(shape(&lying), "reserved byte", at, 7, 0);
    }
}

#[test]
fn the_number_of_sections_must_be_possible() {
    let header = sample::graph();
    for count in [0_u32, 57, 1 << 26, u32::MAX] {
        let lying = edited(&header, &[(SECTION_COUNT, &count.to_le_bytes())]);
        assert_field(parse(&lying), "section count", SECTION_COUNT, count, "1 to 56");
    }
    let fewer = edited(&header, &[(SECTION_COUNT, &[8])]);
    assert_field(parse(&fewer), "reserved byte", entry(8), 255, 0);
    let more = edited(&header, &[(SECTION_COUNT, &[10])]);
    assert_field(parse(&more), "section", entry(DIGESTS), "digests", "the digest table, last");
}

#[test]
fn sections_that_overlap_or_leave_a_hole_are_refused() {
    let header = sample::graph();
    for index in 0..=DIGESTS {
        let right = PAGE * (index as u64 + 1);
        let wrong = [0, 1, right - PAGE, right - 1, right + 1, right + 8, right + PAGE, u64::MAX];
        for offset in wrong {
            let lying = edited(&header, &[(entry(index) + OFFSET, &offset.to_le_bytes())]);
            assert_field(parse(&lying), "section offset", entry(index) + OFFSET, offset, right);
        }
    }
}

/// A section that grew by a page covers the next one, even when it says so consistently.
#[test]
fn a_section_that_grew_over_the_next_is_refused() {
    let weights = entry(3);
    let (count, length) = (2000_u64.to_le_bytes(), 8000_u64.to_le_bytes());
    let lying = edited(&sample::graph(), &[(weights + COUNT, &count), (weights + LENGTH, &length)]);
    assert_field(parse(&lying), "section offset", entry(4) + OFFSET, 5 * PAGE, 6 * PAGE);
}

fn entry_bytes(header: &[u8], index: usize) -> Vec<u8> {
    header[entry(index)..entry(index + 1)].to_vec()
}

#[test]
fn swapped_entries_are_refused() {
    let header = sample::graph();
    for (first, second) in [(0, 1), (1, 2), (0, 4), (3, 7), (7, 8)] {
        let (a, b) = (entry_bytes(&header, first), entry_bytes(&header, second));
        let lying = edited(&header, &[(entry(first), &b), (entry(second), &a)]);
        let (found, expected) = (PAGE * (second as u64 + 1), PAGE * (first as u64 + 1));
        assert_field(parse(&lying), "section offset", entry(first) + OFFSET, found, expected);
    }
}

/// Exchanged labels leave every place as it was: the type and the count of each section give them away.
#[test]
fn swapped_kinds_are_refused() {
    let header = sample::graph();
    let expected = [
        (0, 1, 2, "offsets.out of 7 x int32", "6 x uint64"),
        (1, 3, 4, "neighbours.out of 7 x float32", "7 x int32"),
        (1, 2, 2, "edge-ids.out of 7 x int32", "7 x int64"),
    ];
    for (first, second, page, found, wanted) in expected {
        let kind = |index| header[entry(index)];
        let edits: [(usize, &[u8]); 2] =
            [(entry(first), &[kind(second)]), (entry(second), &[kind(first)])];
        let place = page * PAGE as usize;
        assert_field(layout(&edited(&header, &edits)), "section", place, found, wanted);
    }
}

#[test]
fn a_duplicated_section_is_refused() {
    let header = sample::graph();
    let again = edited(&header, &[(entry(4) + DIRECTION, &[1])]);
    assert_field(parse(&again), "section", entry(4), "offsets.out", "each section once");
    let copied = edited(&header, &[(entry(5), &entry_bytes(&header, 4))]);
    assert_field(parse(&copied), "section offset", entry(5) + OFFSET, 5 * PAGE, 6 * PAGE);
    let unknown = 700_u16.to_le_bytes();
    let edits: [(usize, &[u8]); 2] = [(entry(2), &unknown), (entry(3), &unknown)];
    let twice_unknown = edited(&header, &edits);
    assert_field(parse(&twice_unknown), "section", entry(3), "kind-700.out", "each section once");
}

#[test]
fn the_digest_table_must_be_last_and_cover_every_block() {
    let header = sample::graph();
    let digests = entry(DIGESTS);
    let exchanged = edited(&header, &[(entry(7), &[255, 0, 0]), (digests, &[4, 0, 2])]);
    assert_field(parse(&exchanged), "section", entry(7), "digests", "the digest table, last");
    let absent = edited(&header, &[(digests + KIND, &77_u16.to_le_bytes())]);
    assert_field(parse(&absent), "section", digests, "kind-77", "the digest table, last");
    for count in [0_u64, 7, 9, 512, 1 << 40] {
        let (count_bytes, length) = (count.to_le_bytes(), (8 * count).to_le_bytes());
        let edits: [(usize, &[u8]); 2] =
            [(digests + COUNT, &count_bytes), (digests + LENGTH, &length)];
        let found = format!("{count} x uint64");
        let place = digests + COUNT;
        assert_field(parse(&edited(&header, &edits)), "digest table", place, found, "8 x uint64");
    }
    let retyped = edited(&header, &[(digests + ELEMENT, &[4])]);
    assert_field(parse(&retyped), "digest table", digests + COUNT, "8 x int64", "8 x uint64");
}

#[test]
fn lengths_that_overflow_or_disagree_are_refused() {
    let header = sample::graph();
    for index in 0..=DIGESTS {
        let width: u64 = if matches!(index, 1 | 3 | 5 | 7) { 4 } else { 8 };
        let claims = [
            (u64::MAX, u64::MAX),
            (u64::MAX, 0_u64.wrapping_sub(width)),
            (1 << 61, (1_u64 << 61).wrapping_mul(width)),
            (1 << 62, 0),
            (7, 7 * width + 1),
            (7, 0),
            (0, 1),
        ];
        for (count, length) in claims {
            let Some(lying) = claim(&header, index, count, length) else { continue };
            let place = entry(index) + LENGTH;
            let overflows = count.checked_mul(width).is_none();
            let consistent = count.checked_mul(width) == Some(length);
            assert!(overflows || !consistent || length > i64::MAX as u64);
            let expected = if consistent { "an end below 2^63" } else { "elements of" };
            assert_field(parse(&lying), "section length", place, length, expected);
        }
        let count = (i64::MAX as u64) / width;
        let lying = claim(&header, index, count, count * width).unwrap();
        let place = entry(index) + LENGTH;
        assert_field(parse(&lying), "section length", place, count * width, "an end below 2^63");
    }
}

/// One byte per element: the product fits, only the sum with the offset and the rounding can overflow.
#[test]
fn an_end_that_overflows_is_refused() {
    for count in [u64::MAX, u64::MAX - PAGE, u64::MAX - 2 * PAGE, 1 << 63, (1 << 63) - PAGE] {
        let lying = claim(&sample::table(), 0, count, count).unwrap();
        let lying = edited(&lying, &[(entry(0) + ELEMENT, &[5])]);
        let place = entry(0) + LENGTH;
        assert_field(parse(&lying), "section length", place, count, "an end below 2^63");
    }
}

fn claim(header: &[u8], index: usize, count: u64, length: u64) -> Option<Vec<u8>> {
    let (count, length) = (count.to_le_bytes(), length.to_le_bytes());
    let changed =
        edited(header, &[(entry(index) + COUNT, &count), (entry(index) + LENGTH, &length)]);
    (changed != header).then_some(changed)
}

#[test]
fn entries_hold_only_known_codes() {
    let header = sample::graph();
    for index in 0..=DIGESTS {
        let at = entry(index);
        let nameless = edited(&header, &[(at + KIND, &[0, 0])]);
        assert_field(parse(&nameless), "section kind", at + KIND, 0, "a kind above 0");
        for code in [4_u8, 5, 128, 255] {
            let lying = edited(&header, &[(at + DIRECTION, &[code])]);
            assert_field(parse(&lying), "section direction", at + DIRECTION, code, "0 to 3");
        }
        for code in [0_u32, 12, 255, 256, u32::MAX] {
            let lying = edited(&header, &[(at + ELEMENT, &code.to_le_bytes())]);
            assert_field(parse(&lying), "section element type", at + ELEMENT, code, "1 to 11");
        }
    }
}

#[test]
fn a_graph_has_no_more_nodes_and_edges_than_its_sections() {
    let header = sample::graph();
    for nodes in [0_u64, 4, 6, 1 << 31, 1 << 40, i64::MAX as u64 - 1] {
        let lying = edited(&header, &[(DESCRIPTION, &nodes.to_le_bytes())]);
        let expected = format!("{} x uint64", nodes + 1);
        let found = "offsets.out of 6 x uint64";
        assert_field(layout(&lying), "section", PAGE as usize, found, expected);
    }
    for nodes in [i64::MAX as u64, 1 << 63, u64::MAX] {
        let lying = edited(&header, &[(DESCRIPTION, &nodes.to_le_bytes())]);
        assert_field(layout(&lying), "number of nodes", DESCRIPTION, nodes, "below 2^63 - 1");
    }
    for edges in [0_u64, 6, 8, 1 << 40, u64::MAX] {
        let lying = edited(&header, &[(DESCRIPTION + 8, &edges.to_le_bytes())]);
        let (place, found) = (2 * PAGE as usize, "neighbours.out of 7 x int32");
        assert_field(layout(&lying), "section", place, found, format!("{edges} x int32"));
    }
    for code in [2_u8, 255] {
        let lying = edited(&header, &[(DESCRIPTION + 16, &[code])]);
        assert_field(layout(&lying), "undirected", DESCRIPTION + 16, code, "0 or 1");
    }
    for code in [3_u8, 255] {
        let lying = edited(&header, &[(DESCRIPTION + 17, &[code])]);
        assert_field(layout(&lying), "neighbour order", DESCRIPTION + 17, code, "0 to 2");
    }
}

/// Every section of the sample in turn with the width of its elements doubled or halved, the bytes being as many.
#[test]
fn the_sections_of_a_graph_have_the_types_of_the_format() {
    let header = sample::graph();
    for index in 0..DIGESTS {
        let other: u32 = if matches!(index, 1 | 3 | 5 | 7) { 2 } else { 10 };
        let width = if other == 2 { 2 } else { 8 };
        let count = sample::u64_at(&header, entry(index) + COUNT);
        let lying = claim(&header, index, count, count * width).unwrap_or_else(|| header.clone());
        let lying = edited(&lying, &[(entry(index) + ELEMENT, &other.to_le_bytes())]);
        let error = layout(&lying).unwrap_err().to_string();
        let place = format!("byte {}: section is", PAGE * (index as u64 + 1));
        assert!(error.starts_with(&place), "section {index}: {error}");
    }
}

#[test]
fn a_table_is_as_large_as_its_section() {
    let header = sample::table();
    for (rows, columns) in [(0_u64, 3_u64), (5, 3), (7, 3), (6, 2), (6, 4), (1 << 40, 3)] {
        let (rows_bytes, columns_bytes) = (rows.to_le_bytes(), columns.to_le_bytes());
        let stride = (columns * 4).to_le_bytes();
        let edits: [(usize, &[u8]); 3] = [
            (DESCRIPTION, &rows_bytes),
            (DESCRIPTION + 8, &columns_bytes),
            (DESCRIPTION + 16, &stride),
        ];
        let expected = format!("{} bytes of float32", rows * columns * 4);
        let lying = edited(&header, &edits);
        assert_field(shape(&lying), "table section", PAGE as usize, "18 x float32", expected);
    }
    let same_width = edited(&header, &[(DESCRIPTION + 24, &[3])]);
    let expected = "72 bytes of int32";
    assert_field(shape(&same_width), "table section", PAGE as usize, "18 x float32", expected);
    for rows in [u64::MAX, u64::MAX / 12 + 1, (1 << 63) / 12 + 1] {
        let lying = edited(&header, &[(DESCRIPTION, &rows.to_le_bytes())]);
        assert_field(shape(&lying), "rows", DESCRIPTION, rows, "exceeds 2^63 bytes");
    }
}

#[test]
fn the_description_of_a_table_must_be_possible() {
    let header = sample::table();
    for stride in [0_u64, 11, 13, 511, 1024, u64::MAX] {
        let lying = edited(&header, &[(DESCRIPTION + 16, &stride.to_le_bytes())]);
        let expected = "3 columns of 4 bytes";
        assert_field(shape(&lying), "row stride", DESCRIPTION + 16, stride, expected);
    }
    for columns in [1_u64 << 62, u64::MAX] {
        let lying = edited(&header, &[(DESCRIPTION + 8, &columns.to_le_bytes())]);
        let expected = format!("{columns} columns of 4 bytes");
        assert_field(shape(&lying), "row stride", DESCRIPTION + 16, 12, expected);
    }
    for code in [0_u32, 11, 12, u32::MAX] {
        let lying = edited(&header, &[(DESCRIPTION + 24, &code.to_le_bytes())]);
        assert_field(shape(&lying), "element type", DESCRIPTION + 24, code, "1 to 10");
    }
    for dimensions in [0_u32, 3, u32::MAX] {
        let lying = edited(&header, &[(DESCRIPTION + 28, &dimensions.to_le_bytes())]);
        assert_field(shape(&lying), "dimensions", DESCRIPTION + 28, dimensions, "1 or 2");
    }
    let wide_vector = edited(&header, &[(DESCRIPTION + 28, &[1])]);
    assert_field(shape(&wide_vector), "columns", DESCRIPTION + 8, 3, "1 for a vector");
}
