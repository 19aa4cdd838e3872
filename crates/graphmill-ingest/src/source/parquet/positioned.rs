//! A file as the Parquet reader wants it, read by position.
//! Threads read row groups of one file at the same time; duplicated descriptors share one seek position, so seeking
//! would hand them each other's bytes. Pages are paid for before they are read. It must not know what is read.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use graphmill_disk::ReadAt;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::page_charge::{PageCharge, SIZES};

/// An open file that any number of threads may read.
#[derive(Clone, Debug)]
pub(super) struct Positioned {
    pub(super) file: Arc<dyn ReadAt>,
    /// Who pays for the pages that are read, once row groups are.
    pub(super) charge: Option<Arc<PageCharge>>,
}

impl Length for Positioned {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Positioned {
    type T = BufReader<Tail>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut tail = BufReader::new(Tail { file: Arc::clone(&self.file), at: start });
        if let Some(charge) = &self.charge {
            let ahead = io::BufRead::fill_buf(&mut tail)?;
            charge.announce(start, &ahead[..ahead.len().min(SIZES)]);
        }
        Ok(tail)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Asked before memory is taken: a damaged file may claim any length.
        if start.checked_add(length as u64).is_none_or(|end| end > self.file.len()) {
            let problem = format!("{length} bytes from byte {start} leave the file");
            return Err(ParquetError::EOF(problem));
        }
        if let Some(charge) = &self.charge
            && !charge.pay(start, length as u64)
        {
            return Err(ParquetError::General("a page too large for the budget".to_owned()));
        }
        let mut bytes = vec![0; length];
        self.file
            .read_exact_at(start, &mut bytes)
            .map_err(|error| ParquetError::External(error.into()))?;
        Ok(bytes.into())
    }
}

/// The file from one position on.
pub(super) struct Tail {
    file: Arc<dyn ReadAt>,
    at: u64,
}

impl Read for Tail {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.file.len().saturating_sub(self.at);
        let length = left.min(into.len() as u64) as usize;
        self.file.read_exact_at(self.at, &mut into[..length]).map_err(io::Error::other)?;
        self.at += length as u64;
        Ok(length)
    }
}
