//! The numbers of an array that is not packed, read at any position by any thread.
//! A stored member of an archive has a checksum over all its bytes; every piece that is read adds
//! its share, and in the end the shares are put together. It must not know what the numbers mean.

use std::sync::Mutex;

use graphmill_disk::{Budget, Reservation};

use super::array::ArrayFile;
use super::turns::lock;
use crate::{Error, Result};

/// The checksum of one piece, and where the piece starts.
type Share = (u64, flate2::Crc);

/// Reads an array by position.
pub(crate) struct Positions<'a> {
    array: &'a ArrayFile,
    /// Where the numbers start in the file.
    start: u64,
    /// The checksums of what was read, where there is one to compare with.
    shares: Option<Mutex<Vec<Share>>>,
    _reserved: Reservation,
}

impl<'a> Positions<'a> {
    /// None if the array is packed; `reads` is how many pieces it will be read in.
    pub(crate) fn new(array: &'a ArrayFile, reads: u64, budget: &Budget) -> Result<Option<Self>> {
        let Some(start) = array.stored_at() else { return Ok(None) };
        let checked = array.checksum().is_some();
        let memory = if checked { reads.saturating_mul(size_of::<Share>() as u64) } else { 0 };
        let reserved = budget.reserve(memory, "checksums of an array")?;
        let shares = checked.then(|| Mutex::new(Vec::with_capacity(reads as usize)));
        Ok(Some(Positions { array, start, shares, _reserved: reserved }))
    }

    /// Fills `into` with the bytes from byte `at` of the numbers on.
    pub(crate) fn read(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.array.file.read_exact_at(self.start + at, into)?;
        if let Some(shares) = &self.shares
            && !into.is_empty()
        {
            let mut crc = flate2::Crc::new();
            crc.update(into);
            lock(shares).push((at, crc));
        }
        Ok(())
    }

    /// Compares the checksum of all that was read, which is everything, with the archive's.
    pub(crate) fn confirm(self) -> Result<()> {
        let (Some(shares), Some((member, expected))) = (self.shares, self.array.checksum()) else {
            return Ok(());
        };
        let mut shares = shares.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        shares.sort_unstable_by_key(|(at, _)| *at);
        let mut header = vec![0; (self.start - member) as usize];
        self.array.file.read_exact_at(member, &mut header)?;
        let mut crc = flate2::Crc::new();
        crc.update(&header);
        shares.iter().for_each(|(_, share)| crc.combine(share));
        if crc.sum() == expected {
            return Ok(());
        }
        let found = format!("checksum {:08x}", crc.sum());
        let remedy = "the file is damaged; copy it again";
        let error = Error::source("content of the array", found, format!("{expected:08x}"), remedy);
        Err(error.in_file(self.array.file.path()))
    }
}
