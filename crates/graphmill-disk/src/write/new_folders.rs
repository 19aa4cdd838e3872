//! The folders a draft had to create.
//! A folder draft makes them before it can lock anything, syncs their names before it commits, and
//! takes them away again when it is given up. It must not touch a folder that was there before.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::FileSystem;
use crate::error::Result;

/// Folders created by a draft, removed on drop (when empty) unless kept.
#[derive(Debug)]
pub(super) struct NewFolders {
    file_system: Arc<dyn FileSystem>,
    /// The deepest first.
    created: Vec<PathBuf>,
}

impl NewFolders {
    /// Creates `folder` and those above it that are missing.
    pub(super) fn create(file_system: Arc<dyn FileSystem>, folder: &Path) -> Result<Self> {
        let mut created = Vec::new();
        for ancestor in folder.ancestors().filter(|path| *path != Path::new("")) {
            if file_system.exists(ancestor)? {
                break;
            }
            created.push(ancestor.to_path_buf());
        }
        // Built first, so that a creation that stops half-way is undone.
        let folders = Self { file_system, created };
        if !folders.created.is_empty() {
            folders.file_system.create_dir_all(folder)?;
        }
        Ok(folders)
    }

    /// No folders at all.
    pub(super) fn none(file_system: Arc<dyn FileSystem>) -> Self {
        Self { file_system, created: Vec::new() }
    }

    /// Makes their names durable.
    pub(super) fn sync(&self) -> Result<()> {
        self.created.iter().try_for_each(|folder| {
            let above = folder.parent().filter(|path| *path != Path::new(""));
            self.file_system.sync_dir(above.unwrap_or(Path::new(".")))
        })
    }

    /// Leaves them where they are from now on.
    pub(super) fn keep(&mut self) {
        self.created.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.created {
            // Nobody is left to tell, and an empty folder does no harm.
            let _ = self.file_system.remove_dir(folder);
        }
    }
}
