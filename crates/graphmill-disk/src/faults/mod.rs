//! A file system that breaks at a chosen operation.
//! Tests run a build on it once for every operation the build performs: the operation fails, lies
//! about having failed, or the power goes, and then they look at what is left. It wraps the real
//! file system inside one folder and must not know what is being built there.
//!
//! ```
//! use std::sync::Arc;
//! use graphmill_disk::faults::{Fault, FaultyFileSystem};
//! use graphmill_disk::FileDraft;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let root = tempfile::tempdir()?;
//! let disk = FaultyFileSystem::over(root.path())?;
//! let draft = FileDraft::begin(Arc::new(disk.clone()), &root.path().join("x"), false)?;
//! disk.plan(disk.performed(), Fault::PowerLoss);
//! assert!(draft.file().write_all_at(0, b"half of this").is_err());
//! drop(draft); // too late to clean up: every operation fails by now
//! for image in disk.crash_images() {
//!     image.restore()?;
//!     assert!(!root.path().join("x").exists());
//! }
//! # Ok(())
//! # }
//! ```

mod image;
mod memory_of_disk;
pub mod reads;

pub use image::Image;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::write::{FileSystem, OutputFile, RealFileSystem};
use memory_of_disk::{Change, DiskMemory};

/// What happens at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails without effect; later operations work.
    Error,
    /// It takes effect and is reported as failed; later operations work.
    FalseAlarm,
    /// It fails and so does everything after it. A write gets half-way first.
    PowerLoss,
}

/// The real file system inside one folder, until the planned operation comes.
///
/// Clones share the plan and the count. Everything in the folder must go through it.
#[derive(Clone, Debug)]
pub struct FaultyFileSystem {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    performed: usize,
    faults: BTreeMap<usize, Fault>,
    visits: BTreeMap<usize, Visit>,
    is_down: bool,
    memory: DiskMemory,
}

/// Somebody else's deed between two operations.
struct Visit(Box<dyn FnOnce() + Send>);

impl fmt::Debug for Visit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Visit")
    }
}

enum Verdict {
    Perform,
    PerformAndDeny,
    Refuse { half_way: bool },
}

impl FaultyFileSystem {
    /// Wraps the folder `root`, taking everything in it as durable.
    pub fn over(root: &Path) -> Result<Self> {
        let memory = DiskMemory::scan(root)?;
        let (faults, visits) = (BTreeMap::new(), BTreeMap::new());
        let shared = Shared { performed: 0, faults, visits, is_down: false, memory };
        Ok(Self { shared: Arc::new(Mutex::new(shared)) })
    }

    /// Plans a fault at the operation with this number, counted from 0 since the beginning.
    pub fn plan(&self, operation: usize, fault: Fault) {
        self.lock().faults.insert(operation, fault);
    }

    /// Lets somebody else act right before the operation with this number, as another process
    /// might. What the visitor changes is not part of later [`crash_images`](Self::crash_images).
    pub fn visit(&self, operation: usize, visitor: impl FnOnce() + Send + 'static) {
        self.lock().visits.insert(operation, Visit(Box::new(visitor)));
    }

    /// How many operations were attempted so far.
    pub fn performed(&self) -> usize {
        self.lock().performed
    }

    /// Lets operations work again after a [`Fault::PowerLoss`], with nothing lost: what a killed
    /// process leaves on a machine that runs on.
    pub fn revive(&self) {
        self.lock().is_down = false;
    }

    /// Every state the folder may be in if the power fails now, each different from the others:
    /// what was not synced may be lost, kept, torn or zero, and unsynced names may have changed
    /// or not, in any order.
    pub fn crash_images(&self) -> Vec<Image> {
        self.lock().memory.images()
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self) -> Verdict {
        let mut shared = self.lock();
        let number = shared.performed;
        shared.performed += 1;
        if let Some(Visit(visitor)) = shared.visits.remove(&number) {
            drop(shared);
            visitor();
            shared = self.lock();
        }
        if shared.is_down {
            return Verdict::Refuse { half_way: false };
        }
        match shared.faults.get(&number) {
            None => Verdict::Perform,
            Some(Fault::Error) => Verdict::Refuse { half_way: false },
            Some(Fault::FalseAlarm) => Verdict::PerformAndDeny,
            Some(Fault::PowerLoss) => {
                shared.is_down = true;
                Verdict::Refuse { half_way: true }
            }
        }
    }

    fn perform<T>(&self, path: &Path, operation: impl FnOnce() -> Result<T>) -> Result<T> {
        match self.judge() {
            Verdict::Perform => operation(),
            Verdict::PerformAndDeny => operation().and(Err(injected(path))),
            Verdict::Refuse { .. } => Err(injected(path)),
        }
    }

    fn remembered(&self, path: &Path, file: Box<dyn OutputFile>) -> Box<dyn OutputFile> {
        let number = self.lock().memory.create(path);
        Box::new(FaultyFile { disk: self.clone(), file, number })
    }

    fn remember(&self, change: impl FnOnce(&mut DiskMemory)) {
        change(&mut self.lock().memory);
    }
}

fn injected(path: &Path) -> Error {
    Error::io("use", path, io::Error::other("injected fault"))
}

impl FileSystem for FaultyFileSystem {
    fn create_dir_all(&self, dir: &Path) -> Result<()> {
        self.perform(dir, || {
            RealFileSystem.create_dir_all(dir)?;
            self.remember(|memory| memory.create_folders(dir));
            Ok(())
        })
    }

    fn create(&self, path: &Path) -> Result<Box<dyn OutputFile>> {
        self.perform(path, || {
            let file = RealFileSystem.create(path)?;
            Ok(self.remembered(path, file))
        })
    }

    fn create_new(&self, path: &Path) -> Result<Box<dyn OutputFile>> {
        self.perform(path, || {
            let file = RealFileSystem.create_new(path)?;
            Ok(self.remembered(path, file))
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.perform(to, || {
            RealFileSystem.rename(from, to)?;
            self.remember(|memory| memory.rename(from, to));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> Result<()> {
        self.perform(path, || {
            RealFileSystem.remove(path)?;
            self.remember(|memory| memory.remove(path));
            Ok(())
        })
    }

    fn remove_dir(&self, dir: &Path) -> Result<()> {
        self.perform(dir, || {
            RealFileSystem.remove_dir(dir)?;
            if !dir.exists() {
                self.remember(|memory| memory.remove(dir));
            }
            Ok(())
        })
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        // Remembered only: the tests simulate the loss of power, and real syncs take their time.
        self.perform(dir, || {
            self.remember(|memory| memory.sync_names(dir));
            Ok(())
        })
    }

    fn list(&self, dir: &Path) -> Result<Vec<OsString>> {
        self.perform(dir, || RealFileSystem.list(dir))
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.perform(path, || RealFileSystem.exists(path))
    }

    fn read(&self, path: &Path, longest: u64) -> Result<Option<Vec<u8>>> {
        self.perform(path, || RealFileSystem.read(path, longest))
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyFileSystem,
    file: Box<dyn OutputFile>,
    /// Which file of the disk's memory it is, whatever its name.
    number: usize,
}

impl FaultyFile {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_all_at(offset, bytes)?;
        let change = Change::Write { offset, bytes: bytes.to_vec() };
        self.disk.remember(|memory| memory.change(self.number, change));
        Ok(())
    }
}

impl OutputFile for FaultyFile {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn set_len(&self, length: u64) -> Result<()> {
        self.disk.perform(self.path(), || {
            self.file.set_len(length)?;
            self.disk.remember(|memory| memory.change(self.number, Change::SetLength(length)));
            Ok(())
        })
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        match self.disk.judge() {
            Verdict::Perform => return self.write(offset, bytes),
            Verdict::PerformAndDeny => self.write(offset, bytes)?,
            Verdict::Refuse { half_way: true } => self.write(offset, &bytes[..bytes.len() / 2])?,
            Verdict::Refuse { half_way: false } => {}
        }
        Err(injected(self.path()))
    }

    fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.disk.perform(self.path(), || self.file.read_exact_at(offset, into))
    }

    fn sync(&self) -> Result<()> {
        // Remembered only, as with folders.
        self.disk.perform(self.path(), || {
            self.disk.remember(|memory| memory.sync_content(self.number));
            Ok(())
        })
    }

    fn start_write_back(&self, _range: Range<u64>) -> Result<()> {
        self.disk.perform(self.path(), || Ok(()))
    }

    fn drop_pages(&self) -> Result<()> {
        self.disk.perform(self.path(), || Ok(()))
    }

    fn try_lock(&self) -> Result<bool> {
        self.disk.perform(self.path(), || self.file.try_lock())
    }

    fn length(&self) -> Result<u64> {
        self.disk.perform(self.path(), || self.file.length())
    }

    fn same_file_at(&self, path: &Path) -> Result<bool> {
        self.disk.perform(path, || self.file.same_file_at(path))
    }
}

/// The folder that holds a name.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}
