//! Datasets: what they hold, and that replacing one under its readers is safe.

use crate::sample_files::{budget, dataset};
use graphmill_store::{Dataset, Error};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

fn values(bytes: &[u8]) -> Vec<i64> {
    bytes.as_chunks::<8>().0.iter().map(|chunk| i64::from_le_bytes(*chunk)).collect()
}

#[test]
fn a_dataset_gives_what_was_put_in() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), 7);
    let ds = Dataset::open(folder.path(), budget()).unwrap();
    assert_eq!((ds.graph().num_nodes(), ds.graph().num_edges()), (5, 6));
    assert_eq!(values(ds.table("x").unwrap().row(4).unwrap()), [7, 7, 7]);
    assert_eq!(values(ds.split("train").unwrap().row(1).unwrap()), [3]);
    let text = ds.split("trian").unwrap_err().to_string();
    assert!(text.contains("no split \"trian\"; it has train"), "{text}");
}

#[test]
fn readers_never_see_a_mixture_while_a_dataset_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    dataset(path, 0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut opened = 0;
                    let mut kept: Vec<(i64, Dataset)> = Vec::new();
                    while !done.load(Ordering::Relaxed) || opened == 0 {
                        let ds = Dataset::open(path, budget()).unwrap();
                        let mark = values(ds.table("y").unwrap().row(0).unwrap())[0];
                        kept.push((mark, ds));
                        // What was opened earlier, and removed since, still reads as it was.
                        for (mark, ds) in &kept {
                            for row in 0..5 {
                                assert_eq!(
                                    values(ds.table("x").unwrap().row(row).unwrap()),
                                    [*mark; 3]
                                );
                            }
                        }
                        kept.truncate(4);
                        opened += 1;
                    }
                    opened
                })
            })
            .collect();
        for mark in 1..=20 {
            dataset(path, mark);
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
    let mut names: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["dataset.json", "graph.21.gl", "split-train.21.gd", "x.21.gd", "y.21.gd"]);
}

#[test]
fn a_file_that_is_not_the_published_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    dataset(path, 1);
    crate::sample_files::table(&path.join("x.1.gd"), 5, 3, 0.0);
    let error = Dataset::open(path, budget()).unwrap_err();
    assert!(matches!(error, Error::ManifestMismatch { .. }), "{error}");
    let missing = Dataset::open(path.join("nothing"), budget()).unwrap_err().to_string();
    assert!(missing.contains("dataset.json"), "{missing}");
}
