//! Files of format version 1.0 as bytes in git: they stay readable, and today's code still writes exactly them.
//!
//! Each file is built here from literal data, compared byte by byte with the one in `golden/`, then read back and its
//! numbers compared with literals. `golden/README.md` says how they came to be and why they are never written again.

use graphmill_format::digest::{BlockDigester, digest, encode};
use graphmill_format::manifest::{EdgeType, FEATURES, FileEntry, LABELS, NODE_TYPE, Split};
use graphmill_format::{
    Direction, ElementType, FileKind, GraphShape, Header, ListOrder, Manifest, PackedLengths,
    Section, TableShape, content, graphzero, packed,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Edges as source rows: 0>1 0>2 1>2 3>0 3>1 3>2 4>4, and their weights.
const OUT_OFFSETS: [u64; 6] = [0, 2, 3, 3, 6, 7];
const OUT_NEIGHBOURS: [i32; 7] = [1, 2, 2, 0, 1, 2, 4];
const OUT_ROWS: [i64; 7] = [0, 1, 2, 3, 4, 5, 6];
const OUT_WEIGHTS: [f32; 7] = [0.5, 1.0, 0.0, 2.5, 1e-3, 1e9, 0.125];
const IN_OFFSETS: [u64; 6] = [0, 1, 3, 6, 6, 7];
const IN_NEIGHBOURS: [i32; 7] = [3, 0, 3, 0, 1, 3, 4];
const IN_ROWS: [i64; 7] = [3, 0, 4, 1, 2, 5, 6];
const IN_WEIGHTS: [f32; 7] = [2.5, 0.5, 1e-3, 1.0, 0.0, 1e9, 0.125];
/// A triangle with a tail: 0-1 0-2 1-2 2-3.
const BOTH_OFFSETS: [u64; 5] = [0, 2, 4, 7, 8];
const BOTH_NEIGHBOURS: [i32; 8] = [1, 2, 0, 2, 0, 1, 3, 2];
const MATRIX: [f32; 6] = [0.0, -1.5, f32::MAX, f32::MIN_POSITIVE, 3.25, -0.0];
/// 1, -2 and 0.5; infinity, 3.140625 and 0.
const HALVES: [[u16; 3]; 2] = [[0x3f80, 0xc000, 0x3f00], [0x7f80, 0x4049, 0x0000]];
const LABELS_OF_NODES: [i64; 5] = [3, -1, i64::MAX, i64::MIN, 0];

macro_rules! little_endian {
    ($values:expr) => {
        $values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()
    };
}

/// A whole file: header, sections with their padding, digests.
fn file(mut header: Header, data: &[Vec<u8>]) -> Vec<u8> {
    let (digest_section, sections) = header.sections().split_last().unwrap();
    let mut bytes = vec![0; header.file_length() as usize];
    assert_eq!(sections.len(), data.len());
    let mut digests = Vec::new();
    for (section, data) in sections.iter().zip(data) {
        bytes[range(section)].copy_from_slice(data);
        let mut digester = BlockDigester::default();
        digester.update(data);
        digests.extend(digester.finish());
    }
    let digests = encode(&digests);
    bytes[range(digest_section)].copy_from_slice(&digests);
    header.seal(&digests);
    let encoded = header.encode();
    bytes[..encoded.len()].copy_from_slice(&encoded);
    bytes
}

fn range(section: &Section) -> std::ops::Range<usize> {
    section.offset as usize..section.end() as usize
}

fn directed() -> Vec<u8> {
    let mut shape = GraphShape::new(5, 7, &[Direction::Out, Direction::In]);
    (shape.edge_ids, shape.weights, shape.order) = (true, true, ListOrder::File);
    let data = [
        little_endian!(OUT_OFFSETS),
        little_endian!(OUT_NEIGHBOURS),
        little_endian!(OUT_ROWS),
        little_endian!(OUT_WEIGHTS),
        little_endian!(IN_OFFSETS),
        little_endian!(IN_NEIGHBOURS),
        little_endian!(IN_ROWS),
        little_endian!(IN_WEIGHTS),
    ];
    file(Header::for_graph(&shape).unwrap(), &data)
}

fn undirected() -> Vec<u8> {
    let shape = GraphShape::new(4, 8, &[Direction::Both]);
    let data = [little_endian!(BOTH_OFFSETS), little_endian!(BOTH_NEIGHBOURS)];
    file(Header::for_graph(&shape).unwrap(), &data)
}

/// 3000 nodes, of which a third has no edges and node 7 has 500: six entries of the directory for the offsets, 13
/// for the neighbours.
fn packed_lists() -> (Vec<u64>, Vec<u64>) {
    let (mut offsets, mut neighbours) = (vec![0], Vec::new());
    for node in 0..3000_u64 {
        let degree = if node == 7 { 500 } else { node % 3 * (node % 5) };
        let start = neighbours.len();
        neighbours.extend((0..degree).map(|edge| (node * 7919 + edge * edge * 31) % 3000));
        neighbours[start..].sort_unstable();
        offsets.push(neighbours.len() as u64);
    }
    (offsets, neighbours)
}

fn packed_graph() -> Vec<u8> {
    let (offsets, neighbours) = packed_lists();
    let mut shape = GraphShape::new(3000, neighbours.len() as u64, &[Direction::In]);
    let data = [packed::encode(&offsets).unwrap(), packed::encode(&neighbours).unwrap()];
    let [offsets, neighbours] = [0, 1].map(|section: usize| data[section].len() as u64);
    shape.packed = vec![PackedLengths { offsets, neighbours }];
    file(Header::for_graph(&shape).unwrap(), &data)
}

fn matrix() -> Vec<u8> {
    let shape = TableShape::matrix(2, 3, ElementType::F32).unwrap();
    file(Header::for_table(&shape).unwrap(), &[little_endian!(MATRIX)])
}

fn aligned_matrix() -> Vec<u8> {
    let shape = TableShape::matrix(2, 3, ElementType::Bf16).unwrap().with_aligned_rows().unwrap();
    let mut rows = vec![0; 1024];
    for (row, values) in rows.chunks_mut(512).zip(HALVES) {
        row[..6].copy_from_slice(&little_endian!(values));
    }
    file(Header::for_table(&shape).unwrap(), &[rows])
}

fn vector() -> Vec<u8> {
    let shape = TableShape::vector(5, ElementType::I64).unwrap();
    file(Header::for_table(&shape).unwrap(), &[little_endian!(LABELS_OF_NODES)])
}

fn manifest() -> Manifest {
    let entry = |name: &str, bytes: &[u8]| FileEntry::new(name, bytes.len() as u64, bytes);
    let edges = EdgeType {
        count: 7,
        source_rows: 7,
        undirected: false,
        graph: entry("graph.3.gl", &directed()),
        tables: BTreeMap::new(),
    };
    let mut manifest = Manifest::new(3, 5, edges);
    manifest.created_by = "graphmill 0.1.0".to_owned();
    let tables = &mut manifest.nodes.get_mut(NODE_TYPE).unwrap().tables;
    tables.insert(FEATURES.to_owned(), entry("x.3.gd", &matrix()));
    tables.insert(LABELS.to_owned(), entry("y.3.gd", &vector()));
    let file = entry("split-train.3.gd", &vector());
    let split = Split { node_type: NODE_TYPE.to_owned(), count: 5, file };
    manifest.splits.insert("train".to_owned(), split);
    manifest
}

fn graphzero_graph() -> Vec<u8> {
    let (layout, length) = graphzero::graph_layout(5, 7, true).unwrap();
    let mut bytes = vec![0; length as usize];
    bytes[..64].copy_from_slice(&graphzero::encode_graph_header(&layout));
    let lists = &layout.directions[0];
    bytes[range(&lists.offsets)].copy_from_slice(&little_endian!(OUT_OFFSETS));
    let wide = OUT_NEIGHBOURS.map(i64::from);
    bytes[range(&lists.neighbours)].copy_from_slice(&little_endian!(wide));
    bytes[range(&lists.weights.unwrap())].copy_from_slice(&little_endian!(OUT_WEIGHTS));
    bytes
}

fn graphzero_table() -> Vec<u8> {
    let shape = TableShape::matrix(2, 3, ElementType::F32).unwrap();
    let header = graphzero::encode_table_header(&shape).unwrap();
    [&header[..], &little_endian!(MATRIX)].concat()
}

/// The file in git, equal to what today's code writes. The checksum pins it: replacing the file is not enough to hide
/// a change of the format.
fn golden(name: &str, checksum: u32, built: &[u8]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("GRAPHMILL_WRITE_GOLDEN").is_some_and(|value| value == "new") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // `create_new` refuses to replace a file that is there.
        match std::fs::File::create_new(&path) {
            Ok(mut file) => std::io::Write::write_all(&mut file, built).unwrap(),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{path:?}"),
        }
    }
    let kept = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let difference = kept.iter().zip(built).position(|(kept, built)| kept != built);
    assert_eq!(difference, None, "{name}: today's code writes this byte differently");
    assert_eq!(kept.len(), built.len(), "{name}: today's code writes another length");
    let found = crc32c::crc32c(&kept);
    assert_eq!(found, checksum, "{name} is not the file that was published ({found:#010x})");
    kept
}

/// Parses the file's header and checks every digest and every byte of padding.
fn open(bytes: &[u8]) -> Header {
    let header = Header::parse(&bytes[..4096], bytes.len() as u64).unwrap();
    let (digest_section, sections) = header.sections().split_last().unwrap();
    let table = &bytes[range(digest_section)];
    assert_eq!(digest(table), header.digest_of_digests());
    let digests: Vec<u64> = sections.iter().map(|section| digest(&bytes[range(section)])).collect();
    assert_eq!(encode(&digests), table);
    for section in header.sections() {
        let padding = &bytes[section.end() as usize..section.padded_end() as usize];
        assert_eq!(content::first_nonzero(padding), None);
    }
    assert_eq!(header.version(), (1, 0));
    assert_eq!(header.encode(), &bytes[..4096]);
    header
}

#[test]
fn a_directed_graph_of_version_1_0_is_read() {
    let bytes = golden("v1.0/directed.gl", 0xb8c3_2c56, &directed());
    let header = open(&bytes);
    assert_eq!((header.kind(), header.file_length()), (FileKind::Graph, 40_960));
    assert_eq!(header.digest_of_digests(), 0xe5a4_e955_c356_1157);
    let layout = header.graph_layout().unwrap();
    assert_eq!((layout.num_nodes, layout.num_edges, layout.undirected), (5, 7, false));
    assert_eq!((layout.order, layout.original_ids), (ListOrder::File, None));
    assert_eq!(layout.directions.len(), 2);
    let expected = [
        (Direction::Out, 4096, OUT_OFFSETS, OUT_NEIGHBOURS, OUT_ROWS, OUT_WEIGHTS),
        (Direction::In, 20_480, IN_OFFSETS, IN_NEIGHBOURS, IN_ROWS, IN_WEIGHTS),
    ];
    for (lists, (direction, start, offsets, neighbours, rows, weights)) in
        layout.directions.iter().zip(expected)
    {
        assert_eq!((lists.direction, lists.edge_times), (direction, None));
        let (edge_ids, weight_section) = (lists.edge_ids.unwrap(), lists.weights.unwrap());
        assert_eq!(lists.offsets.range(), start..start + 48);
        assert_eq!(lists.neighbours.range(), start + 4096..start + 4096 + 28);
        assert_eq!(edge_ids.range(), start + 8192..start + 8192 + 56);
        assert_eq!(weight_section.range(), start + 12_288..start + 12_288 + 28);
        assert_eq!(lists.neighbours.element, ElementType::I32);
        assert_eq!(bytes[range(&lists.offsets)], little_endian!(offsets));
        assert_eq!(bytes[range(&lists.neighbours)], little_endian!(neighbours));
        assert_eq!(bytes[range(&edge_ids)], little_endian!(rows));
        assert_eq!(bytes[range(&weight_section)], little_endian!(weights));
    }
}

#[test]
fn an_undirected_graph_of_version_1_0_is_read() {
    let bytes = golden("v1.0/undirected.gl", 0x85cf_8ee7, &undirected());
    let header = open(&bytes);
    assert_eq!((header.kind(), header.file_length()), (FileKind::Graph, 16_384));
    assert_eq!(header.digest_of_digests(), 0x5a1a_b428_3ccc_47dd);
    let layout = header.graph_layout().unwrap();
    assert_eq!((layout.num_nodes, layout.num_edges, layout.undirected), (4, 8, true));
    assert_eq!((layout.order, layout.directions.len()), (ListOrder::Id, 1));
    let lists = layout.directions[0];
    assert_eq!(lists.direction, Direction::Both);
    assert!(lists.edge_ids.or(lists.weights).or(lists.edge_times).is_none());
    assert_eq!(lists.offsets.range(), 4096..4136);
    assert_eq!(lists.neighbours.range(), 8192..8224);
    assert_eq!(bytes[range(&lists.offsets)], little_endian!(BOTH_OFFSETS));
    assert_eq!(bytes[range(&lists.neighbours)], little_endian!(BOTH_NEIGHBOURS));
}

#[test]
fn a_packed_graph_of_version_1_0_is_read() {
    let bytes = golden("v1.0/packed-lists.gl", 0x9d39_9adb, &packed_graph());
    let header = open(&bytes);
    let layout = header.graph_layout().unwrap();
    assert_eq!((layout.num_nodes, layout.num_edges, layout.undirected), (3000, 6498, false));
    let lists = layout.directions[0];
    assert!(lists.is_packed() && lists.encoding() == "packed");
    assert_eq!((lists.direction, lists.offsets.offset), (Direction::In, 4096));
    let (offsets, neighbours) = packed_lists();
    for (section, values) in [(lists.offsets, offsets), (lists.neighbours, neighbours)] {
        assert_eq!(section.element, ElementType::U8);
        let stored = &bytes[range(&section)];
        let stored = packed::PackedSequence::new(stored, values.len() as u64).unwrap();
        let read: Option<Vec<u64>> = (0..stored.len()).map(|index| stored.get(index)).collect();
        assert_eq!((read, stored.first_bad_block()), (Some(values), None));
    }
}

/// Written before the first release, when lists were packed in other ways: nothing of it may be taken for what packed lists
/// are now.
#[test]
fn lists_in_encodings_that_were_given_up_are_refused_by_name() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/unreleased");
    for (name, checksum, feature) in [
        ("elias-fano.gl", 0xdae9_3708, "elias-fano-neighbours"),
        ("blocks-with-bases.gl", 0x46df_041d, "blocks-with-bases"),
    ] {
        let bytes = std::fs::read(path.join(name)).unwrap();
        assert_eq!(crc32c::crc32c(&bytes), checksum);
        let refused = Header::parse(&bytes[..4096], bytes.len() as u64).unwrap_err().to_string();
        assert!(refused.contains(feature), "{refused}");
    }
}

/// A block of four values, as DESIGN.md draws it: 5 6 2 9.
#[test]
fn a_small_packed_sequence_has_the_bytes_of_the_drawing() {
    let bytes = packed::encode(&[5, 6, 2, 9]).unwrap();
    let mut expected = vec![0; 64];
    // The blocks begin where the directory ends, no base is shifted, and the first is the least value itself. Its block ends
    // after three words: 3 from bit 76 on. The least value is 2: from bit 461 on.
    expected[9] = 3 << 4;
    expected[57] = 2 << 5;
    // 3 4 0 7 are above it in three bits each; the other 28 values of the block are not there.
    expected.extend([0b00_100_011, 0b0000_1110]);
    expected.extend([0; 10 + 64]);
    assert_eq!(bytes, expected);
}

/// Bases far from each other are rounded down to steps of a power of two.
#[test]
fn a_packed_sequence_of_far_bases_has_the_bytes_of_the_drawing() {
    let mut values = vec![7; 32];
    values.push(7 + (1 << 20) + 37);
    let bytes = packed::encode(&values).unwrap();
    // 2^20 + 37 takes 21 bits, of which a base holds 15: they are shifted by 6, and the second is 2^14 steps.
    assert_eq!((bytes[5], bytes[6]), (6 << 5, 0));
    // The first block takes nothing, and the second what 37 takes, in the first of its values.
    let word = u64::from_le_bytes(bytes[9..17].try_into().unwrap());
    assert_eq!((word >> 4 & 0x3ff, word >> 14 & 0x7fff, word >> 29 & 0x3ff), (0, 1 << 14, 6));
    assert_eq!(bytes[57], 7 << 5);
    assert_eq!((bytes.len(), bytes[64], &bytes[65..]), (64 + 24 + 64, 37, &[0; 87][..]));
}

#[test]
fn a_matrix_of_version_1_0_is_read() {
    let bytes = golden("v1.0/matrix-f32.gd", 0xbfd9_dbc0, &matrix());
    let header = open(&bytes);
    assert_eq!((header.kind(), header.file_length()), (FileKind::Table, 12_288));
    assert_eq!(header.digest_of_digests(), 0x6131_5c38_2ec6_300b);
    let shape = header.table_shape().unwrap();
    assert_eq!(
        (shape.rows(), shape.columns(), shape.stride(), shape.is_vector()),
        (2, 3, 12, false)
    );
    assert_eq!(shape.element(), ElementType::F32);
    assert_eq!(header.table_section().unwrap().range(), 4096..4120);
    assert_eq!(bytes[4096..4120], little_endian!(MATRIX));
}

#[test]
fn a_matrix_with_aligned_rows_of_version_1_0_is_read() {
    let bytes = golden("v1.0/matrix-bf16-aligned.gd", 0x8939_c810, &aligned_matrix());
    let header = open(&bytes);
    assert_eq!((header.kind(), header.file_length()), (FileKind::Table, 12_288));
    assert_eq!(header.digest_of_digests(), 0x68a8_b501_3f09_eda9);
    let shape = header.table_shape().unwrap();
    assert_eq!((shape.rows(), shape.columns(), shape.stride()), (2, 3, 512));
    assert_eq!((shape.element(), shape.is_contiguous()), (ElementType::Bf16, false));
    assert_eq!(header.table_section().unwrap().range(), 4096..5120);
    assert_eq!(bytes[4096..4102], little_endian!(HALVES[0]));
    assert_eq!(bytes[4608..4614], little_endian!(HALVES[1]));
}

#[test]
fn a_vector_of_version_1_0_is_read() {
    let bytes = golden("v1.0/vector-i64.gd", 0x61bd_7bb0, &vector());
    let header = open(&bytes);
    assert_eq!(header.digest_of_digests(), 0x1c70_1ca9_6c65_7783);
    let shape = header.table_shape().unwrap();
    assert_eq!((shape.rows(), shape.columns(), shape.stride(), shape.is_vector()), (5, 1, 8, true));
    assert_eq!(shape.element(), ElementType::I64);
    assert_eq!(header.table_section().unwrap().range(), 4096..4136);
    assert_eq!(bytes[4096..4136], little_endian!(LABELS_OF_NODES));
}

#[test]
fn a_manifest_of_version_1_0_is_read() {
    let bytes = golden("v1.0/dataset.json", 0xeb0f_fc1c, &manifest().encode());
    let read = Manifest::parse(&bytes).unwrap();
    assert_eq!(read, manifest());
    assert_eq!((read.generation, read.created_by.as_str()), (3, "graphmill 0.1.0"));
    assert_eq!((read.node().count, read.edge().count, read.edge().source_rows), (5, 7, 7));
    let names: Vec<_> = read.files().map(|file| (file.name.as_str(), file.bytes)).collect();
    let expected = [
        ("x.3.gd", 12_288),
        ("y.3.gd", 12_288),
        ("graph.3.gl", 40_960),
        ("split-train.3.gd", 12_288),
    ];
    assert_eq!(names, expected);
    assert_eq!(read.edge().graph.header_crc32c, 0x2e34_2601);
}

#[test]
fn a_weighted_graph_of_graphzero_is_read() {
    let bytes = golden("graphzero-0.2/weighted.gl", 0x9447_020c, &graphzero_graph());
    let layout = graphzero::parse_graph(&bytes, bytes.len() as u64).unwrap();
    assert_eq!((layout.num_nodes, layout.num_edges, layout.order), (5, 7, ListOrder::File));
    let lists = layout.directions[0];
    assert_eq!(lists.offsets.range(), 64..112);
    assert_eq!(lists.neighbours.range(), 128..184);
    assert_eq!(lists.weights.unwrap().range(), 192..220);
    assert_eq!(bytes[64..112], little_endian!(OUT_OFFSETS));
    assert_eq!(bytes[128..184], little_endian!(OUT_NEIGHBOURS.map(i64::from)));
    assert_eq!(bytes[192..220], little_endian!(OUT_WEIGHTS));
}

#[test]
fn a_table_of_graphzero_is_read() {
    let bytes = golden("graphzero-0.2/matrix-f32.gd", 0x2022_7395, &graphzero_table());
    let (shape, section) = graphzero::parse_table(&bytes, bytes.len() as u64).unwrap();
    assert_eq!((shape.rows(), shape.columns(), shape.element()), (2, 3, ElementType::F32));
    assert_eq!((section.range(), bytes.len()), (32..56, 56));
    assert_eq!(bytes[32..56], little_endian!(MATRIX));
}

/// A file that no test reads would stay readable only by luck.
#[test]
fn every_golden_file_is_read_by_a_test() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut names: Vec<String> = ["v1.0", "graphzero-0.2"]
        .iter()
        .flat_map(|version| std::fs::read_dir(folder.join(version)).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let known = [
        "dataset.json",
        "directed.gl",
        "matrix-bf16-aligned.gd",
        "matrix-f32.gd",
        "matrix-f32.gd",
        "packed-lists.gl",
        "undirected.gl",
        "vector-i64.gd",
        "weighted.gl",
    ];
    assert_eq!(names, known);
}
