//! A folder as a power failure may leave it.
//! Made from what the disk remembers, under one assumption about everything that was not synced;
//! a test puts it in place of the folder and looks whether the promises still hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::folder_of;
use super::memory_of_disk::{Change, Node};
use crate::error::{Error, Result};

/// One state of a folder after a power failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    root: PathBuf,
    /// Content of files; None for a folder. Parents come before children.
    entries: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Image {
    pub(super) fn new(
        root: &Path,
        names: &BTreeMap<PathBuf, Node>,
        content: impl Fn(usize) -> Vec<u8>,
    ) -> Self {
        let mut entries = BTreeMap::new();
        for (path, node) in names {
            let folder = folder_of(path);
            // A name is lost with the folder it was in.
            if folder != root && !matches!(entries.get(&folder), Some(None)) {
                continue;
            }
            let entry = match node {
                Node::Folder => None,
                Node::File(number) => Some(content(*number)),
            };
            entries.insert(path.clone(), entry);
        }
        Self { root: root.to_path_buf(), entries }
    }

    /// Puts the image in place of what the folder holds now.
    pub fn restore(&self) -> Result<()> {
        self.rewrite().map_err(|source| Error::io("restore", &self.root, source))
    }

    fn rewrite(&self) -> std::io::Result<()> {
        for entry in std::fs::read_dir(&self.root)? {
            let path = entry?.path();
            if path.is_dir() {
                std::fs::remove_dir_all(path)?;
            } else {
                std::fs::remove_file(path)?;
            }
        }
        for (path, entry) in &self.entries {
            match entry {
                None => std::fs::create_dir(path)?,
                Some(bytes) => std::fs::write(path, bytes)?,
            }
        }
        Ok(())
    }
}

/// What became of changes to content that were not synced.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unsynced {
    /// None reached the disk.
    Lost,
    /// All did.
    Kept,
    /// All but the last, which got half-way.
    Torn,
    /// The last did, those before it did not.
    OnlyLast,
    /// The length did, the bytes did not: zeros where they should be.
    Zeroed,
}

impl Unsynced {
    pub(super) const ALL: [Self; 5] =
        [Self::Lost, Self::Kept, Self::Torn, Self::OnlyLast, Self::Zeroed];

    pub(super) fn content(self, synced: &[u8], unsynced: &[Change]) -> Vec<u8> {
        let mut content = synced.to_vec();
        let last = unsynced.len().saturating_sub(1);
        for (index, change) in unsynced.iter().enumerate() {
            match change {
                Change::SetLength(length) => match self {
                    Self::Lost => {}
                    Self::OnlyLast if index < last => {}
                    _ => content.resize(*length as usize, 0),
                },
                Change::Write { offset, bytes } => match self {
                    Self::Lost => {}
                    Self::OnlyLast if index < last => {}
                    Self::Torn if index == last => {
                        put(&mut content, *offset, &bytes[..bytes.len() / 2])
                    }
                    Self::Zeroed => put(&mut content, *offset, &vec![0; bytes.len()]),
                    _ => put(&mut content, *offset, bytes),
                },
            }
        }
        content
    }
}

fn put(content: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let start = offset as usize;
    let end = start + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[start..end].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_assumption_about_unsynced_changes_gives_its_content() {
        let changes = [
            Change::SetLength(0),
            Change::Write { offset: 0, bytes: b"new!".to_vec() },
            Change::Write { offset: 4, bytes: b"more".to_vec() },
        ];
        let content = |unsynced: Unsynced| unsynced.content(b"old", &changes);
        assert_eq!(content(Unsynced::Lost), b"old");
        assert_eq!(content(Unsynced::Kept), b"new!more");
        assert_eq!(content(Unsynced::Torn), b"new!mo");
        assert_eq!(content(Unsynced::OnlyLast), b"old\0more");
        assert_eq!(content(Unsynced::Zeroed), [0; 8]);
    }
}
