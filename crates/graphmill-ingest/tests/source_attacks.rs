//! Every file in `attacks/` is refused with an error that names it, in little memory.
//! Alone in its process, because it asks how much memory the process ever had.

use std::path::{Path, PathBuf};

use graphmill_disk::Budget;
use graphmill_ingest::Error;
use graphmill_ingest::source::{EdgeInput, EdgeInputOptions, TableInput, TableInputOptions};

fn attacks() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../attacks");
    let entries = std::fs::read_dir(folder).expect("the attacks lie at the root");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "md"));
    paths.sort();
    assert!(paths.len() >= 34, "only {} attacks", paths.len());
    paths
}

fn read_edges(path: &Path) -> graphmill_ingest::Result<u64> {
    let budget = Budget::new(64 << 20);
    let input = EdgeInput::open(&[path.to_path_buf()], &EdgeInputOptions::new())?;
    Ok(input.read(&budget, &|_| Ok(()), None)?.rows)
}

#[test]
fn every_attack_is_refused_with_an_error_that_names_it() {
    for path in attacks() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let error = match read_edges(&path) {
            Ok(rows) => panic!("{name}: {rows} edges were read"),
            Err(error) => error,
        };
        let typed = match &error {
            Error::Source { file, .. } => file.as_deref() == Some(&*path),
            Error::Format { path: named, .. } => *named == path,
            // Without its feature, Parquet is refused as a request.
            Error::Request { .. } => name.ends_with(".parquet"),
            _ => false,
        };
        assert!(typed, "{name}: {error:?}");
    }
}

#[test]
fn no_attack_is_taken_for_a_table_of_nonsense() {
    // As tables, these are merely what they are.
    let harmless = ["negative-id.csv", "open-quote.csv", "ragged.csv", "truncated.csv.gz"];
    for path in attacks() {
        let budget = Budget::new(64 << 20);
        let opened = TableInput::open(std::slice::from_ref(&path), &TableInputOptions::new());
        let outcome = opened.and_then(|input| input.read(&budget, &|_| Ok(()), None));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(outcome.is_err() || harmless.contains(&name), "{name}: {outcome:?}");
    }
}

#[test]
fn nothing_was_run() {
    for path in attacks() {
        let _ = read_edges(&path);
    }
    assert!(!std::env::temp_dir().join("graphmill-was-here").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn attacks_are_refused_in_little_memory() {
    let high = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    };
    let before = high();
    for path in attacks() {
        let _ = read_edges(&path);
    }
    assert!(high() - before < 192 << 20, "{} -> {}", before, high());
}
