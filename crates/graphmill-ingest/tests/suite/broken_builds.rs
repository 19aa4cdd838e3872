//! Builds that break at one operation after the other, for tests that say what must be left.

use crate::read_back;
use graphmill_disk::faults::{Fault, FaultyFileSystem};
use graphmill_disk::{FileSystem, RealFileSystem};
use graphmill_format::{Manifest, manifest};
use graphmill_ingest::Result;
use std::path::Path;
use std::sync::Arc;

/// What the values of the dataset that was there before, and of the one that is built, are made of.
pub const OLD: u8 = 1;
pub const NEW: u8 = 2;

/// What a folder holds, if anything; a dataset that is not whole panics.
pub fn whole(folder: &Path) -> Option<Manifest> {
    let text = std::fs::read(folder.join("dataset.json")).ok()?;
    let manifest = Manifest::parse(&text).expect("a manifest is whole or not there");
    for file in manifest.files() {
        let bytes = std::fs::read(folder.join(&file.name)).expect("named files are there");
        assert_eq!(bytes.len() as u64, file.bytes);
        assert_eq!(manifest::header_checksum(&bytes), file.header_crc32c);
        read_back::container(&bytes);
    }
    Some(manifest)
}

/// Fails one operation after the other, on a fresh copy each time, until a build gets through. `build` makes `dataset` in a
/// folder, of the values that it is given; `check` is told where that is and whether it said that it succeeded.
pub fn at_every_operation<T>(
    fault: Fault,
    had: Option<u8>,
    build: impl Fn(Arc<dyn FileSystem>, &Path, u8) -> Result<T>,
    check: impl Fn(&FaultyFileSystem, &Path, bool),
) {
    for operation in 0.. {
        let root = tempfile::tempdir().unwrap();
        if let Some(old) = had {
            build(Arc::new(RealFileSystem), root.path(), old).unwrap();
        }
        let disk = FaultyFileSystem::over(root.path()).unwrap();
        disk.plan(operation, fault);
        let outcome = build(Arc::new(disk.clone()), root.path(), NEW);
        check(&disk, &root.path().join("dataset"), outcome.is_ok());
        if disk.performed() <= operation {
            assert!(outcome.is_ok() && operation > 20, "{operation} operations");
            return;
        }
    }
}

/// The same with failing power: whatever the disk has kept, a folder holds what it had or what was built.
pub fn at_every_power_failure<T>(
    had: Option<u8>,
    build: impl Fn(Arc<dyn FileSystem>, &Path, u8) -> Result<T>,
    mark: impl Fn(&Path) -> Option<u8>,
) {
    at_every_operation(Fault::PowerLoss, had, build, |disk, folder, published| {
        for image in disk.crash_images() {
            image.restore().unwrap();
            let found = mark(folder);
            let fits = found == Some(NEW) || (!published && found == had);
            assert!(fits, "{found:?} after a build that was published: {published}");
        }
    });
}
