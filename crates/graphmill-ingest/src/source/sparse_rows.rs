//! Rows in memory that are mostly zeros, as SciPy's compressed sparse rows.
//! A bag of words has a thousand times more columns than values, so the rows become whole ones
//! piece by piece, in the memory of a piece. It must not know what the numbers mean.

use std::ops::Range;

use super::id_array::IdArray;
use crate::npy::ArrayType;
use crate::{Error, Result};

/// Numbers by row and column; every other cell is zero.
#[derive(Clone, Copy, Debug)]
pub struct SparseRows<'a> {
    offsets: IdArray<'a>,
    columns: IdArray<'a>,
    values: &'a [u8],
    numbers: ArrayType,
}

impl<'a> SparseRows<'a> {
    /// Row `i` has the columns and values from `offsets[i]` to `offsets[i + 1]`; values are
    /// little-endian.
    pub fn new(
        offsets: impl Into<IdArray<'a>>,
        columns: impl Into<IdArray<'a>>,
        values: &'a [u8],
        numbers: impl Into<ArrayType>,
    ) -> Self {
        let (offsets, columns) = (offsets.into(), columns.into());
        SparseRows { offsets, columns, values, numbers: numbers.into() }
    }

    pub(super) fn numbers(&self) -> ArrayType {
        self.numbers
    }

    pub(super) fn rows(&self) -> u64 {
        (self.offsets.len() as u64).saturating_sub(1)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.values.len() as u64
    }

    /// Refuses arrays that do not belong together; the lists of single rows are checked on use.
    pub(super) fn check(&self) -> Result<()> {
        let count = self.columns.len();
        let offset = |at: usize| self.offsets.number(at).ok();
        let fits = self.values.len() as u64 == count as u64 * self.numbers.width()
            && !self.offsets.is_empty()
            && offset(0) == Some(0)
            && offset(self.offsets.len() - 1) == Some(count as u64);
        if fits {
            return Ok(());
        }
        let found = format!("{count} columns and {} bytes of values", self.values.len());
        let expected = format!("as many {} as the offsets count", self.numbers);
        Err(Error::source("sparse rows", found, expected, "give the arrays of one sparse matrix"))
    }

    /// Writes some rows out, zeros included.
    pub(super) fn fill(&self, rows: Range<usize>, columns: u64, into: &mut Vec<u8>) -> Result<()> {
        let width = self.numbers.width() as usize;
        let row_bytes = columns as usize * width;
        into.clear();
        into.resize(rows.len() * row_bytes, 0);
        for (row, cells) in rows.zip(into.chunks_exact_mut(row_bytes.max(1))) {
            let wrong = |found: String| {
                let expected = format!("ascending columns from 0 to {}", columns.saturating_sub(1));
                let remedy =
                    "give a matrix whose duplicates are summed and whose columns are sorted";
                Error::source(format!("sparse rows, row {row}"), found, expected, remedy)
            };
            let end = |at: usize| self.offsets.number(at).ok().map(|end| end as usize);
            let (Some(first), Some(last)) = (end(row), end(row + 1)) else {
                return Err(wrong("an offset below 0".to_owned()));
            };
            if first > last || last > self.columns.len() {
                return Err(wrong(format!("the offsets {first} and {last}")));
            }
            let mut least = 0;
            for at in first..last {
                let column = self.columns.number(at).map_err(&wrong)?;
                if column < least || column >= columns {
                    return Err(wrong(format!("the column {column}")));
                }
                least = column + 1;
                cells[column as usize * width..][..width]
                    .copy_from_slice(&self.values[at * width..][..width]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_format::ElementType;

    #[test]
    fn rows_come_out_whole_and_false_ones_are_refused() {
        let (offsets, columns) = ([0_i32, 2, 2, 3], [0_i64, 3, 1]);
        let rows = SparseRows::new(&offsets[..], &columns[..], &[7, 8, 9], ElementType::U8);
        rows.check().unwrap();
        let mut whole = Vec::new();
        rows.fill(0..3, 4, &mut whole).unwrap();
        assert_eq!(whole, [7, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0, 0]);
        assert!(rows.fill(0..3, 3, &mut whole).is_err());
        for columns in [[3_i64, 0, 1], [1, 1, 1], [-1, 2, 1]] {
            let rows = SparseRows::new(&offsets[..], &columns[..], &[7, 8, 9], ElementType::U8);
            assert!(rows.fill(0..3, 4, &mut whole).is_err(), "{columns:?}");
        }
        for offsets in [[0_i32, 2, 2, 4], [1, 2, 2, 3]] {
            let rows = SparseRows::new(&offsets[..], &columns[..], &[7, 8, 9], ElementType::U8);
            assert!(rows.check().is_err(), "{offsets:?}");
        }
        let fallen = [0_i32, 5, 2, 3];
        let rows = SparseRows::new(&fallen[..], &columns[..], &[7, 8, 9], ElementType::U8);
        assert!(rows.fill(0..3, 4, &mut whole).is_err());
    }
}
