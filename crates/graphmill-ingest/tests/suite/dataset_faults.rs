//! A build that breaks at any operation leaves the old dataset or the new one, whole.

use crate::read_back;
use std::path::Path;
use std::sync::Arc;

use graphmill_disk::faults::{Fault, FaultyFileSystem};
use graphmill_disk::{Budget, FileSystem, RealFileSystem};
use graphmill_format::{ElementType, Manifest, TableShape, manifest};
use graphmill_ingest::{DatasetWriter, Directions, GraphOptions, MemoryEdges, Result};

const OLD: u8 = 1;
const NEW: u8 = 2;

fn build(file_system: Arc<dyn FileSystem>, folder: &Path, mark: u8) -> Result<Manifest> {
    let mut writer = DatasetWriter::begin_on(file_system, folder, true)?;
    let edges = MemoryEdges::new(&[0_i64, 1, 2], &[1, 2, 0], None)?;
    let options = GraphOptions::new().directions(Directions::Out);
    writer.graph(&edges, &options, &Budget::new(1 << 20))?;
    let shape = TableShape::vector(3, ElementType::U8).unwrap();
    writer.table("x", shape, |table| table.write_rows(&[mark; 3]))?;
    writer.split("train", &[0, 2])?;
    writer.publish()
}

/// Which build a folder holds; a half one panics.
fn mark(folder: &Path) -> Option<u8> {
    let text = std::fs::read(folder.join("dataset.json")).ok()?;
    let manifest = Manifest::parse(&text).expect("a manifest is whole or not there");
    for file in manifest.files() {
        let bytes = std::fs::read(folder.join(&file.name)).expect("named files are there");
        assert_eq!(bytes.len() as u64, file.bytes);
        assert_eq!(manifest::header_checksum(&bytes), file.header_crc32c);
        read_back::container(&bytes);
    }
    let x = &manifest.node().tables["x"].name;
    Some(read_back::table(&folder.join(x)).1[0])
}

/// Fails one operation after the other, on a fresh copy each time, until a build gets through.
fn at_every_operation(
    fault: Fault,
    had: Option<u8>,
    check: impl Fn(&FaultyFileSystem, &Path, bool),
) {
    for operation in 0.. {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("dataset");
        if let Some(old) = had {
            build(Arc::new(RealFileSystem), &folder, old).unwrap();
        }
        let disk = FaultyFileSystem::over(root.path()).unwrap();
        disk.plan(operation, fault);
        let outcome = build(Arc::new(disk.clone()), &folder, NEW);
        check(&disk, &folder, outcome.is_ok());
        if disk.performed() <= operation {
            assert!(outcome.is_ok() && operation > 20, "{operation} operations");
            return;
        }
    }
}

#[test]
fn an_error_at_any_operation_leaves_the_old_dataset_or_the_new_one() {
    for fault in [Fault::Error, Fault::FalseAlarm] {
        for had in [None, Some(OLD)] {
            at_every_operation(fault, had, |_, folder, published| {
                let found = mark(folder);
                assert!(found == Some(NEW) || (!published && found == had), "{found:?}");
                // Whatever is left, the next build works and clears it.
                build(Arc::new(RealFileSystem), folder, NEW).unwrap();
                assert_eq!(mark(folder), Some(NEW));
                assert_eq!(std::fs::read_dir(folder).unwrap().count(), 4);
            });
        }
    }
}

#[test]
fn a_power_failure_at_any_operation_leaves_the_old_dataset_or_the_new_one() {
    for had in [None, Some(OLD)] {
        at_every_operation(Fault::PowerLoss, had, |disk, folder, published| {
            for image in disk.crash_images() {
                image.restore().unwrap();
                let found = mark(folder);
                let fits =
                    if published { found == Some(NEW) } else { found == had || found == Some(NEW) };
                assert!(fits, "{found:?} after a build that was published: {published}");
            }
        });
    }
}
