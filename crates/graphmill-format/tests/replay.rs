//! Every input that the fuzzers keep, through the same functions, in plain `cargo test`.
//!
//! The corpus lies in `fuzz/corpus/`, one folder per target; an input that once found a bug stays there.

use graphmill_format::fuzzing;
use std::path::PathBuf;

/// Replays a target's corpus; a folder that is missing or nearly empty is a failure, not a success.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}: the corpus is missing", folder.display()));
    let mut inputs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    assert!(inputs.len() >= 8, "{}: only {} inputs", folder.display(), inputs.len());
    for input in inputs {
        let bytes = std::fs::read(&input).unwrap();
        let name = input.display().to_string();
        let outcome = std::panic::catch_unwind(|| run(&bytes));
        assert!(outcome.is_ok(), "{name}: the target panicked");
    }
}

#[test]
fn headers_survive_their_corpus() {
    replay("header", fuzzing::header);
}

#[test]
fn sealed_headers_survive_their_corpus() {
    replay("sealed_header", fuzzing::sealed_header);
}

#[test]
fn offsets_survive_their_corpus() {
    replay("offsets", fuzzing::offsets);
}

#[test]
fn manifests_survive_their_corpus() {
    replay("manifest", fuzzing::manifest);
}

#[test]
fn sealed_manifests_survive_their_corpus() {
    replay("sealed_manifest", fuzzing::sealed_manifest);
}

#[test]
fn graphzero_headers_survive_their_corpus() {
    replay("graphzero", fuzzing::graphzero);
}

/// A target without a test here would have a corpus that nobody replays.
#[test]
fn every_target_is_replayed() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let this = include_str!("replay.rs");
    let mut targets = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if text.contains("graphmill_format::fuzzing") {
            let target = path.file_stem().unwrap().to_str().unwrap();
            assert!(this.contains(&format!("replay(\"{target}\", fuzzing::{target})")), "{target}");
            targets += 1;
        }
    }
    assert_eq!(targets, 6);
}
