//! Things that belong to one process and must not be used by its forked children.
//! Threads do not survive a fork, and a lock that another thread held at that moment stays locked in the child for ever; so
//! pools are kept here by process id. It must not know what it keeps.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

struct Entry<T> {
    process: u32,
    kept: T,
    next: *mut Entry<T>,
}

/// A list that is only ever prepended to by compare-and-exchange, and leaked: a child walks past the entries of its
/// parent and adds its own.
pub(crate) struct PerProcess<T: 'static> {
    newest: AtomicPtr<Entry<T>>,
}

impl<T: Send + Sync> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self { newest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// What this process keeps and `fits`, or else what `make` makes, to be kept until the end of the process.
    ///
    /// If several threads make one at the same moment, one of theirs is kept and the others are dropped.
    pub(crate) fn get_or_make<E>(
        &self,
        fits: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&'static T, E> {
        let process = std::process::id();
        let mut seen = self.newest.load(Ordering::Acquire);
        if let Some(kept) = find(seen, process, &fits) {
            return Ok(kept);
        }
        let entry = Box::into_raw(Box::new(Entry { process, kept: make()?, next: seen }));
        loop {
            match self.newest.compare_exchange(seen, entry, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: leaked above, and from now on never changed or freed.
                Ok(_) => return Ok(unsafe { &(*entry).kept }),
                Err(newest) => {
                    if let Some(kept) = find(newest, process, &fits) {
                        // SAFETY: it came from a box, was not published, and nobody will use it again.
                        drop(unsafe { Box::from_raw(entry) });
                        return Ok(kept);
                    }
                    // SAFETY: the entry is not published, so this thread alone knows it.
                    unsafe { (*entry).next = newest };
                    seen = newest;
                }
            }
        }
    }
}

fn find<T>(
    mut entry: *const Entry<T>,
    process: u32,
    fits: impl Fn(&T) -> bool,
) -> Option<&'static T> {
    // SAFETY: the list holds only leaked entries, complete before they were published by the release in
    // `get_or_make` and never changed or freed afterwards.
    while let Some(known) = unsafe { entry.as_ref() } {
        if known.process == process && fits(&known.kept) {
            return Some(&known.kept);
        }
        entry = known.next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn what_fits_is_made_once_whoever_asks() {
        static NUMBERS: PerProcess<Box<usize>> = PerProcess::new();
        let get = |number: usize| {
            let made =
                NUMBERS.get_or_make(|kept| **kept == number, || Ok::<_, Infallible>(number.into()));
            let Ok(kept) = made;
            assert_eq!(**kept, number);
            ptr::from_ref(kept) as usize
        };
        let addresses: Vec<[usize; 2]> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8).map(|_| scope.spawn(|| [get(5), get(6)])).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert!(addresses.iter().all(|pair| *pair == addresses[0] && pair[0] != pair[1]));
    }

    #[test]
    fn what_cannot_be_made_is_not_kept() {
        static NOTHING: PerProcess<u8> = PerProcess::new();
        assert_eq!(NOTHING.get_or_make(|_| true, || Err("no")), Err("no"));
        assert_eq!(NOTHING.get_or_make(|_| true, || Ok::<_, &str>(3)), Ok(&3));
    }
}
