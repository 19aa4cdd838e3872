//! What the disk itself would remember.
//! The faulty file system reports every change here; what was synced is kept apart from what was
//! only handed to the kernel, so that images of a crash can be made. It must not touch real files
//! except to learn what was there at first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::folder_of;
use super::image::{Image, Unsynced};
use crate::error::{Error, Result};

/// A change to the content of a file.
#[derive(Clone, Debug)]
pub(super) enum Change {
    SetLength(u64),
    Write { offset: u64, bytes: Vec<u8> },
}

/// What a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Folder,
    /// An index into the files.
    File(usize),
}

/// A change to names that takes effect as a whole: each becomes a node or, with None, vanishes.
#[derive(Debug)]
struct NameChange(Vec<(PathBuf, Option<Node>)>);

#[derive(Debug, Default)]
struct FileMemory {
    synced: Vec<u8>,
    unsynced: Vec<Change>,
}

/// All files and names below a folder, as they are and as they are on the disk.
#[derive(Debug)]
pub(super) struct DiskMemory {
    root: PathBuf,
    files: Vec<FileMemory>,
    names: BTreeMap<PathBuf, Node>,
    synced_names: BTreeMap<PathBuf, Node>,
    unsynced_names: Vec<NameChange>,
}

impl DiskMemory {
    pub(super) fn scan(root: &Path) -> Result<Self> {
        let mut memory = Self {
            root: root.to_path_buf(),
            files: Vec::new(),
            names: BTreeMap::new(),
            synced_names: BTreeMap::new(),
            unsynced_names: Vec::new(),
        };
        memory.scan_folder(root).map_err(|source| Error::io("list", root, source))?;
        memory.synced_names = memory.names.clone();
        Ok(memory)
    }

    fn scan_folder(&mut self, folder: &Path) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.names.insert(path.clone(), Node::Folder);
                self.scan_folder(&path)?;
            } else {
                let synced = std::fs::read(&path)?;
                self.names.insert(path, Node::File(self.files.len()));
                self.files.push(FileMemory { synced, unsynced: Vec::new() });
            }
        }
        Ok(())
    }

    pub(super) fn create_folders(&mut self, dir: &Path) {
        let mut missing: Vec<_> = dir
            .ancestors()
            .take_while(|path| *path != self.root && path.starts_with(&self.root))
            .filter(|path| !self.names.contains_key(*path))
            .map(Path::to_path_buf)
            .collect();
        missing.reverse();
        for path in missing {
            self.change_names(vec![(path, Some(Node::Folder))]);
        }
    }

    /// The number of the file at `path`, new or old.
    pub(super) fn create(&mut self, path: &Path) -> usize {
        if let Some(Node::File(number)) = self.names.get(path) {
            return *number;
        }
        let number = self.files.len();
        self.files.push(FileMemory::default());
        self.change_names(vec![(path.to_path_buf(), Some(Node::File(number)))]);
        number
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        let node = self.names.get(from).copied();
        self.change_names(vec![(to.to_path_buf(), node), (from.to_path_buf(), None)]);
    }

    pub(super) fn remove(&mut self, path: &Path) {
        if self.names.contains_key(path) {
            self.change_names(vec![(path.to_path_buf(), None)]);
        }
    }

    pub(super) fn change(&mut self, number: usize, change: Change) {
        self.files[number].unsynced.push(change);
    }

    pub(super) fn sync_content(&mut self, number: usize) {
        let file = &mut self.files[number];
        file.synced = Unsynced::Kept.content(&file.synced, &file.unsynced);
        file.unsynced.clear();
    }

    pub(super) fn sync_names(&mut self, dir: &Path) {
        let is_inside =
            |change: &NameChange| change.0.iter().any(|(path, _)| folder_of(path) == dir);
        for change in self.unsynced_names.extract_if(.., |change| is_inside(change)) {
            apply(&mut self.synced_names, &change);
        }
    }

    fn change_names(&mut self, change: Vec<(PathBuf, Option<Node>)>) {
        let change = NameChange(change);
        apply(&mut self.names, &change);
        self.unsynced_names.push(change);
    }

    /// Every state that a crash may leave, without repetitions.
    pub(super) fn images(&self) -> Vec<Image> {
        let mut images = Vec::new();
        for names in self.surviving_names() {
            for unsynced in Unsynced::ALL {
                let content = |number: usize| {
                    unsynced.content(&self.files[number].synced, &self.files[number].unsynced)
                };
                let image = Image::new(&self.root, &names, content);
                if !images.contains(&image) {
                    images.push(image);
                }
            }
        }
        images
    }

    /// The changes of names reach the disk in order up to some point, or one of them alone does.
    fn surviving_names(&self) -> Vec<BTreeMap<PathBuf, Node>> {
        let mut in_order = self.synced_names.clone();
        let mut all = vec![in_order.clone()];
        for change in &self.unsynced_names {
            apply(&mut in_order, change);
            all.push(in_order.clone());
            let mut alone = self.synced_names.clone();
            apply(&mut alone, change);
            all.push(alone);
        }
        all
    }
}

fn apply(names: &mut BTreeMap<PathBuf, Node>, change: &NameChange) {
    for (path, node) in &change.0 {
        match node {
            Some(node) => names.insert(path.clone(), *node),
            None => names.remove(path),
        };
    }
}
