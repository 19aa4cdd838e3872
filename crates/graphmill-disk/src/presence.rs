//! Whether what is read from a mapped file is in memory.
//! Readers ask before each portion of work whether they should announce pages first, which costs time and is wasted on a
//! file that is resident. Whoever does not announce is watched by the page faults that had to wait for the disk; whoever
//! does, by a few of the pages announced. It is a guess that changes how fast something is read, and never what.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::read::{Mapped, ReadAt};
use crate::residency::is_resident;

/// Pages found resident one after the other until a file counts as resident.
const ENOUGH: u32 = 64;
/// Pages that are looked at when some are announced.
const LOOKS: usize = 16;

/// What is known about one file; shared by all who read it.
#[derive(Debug)]
pub struct Presence {
    /// Pages found resident one after the other; the file counts as resident when they are enough.
    found: AtomicU32,
}

impl Default for Presence {
    /// Nothing is known: announce, and let the first look decide.
    fn default() -> Self {
        Presence { found: AtomicU32::new(ENOUGH - LOOKS as u32) }
    }
}

thread_local! {
    /// The page faults when this thread asked last.
    static FAULTS: Cell<Option<u64>> = const { Cell::new(None) };
}

impl Presence {
    /// Whether the file, as far as is known, is not in memory. Takes less than a microsecond.
    #[inline]
    pub fn is_cold(&self) -> bool {
        let faults = faults_of_this_thread();
        // They may be another file's: then the next announcement shows it.
        let has_waited = FAULTS.replace(Some(faults)).is_some_and(|before| before != faults);
        if self.found.load(Ordering::Relaxed) < ENOUGH {
            return true;
        }
        if has_waited {
            self.found.store(0, Ordering::Relaxed);
        }
        has_waited
    }

    /// Looks at a few of the pages that are about to be announced; `offset` gives where in the file the `n`-th of
    /// `count` is.
    pub fn look(&self, mapped: &Mapped, count: usize, offset: impl Fn(usize) -> u64) {
        let looks = LOOKS.min(count);
        for look in 0..looks {
            let is_resident = is_resident(mapped.file(), offset(look * count / looks));
            if is_resident == Some(false) {
                self.found.store(0, Ordering::Relaxed);
                return;
            }
            let more = |found: u32| Some(found.saturating_add(1).min(ENOUGH));
            // Always succeeds, since there is always a next value.
            let _ = self.found.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
            if is_resident.is_none() {
                // Nobody knows: go without announcing after some announcements, and let the faults decide.
                break;
            }
        }
    }
}

/// Page faults of this thread that had to wait for a disk.
#[cfg(target_os = "linux")]
fn faults_of_this_thread() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is the one the call fills, and all zeros is a value of it should the call fail.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_majflt as u64
}

/// Other systems do not count by threads; there every file counts as resident.
#[cfg(not(target_os = "linux"))]
fn faults_of_this_thread() -> u64 {
    0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_resident_file_is_soon_known_and_one_page_that_is_missing_too() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![1; 1 << 20]).unwrap();
        let hole = tempfile::NamedTempFile::new().unwrap();
        hole.as_file().set_len(1 << 20).unwrap();
        let (file, hole) = (Mapped::open(file.path()).unwrap(), Mapped::open(hole.path()).unwrap());
        let presence = Presence::default();
        assert!(presence.is_cold());
        let mut announcements = 0;
        // One is enough where the system can tell.
        while presence.is_cold() {
            presence.look(&file, 100, |place| place as u64 * 4096);
            announcements += 1;
        }
        assert!(announcements <= LOOKS);
        if is_resident(hole.file(), 0) == Some(false) {
            presence.look(&hole, 1, |_| 5);
            assert!(presence.is_cold());
            presence.look(&file, LOOKS, |place| place as u64 * 4096);
            assert!(presence.is_cold());
        }
        presence.look(&file, 0, |_| unreachable!("there is no page to look at"));
    }
}
