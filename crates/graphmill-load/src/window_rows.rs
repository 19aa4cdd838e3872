//! The rows of a window in memory, in pieces that are given back batch by batch.
//! A window is read from the front of the file to its end, and all its batches fill up together; the batches of the window
//! before are used one after the other meanwhile. Because rows lie in small pieces, the memory that those give back is
//! what these grow into, and a window may have nearly all of the memory instead of half of it.

use crate::Result;
use crate::buffers::{Buffers, RowBuffer};
use crate::window_plan::Slot;
use graphmill_disk::ScatterBuffer;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a piece, unless a row is longer: small beside the rows of a batch, so that little of the last one is wasted.
const PIECE: usize = 256 << 10;

/// Bytes that the rows of a batch may take beyond their own.
pub(crate) const WASTE: u64 = PIECE as u64;

/// Rows of one column while they are read.
#[derive(Debug)]
pub(crate) struct FillingRows {
    row_length: usize,
    /// Rows of a piece, a power of two.
    per_piece: usize,
    batches: Vec<Vec<RowBuffer>>,
}

impl FillingRows {
    /// No memory yet, for so many batches.
    pub(crate) fn new(row_length: usize, batches: usize) -> Self {
        let fitting = PIECE.checked_div(row_length).unwrap_or(1).max(1);
        let per_piece = 1 << fitting.ilog2();
        FillingRows { row_length, per_piece, batches: (0..batches).map(|_| Vec::new()).collect() }
    }

    /// Bytes of the budget that [`grow`](Self::grow) would take.
    pub(crate) fn bytes_to_grow(&self, wanted: &[usize]) -> u64 {
        let missing = |(pieces, rows): (&Vec<RowBuffer>, &usize)| {
            rows.div_ceil(self.per_piece).saturating_sub(pieces.len()) as u64
        };
        let pieces: u64 = self.batches.iter().zip(wanted).map(missing).sum();
        pieces.saturating_mul(Buffers::memory((self.per_piece * self.row_length) as u64))
    }

    /// Takes memory until each batch has room for as many rows as `wanted` says. After an error some of them may have.
    pub(crate) fn grow(&mut self, wanted: &[usize], buffers: &Buffers, what: &str) -> Result<()> {
        for (pieces, rows) in self.batches.iter_mut().zip(wanted) {
            while pieces.len() * self.per_piece < *rows {
                pieces.push(buffers.take(self.per_piece * self.row_length, what)?);
            }
        }
        Ok(())
    }

    /// The places that there are now, and how slots are numbered among them.
    pub(crate) fn places(&mut self) -> (ScatterBuffer<'_>, SlotNumbers) {
        let mut firsts = Vec::with_capacity(self.batches.len());
        let mut first = 0;
        for pieces in &self.batches {
            firsts.push(first);
            first += pieces.len() * self.per_piece;
        }
        let pieces = self.batches.iter_mut().flatten().map(|piece| &mut **piece);
        (ScatterBuffer::over(pieces, self.per_piece, self.row_length), SlotNumbers(firsts))
    }

    /// Everything is read.
    pub(crate) fn filled(self) -> WindowRows {
        let batches = self.batches.into_iter().map(|pieces| Mutex::new(Arc::new(pieces))).collect();
        WindowRows { row_length: self.row_length, per_piece: self.per_piece, batches }
    }
}

/// Turns slots into the numbers of rows of a [`ScatterBuffer`].
#[derive(Debug)]
pub(crate) struct SlotNumbers(Vec<usize>);

impl SlotNumbers {
    pub(crate) fn of(&self, slot: Slot) -> usize {
        self.0[slot.batch] + slot.index
    }
}

/// Rows of one column, until the last batch that wants them has them.
#[derive(Debug)]
pub(crate) struct WindowRows {
    row_length: usize,
    per_piece: usize,
    batches: Vec<Mutex<Arc<Vec<RowBuffer>>>>,
}

impl WindowRows {
    /// Gives back the memory of rows that belong to a batch, as soon as nobody looks at them.
    pub(crate) fn release(&self, batch: usize) {
        *self.batches[batch].lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    /// What is there now; it stays as long as this does.
    pub(crate) fn view(&self) -> RowsView {
        let pieces = |batch: &Mutex<Arc<Vec<RowBuffer>>>| {
            batch.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        let batches = self.batches.iter().map(pieces).collect();
        RowsView { row_length: self.row_length, shift: self.per_piece.ilog2(), batches }
    }
}

/// Rows that cannot be released.
#[derive(Debug)]
pub(crate) struct RowsView {
    row_length: usize,
    shift: u32,
    batches: Vec<Arc<Vec<RowBuffer>>>,
}

impl RowsView {
    /// The bytes of a row; None if they were given back.
    #[inline]
    pub(crate) fn row(&self, slot: Slot) -> Option<&[u8]> {
        let piece = self.batches[slot.batch].get(slot.index >> self.shift)?;
        let place = slot.index & ((1 << self.shift) - 1);
        Some(&piece[place * self.row_length..][..self.row_length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::Budget;

    #[test]
    fn rows_come_back_from_their_slots_until_their_batch_is_released() {
        let budget = Budget::new(16 << 20);
        let buffers = Buffers::new(&budget);
        for row_length in [1, 48, 512, PIECE, PIECE + 1] {
            let counts = [3, 0, 4];
            let mut filling = FillingRows::new(row_length, counts.len());
            let slots = || {
                let of = |(batch, &count): (usize, &usize)| {
                    (0..count).map(move |index| Slot { batch, index })
                };
                counts.iter().enumerate().flat_map(of)
            };
            let value = |slot: Slot| (slot.batch * 16 + slot.index + 1) as u8;
            // First one row of each batch, then the others: what is there stays.
            for step in [[1, 0, 1], counts] {
                assert!(filling.bytes_to_grow(&step) >= row_length as u64 || row_length < PIECE);
                filling.grow(&step, &buffers, "rows").unwrap();
                assert_eq!(filling.bytes_to_grow(&step), 0);
                let (places, numbers) = filling.places();
                let new = |slot: &Slot| {
                    slot.index < step[slot.batch] && (step == counts) == (slot.index > 0)
                };
                for slot in slots().filter(new) {
                    places.take(numbers.of(slot)).unwrap().fill(value(slot));
                }
            }
            let rows = filling.filled();
            let before = rows.view();
            rows.release(2);
            let after = rows.view();
            for slot in slots() {
                let expected = vec![value(slot); row_length];
                assert_eq!(before.row(slot), Some(&expected[..]));
                let left = (slot.batch != 2).then_some(&expected[..]);
                assert_eq!(after.row(slot), left);
            }
            let held = budget.used() - buffers.idle();
            drop(before);
            assert!(budget.used() - buffers.idle() < held);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let buffers = Buffers::new(&Budget::new(2 << 20));
        let mut filling = FillingRows::new(512, 2);
        let error = filling.grow(&[4096, 4096], &buffers, "rows").unwrap_err();
        assert!(error.is_budget());
    }
}
