//! The fuzzers' entry points, with what the fuzzers keep, with the attacks and with random bytes.

use graphmill_ingest::source::fuzzing;
use graphmill_rounds::corpus::{check_that_all_are_replayed, replay};
use proptest::prelude::*;
use std::path::Path;

const TARGETS: &[fn(&[u8])] = &[
    fuzzing::csv,
    fuzzing::edge_file,
    fuzzing::npy,
    fuzzing::npz,
    #[cfg(feature = "parquet")]
    fuzzing::parquet,
];

#[test]
fn lines_survive_their_corpus() {
    replay("csv", fuzzing::csv);
    // The same lines as whole files, the byte in front being part of them.
    replay("csv", fuzzing::edge_file);
}

#[test]
fn headers_of_arrays_survive_their_corpus() {
    replay("npy", fuzzing::npy);
}

#[test]
fn archives_survive_their_corpus() {
    replay("npz", fuzzing::npz);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_survive_their_corpus() {
    replay("parquet", fuzzing::parquet);
}

#[test]
fn every_target_is_replayed() {
    check_that_all_are_replayed(
        "graphmill_ingest::source::fuzzing",
        include_str!("source_fuzzing.rs"),
        4,
    );
}

#[test]
fn every_target_survives_every_attack() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        TARGETS.iter().for_each(|target| target(&bytes));
        count += 1;
    }
    assert!(count >= 30);
}

proptest! {
    #[test]
    fn every_target_survives_bytes_that_look_like_text(
        choice: u8, text in "[0-9]{0,3}[-0-9a-e,;. \t\"#\r\n]{0,120}",
    ) {
        let bytes = [&[choice], text.as_bytes()].concat();
        TARGETS.iter().for_each(|target| target(&bytes));
    }

    #[test]
    fn every_target_survives_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        TARGETS.iter().for_each(|target| target(&bytes));
        fuzzing::npz(&[b"PK\x03\x04", &bytes[..]].concat());
    }
}
