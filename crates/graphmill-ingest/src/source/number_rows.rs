//! Rows of numbers from arrays, as the element type that is wanted.
//! Files, archives, compiled tables and memory give bytes of whole rows; here they become the
//! bytes that will be stored. Nothing is rounded into an integer and nothing overflows silently.
//! It must not know where the bytes come from.

use std::ops::Range;

use graphmill_format::{ElementType, content};
use half::{bf16, f16};

use super::cells::{Cells, push_float, push_signed};
use super::chunk::TableChunk;
use super::faults::{Faults, RowFault};
use super::id_array::IdArray;
use super::id_numbers::{LARGEST_ID, all_good};
use super::options::OnBadRow;
use super::text::Unfit;
use crate::npy::ArrayType;
use crate::{Error, Result};

/// How rows of an array become rows of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberRows {
    pub(crate) from: ArrayType,
    pub(crate) element: ElementType,
    /// What NaN becomes.
    pub(crate) missing: Option<i64>,
    pub(crate) columns: u64,
}

/// A cell that does not fit: which one, and what it reads.
type BadCell = (usize, String);

impl NumberRows {
    /// Bytes of a row as it is stored in the source.
    pub(crate) fn row_bytes(&self) -> u64 {
        self.columns * self.from.width()
    }

    /// Bytes of a row as it is handed over.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.columns * self.element.width()
    }

    /// Adds rows, whose first is row `first` of the source, and their ids.
    pub(crate) fn fill(
        &self,
        bytes: &[u8],
        first: u64,
        ids: Option<(IdArray<'_>, Range<usize>)>,
        chunk: &mut TableChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let rows = bytes.len() / (self.row_bytes() as usize).max(1);
        chunk.bytes.reserve_exact(rows * self.stored_bytes() as usize);
        let numbers = ids.as_ref().filter(|(ids, _)| !ids.is_text());
        if ids.is_some() == numbers.is_some() {
            if let Some((ids, range)) = numbers {
                ids.extend(range.clone(), chunk.ids.get_or_insert_default());
            }
            let good_ids = chunk.ids.as_ref().is_none_or(|ids| all_good(ids));
            if good_ids && self.extend(bytes, &mut chunk.bytes).is_ok() {
                chunk.rows = rows;
                return Ok(());
            }
            chunk.clear();
        }
        for (at, row) in bytes.chunks_exact(self.row_bytes() as usize).enumerate() {
            let number = first + at as u64;
            let before = chunk.bytes.len();
            if let Err((cell, found)) = self.extend(row, &mut chunk.bytes) {
                chunk.bytes.truncate(before);
                faults.add(self.bad_cell(number, cell, found))?;
                continue;
            }
            if let Some((ids, range)) = &ids
                && let Err(fault) = push_id(ids, range.start + at, number, chunk)
            {
                chunk.bytes.truncate(before);
                faults.add(fault)?;
                continue;
            }
            chunk.rows += 1;
        }
        Ok(())
    }

    fn bad_cell(&self, row: u64, column: usize, found: String) -> RowFault {
        let wanted = Cells::Numbers { element: self.element, missing: None }.wanted();
        RowFault {
            place: format!("row {row}, column {column}"),
            found,
            expected: wanted.to_owned(),
            remedy: "choose another element type (dtype=) or correct the array",
        }
    }

    /// Adds cells, or tells the first that does not fit.
    fn extend(&self, bytes: &[u8], into: &mut Vec<u8>) -> std::result::Result<(), BadCell> {
        use ArrayType::Element;
        if self.from == Element(ElementType::Bool)
            && let Some(at) = content::first_bad_bool(bytes)
        {
            return Err((at, format!("the byte {}", bytes[at])));
        }
        let keeps_gaps = self.missing.is_some() && !self.is_whole();
        if self.from == Element(self.element) && !keeps_gaps {
            into.extend_from_slice(bytes);
            return Ok(());
        }
        let mut fault: Option<BadCell> = None;
        let mut cell = 0_usize;
        let mut note = |outcome: std::result::Result<(), Unfit>, shown: &dyn ToString| {
            if outcome.is_err() && fault.is_none() {
                fault = Some((cell, shown.to_string()));
            }
            cell += 1;
        };
        let element = self.element;
        match (self.from, element) {
            (Element(ElementType::F32), ElementType::F16 | ElementType::Bf16) if !keeps_gaps => {
                for bytes in bytes.as_chunks().0 {
                    let value = f32::from_le_bytes(*bytes);
                    note(push_half(element, value, into), &value);
                }
            }
            (
                Element(ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64),
                _,
            ) => {
                floats(self.from, bytes, |value| {
                    note(push_number(element, self.missing, value, into), &value);
                });
            }
            (ArrayType::U64, _) => {
                for bytes in bytes.as_chunks().0 {
                    let value = u64::from_le_bytes(*bytes);
                    let outcome = match i64::try_from(value) {
                        Ok(value) => push_signed(element, value, into),
                        Err(_) if is_float(element) => push_float(element, value as f64, into),
                        Err(_) => Err(Unfit::TooLarge),
                    };
                    note(outcome, &value);
                }
            }
            _ => integers(self.from, bytes, |value| {
                note(push_signed(element, value, into), &value);
            }),
        }
        fault.map_or(Ok(()), Err)
    }

    fn is_whole(&self) -> bool {
        self.from.is_integer() || self.from == ArrayType::Element(ElementType::Bool)
    }
}

/// Adds the id of a row, a number or a word.
pub(crate) fn push_id(
    ids: &IdArray<'_>,
    at: usize,
    row: u64,
    chunk: &mut TableChunk,
) -> std::result::Result<(), RowFault> {
    let place = || format!("row {row}, id");
    match ids.word(at) {
        Some(word) => {
            let word = word.map_err(|why| why.at(place()))?;
            chunk.id_names.get_or_insert_default().push(word);
        }
        None => {
            let id = ids.number(at).map_err(|found| RowFault::id(place(), found))?;
            debug_assert!(id <= LARGEST_ID);
            chunk.ids.get_or_insert_default().push(id);
        }
    }
    Ok(())
}

/// A float32 as half of one; finite ones stay finite.
fn push_half(
    element: ElementType,
    value: f32,
    into: &mut Vec<u8>,
) -> std::result::Result<(), Unfit> {
    let (bits, stays) = match element {
        ElementType::F16 => {
            let half = f16::from_f32(value);
            (half.to_bits(), half.is_finite())
        }
        _ => {
            let half = bf16::from_f32(value);
            (half.to_bits(), half.is_finite())
        }
    };
    into.extend_from_slice(&bits.to_le_bytes());
    if value.is_finite() && !stays { Err(Unfit::TooLarge) } else { Ok(()) }
}

/// A number that may have a fraction, as whatever the element is.
pub(crate) fn push_number(
    element: ElementType,
    missing: Option<i64>,
    value: f64,
    into: &mut Vec<u8>,
) -> std::result::Result<(), Unfit> {
    if let Some(missing) = missing
        && value.is_nan()
    {
        return push_signed(element, missing, into);
    }
    if is_float(element) {
        return push_float(element, value, into);
    }
    // Up to 2^63 a whole f64 is exact as i64; 2^63 itself does not fit.
    if value.trunc() != value {
        return Err(Unfit::Fraction);
    }
    if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value) {
        return Err(if value < 0.0 { Unfit::TooSmall } else { Unfit::TooLarge });
    }
    push_signed(element, value as i64, into)
}

fn is_float(element: ElementType) -> bool {
    !ArrayType::from(element).is_integer() && element != ElementType::Bool
}

/// Converts whole rows of an array into the bytes that a table of `element` stores for them.
///
/// `first_row` is the number of the first one, for the error that names a cell which does not fit:
/// whole numbers and booleans keep their value, floats are rounded but stay finite.
///
/// ```
/// use graphmill_format::ElementType;
/// use graphmill_ingest::source::stored_rows;
/// let rows = stored_rows(ElementType::I16.into(), ElementType::U8, 1, 0, &[7, 0, 255, 0])?;
/// assert_eq!(rows, [7, 255]);
/// assert!(stored_rows(ElementType::I16.into(), ElementType::U8, 1, 0, &[0, 1]).is_err());
/// # Ok::<(), graphmill_ingest::Error>(())
/// ```
pub fn stored_rows(
    from: ArrayType,
    element: ElementType,
    columns: u64,
    first_row: u64,
    bytes: &[u8],
) -> Result<Vec<u8>> {
    let rows = NumberRows { from, element, missing: None, columns };
    if !(bytes.len() as u64).is_multiple_of(rows.row_bytes().max(1)) {
        let problem = format!("{} bytes are no whole rows of {columns} {from}", bytes.len());
        return Err(Error::request("rows", problem));
    }
    let mut chunk = TableChunk::default();
    rows.fill(bytes, first_row, None, &mut chunk, &mut Faults::new(OnBadRow::Stop, None))?;
    Ok(chunk.bytes)
}

/// Hands on every integer of some bytes; those of 64 bits are signed.
fn integers(numbers: ArrayType, bytes: &[u8], mut take: impl FnMut(i64)) {
    use ArrayType::Element;
    match numbers {
        Element(ElementType::I8) => bytes.iter().for_each(|byte| take((*byte as i8).into())),
        Element(ElementType::U8 | ElementType::Bool) => {
            bytes.iter().for_each(|byte| take((*byte).into()));
        }
        Element(ElementType::I16) => {
            bytes.as_chunks().0.iter().for_each(|bytes| take(i16::from_le_bytes(*bytes).into()));
        }
        Element(ElementType::I32) => {
            bytes.as_chunks().0.iter().for_each(|bytes| take(i32::from_le_bytes(*bytes).into()));
        }
        ArrayType::U16 => {
            bytes.as_chunks().0.iter().for_each(|bytes| take(u16::from_le_bytes(*bytes).into()));
        }
        ArrayType::U32 => {
            bytes.as_chunks().0.iter().for_each(|bytes| take(u32::from_le_bytes(*bytes).into()));
        }
        _ => bytes.as_chunks().0.iter().for_each(|bytes| take(i64::from_le_bytes(*bytes))),
    }
}

fn floats(numbers: ArrayType, bytes: &[u8], mut take: impl FnMut(f64)) {
    use ArrayType::Element;
    match numbers {
        Element(ElementType::F16) => {
            bytes.as_chunks().0.iter().for_each(|b| take(f16::from_le_bytes(*b).to_f64()));
        }
        Element(ElementType::Bf16) => {
            bytes.as_chunks().0.iter().for_each(|b| take(bf16::from_le_bytes(*b).to_f64()));
        }
        Element(ElementType::F32) => {
            bytes.as_chunks().0.iter().for_each(|b| take(f32::from_le_bytes(*b).into()));
        }
        _ => bytes.as_chunks().0.iter().for_each(|b| take(f64::from_le_bytes(*b))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(from: ArrayType, element: ElementType, bytes: &[u8]) -> Result<Vec<u8>> {
        stored_rows(from, element, 1, 0, bytes)
    }

    #[test]
    fn unsigned_numbers_become_wider_signed_ones() {
        let (narrow, wide) = (u16::MAX.to_le_bytes(), u32::MAX.to_le_bytes());
        assert_eq!(rows(ArrayType::U16, ElementType::I32, &narrow).unwrap(), [255, 255, 0, 0]);
        assert_eq!(
            rows(ArrayType::U32, ElementType::I64, &wide).unwrap(),
            i64::from(u32::MAX).to_le_bytes()
        );
        let largest = (i64::MAX as u64).to_le_bytes();
        assert_eq!(rows(ArrayType::U64, ElementType::I64, &largest).unwrap(), largest);
        let bytes = [7_u64.to_le_bytes(), (1_u64 << 63).to_le_bytes()].concat();
        let error = rows(ArrayType::U64, ElementType::I64, &bytes).unwrap_err().to_string();
        assert!(error.contains("row 1, column 0: found 9223372036854775808"), "{error}");
    }

    #[test]
    fn halves_are_rounded_once_and_never_become_infinite() {
        for value in [0.1_f32, -2.5, 65504.0, 1e-7, f32::NAN, f32::INFINITY] {
            let found = rows(ElementType::F32.into(), ElementType::F16, &value.to_le_bytes());
            let expected = f16::from_f64(value.into());
            let found = f16::from_le_bytes(found.unwrap().try_into().unwrap());
            assert!(found == expected || (found.is_nan() && expected.is_nan()));
        }
        let large = 1e6_f32.to_le_bytes();
        assert!(rows(ElementType::F32.into(), ElementType::F16, &large).is_err());
        assert!(rows(ElementType::F32.into(), ElementType::Bf16, &large).is_ok());
    }

    #[test]
    fn bytes_that_are_no_booleans_are_refused() {
        let error = rows(ElementType::Bool.into(), ElementType::Bool, &[0, 1, 2]).unwrap_err();
        assert!(error.to_string().contains("row 2, column 0: found the byte 2"), "{error}");
    }
}
