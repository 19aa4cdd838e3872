//! One call of `read_each` by reading threads: which ranges are away, which come next, and what they take.
//! It cuts the ranges into batches within a fixed memory and hands the bytes out on the caller's thread. It ends when all
//! batches are back, also after an error or a panic of the caller, so that their memory is never more than promised.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::piece::Piece;
use super::readers::{Batch, READERS, Readers};
use super::source::{Source, with_blocks};
use crate::error::Result;
use crate::page_buffer::PageBuffer;

/// Batches that wait or are read: some more than readers, so that none of them waits for the caller.
const BATCHES: usize = READERS + READERS / 2;
/// Ranges of a batch: waking a thread for each would cost as much as reading it.
const RANGES_PER_BATCH: usize = 8;
/// Bytes of a batch, unless one range alone is longer.
const BATCH_BYTES: usize = 64 << 10;
/// Bytes of all buffers, unless one range alone is longer.
const WINDOW_BYTES: usize = 4 << 20;
const PAGE: usize = 4096;

/// Bytes that a call takes at most, with the threads counted as if they worked for one call alone.
pub(super) fn memory(longest: u64) -> u64 {
    let per_batch = RANGES_PER_BATCH * size_of::<(Piece, usize)>() + size_of::<Batch>() + PAGE;
    let beside_buffers = (READERS * 4 * PAGE + BATCHES * per_batch) as u64;
    with_blocks(longest).max(WINDOW_BYTES as u64).saturating_add(beside_buffers)
}

pub(super) fn read_each(
    source: &Arc<Source>,
    ranges: &[Range<u64>],
    take: &mut dyn FnMut(usize, &[u8]),
) -> Result<()> {
    source.check(ranges)?;
    let readers = Readers::of_process();
    let mut call = Call::new(source, ranges);
    loop {
        while let Some(batch) = call.next_batch() {
            readers.hand_over(batch)?;
            call.away += 1;
        }
        if call.away == 0 {
            return Ok(());
        }
        let mut batch = call.wait();
        std::mem::replace(&mut batch.outcome, Ok(()))?;
        for (piece, at) in &batch.pieces {
            take(piece.place, piece.slice(&batch.buffer[*at..]));
        }
        call.idle.push(batch);
    }
}

struct Call<'a> {
    source: &'a Arc<Source>,
    ranges: &'a [Range<u64>],
    /// The first range that is in no batch yet.
    next: usize,
    /// Fewer than usual if there are too few ranges for all readers.
    ranges_per_batch: usize,
    /// Batches that readers have.
    away: usize,
    /// Bytes of all buffers, away or idle.
    bytes: usize,
    idle: Vec<Batch>,
    back: Sender<Batch>,
    returned: Receiver<Batch>,
}

impl<'a> Call<'a> {
    fn new(source: &'a Arc<Source>, ranges: &'a [Range<u64>]) -> Self {
        let (back, returned) = channel();
        let ranges_per_batch = (ranges.len() / (2 * READERS)).clamp(1, RANGES_PER_BATCH);
        Self {
            source,
            ranges,
            next: 0,
            ranges_per_batch,
            away: 0,
            bytes: 0,
            idle: vec![],
            back,
            returned,
        }
    }

    /// The next ranges; None if there are none, or enough are away.
    fn next_batch(&mut self) -> Option<Batch> {
        if self.next == self.ranges.len() || self.away == BATCHES {
            return None;
        }
        let (count, length) = self.next_ranges();
        let mut batch = self.empty_batch(length)?;
        let direct = self.source.direct();
        let mut at = 0;
        for place in self.next..self.next + count {
            let piece = Piece::new(place, &self.ranges[place], direct);
            batch.pieces.push((piece, at));
            at += piece.buffer_length().next_multiple_of(PAGE);
        }
        self.next += count;
        Some(batch)
    }

    /// A batch that is back.
    fn wait(&mut self) -> Batch {
        self.away -= 1;
        self.returned.recv().expect("the call itself holds a sender")
    }

    /// How many ranges go into the next batch, and the bytes that they take at most.
    fn next_ranges(&self) -> (usize, usize) {
        let mut length = 0;
        for (count, range) in
            self.ranges[self.next..].iter().take(self.ranges_per_batch).enumerate()
        {
            // Fits: the longest was checked.
            let longer = length + with_blocks(super::length_of(range)) as usize;
            if count > 0 && longer > BATCH_BYTES {
                return (count, length);
            }
            length = longer;
        }
        (self.ranges_per_batch.min(self.ranges.len() - self.next), length)
    }

    /// A batch with room for `length` bytes, if the window has room for it.
    fn empty_batch(&mut self, length: usize) -> Option<Batch> {
        if let Some(place) = self.idle.iter().position(|batch| batch.buffer.len() >= length) {
            let mut batch = self.idle.swap_remove(place);
            batch.pieces.clear();
            return Some(batch);
        }
        while self.bytes > 0 && self.bytes + length > WINDOW_BYTES {
            // Too small for what comes, and in the way.
            self.bytes -= self.idle.pop()?.buffer.len();
        }
        self.bytes += length;
        Some(Batch {
            source: self.source.clone(),
            pieces: Vec::with_capacity(self.ranges_per_batch),
            buffer: PageBuffer::new(length),
            outcome: Ok(()),
            back: self.back.clone(),
        })
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        while self.away > 0 {
            self.wait();
        }
    }
}
