//! A dataset leaves its folder.
//! The manifest goes first, which is the moment from which on there is no dataset; then go the
//! files that it named. What else lies in the folder stays, and so does the folder with it. It must
//! not know what the files hold.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{FileSystem, RealFileSystem};
use graphmill_format::manifest;

use crate::Result;
use crate::dataset_writer::DatasetWriter;

/// Removes the dataset in `folder`, and the folder if nothing else is in it.
///
/// A writer of the dataset must have ended; readers keep what they have open.
///
/// ```
/// use graphmill_ingest::build::{BuildOptions, BuildSources, EdgeSource, build};
/// use graphmill_ingest::source::EdgeArrays;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("dataset");
/// let edges = EdgeArrays::new(&[0_i32, 1][..], &[1_i32, 2][..]);
/// build(&folder, &BuildSources::new(EdgeSource::Memory(edges)), &BuildOptions::new())?;
/// graphmill_ingest::remove_dataset(&folder)?;
/// assert!(!folder.exists());
/// # Ok(())
/// # }
/// ```
pub fn remove_dataset(folder: &Path) -> Result<()> {
    remove_dataset_on(Arc::new(RealFileSystem), folder)
}

/// The same on another file system, such as one that fails on purpose.
pub fn remove_dataset_on(file_system: Arc<dyn FileSystem>, folder: &Path) -> Result<()> {
    // Holds the lock of the dataset until its files are gone.
    let writer = DatasetWriter::amend_on(file_system.clone(), folder)?;
    let names = writer.published_files()?;
    file_system.remove(&folder.join(manifest::FILE_NAME))?;
    // Should the power fail now, the manifest must not come back without its files.
    file_system.sync_dir(folder)?;
    for name in &names {
        file_system.remove(&folder.join(name))?;
    }
    drop(writer);
    file_system.remove_dir(folder)?;
    Ok(())
}
