//! Random builds of every kind of source, within 64 MiB, against a slow oracle.
//! A case is made from its number alone: ids, edges, options, files and tables. What was built is read back with the
//! format crate and held against what was written into the files.
#![cfg(feature = "parquet")]

#[path = "parquet_model/numbers.rs"]
mod numbers;
mod random_build;
mod read_back;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use graphmill_disk::Budget;
use graphmill_ingest::build::{
    BuildOptions, BuildSources, EdgeSource, NodeOrder, SourceIds, build,
};
use graphmill_rounds::{piece, rounds};
use numbers::Numbers;
use random_build::case::{self, Case};
use random_build::{oracle, sources};

const BUDGET: u64 = 64 << 20;

fn check(number: u64, folder: &Path) -> Result<(), String> {
    let mut random = Numbers::new(number);
    let mut case = Case::random(&mut random);
    let files = sources::write(&mut case, folder, &mut random);
    let dataset = folder.join("dataset");
    let budget = Budget::new(BUDGET);
    let options = case.options().budget(budget.clone()).overwrite(true);
    let report = build(&dataset, &files.sources(), &options.input(files.input()))
        .map_err(|error| format!("{error}\n{files:?}\n{case:?}"))?;
    assert_eq!(budget.used(), 0);
    assert!(budget.peak() <= BUDGET && report.peak_memory <= BUDGET);
    oracle::check(&case, &dataset, &report.manifest)
        .map_err(|problem| format!("{problem}\n{files:?}\n{case:?}"))
}

#[test]
fn random_builds_hold_what_went_in() {
    // Builds wait for the disk, and these are a few kilobytes.
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    };
    let count = rounds(200) as u64;
    let mut failures = Vec::new();
    for number in piece() * 1_000_000..piece() * 1_000_000 + count {
        let outcome = catch_unwind(AssertUnwindSafe(|| check(number, folder.path())));
        let problem = match outcome {
            Ok(outcome) => outcome.err(),
            Err(_) => Some("a panic".to_owned()),
        };
        failures.extend(problem.map(|problem| format!("build {number}: {problem}")));
    }
    let lines = failures.iter().filter_map(|failure| failure.lines().next());
    let lines = lines.take(20).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {count} failed:\n{lines}\n{}", failures.len(), failures[0]);
}

#[test]
fn a_build_of_two_edges_reports_the_little_that_it_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.csv");
    std::fs::write(&path, "src,dst\n0,1\n1,2\n").unwrap();
    let sources = BuildSources::new(EdgeSource::Files(vec![path]));
    let options = BuildOptions::new().budget(Budget::new(6 << 30));
    let report = build(&folder.path().join("dataset"), &sources, &options).unwrap();
    assert!((1..64 << 20).contains(&report.peak_memory), "{}", report.peak_memory);
}

#[test]
fn a_row_of_parquet_with_text_ids_builds_in_a_small_budget() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Numbers::new(0);
    let word = |word: &str| vec![case::Id::Word(word.to_owned())];
    let columns = vec![
        ("src".to_owned(), sources::id_column(&word("a"), &mut random)),
        ("dst".to_owned(), sources::id_column(&word("b"), &mut random)),
    ];
    let path = folder.path().join("edges.parquet");
    std::fs::write(&path, sources::parquet(columns, &mut random)).unwrap();
    let sources = BuildSources::new(EdgeSource::Files(vec![path]));
    for order in [NodeOrder::None, NodeOrder::Bfs] {
        let options = BuildOptions::new().ids(SourceIds::Text).order(order).overwrite(true);
        let options = options.budget(Budget::new(32 << 20));
        let report = build(&folder.path().join("dataset"), &sources, &options).unwrap();
        assert_eq!(report.manifest.node().count, 2);
    }
}
