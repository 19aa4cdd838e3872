//! How much may still be written to the disk under a path.
//! Whoever is about to write much asks first. The answer is a snapshot, and others write too.

use std::path::Path;

/// Bytes that an ordinary user may still write where `path` lies; None where the system does not tell.
pub fn free_space(path: impl AsRef<Path>) -> Option<u64> {
    #[cfg(unix)]
    {
        let facts = rustix::fs::statvfs(path.as_ref()).ok()?;
        facts.f_bavail.checked_mul(facts.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_room_and_a_missing_one_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let free = free_space(folder.path()).unwrap();
        assert!((1 << 20..1 << 60).contains(&free), "{free}");
        assert_eq!(free_space(folder.path().join("missing")), None);
    }
}
