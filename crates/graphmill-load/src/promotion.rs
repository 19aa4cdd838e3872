//! A file that fits into memory moves there.
//! Reads past the page cache leave nothing behind, which is right for a file that is larger than memory and wrong for one
//! that is read over and over and would fit. So once as many bytes were read past the cache as the file has, it is brought
//! into the cache piece by piece, beside the reads that go on: at worst everything was read twice, at best nothing will be
//! read any more. It does not know what the bytes are for.

use graphmill_disk::{Mapped, ReadAt, machine_memory};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are read at a time: some 30 ms of a fast disk, so that no call waits long.
const PIECE: u64 = 64 << 20;
/// A file fits if it takes at most this share of the machine's or the container's memory.
const FITTING_SHARE: u64 = 2;

/// How much of a file was read past the page cache, and how much of it was asked for since.
#[derive(Debug, Default)]
pub(crate) struct Promotion {
    read: AtomicU64,
    asked: AtomicU64,
}

impl Promotion {
    /// Notes that bytes were read past the page cache; returns how many bytes the kernel was asked to bring there.
    pub(crate) fn note(&self, mapped: &Mapped, bytes: u64) -> u64 {
        let read = self.read.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if read < mapped.len() || self.asked.load(Ordering::Relaxed) >= mapped.len() {
            return 0;
        }
        if mapped.len() > machine_memory() / FITTING_SHARE {
            // It will not fit later either.
            self.asked.store(mapped.len(), Ordering::Relaxed);
            return 0;
        }
        let start = self.asked.fetch_add(PIECE, Ordering::Relaxed).min(mapped.len());
        let end = start.saturating_add(PIECE).min(mapped.len());
        // It only makes later reads faster: where it is refused, they go on as before.
        match mapped.bring_in(start..end) {
            Ok(()) => end - start,
            Err(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_asked_for_once_after_it_was_read_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // A hole costs no disk.
        let length = 2 * PIECE + 5000;
        file.as_file().set_len(length).unwrap();
        let mapped = Mapped::open(file.path()).unwrap();
        let promotion = Promotion::default();
        assert_eq!(promotion.note(&mapped, length / 2), 0);
        assert_eq!(promotion.note(&mapped, length / 2 - 1), 0);
        let fits = length <= machine_memory() / FITTING_SHARE;
        let asked: Vec<u64> = (0..5).map(|_| promotion.note(&mapped, 1000)).collect();
        assert_eq!(asked, if fits { [PIECE, PIECE, 5000, 0, 0] } else { [0; 5] });
    }
}
