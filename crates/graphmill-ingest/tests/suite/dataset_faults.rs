//! A build that breaks at any operation leaves the old dataset or the new one, whole.

use crate::broken_builds::{NEW, OLD, at_every_operation, at_every_power_failure, whole};
use crate::read_back;
use std::path::Path;
use std::sync::Arc;

use graphmill_disk::faults::Fault;
use graphmill_disk::{Budget, FileSystem, RealFileSystem};
use graphmill_format::{ElementType, Manifest, TableShape};
use graphmill_ingest::{DatasetWriter, Directions, GraphOptions, MemoryEdges, Result};

fn build(file_system: Arc<dyn FileSystem>, root: &Path, mark: u8) -> Result<Manifest> {
    let mut writer = DatasetWriter::begin_on(file_system, &root.join("dataset"), true)?;
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
    let manifest = whole(folder)?;
    let x = &manifest.node().tables["x"].name;
    Some(read_back::table(&folder.join(x)).1[0])
}

#[test]
fn an_error_at_any_operation_leaves_the_old_dataset_or_the_new_one() {
    for fault in [Fault::Error, Fault::FalseAlarm] {
        for had in [None, Some(OLD)] {
            at_every_operation(fault, had, build, |_, folder, published| {
                let found = mark(folder);
                assert!(found == Some(NEW) || (!published && found == had), "{found:?}");
                // Whatever is left, the next build works and clears it.
                build(Arc::new(RealFileSystem), folder.parent().unwrap(), NEW).unwrap();
                assert_eq!(mark(folder), Some(NEW));
                assert_eq!(std::fs::read_dir(folder).unwrap().count(), 4);
            });
        }
    }
}

#[test]
fn a_power_failure_at_any_operation_leaves_the_old_dataset_or_the_new_one() {
    for had in [None, Some(OLD)] {
        at_every_power_failure(had, build, mark);
    }
}
