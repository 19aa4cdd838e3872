//! Where the numbering of nodes may work: the memory it may take and the place of its scratch files.
//! Every part of the module is given one and asks it for files that vanish with their handles. It
//! must not know what is kept in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use graphmill_disk::{Budget, FileSystem, OutputFile};

use crate::Result;

/// A budget, a file system, and the file beside which scratch files lie.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    budget: Budget,
    file_system: Arc<dyn FileSystem>,
    target: PathBuf,
    /// Files made so far: no two have the same name, however short they have it.
    made: Arc<AtomicU64>,
}

impl Workspace {
    /// Scratch files lie beside `target`, where there has to be room for as much anyway.
    pub(crate) fn new(budget: &Budget, file_system: Arc<dyn FileSystem>, target: &Path) -> Self {
        let (budget, target) = (budget.clone(), target.to_path_buf());
        Workspace { budget, file_system, target, made: Arc::new(AtomicU64::new(0)) }
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn file_system(&self) -> &Arc<dyn FileSystem> {
        &self.file_system
    }

    /// A new scratch file; `kind` says in messages what it holds.
    pub(super) fn scratch(&self, kind: &str) -> Result<Box<dyn OutputFile>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(format!(".{kind}-{number}"));
        Ok(self.file_system.scratch(&self.target.with_file_name(name))?)
    }
}

/// A scratch file that is made when it is needed first.
#[derive(Debug)]
pub(super) struct LazyScratch {
    workspace: Workspace,
    kind: &'static str,
    file: OnceLock<Box<dyn OutputFile>>,
    making: Mutex<()>,
}

impl LazyScratch {
    pub(super) fn new(workspace: &Workspace, kind: &'static str) -> Self {
        let workspace = workspace.clone();
        LazyScratch { workspace, kind, file: OnceLock::new(), making: Mutex::new(()) }
    }

    pub(super) fn file(&self) -> Result<&dyn OutputFile> {
        if let Some(file) = self.file.get() {
            return Ok(&**file);
        }
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = self.file.get() {
            return Ok(&**file);
        }
        let file = self.workspace.scratch(self.kind)?;
        Ok(&**self.file.get_or_init(|| file))
    }
}
