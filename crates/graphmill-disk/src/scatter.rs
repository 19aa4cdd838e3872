//! Memory that several threads fill at once, each its own rows in any order.
//! Rows that are read in the order of the file go to places all over the result; whoever has a row asks here for its
//! place. Every place is handed out once, so no two threads can ever hold the same bytes. It must not know what the
//! rows mean.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// Slices of bytes, handed out in disjoint rows of one length.
///
/// ```
/// use graphmill_disk::ScatterBuffer;
/// let mut memory = [0; 6];
/// let rows = ScatterBuffer::new(&mut memory, 2);
/// rows.take(2).unwrap().fill(7);
/// assert!(rows.take(2).is_none()); // taken already
/// assert!(rows.take(3).is_none()); // no such row
/// assert_eq!(memory, [0, 0, 0, 0, 7, 7]);
/// ```
#[derive(Debug)]
pub struct ScatterBuffer<'a> {
    /// Where each piece starts, and how many rows it has.
    pieces: Vec<(*mut u8, usize)>,
    /// Rows of each piece but the last, at least one.
    per_piece: usize,
    row_length: usize,
    /// One bit for each row that was handed out.
    taken: Vec<AtomicU64>,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: what is shared are counts, pointers that never change, and the atomic bits; the bytes behind the pointers
// are exclusively borrowed and reach one taker each, and bytes may be sent to any thread.
unsafe impl Send for ScatterBuffer<'_> {}
// SAFETY: as above; `take` is the only way to the bytes, and gives each of them once.
unsafe impl Sync for ScatterBuffer<'_> {}

impl<'a> ScatterBuffer<'a> {
    /// Cuts `memory` into rows; what is left at its end belongs to no row, and there are none of length 0.
    pub fn new(memory: &'a mut [u8], row_length: usize) -> Self {
        let rows = memory.len().checked_div(row_length).unwrap_or(0);
        Self::over(std::iter::once(memory), rows, row_length)
    }

    /// Cuts pieces into `per_piece` rows each. The numbers of rows that a shorter piece lacks are not given to others.
    pub fn over(
        pieces: impl Iterator<Item = &'a mut [u8]>,
        per_piece: usize,
        row_length: usize,
    ) -> Self {
        let rows_of =
            |piece: &[u8]| piece.len().checked_div(row_length).unwrap_or(0).min(per_piece);
        let pieces: Vec<_> = pieces.map(|piece| (piece.as_mut_ptr(), rows_of(piece))).collect();
        let rows = pieces.len() * per_piece;
        let taken = (0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        ScatterBuffer {
            pieces,
            per_piece: per_piece.max(1),
            row_length,
            taken,
            memory: PhantomData,
        }
    }

    /// Bytes that the bookkeeping of so many rows takes.
    pub fn memory(rows: usize) -> u64 {
        rows.div_ceil(64) as u64 * 8
    }

    /// The bytes of a row, for whoever asks first; None for everybody else and for rows that do not exist.
    pub fn take(&self, row: usize) -> Option<&'a mut [u8]> {
        let &(start, rows) = self.pieces.get(row / self.per_piece)?;
        let place = row % self.per_piece;
        if place >= rows {
            return None;
        }
        let bit = 1 << (row % 64);
        // The bit only decides who may write; whoever reads the bytes later joins the writers first.
        if self.taken[row / 64].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return None;
        }
        // SAFETY: the row lies within a piece that is exclusively borrowed for 'a, since `place < rows` and `rows` times
        // the length of a row is at most the length of the piece. The bit was clear, and is never cleared again, so this
        // is the only reference that is ever made to these bytes.
        Some(unsafe {
            std::slice::from_raw_parts_mut(start.add(place * self.row_length), self.row_length)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_fill_all_rows_and_each_row_goes_to_one_of_them() {
        let mut memory = vec![0; 1003 * 3 + 2];
        let rows = ScatterBuffer::new(&mut memory, 3);
        let taken: usize = std::thread::scope(|scope| {
            let racers: Vec<_> = (1..=4_u8)
                .map(|racer| {
                    let rows = &rows;
                    scope.spawn(move || {
                        let mine = (0..1003).filter_map(|row| rows.take(row * 10 % 1003));
                        mine.map(|row| row.fill(racer)).count()
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).sum()
        });
        assert_eq!(taken, 1003);
        let (rows, rest) = memory.as_chunks::<3>();
        assert!(rows.iter().all(|row| row[0] != 0 && row.iter().all(|byte| *byte == row[0])));
        assert_eq!(rest, [0, 0]);
    }

    #[test]
    fn pieces_keep_their_numbers() {
        let mut memory = [vec![0; 6], vec![], vec![0; 5], vec![0; 9]];
        let pieces = memory.iter_mut().map(Vec::as_mut_slice);
        let rows = ScatterBuffer::over(pieces, 3, 2);
        let taken: Vec<usize> = (0..20)
            .filter(|&row| rows.take(row).map(|bytes| bytes.fill(row as u8)).is_some())
            .collect();
        assert_eq!(taken, [0, 1, 2, 6, 7, 9, 10, 11]);
        assert_eq!(memory[0], [0, 0, 1, 1, 2, 2]);
        assert_eq!(memory[2], [6, 6, 7, 7, 0]);
        assert_eq!(memory[3], [9, 9, 10, 10, 11, 11, 0, 0, 0]);
    }

    #[test]
    fn nothing_is_handed_out_beyond_the_end() {
        for (length, row_length) in [(0, 0), (0, 4), (3, 4), (7, 4), (5, 0)] {
            let mut memory = vec![0; length];
            let rows = ScatterBuffer::new(&mut memory, row_length);
            let count = length.checked_div(row_length).unwrap_or(0);
            assert!(rows.take(count).is_none() && rows.take(usize::MAX).is_none());
            assert_eq!(rows.take(0).map(|row| row.len()), (count > 0).then_some(row_length));
        }
    }
}
