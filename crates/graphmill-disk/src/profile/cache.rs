//! Profiles that were measured before, one small file per device.
//! They lie where the user's caches lie. A file that is missing, unreadable, of another version, of another device or too old
//! counts as none, and that none can be written is no failure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::DeviceProfile;
use crate::error::Result;
use crate::write::{FileDraft, FileSystem, RealFileSystem};

/// Raised when what is measured changes.
const VERSION: u32 = 2;
/// Disks change with age, drivers and neighbours.
const SECONDS_TRUSTED: u64 = 90 * 24 * 3600;

/// A profile has some hundred bytes.
const LONGEST: u64 = 1 << 16;

#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    profile: DeviceProfile,
}

pub(super) fn load(path: &Path) -> Option<DeviceProfile> {
    load_from(&folder()?, path)
}

pub(super) fn store(path: &Path, profile: &DeviceProfile) {
    let Some(folder) = folder() else { return };
    if let Err(error) = store_into(&folder, path, profile) {
        tracing::debug!(%error, "the profile of the device is not kept");
    }
}

fn load_from(folder: &Path, path: &Path) -> Option<DeviceProfile> {
    let device = device_of(path)?;
    let text = RealFileSystem.read(&folder.join(file_name(&device)), LONGEST).ok()??;
    let Kept { version, profile } = serde_json::from_slice(&text).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // One from the future was measured by another clock: nobody knows how old it is.
    let is_fresh =
        now.checked_sub(profile.measured_at).is_some_and(|seconds| seconds < SECONDS_TRUSTED);
    (version == VERSION && profile.device == device && is_fresh && profile.is_sound())
        .then_some(profile)
}

fn store_into(folder: &Path, path: &Path, profile: &DeviceProfile) -> Result<()> {
    let Some(device) = device_of(path) else { return Ok(()) };
    let failed = |source| crate::error::Error::io("create", folder, source);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let kept = Kept { version: VERSION, profile: profile.clone() };
    let text = serde_json::to_vec_pretty(&kept).map_err(|error| failed(error.into()))?;
    let target = folder.join(file_name(&device));
    let draft = FileDraft::begin(Arc::new(RealFileSystem), &target, true)?;
    draft.file().write_all_at(0, &text)?;
    draft.publish()
}

/// `$XDG_CACHE_HOME/graphmill`, or `~/.cache/graphmill`.
fn folder() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("graphmill"))
}

fn file_name(device: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("disk-{}.json", device.chars().map(plain).collect::<String>())
}

/// What tells one device from another: its number, its model and its size, as far as the system says.
#[cfg(target_os = "linux")]
pub(super) fn device_of(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let number = path.metadata().ok()?.dev();
    let (major, minor) = (libc::major(number), libc::minor(number));
    let entry = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let fact = |name: &str| {
        let text = std::fs::read_to_string(entry.join(name)).ok()?;
        Some(text.trim().to_owned())
    };
    // That of a partition is its disk's.
    let model = fact("device/model").or_else(|| fact("../device/model")).unwrap_or_default();
    let sectors = fact("size").unwrap_or_default();
    Some(format!("{major}:{minor} {model} {sectors}").trim().to_owned())
}

/// Nothing is kept where devices cannot be told apart.
#[cfg(not(target_os = "linux"))]
pub(super) fn device_of(_path: &Path) -> Option<String> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn measured(path: &Path) -> DeviceProfile {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let device = device_of(path).unwrap();
        DeviceProfile { device, is_measured: true, measured_at: now, ..DeviceProfile::assumed() }
    }

    #[test]
    fn what_was_kept_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let caches = folder.path().join("made/for/it");
        let profile = measured(folder.path());
        assert_eq!(load_from(&caches, folder.path()), None);
        store_into(&caches, folder.path(), &profile).unwrap();
        store_into(&caches, folder.path(), &profile).unwrap();
        assert_eq!(load_from(&caches, folder.path()), Some(profile));
        assert_eq!(load_from(&caches, &folder.path().join("missing")), None);
    }

    #[test]
    fn what_cannot_be_trusted_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let good = measured(path);
        for bad in [
            DeviceProfile { measured_at: good.measured_at - SECONDS_TRUSTED - 1, ..good.clone() },
            DeviceProfile { measured_at: good.measured_at + 1_000, ..good.clone() },
            DeviceProfile { device: "another".to_owned(), ..good.clone() },
            DeviceProfile { random: vec![], ..good.clone() },
            DeviceProfile { sequential: -1.0, ..good.clone() },
        ] {
            store_into(path, path, &bad).unwrap();
            assert_eq!(load_from(path, path), None, "{bad:?}");
        }
        store_into(path, path, &good).unwrap();
        let file = path.join(file_name(&good.device));
        let text = std::fs::read_to_string(&file).unwrap();
        for damaged in
            [&text[..text.len() / 2], "", &text.replace("\"version\": 2", "\"version\": 1")]
        {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(load_from(path, path), None);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_here_and_no_failure_outside() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let profile = measured(file.path());
        assert!(store_into(&file.path().join("below"), file.path(), &profile).is_err());
    }
}
