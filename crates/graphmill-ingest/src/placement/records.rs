//! Rows of a window as a stream of bytes, and back.
//! A record says which place of the window it is for and where it stood in the source, so that rows
//! can be put down in any order and still be told apart when they came twice. It must not know where
//! the stream is kept.

use std::ops::Range;

use super::plan::{Duplicates, PlannedRows};
use crate::error::Setting;
use crate::{Error, Result};

/// Bytes in front of a row: its slot in the window and its source row.
pub(super) const RECORD_HEADER: usize = 12;
/// The source row of a slot that nothing came for.
pub(super) const NOTHING: u64 = u64::MAX;

/// What stands in front of a row.
pub(super) fn record_header(slot: u32, source_row: u64) -> [u8; RECORD_HEADER] {
    let mut header = [0; RECORD_HEADER];
    header[..4].copy_from_slice(&slot.to_le_bytes());
    header[4..].copy_from_slice(&source_row.to_le_bytes());
    header
}

/// Puts the records of one window to their places, as pieces of its stream come.
pub(super) struct Placer<'w> {
    pub(super) rows: &'w PlannedRows,
    /// The window's first row.
    pub(super) first: u64,
    /// The window as it will lie in the file.
    pub(super) bytes: &'w mut [u8],
    /// For every slot, which is a part of a row, the source row that lies in it.
    pub(super) sources: &'w mut [u64],
    pub(super) duplicates: u64,
    header: [u8; RECORD_HEADER],
    /// Bytes of the header that have come.
    come: usize,
    /// Where the rest of the row goes.
    target: Range<usize>,
    /// Bytes of a row that is not wanted.
    skipped: usize,
}

impl<'w> Placer<'w> {
    pub(super) fn new(
        rows: &'w PlannedRows,
        first: u64,
        bytes: &'w mut [u8],
        sources: &'w mut [u64],
    ) -> Self {
        sources.fill(NOTHING);
        let header = [0; RECORD_HEADER];
        let (come, target, skipped) = (0, 0..0, 0);
        Placer { rows, first, bytes, sources, duplicates: 0, header, come, target, skipped }
    }

    /// Takes the next bytes of the stream.
    pub(super) fn take(&mut self, mut piece: &[u8]) -> Result<()> {
        while !piece.is_empty() {
            if !self.target.is_empty() {
                let length = self.target.len().min(piece.len());
                let (now, later) = piece.split_at(length);
                let start = self.target.start;
                self.bytes[start..start + length].copy_from_slice(now);
                self.target.start += length;
                piece = later;
            } else if self.skipped > 0 {
                let length = self.skipped.min(piece.len());
                self.skipped -= length;
                piece = &piece[length..];
            } else {
                let length = (RECORD_HEADER - self.come).min(piece.len());
                let (now, later) = piece.split_at(length);
                self.header[self.come..self.come + length].copy_from_slice(now);
                self.come += length;
                piece = later;
                if self.come == RECORD_HEADER {
                    self.come = 0;
                    self.open()?;
                }
            }
        }
        Ok(())
    }

    /// Decides where the row behind a header goes.
    fn open(&mut self) -> Result<()> {
        let [a, b, c, d, source @ ..] = self.header;
        let slot = u32::from_le_bytes([a, b, c, d]) as usize;
        let source = u64::from_le_bytes(source);
        let parts = self.rows.parts.len();
        let (row, part) = (slot / parts, &self.rows.parts[slot % parts]);
        let Some(known) = self.sources.get_mut(slot) else {
            let problem = "a scratch file does not hold what was written to it";
            return Err(Error::request("table", problem));
        };
        let mut wanted = true;
        if *known != NOTHING {
            self.duplicates += 1;
            wanted = match self.rows.plan.duplicates {
                Duplicates::KeepFirst => source < *known,
                Duplicates::KeepLast => source > *known,
                Duplicates::Refuse => {
                    let target = self.first + row as u64;
                    return Err(twice(target, *known, source));
                }
            };
        }
        if wanted {
            *known = source;
            let start = row * self.rows.stride;
            self.target = start + part.start..start + part.end;
        } else {
            self.skipped = part.len();
        }
        Ok(())
    }
}

/// Two rows of the source for one of the table.
pub(super) fn twice(target: u64, one: u64, other: u64) -> Error {
    let (first, second) = (one.min(other), one.max(other));
    let found = format!("rows {first} and {second} of the source for it");
    let remedy = "give every id once, or leave out all rows of a node but the first";
    let error = Error::source(format!("row {target} of the table"), found, "one row", remedy);
    error.setting(Setting::BadRows)
}
