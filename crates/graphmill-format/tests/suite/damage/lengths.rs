//! Files that were cut short or appended to.

use super::sample::{self, PAGE, assert_length};
use graphmill_format::{Error, GraphShape, Header};

fn files() -> [(Vec<u8>, u64); 2] {
    [(sample::graph(), 10 * PAGE), (sample::table(), 3 * PAGE)]
}

/// The first bytes of a file that was cut or grown to `length`, as whoever opens it reads them.
fn start(header: &[u8], length: u64) -> &[u8] {
    &header[..header.len().min(length as usize)]
}

#[test]
fn every_other_length_of_a_file_is_refused() {
    for (header, true_length) in files() {
        assert!(Header::parse(&header, true_length).is_ok());
        for length in (0..true_length + PAGE + 1).filter(|&length| length != true_length) {
            let result = Header::parse(start(&header, length), length);
            match length {
                0..8 => assert!(matches!(result, Err(Error::Magic { .. })), "{length}: {result:?}"),
                8..PAGE => assert_length(result, length, PAGE),
                _ => assert_length(result, length, true_length),
            }
        }
    }
}

/// A header that was changed along with the length still says where its sections end.
#[test]
fn a_length_that_the_header_confirms_must_be_where_the_sections_end() {
    for (header, true_length) in files() {
        for length in (PAGE..true_length + PAGE + 1).filter(|&length| length != true_length) {
            let lying = sample::edited(&header, &[(sample::FILE_LENGTH, &length.to_le_bytes())]);
            assert_length(Header::parse(&lying, length), length, true_length);
        }
    }
}

#[test]
fn lengths_that_nothing_can_have_are_refused() {
    for (header, true_length) in files() {
        for length in [u64::MAX, u64::MAX - 4095, 1 << 63, i64::MAX as u64] {
            let lying = sample::edited(&header, &[(sample::FILE_LENGTH, &length.to_le_bytes())]);
            assert_length(Header::parse(&lying, true_length), true_length, length);
            assert_length(Header::parse(&lying, length), length, true_length);
        }
    }
}

/// A small file that describes a petabyte is refused by comparing lengths, before anything could be allocated.
#[test]
fn a_huge_but_consistent_claim_in_a_small_file_is_refused() {
    let shape = GraphShape::new(1 << 47, 1 << 55, &[graphmill_format::Direction::Out]);
    let header = Header::for_graph(&shape).unwrap();
    let claimed = header.file_length();
    assert!(claimed > 1 << 55);
    for length in [PAGE, 4 * PAGE, claimed - 1, claimed + 1] {
        assert_length(Header::parse(&header.encode(), length), length, claimed);
    }
    assert!(Header::parse(&header.encode(), claimed).is_ok());
}
