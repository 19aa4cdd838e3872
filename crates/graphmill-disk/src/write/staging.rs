//! The hidden file beside a target that is its lock and its draft in one.
//! Both kinds of draft begin by acquiring it and end by renaming it over the target, so a build
//! leaves no lock file behind and a crashed build's leftover is taken over by the next. It must not
//! know what is written.
//!
//! The invariant: whoever holds the lock of the file that the hidden name refers to owns the name.
//! Only the owner empties, renames or removes it, hence a lock won on a file that has lost its name
//! in the meantime is worth nothing and the winner starts over.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FileSystem, OutputFile};
use crate::error::{Error, Result};

/// Each retry means that another writer finished in between; so many in a row is a busy target.
const ATTEMPTS: usize = 100;

/// The locked, empty staging file of a target.
#[derive(Debug)]
pub(super) struct Staging {
    file_system: Arc<dyn FileSystem>,
    file: Box<dyn OutputFile>,
    path: PathBuf,
    target: PathBuf,
    /// Whether the hidden name is still ours to remove.
    named: bool,
}

impl Staging {
    /// Takes the lock of `.<name>.partial` in `folder`, or fails with [`Error::Busy`].
    pub(super) fn acquire(
        file_system: Arc<dyn FileSystem>,
        folder: &Path,
        name: &OsStr,
    ) -> Result<Self> {
        let target = folder.join(name);
        let path = folder.join(partial_name(name));
        for _ in 0..ATTEMPTS {
            let file = file_system.create(&path)?;
            // From here to the first time the name is known to be ours, a failure leaves the file:
            // it may be another writer's.
            if !file.try_lock()? {
                break;
            }
            if !file.same_file_at(&path)? {
                continue;
            }
            let staging = Self { file_system, file, path, target, named: true };
            staging.file.set_len(0)?;
            return Ok(staging);
        }
        Err(Error::Busy { path: target })
    }

    pub(super) fn file(&self) -> &dyn OutputFile {
        &*self.file
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Makes the written content the target, durably named once the caller syncs the folder.
    pub(super) fn rename_to_target(&mut self) -> Result<()> {
        if let Err(error) = self.file_system.rename(&self.path, &self.target) {
            // A network file system may report the failure of a request that it carried out and was
            // sent twice. Nobody but us takes the hidden name away, so if it is gone, we did.
            if self.file_system.exists(&self.path).unwrap_or(true) {
                return Err(error);
            }
        }
        self.named = false;
        Ok(())
    }
}

/// The hidden name that stands for `name` until it is published.
pub(super) fn partial_name(name: &OsStr) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(".partial");
    hidden
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.named {
            // Nobody is left to tell; the next writer takes over what cannot be removed.
            let _ = self.file_system.remove(&self.path);
        }
    }
}
