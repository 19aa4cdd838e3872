//! What the fuzzers keep, for plain tests: `fuzz/corpus/` has a folder for each target, and an input that once found a
//! bug stays there.

use std::path::{Path, PathBuf};

/// The inputs of a target, in order; a folder that is missing or nearly empty is a failure, not a success.
pub fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = in_repository("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}: the corpus is missing", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 8, "{}: only {} inputs", folder.display(), paths.len());
    paths.into_iter().map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

/// Replays a target's corpus.
pub fn replay(target: &str, run: fn(&[u8])) {
    for (path, bytes) in inputs(target) {
        let outcome = std::panic::catch_unwind(|| run(&bytes));
        assert!(outcome.is_ok(), "{}: the target panicked", path.display());
    }
}

/// Fails unless a test source replays every target that calls a module of entry points, and those are so many: a target
/// without a test would have a corpus that nobody replays.
pub fn check_that_all_are_replayed(entry_points: &str, test: &str, expected: usize) {
    let mut targets = 0;
    for entry in std::fs::read_dir(in_repository("fuzz/fuzz_targets")).unwrap() {
        let path = entry.unwrap().path();
        if std::fs::read_to_string(&path).unwrap().contains(entry_points) {
            let target = path.file_stem().unwrap().to_str().unwrap();
            let replayed = format!("replay(\"{target}\", fuzzing::{target})");
            assert!(test.contains(&replayed), "{target} is not replayed");
            targets += 1;
        }
    }
    assert_eq!(targets, expected);
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
