//! GraphZero's files have no checksum: every number is compared with the others and with the length of the file.

use super::sample::{PAGE, assert_field, assert_length, put};
use graphmill_format::graphzero::{
    encode_graph_header, encode_table_header, graph_layout, parse_graph, parse_table,
};
use graphmill_format::{ElementType, Error, ErrorKind, TableShape};

/// Five nodes, seven edges: indptr at 64, indices at 128, weights at 192.
fn graph(weighted: bool) -> (Vec<u8>, u64) {
    let (layout, length) = graph_layout(5, 7, weighted).unwrap();
    (encode_graph_header(&layout).to_vec(), length)
}

/// Six rows of three floats.
fn table() -> (Vec<u8>, u64) {
    let shape = TableShape::matrix(6, 3, ElementType::F32).unwrap();
    (encode_table_header(&shape).unwrap().to_vec(), 32 + 72)
}

fn start(header: &[u8], length: u64) -> &[u8] {
    &header[..header.len().min(length as usize)]
}

fn changed(header: &[u8], at: usize, value: u64) -> Vec<u8> {
    let mut header = header.to_vec();
    put(&mut header, at, &value.to_le_bytes());
    header
}

#[test]
fn every_other_length_of_a_graph_is_refused() {
    for (weighted, expected) in [(false, 184), (true, 192 + 28)] {
        let (header, true_length) = graph(weighted);
        assert_eq!(true_length, expected);
        assert!(parse_graph(&header, true_length).is_ok());
        for length in (0..true_length + PAGE + 1).filter(|&length| length != true_length) {
            let result = parse_graph(start(&header, length), length);
            match length {
                0..8 => assert!(matches!(result, Err(Error::Magic { .. })), "{length}: {result:?}"),
                8..64 => assert_length(result, length, 64),
                _ => assert_length(result, length, true_length),
            }
        }
        for length in [u64::MAX, 1 << 63] {
            assert_length(parse_graph(&header, length), length, true_length);
        }
    }
}

#[test]
fn every_other_length_of_a_table_is_refused() {
    let (header, true_length) = table();
    assert!(parse_table(&header, true_length).is_ok());
    for length in (0..true_length + PAGE + 1).filter(|&length| length != true_length) {
        let result = parse_table(start(&header, length), length);
        match length {
            0..8 => assert!(matches!(result, Err(Error::Magic { .. })), "{length}: {result:?}"),
            8..32 => assert_length(result, length, 32),
            _ => assert_length(result, length, true_length),
        }
    }
}

#[test]
fn every_other_value_of_every_byte_of_a_graph_header_is_refused() {
    for weighted in [false, true] {
        let (header, length) = graph(weighted);
        for (at, difference) in (0..64).flat_map(|at| (1..=255).map(move |value| (at, value))) {
            let mut damaged = header.clone();
            damaged[at] ^= difference;
            let error = parse_graph(&damaged, length).unwrap_err();
            assert_ne!(error.kind(), ErrorKind::Request, "byte {at}: {error}");
        }
    }
}

/// A type of the same width is the one thing that its header cannot give away.
#[test]
fn every_other_value_of_every_byte_of_a_table_header_is_refused_but_a_type_of_the_same_width() {
    let (header, length) = table();
    for (at, difference) in (0..32).flat_map(|at| (1..=255).map(move |value| (at, value))) {
        let mut damaged = header.clone();
        damaged[at] ^= difference;
        let result = parse_table(&damaged, length);
        if at == 12 && damaged[at] == 0 {
            assert_eq!(result.unwrap().0.element(), ElementType::I32);
        } else {
            let error = result.unwrap_err();
            assert_ne!(error.kind(), ErrorKind::Request, "byte {at}: {error}");
        }
    }
}

#[test]
fn sections_of_a_graph_that_overlap_or_lie_elsewhere_are_refused() {
    let (header, length) = graph(true);
    let fields = [
        (8, "indptr bytes", 48_u64),
        (16, "indices bytes", 56),
        (24, "indptr offset", 64),
        (32, "indices offset", 128),
    ];
    for (at, name, expected) in fields {
        for found in [0, expected - 8, expected - 1, expected + 1, expected + 64, 1 << 63, u64::MAX]
        {
            assert_field(
                parse_graph(&changed(&header, at, found), length),
                name,
                at,
                found,
                expected,
            );
        }
    }
    let swapped = changed(&changed(&header, 24, 128), 32, 64);
    assert_field(parse_graph(&swapped, length), "indptr offset", 24, 128, 64);
}

#[test]
fn claims_of_a_graph_that_overflow_are_refused() {
    let (header, length) = graph(true);
    for nodes in [u64::MAX, u64::MAX - 1, 1 << 63, 1 << 61, 1 << 60, (1 << 60) - 8] {
        let result = parse_graph(&changed(&header, 40, nodes), length);
        assert_field(result, "nodes and edges", 40, format!("{nodes}, 7"), "");
    }
    for edges in [u64::MAX, 1 << 63, 1 << 61, 1 << 60, (1 << 60) - 8] {
        let result = parse_graph(&changed(&header, 48, edges), length);
        assert_field(result, "nodes and edges", 40, format!("5, {edges}"), "");
    }
    for flags in [2_u64, 3, 1 << 32, 1 << 63, u64::MAX] {
        let result = parse_graph(&changed(&header, 56, flags), length);
        assert_field(result, "flags", 56, flags, "0 or 1 (weights)");
    }
}

/// Consistent in itself and far larger than the file.
#[test]
fn a_huge_but_consistent_claim_in_a_small_file_is_refused() {
    let (layout, claimed) = graph_layout(1 << 40, 1 << 45, true).unwrap();
    let header = encode_graph_header(&layout);
    assert_length(parse_graph(&header, 4096), 4096, claimed);
    let shape = TableShape::matrix(1 << 40, 1 << 12, ElementType::F64).unwrap();
    let header = encode_table_header(&shape).unwrap();
    assert_length(parse_table(&header, 4096), 4096, 32 + (1 << 55));
}

#[test]
fn claims_of_a_table_that_overflow_are_refused() {
    let (header, length) = table();
    for rows in [u64::MAX, 1 << 63, (1 << 63) / 12 + 1, (1 << 63) / 12] {
        let result = parse_table(&changed(&header, 16, rows), length);
        assert_field(result, "rows and columns", 16, format!("{rows}, 3"), "exceeds 2^63 bytes");
    }
    for columns in [u64::MAX, 1 << 63, 1 << 62, 1 << 61] {
        let result = parse_table(&changed(&header, 24, columns), length);
        assert_field(result, "rows and columns", 16, format!("6, {columns}"), "exceeds 2^63 bytes");
    }
    let mut odd = header.clone();
    put(&mut odd, 8, &1_u32.to_le_bytes());
    assert_field(parse_table(&odd, length), "flags", 8, 1, 0);
    for code in [4_u32, 255, u32::MAX] {
        put(&mut odd, 8, &0_u32.to_le_bytes());
        put(&mut odd, 12, &code.to_le_bytes());
        assert_field(parse_table(&odd, length), "element type", 12, code, "0 to 3");
    }
}

/// No elements at all are fine whatever the other side says, and nothing is multiplied on the way.
#[test]
fn empty_tables_with_an_enormous_side_do_not_overflow() {
    let (header, _) = table();
    for (rows, columns) in [(0, u64::MAX / 4), (u64::MAX, 0), (0, 0)] {
        let header = changed(&changed(&header, 16, rows), 24, columns);
        let (shape, section) = parse_table(&header, 32).unwrap();
        assert_eq!((shape.rows(), shape.columns(), section.length()), (rows, columns, 0));
        assert_length(parse_table(&header, 33), 33, 32);
    }
}

#[test]
fn other_files_are_told_apart() {
    for bytes in [&b""[..], b"graphli", b"GZDATA25", b"\x89GML\r\n\x1a\n", &table().0] {
        let error = parse_graph(bytes, 220).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format);
        assert!(error.to_string().starts_with("byte 0: not a GraphZero topology"), "{error}");
    }
    let error = parse_table(&graph(false).0, 104).unwrap_err();
    assert!(error.to_string().starts_with("byte 0: not a GraphZero table"), "{error}");
}
