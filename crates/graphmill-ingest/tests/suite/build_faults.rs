//! A build from sources that breaks at any operation leaves the old dataset or the new one, whole.

use crate::broken_builds::{NEW, OLD, at_every_operation, at_every_power_failure, whole};
use crate::read_back;
use std::path::Path;
use std::sync::Arc;

use graphmill_disk::faults::Fault;
use graphmill_disk::{Budget, FileSystem, RealFileSystem};
use graphmill_ingest::Result;
use graphmill_ingest::build::{
    BuildOptions, BuildReport, BuildSources, EdgeSource, NodeOrder, SourceIds, TableSource,
    build_on,
};

/// How nodes are numbered takes different ways through the build.
const WAYS: [(NodeOrder, SourceIds); 4] = [
    (NodeOrder::None, SourceIds::Numbers),
    (NodeOrder::Hot, SourceIds::Numbers),
    (NodeOrder::Hot, SourceIds::Integers),
    (NodeOrder::None, SourceIds::Text),
];

fn build(
    file_system: Arc<dyn FileSystem>,
    root: &Path,
    way: (NodeOrder, SourceIds),
    mark: u8,
) -> Result<BuildReport> {
    let file = |name: &str, text: String| {
        let path = root.join(name);
        std::fs::write(&path, text).unwrap();
        vec![path]
    };
    let sources = BuildSources::new(EdgeSource::Files(file("edges.csv", "0,1\n1,2\n2,0\n".into())))
        .features(TableSource::Files(file(
            "x.csv",
            format!("id,a\n2,{mark}\n0,{mark}\n1,{mark}\n"),
        )))
        .labels(TableSource::Files(file("y.csv", "id,kind\n0,paper\n2,book\n".into())))
        .split("train", TableSource::Files(file("train.csv", "2\n0\n".into())));
    let options =
        BuildOptions::new().order(way.0).ids(way.1).overwrite(true).budget(Budget::new(32 << 20));
    build_on(file_system, &root.join("dataset"), &sources, &options)
}

/// Which build a folder holds; a half one panics.
fn mark(folder: &Path) -> Option<u8> {
    let manifest = whole(folder)?;
    let x = &manifest.node().tables["x"].name;
    let (_, bytes) = read_back::table(&folder.join(x));
    let values: Vec<f32> =
        bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    assert!(values.len() == 3 && values.iter().all(|value| *value == values[0]), "{values:?}");
    Some(values[0] as u8)
}

#[test]
fn an_error_at_any_operation_leaves_the_old_dataset_or_the_new_one() {
    for way in WAYS {
        for (fault, had) in [(Fault::Error, Some(OLD)), (Fault::FalseAlarm, None)] {
            let build = |disk, root: &Path, mark| build(disk, root, way, mark);
            at_every_operation(fault, had, build, |_, folder, published| {
                let found = mark(folder);
                assert!(found == Some(NEW) || (!published && found == had), "{found:?}");
                // Whatever is left, the next build works and clears it.
                let root = folder.parent().unwrap();
                let report = build(Arc::new(RealFileSystem), root, NEW).unwrap();
                assert_eq!(mark(folder), Some(NEW));
                let files = report.manifest.files().count() + 1;
                assert_eq!(std::fs::read_dir(folder).unwrap().count(), files);
            });
        }
    }
}

#[test]
fn a_power_failure_at_any_operation_leaves_the_old_dataset_or_the_new_one() {
    for way in WAYS {
        let build = |disk, root: &Path, mark| build(disk, root, way, mark);
        at_every_power_failure(Some(OLD), build, mark);
    }
}
