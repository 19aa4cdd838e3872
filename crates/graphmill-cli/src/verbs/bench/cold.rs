//! Files out of the page cache.
//! Cold figures begin here: the system is told to forget files, and asked whether it did. It must not know what is read
//! afterwards. Nobody may have the files mapped meanwhile, since mapped pages stay.

use super::figure::State;
use graphmill::disk::{self, drop_page_cache};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The share of a file that may stay: the kernel keeps a page here and there.
const MAY_STAY: f64 = 0.05;

/// Lets the system forget these files; the reason if it does not.
pub fn evict(paths: &[PathBuf]) -> anyhow::Result<Result<State, String>> {
    if !cfg!(target_os = "linux") {
        return Ok(Err("only Linux can be told to forget a file".to_owned()));
    }
    let mut state = State::Cold;
    for path in paths {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        drop_page_cache(&file, 0..length)?;
        match disk::residency(&file, length) {
            None => state = State::Unconfirmed,
            Some(found) if length > 0 && found.fraction() > MAY_STAY => {
                let percent = (found.fraction() * 100.0).round();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                return Ok(Err(format!("{percent}% of {name} stay in memory, as on a tmpfs")));
            }
            Some(_) => {}
        }
    }
    Ok(Ok(state))
}

/// Reads a file once, so that it is in the page cache as far as it fits there.
pub fn warm(path: &Path) -> anyhow::Result<()> {
    std::io::copy(&mut File::open(path)?, &mut std::io::sink())?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use graphmill::disk::Mapped;

    #[test]
    fn a_file_that_stays_in_memory_is_not_called_cold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        let file = File::create(&path).unwrap();
        std::io::Write::write_all(&mut &file, &vec![1; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        warm(&path).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        // Touched pages of a map cannot be forgotten.
        assert_eq!(mapped.bytes().iter().filter(|&&byte| byte == 1).count(), 1 << 20);
        let outcome = evict(std::slice::from_ref(&path)).unwrap();
        assert_ne!(outcome, Ok(State::Cold));
        drop(mapped);
        if evict(std::slice::from_ref(&path)).unwrap() == Ok(State::Cold) {
            let left = disk::residency(&File::open(&path).unwrap(), 1 << 20).unwrap();
            assert!(left.fraction() <= MAY_STAY);
        }
    }
}
