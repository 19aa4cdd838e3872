//! A packed array that threads unpack piece by piece.
//! Whoever asks next unpacks the next rows into a buffer of its own, one thread at a time, and
//! makes of them what it wants while others unpack. It sits between the stream of an archive's
//! member and the readers of edges and rows, and must not know what either means.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::array::ArrayStream;
use super::turns::lock;
use crate::Result;

/// A packed array that threads unpack piece by piece.
pub(super) struct SharedStream {
    state: Mutex<(ArrayStream, u64)>,
    rows: u64,
    step: u64,
    row_bytes: u64,
}

impl SharedStream {
    /// Rows of `row_bytes` each, `step` of them to a piece.
    pub(super) fn new(stream: ArrayStream, rows: u64, step: u64, row_bytes: u64) -> Self {
        SharedStream { state: Mutex::new((stream, 0)), rows, step: step.max(1), row_bytes }
    }

    /// Unpacks the next rows.
    pub(super) fn take(&self, into: &mut [u8]) -> Result<Option<Range<u64>>> {
        let mut state = lock(&self.state);
        let (stream, next) = &mut *state;
        let first = *next;
        let count = self.step.min(self.rows - first);
        if count == 0 {
            return Ok(None);
        }
        stream.fill(&mut into[..(count * self.row_bytes) as usize])?;
        *next += count;
        Ok(Some(first..first + count))
    }

    /// The stream, to go on with.
    pub(super) fn into_stream(self) -> ArrayStream {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).0
    }
}
