//! Where a benchmark keeps its inputs, and whether they fit there.
//! The folder is a temporary one or the user's; inputs in the latter serve the next run, everything else is removed. It
//! must not know what inputs hold.

use super::SectionName;
use super::shape::{Shape, Size};
use anyhow::{anyhow, bail};
use graphmill::disk::{format_size, free_space};
use graphmill::format::manifest;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What measuring a disk writes where no file is large enough to be read.
const PROFILE_BYTES: u64 = 1 << 30;
/// A table of this size is large enough.
const PROFILE_LEAST: u64 = 256 << 20;

/// The folders of a benchmark.
#[derive(Debug)]
pub struct Workplace {
    inputs: PathBuf,
    /// For what is written and removed again. Before the folder it may lie in, so that it is dropped first.
    scratch: TempDir,
    root: PathBuf,
    _temporary: Option<TempDir>,
}

impl Workplace {
    /// Finds the folder, and refuses it if what these sections write does not fit.
    pub fn prepare(
        work: Option<&Path>,
        size: Size,
        seed: u64,
        sections: &[SectionName],
    ) -> anyhow::Result<Self> {
        let (root, temporary) = match work {
            Some(folder) => (folder.to_path_buf(), None),
            None => {
                let made = tempfile::Builder::new().prefix("graphmill-bench-").tempdir();
                let made = made.map_err(|error| {
                    anyhow!("cannot create a temporary folder: {error}; name one with --work DIR")
                })?;
                (made.path().to_path_buf(), Some(made))
            }
        };
        if !root.is_dir() {
            bail!(
                "`{}` is not a folder: create it first, or choose another place for --work",
                root.display()
            );
        }
        let needed = needed_bytes(&size.shape(), size, sections);
        if let Some(free) = free_space(&root) {
            check_room(&root, size, needed, free)?;
        }
        let inputs = root.join(format!("{}-seed-{seed}", size.name()));
        let cannot = |error: io::Error| {
            anyhow!("cannot write into `{}`: {error}; choose another place", root.display())
        };
        let scratch = tempfile::Builder::new().prefix(".scratch-").tempdir_in(&root);
        let scratch = scratch.map_err(cannot)?;
        std::fs::create_dir_all(&inputs).map_err(cannot)?;
        Ok(Workplace { inputs, scratch, root, _temporary: temporary })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The dataset: plain lists of both directions, features, labels and splits.
    pub fn dataset(&self) -> PathBuf {
        self.inputs.join("dataset")
    }

    pub fn has_dataset(&self) -> bool {
        self.dataset().join(manifest::FILE_NAME).exists()
    }

    /// The packed lists of the same graph.
    pub fn packed(&self) -> PathBuf {
        self.inputs.join("packed.gl")
    }

    /// Its edges as text.
    pub fn edges(&self) -> PathBuf {
        self.inputs.join("edges.csv")
    }

    /// Its features as an array.
    pub fn array(&self) -> PathBuf {
        self.inputs.join("x.npy")
    }

    /// A place for something that is removed at the end at the latest.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Only an empty folder goes: one whose inputs were not finished.
        let _ = std::fs::remove_dir(&self.inputs);
    }
}

/// Bytes that are on disk at the same time, at most.
fn needed_bytes(shape: &Shape, size: Size, sections: &[SectionName]) -> u64 {
    let (lists, table) = (shape.list_bytes(), shape.table_bytes());
    let mut bytes = lists + table + 16 * shape.num_nodes();
    if sections.iter().any(|section| section.needs_packed_lists()) {
        // Lists are written plain before they are packed.
        bytes += 2 * lists;
    }
    if sections.contains(&SectionName::Ingest) {
        // The text, what sorting its edges leaves for a while, the lists; the array and the table made of it.
        bytes += shape.text_bytes() + 3 * lists + 2 * table;
    }
    let measures = sections.iter().any(|section| section.needs_disk_rates());
    if measures && size != Size::Tiny && table < PROFILE_LEAST {
        bytes += PROFILE_BYTES;
    }
    bytes
}

/// Refuses a folder without enough room; inputs that are there already are counted as if they were not.
fn check_room(folder: &Path, size: Size, needed: u64, free: u64) -> anyhow::Result<()> {
    if free >= needed {
        return Ok(());
    }
    bail!(
        "bench --size {} writes up to {} into `{}`, and {} are free there: \
         free some space, choose another folder with --work, or a smaller --size",
        size.name(),
        format_size(needed),
        folder.display(),
        format_size(free)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn too_little_room_is_told_with_what_is_needed_what_is_free_and_a_remedy() {
        let folder = Path::new("/data");
        assert!(check_room(folder, Size::Small, 100, 100).is_ok());
        let said = check_room(folder, Size::Medium, 13 << 30, 5 << 30).unwrap_err().to_string();
        assert_eq!(
            said,
            "bench --size medium writes up to 13 GiB into `/data`, and 5 GiB are free there: \
             free some space, choose another folder with --work, or a smaller --size"
        );
    }

    #[test]
    fn sections_that_write_little_ask_for_little() {
        let bytes = |size: Size, sections: &[SectionName]| {
            needed_bytes(&size.shape(), size, sections) as f64 / (1 << 30) as f64
        };
        let all = SectionName::value_variants();
        assert!((8.0..13.0).contains(&bytes(Size::Medium, all)));
        assert!((1.0..3.0).contains(&bytes(Size::Small, all)));
        assert!(bytes(Size::Tiny, all) < 0.1);
        assert!(bytes(Size::Medium, &[SectionName::Walks]) < 3.0);
    }
}
