//! Whatever fails while edges are sorted is an error, and leaves nothing but what was there before.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graphmill_disk::faults::{Fault, FaultyFileSystem};
use graphmill_disk::{Budget, FileDraft, FileSystem, OutputFile, RealFileSystem};
use graphmill_format::ElementType;
use graphmill_ingest::{
    Directions, EdgeChunk, EdgeSortOptions, EdgeSortReport, EdgeSorter, Error, Progress, Result,
};

const NODES: u64 = 3000;

fn edges(rows: u64) -> (Vec<u64>, Vec<u64>) {
    let id = |row: u64, salt: u64| (row.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt) >> 33;
    (0..rows).map(|row| (id(row, 1) % NODES, id(row, u64::MAX / 3) % NODES)).unzip()
}

fn sort(
    files: Arc<dyn FileSystem>,
    path: &Path,
    options: EdgeSortOptions<'_>,
    rows: u64,
) -> Result<EdgeSortReport> {
    let (sources, destinations) = edges(rows);
    let draft = FileDraft::begin(files.clone(), path, true)?;
    let sorter = EdgeSorter::new(options, &Budget::new(256 << 10), files, path)?;
    for (index, (sources, destinations)) in
        sources.chunks(5000).zip(destinations.chunks(5000)).enumerate()
    {
        sorter.push(&EdgeChunk::new(index as u64 * 5000, sources, destinations))?;
    }
    let (_, report) = sorter.finish(draft.file(), path, None)?;
    draft.publish()?;
    Ok(report)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_fault_at_any_operation_keeps_the_old_file_and_leaves_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    std::fs::write(&path, b"old").unwrap();
    let options = EdgeSortOptions::new();
    let counted = tempfile::tempdir().unwrap();
    let disk = FaultyFileSystem::over(counted.path()).unwrap();
    let target = counted.path().join("x.gl");
    let report = sort(Arc::new(disk.clone()), &target, options, 60_000).unwrap();
    assert!(report.spilled > 0);
    let expected = std::fs::read(&target).unwrap();
    let operations = disk.performed();
    // A few operations more, since threads may need another one here and there.
    for operation in (0..operations + 3).step_by(1 + operations / 150) {
        for fault in [Fault::Error, Fault::FalseAlarm] {
            let disk = FaultyFileSystem::over(folder.path()).unwrap();
            disk.plan(operation, fault);
            let outcome = sort(Arc::new(disk), &path, options, 60_000);
            let content = std::fs::read(&path).unwrap();
            match outcome {
                Ok(_) => assert!(content == expected, "{operation} {fault:?}"),
                Err(error) => {
                    assert!(content == b"old" || content == expected, "{operation} {error}");
                }
            }
            // The draft's own hidden file may stay when its removal is what fails.
            let left = names(folder.path());
            assert!(left.iter().all(|name| !name.contains("sort")), "{operation} {left:?}");
            std::fs::remove_file(folder.path().join(".x.gl.partial")).ok();
            std::fs::write(&path, b"old").unwrap();
        }
    }
}

/// A disk on which only so many bytes of scratch files can be written.
#[derive(Debug)]
struct SmallDisk {
    left: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct SmallFile {
    file: Box<dyn OutputFile>,
    left: Arc<AtomicUsize>,
}

impl FileSystem for SmallDisk {
    fn create_dir_all(&self, dir: &Path) -> graphmill_disk::Result<()> {
        RealFileSystem.create_dir_all(dir)
    }
    fn create(&self, path: &Path) -> graphmill_disk::Result<Box<dyn OutputFile>> {
        let file = RealFileSystem.create(path)?;
        Ok(Box::new(SmallFile { file, left: self.left.clone() }))
    }
    fn create_new(&self, path: &Path) -> graphmill_disk::Result<Box<dyn OutputFile>> {
        let file = RealFileSystem.create_new(path)?;
        Ok(Box::new(SmallFile { file, left: self.left.clone() }))
    }
    fn rename(&self, from: &Path, to: &Path) -> graphmill_disk::Result<()> {
        RealFileSystem.rename(from, to)
    }
    fn remove(&self, path: &Path) -> graphmill_disk::Result<()> {
        RealFileSystem.remove(path)
    }
    fn remove_dir(&self, dir: &Path) -> graphmill_disk::Result<()> {
        RealFileSystem.remove_dir(dir)
    }
    fn sync_dir(&self, dir: &Path) -> graphmill_disk::Result<()> {
        RealFileSystem.sync_dir(dir)
    }
    fn list(&self, dir: &Path) -> graphmill_disk::Result<Vec<std::ffi::OsString>> {
        RealFileSystem.list(dir)
    }
    fn exists(&self, path: &Path) -> graphmill_disk::Result<bool> {
        RealFileSystem.exists(path)
    }
    fn read(&self, path: &Path, longest: u64) -> graphmill_disk::Result<Option<Vec<u8>>> {
        RealFileSystem.read(path, longest)
    }
}

impl OutputFile for SmallFile {
    fn path(&self) -> &Path {
        self.file.path()
    }
    fn set_len(&self, length: u64) -> graphmill_disk::Result<()> {
        self.file.set_len(length)
    }
    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> graphmill_disk::Result<()> {
        let fits = |left: usize| left.checked_sub(bytes.len());
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return Err(graphmill_disk::Error::NoSpace {
                path: self.path().to_path_buf(),
                wanted: bytes.len() as u64,
                source: std::io::ErrorKind::StorageFull.into(),
            });
        }
        self.file.write_all_at(offset, bytes)
    }
    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> graphmill_disk::Result<()> {
        self.file.read_exact_at(offset, into)
    }
    fn sync(&self) -> graphmill_disk::Result<()> {
        Ok(())
    }
    fn start_write_back(&self, _: std::ops::Range<u64>) -> graphmill_disk::Result<()> {
        Ok(())
    }
    fn drop_pages(&self) -> graphmill_disk::Result<()> {
        Ok(())
    }
    fn try_lock(&self) -> graphmill_disk::Result<bool> {
        self.file.try_lock()
    }
    fn length(&self) -> graphmill_disk::Result<u64> {
        self.file.length()
    }
    fn same_file_at(&self, path: &Path) -> graphmill_disk::Result<bool> {
        self.file.same_file_at(path)
    }
}

#[test]
fn a_full_disk_is_an_error_that_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let mut succeeded = 0;
    for size in (0..40).map(|step| step * 600_000) {
        let disk = SmallDisk { left: Arc::new(AtomicUsize::new(size)) };
        match sort(Arc::new(disk), &path, EdgeSortOptions::new(), 200_000) {
            Ok(_) => {
                succeeded += 1;
                std::fs::remove_file(&path).unwrap();
            }
            Err(error) => {
                let is_full = matches!(error, Error::Disk(graphmill_disk::Error::NoSpace { .. }));
                assert!(is_full, "{size}: {error}");
            }
        }
        assert!(names(folder.path()).is_empty(), "{size}: {:?}", names(folder.path()));
    }
    assert!((1..35).contains(&succeeded), "{succeeded}");
}

#[test]
fn an_observer_sees_every_edge_and_can_stop_the_work_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = |progress: Progress| {
        seen.lock().unwrap().push(progress);
        true
    };
    let options = EdgeSortOptions::new().observer(&watch);
    sort(Arc::new(RealFileSystem), &path, options, 60_000).unwrap();
    let last = *seen.lock().unwrap().last().unwrap();
    assert_eq!((last.done, last.total), (120_000, 120_000));
    std::fs::remove_file(&path).unwrap();
    for stop in (0..seen.lock().unwrap().len()).step_by(7) {
        let count = AtomicUsize::new(0);
        let watch = |_| count.fetch_add(1, Ordering::Relaxed) != stop;
        let options = EdgeSortOptions::new().observer(&watch);
        let outcome = sort(Arc::new(RealFileSystem), &path, options, 60_000);
        assert!(matches!(outcome, Err(Error::Cancelled)));
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn ids_that_need_more_than_32_bits_may_come_late() {
    // The offsets of so many nodes are 34 GB, which no test should write: narrow neighbours are
    // refused, and by then all edges have been moved and sorted.
    let folder = tempfile::tempdir().unwrap();
    let file = RealFileSystem.create(&folder.path().join("x.gl")).unwrap();
    let budget = Budget::new(1 << 20);
    let files = Arc::new(RealFileSystem);
    let options = EdgeSortOptions::new().directions(Directions::In).neighbours(ElementType::I32);
    let path = folder.path().join("x.gl");
    let sorter = EdgeSorter::new(options, &budget, files, &path).unwrap();
    let (sources, destinations) = edges(50_000);
    sorter.push(&EdgeChunk::new(0, &sources, &destinations)).unwrap();
    sorter.push(&EdgeChunk::new(50_000, &[1 << 40, 5], &[7, 1 << 33])).unwrap();
    assert_eq!(sorter.num_nodes(), (1 << 40) + 1);
    let error = sorter.finish(&*file, &path, None).unwrap_err();
    assert!(error.to_string().contains("int32"), "{error}");
}
