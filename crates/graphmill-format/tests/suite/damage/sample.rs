//! Small valid headers to damage, and the few places of a header that the tests edit.
//!
//! The offsets are written out again here, apart from the library, so that a moved field is noticed.

use graphmill_format::{
    Direction, ElementType, Error, ErrorKind, GraphLayout, GraphShape, Header, PackedLengths,
    Result, TableShape,
};
use graphmill_rounds::{piece, rounds};

pub const VERSION: usize = 8;
pub const HEADER_LENGTH_FIELD: usize = 12;
pub const INCOMPATIBLE: usize = 16;
pub const COMPATIBLE: usize = 24;
pub const FILE_LENGTH: usize = 32;
pub const SECTION_COUNT: usize = 40;
pub const BLOCK_LENGTH: usize = 44;
pub const DESCRIPTION: usize = 64;
pub const TABLE_END: usize = 3840;
pub const CHECKSUM: usize = 4092;
pub const PAGE: u64 = 4096;

/// Places within an entry of the section table.
pub const KIND: usize = 0;
pub const DIRECTION: usize = 2;
pub const ELEMENT: usize = 4;
pub const OFFSET: usize = 8;
pub const LENGTH: usize = 16;
pub const COUNT: usize = 24;

pub fn entry(index: usize) -> usize {
    256 + 64 * index
}

/// Five nodes and seven edges in both directions with edge ids and weights: four sections each, and the digests.
pub fn graph() -> Vec<u8> {
    let mut shape = GraphShape::new(5, 7, &[Direction::Out, Direction::In]);
    (shape.edge_ids, shape.weights) = (true, true);
    let mut header = Header::for_graph(&shape).unwrap();
    header.seal(b"a table of digests");
    header.encode()
}

/// The same edges packed, out-lists alone: two sections of one page, and the digests.
pub fn packed_graph() -> Vec<u8> {
    let mut shape = GraphShape::new(5, 7, &[Direction::Out]);
    shape.packed = vec![PackedLengths { offsets: 148, neighbours: 140 }];
    let mut header = Header::for_graph(&shape).unwrap();
    header.seal(b"a table of digests");
    header.encode()
}

/// Six rows of three floats: one section, and the digests.
pub fn table() -> Vec<u8> {
    let shape = TableShape::matrix(6, 3, ElementType::F32).unwrap();
    let mut header = Header::for_table(&shape).unwrap();
    header.seal(b"a table of digests");
    header.encode()
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

pub fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Makes the checksum right again.
pub fn seal(header: &mut [u8]) {
    let checksum = crc32c::crc32c(&header[..CHECKSUM]);
    put(header, CHECKSUM, &checksum.to_le_bytes());
}

/// The header with some bytes replaced and the checksum made right.
pub fn edited(header: &[u8], edits: &[(usize, &[u8])]) -> Vec<u8> {
    let mut header = header.to_vec();
    for (at, value) in edits {
        put(&mut header, *at, value);
    }
    seal(&mut header);
    header
}

/// Parses with the length that the header claims, so that only other lies can be the reason for a refusal.
pub fn parse(header: &[u8]) -> Result<Header> {
    Header::parse(header, u64_at(header, FILE_LENGTH))
}

pub fn layout(header: &[u8]) -> Result<GraphLayout> {
    parse(header)?.graph_layout()
}

pub fn shape(header: &[u8]) -> Result<TableShape> {
    parse(header)?.table_shape()
}

/// The error is about this field at this byte, found this and expected that, and says all four in its message.
#[track_caller]
pub fn assert_field<T: std::fmt::Debug>(
    result: Result<T>,
    field: &str,
    at: usize,
    found: impl ToString,
    expected: impl ToString,
) {
    let (found, expected) = (found.to_string(), expected.to_string());
    let error = result.expect_err("a lie was believed");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let message = error.to_string();
    let parts = [&format!("byte {at}:"), field, &found, &expected];
    assert!(parts.iter().all(|part| message.contains(*part)), "{parts:?} are not in {message:?}");
    match error {
        Error::Field { field: this_field, at: this_at, found: this_found, .. } => {
            assert_eq!((this_field, this_at, this_found), (field, at as u64, found));
        }
        other => panic!("{other:?} is not about a field"),
    }
}

/// The error gives both lengths, as numbers and in its message.
#[track_caller]
pub fn assert_length<T: std::fmt::Debug>(result: Result<T>, found: u64, expected: u64) {
    let error = result.expect_err("a wrong length was believed");
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let message = error.to_string();
    let numbers = format!("the file has {found} bytes, expected {expected} ");
    assert!(message.starts_with(&numbers), "{message:?} does not say {numbers:?}");
    let Error::Length { found: this_found, expected: this_expected, .. } = error else {
        panic!("{error:?} is not about the length");
    };
    assert_eq!((this_found, this_expected), (found, expected));
}

/// Random numbers that are the same on every run: a failure can be repeated.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u32) -> Self {
        Self(u64::from(seed) | piece() << 32)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(bits ^ (bits >> 31)) * limit as u128) >> 64) as usize
    }

    /// Flips two or three different bits and returns where they are.
    pub fn flip_two_or_three(&mut self, bytes: &mut [u8]) -> Vec<usize> {
        let wanted = 2 + self.below(2);
        let mut flipped: Vec<usize> = Vec::new();
        while flipped.len() < wanted {
            let bit = self.below(bytes.len() * 8);
            if !flipped.contains(&bit) {
                bytes[bit / 8] ^= 1 << (bit % 8);
                flipped.push(bit);
            }
        }
        flipped
    }
}

/// How many random damages to try.
pub fn random_flips() -> usize {
    rounds(100_000)
}
