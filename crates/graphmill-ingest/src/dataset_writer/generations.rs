//! Which generation a dataset has, and which files belong to it.

use std::path::Path;

use graphmill_disk::FileSystem;
use graphmill_format::Manifest;
use graphmill_format::manifest;

use crate::{Error, Result};

/// The number of the generation after this one.
pub(super) fn next(generation: u64) -> Result<u64> {
    generation.checked_add(1).ok_or_else(|| {
        Error::request("dataset", "its generations are used up; build into another folder")
    })
}

/// The files that a manifest names.
pub(super) fn file_names(manifest: &Manifest) -> Vec<String> {
    manifest.files().map(|file| file.name.clone()).collect()
}

/// The greatest generation in the name of any file, also of strangers: no new file may need a name that is taken.
pub(super) fn newest_generation(file_system: &dyn FileSystem, folder: &Path) -> Result<u64> {
    let names = file_system.list(folder)?;
    let names = names.iter().filter_map(|name| name.to_str());
    let generation = |name: &str| name.rsplit('.').nth(1).and_then(|text| text.parse().ok());
    let named = names.filter(|name| manifest::is_file_name(name)).filter_map(generation);
    // A stranger's name must not use up the numbers.
    Ok(named.filter(|&generation| generation < 1 << 53).max().unwrap_or(0))
}
