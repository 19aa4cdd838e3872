//! The sources of a packed edge list, kept on the disk until their destinations come.
//! An archive that holds all sources before all destinations can be unpacked only front to back;
//! unpacking it twice would take twice as long, so the first half waits in a file without a name,
//! four bytes for an id where that is enough. It must not know archives or edges.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use graphmill_disk::{Budget, FileSystem, OutputFile, PageBuffer, RealFileSystem, Reservation};

use crate::{Error, Result};

/// Pieces start on a page, since copies from and to the page cache are fast only then.
const PAGE: u64 = 4096;

/// Where scratch files are made.
pub(crate) type ScratchPlace = (Arc<dyn FileSystem>, PathBuf);

/// Ids in numbered pieces.
pub(crate) struct KeptHalf {
    file: Box<dyn OutputFile>,
    places: Vec<OnceLock<Place>>,
    end: AtomicU64,
    _reserved: Reservation,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    is_wide: bool,
}

impl KeptHalf {
    /// Room for some pieces, in the folder of temporary files unless another place is given.
    pub(crate) fn new(place: Option<&ScratchPlace>, pieces: u64, budget: &Budget) -> Result<Self> {
        let memory = pieces * size_of::<OnceLock<Place>>() as u64;
        let reserved = budget.reserve(memory, "places of kept ids")?;
        let file = match place {
            Some((file_system, path)) => file_system.scratch(path)?,
            None => RealFileSystem.scratch(&temporary())?,
        };
        let places = (0..pieces).map(|_| OnceLock::new()).collect();
        Ok(KeptHalf { file, places, end: AtomicU64::new(0), _reserved: reserved })
    }

    /// Bytes that a buffer for pieces of this many ids must have.
    pub(crate) fn buffer_bytes(ids: u64) -> u64 {
        ids * 8
    }

    /// Keeps the ids of a piece.
    pub(crate) fn write(&self, piece: u64, ids: &[u64], buffer: &mut PageBuffer) -> Result<()> {
        let is_wide = ids.iter().fold(0, |all, &id| all | id) > u64::from(u32::MAX);
        let width = if is_wide { 8 } else { 4 };
        let bytes = &mut buffer[..ids.len() * width];
        if is_wide {
            for (into, id) in bytes.as_chunks_mut().0.iter_mut().zip(ids) {
                *into = id.to_le_bytes();
            }
        } else {
            for (into, id) in bytes.as_chunks_mut().0.iter_mut().zip(ids) {
                *into = (*id as u32).to_le_bytes();
            }
        }
        let length = (bytes.len() as u64).next_multiple_of(PAGE);
        let offset = self.end.fetch_add(length, Ordering::Relaxed);
        self.file.write_all_at(offset, bytes)?;
        let _ = self.places[piece as usize].set(Place { offset, is_wide });
        Ok(())
    }

    /// Appends the ids of a piece.
    pub(crate) fn read(
        &self,
        piece: u64,
        count: usize,
        buffer: &mut PageBuffer,
        into: &mut Vec<u64>,
    ) -> Result<()> {
        let Some(place) = self.places[piece as usize].get() else {
            let problem = format!("piece {piece} of the sources was never kept");
            return Err(Error::request("edges", problem));
        };
        let width = if place.is_wide { 8 } else { 4 };
        let bytes = &mut buffer[..count * width];
        self.file.read_exact_at(place.offset, bytes)?;
        if place.is_wide {
            into.extend(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        } else {
            let ids = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
            into.extend(ids.map(u64::from));
        }
        Ok(())
    }
}

/// A name that nobody else uses.
fn temporary() -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!(".graphmill-{}-{count}.scratch", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_whatever_their_width_and_order() {
        let budget = Budget::new(1 << 20);
        let pieces: [Vec<u64>; 3] =
            [(0..5000).collect(), vec![1, u64::MAX, 3], vec![u64::from(u32::MAX); 4096]];
        let kept = KeptHalf::new(None, 3, &budget).unwrap();
        let mut buffer = PageBuffer::new(KeptHalf::buffer_bytes(5000) as usize);
        for piece in [2, 0, 1] {
            kept.write(piece as u64, &pieces[piece], &mut buffer).unwrap();
        }
        for (number, piece) in pieces.iter().enumerate() {
            let mut found = Vec::new();
            kept.read(number as u64, piece.len(), &mut buffer, &mut found).unwrap();
            assert_eq!(found, *piece);
        }
        // Five pages, one page for the wide ones, four pages.
        assert_eq!(kept.end.load(Ordering::Relaxed), 10 * PAGE);
        drop(kept);
        assert_eq!(budget.used(), 0);
    }
}
