//! The fuzzers' entry points, with what the fuzzers keep, with the attacks and with random bytes.

use std::path::{Path, PathBuf};

use graphmill_ingest::source::fuzzing;
use proptest::prelude::*;

const TARGETS: [fn(&[u8]); 4] = [fuzzing::csv, fuzzing::edge_file, fuzzing::npy, fuzzing::npz];

/// Replays a target's corpus; a folder that is missing or nearly empty is a failure, not a success.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}: the corpus is missing", folder.display()));
    let mut inputs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    assert!(inputs.len() >= 8, "{}: only {} inputs", folder.display(), inputs.len());
    for input in inputs {
        let bytes = std::fs::read(&input).unwrap();
        let outcome = std::panic::catch_unwind(|| run(&bytes));
        assert!(outcome.is_ok(), "{}: the target panicked", input.display());
    }
}

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

/// A target without a test here would have a corpus that nobody replays.
#[test]
fn every_target_is_replayed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let this = include_str!("source_fuzzing.rs");
    let mut targets = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("graphmill_ingest::source::fuzzing") {
            let target = path.file_stem().unwrap().to_str().unwrap();
            assert!(this.contains(&format!("replay(\"{target}\", fuzzing::{target})")), "{target}");
            targets += 1;
        }
    }
    assert_eq!(targets, 3);
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
