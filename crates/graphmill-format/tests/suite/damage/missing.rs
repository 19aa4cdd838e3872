//! Sections that are not there, in a file that is otherwise consistent: lengths, offsets and digests all agree.

use super::sample::{
    self, COUNT, DESCRIPTION, FILE_LENGTH, LENGTH, OFFSET, PAGE, SECTION_COUNT, edited, entry,
    layout, put, shape,
};
use graphmill_format::{Direction, Error, ErrorKind};

/// The sample without the sections at these places of its table; each is one page and one digest.
fn without(header: &[u8], places: &[usize]) -> Vec<u8> {
    let count = header[SECTION_COUNT] as usize;
    let kept: Vec<Vec<u8>> = (0..count)
        .filter(|index| !places.contains(index))
        .map(|index| header[entry(index)..entry(index + 1)].to_vec())
        .collect();
    let mut shorter = header.to_vec();
    shorter[entry(0)..sample::TABLE_END].fill(0);
    for (index, bytes) in kept.iter().enumerate() {
        put(&mut shorter, entry(index), bytes);
        put(&mut shorter, entry(index) + OFFSET, &(PAGE * (index as u64 + 1)).to_le_bytes());
    }
    let digests = kept.len() as u64 - 1;
    put(&mut shorter, entry(kept.len() - 1) + COUNT, &digests.to_le_bytes());
    put(&mut shorter, entry(kept.len() - 1) + LENGTH, &(8 * digests).to_le_bytes());
    put(&mut shorter, SECTION_COUNT, &(kept.len() as u32).to_le_bytes());
    // An empty digest table takes no page.
    let pages = if digests == 0 { 1 } else { kept.len() as u64 + 1 };
    put(&mut shorter, FILE_LENGTH, &(PAGE * pages).to_le_bytes());
    sample::seal(&mut shorter);
    shorter
}

#[track_caller]
fn assert_missing<T: std::fmt::Debug>(result: graphmill_format::Result<T>, name: &str) {
    let error = result.expect_err("a section is missing");
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let message = error.to_string();
    assert!(message.contains(&format!("has no section {name}, expected because")), "{message}");
    let Error::MissingSection { section, .. } = error else { panic!("{error:?}") };
    assert_eq!(section, name);
}

#[test]
fn each_direction_needs_its_neighbours() {
    assert_missing(layout(&without(&sample::graph(), &[1])), "neighbours.out");
    assert_missing(layout(&without(&sample::graph(), &[5])), "neighbours.in");
}

#[test]
fn each_direction_needs_its_offsets() {
    assert_missing(layout(&without(&sample::graph(), &[0])), "offsets.out");
    assert_missing(layout(&without(&sample::graph(), &[4])), "offsets.in");
    assert_missing(layout(&without(&sample::graph(), &[4, 5, 6])), "offsets.in");
}

#[test]
fn a_graph_needs_a_direction() {
    assert_missing(layout(&without(&sample::graph(), &[0, 1, 2, 3, 4, 5, 6, 7])), "offsets.out");
    let undirected = edited(&sample::graph(), &[(DESCRIPTION + 16, &[1])]);
    assert_missing(layout(&undirected), "offsets.both");
}

#[test]
fn a_table_needs_its_rows() {
    assert_missing(shape(&without(&sample::table(), &[0])), "table");
    let relabelled = edited(&sample::table(), &[(entry(0), &[33])]);
    assert_missing(shape(&relabelled), "table");
    let directed = edited(&sample::table(), &[(entry(0) + 2, &[1])]);
    assert_missing(shape(&directed), "table");
}

/// The tests above would prove nothing if the removal itself made headers that are refused.
#[test]
fn optional_sections_and_whole_directions_may_be_absent() {
    let plain = layout(&without(&sample::graph(), &[2, 3, 6, 7])).unwrap();
    assert!(plain.directions.iter().all(|lists| lists.weights.or(lists.edge_ids).is_none()));
    let out = layout(&without(&sample::graph(), &[4, 5, 6, 7])).unwrap();
    assert_eq!(out.directions.iter().map(|d| d.direction).collect::<Vec<_>>(), [Direction::Out]);
    let into = layout(&without(&sample::graph(), &[0, 1, 2, 3])).unwrap();
    assert_eq!(into.directions.iter().map(|d| d.direction).collect::<Vec<_>>(), [Direction::In]);
}
