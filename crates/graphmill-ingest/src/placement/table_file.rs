//! A table that lies in a file row after row, whatever is in front of it.
//! Our `.gd`, GraphZero's, `.npy` and raw files of numbers all are that; conversion and builds copy
//! them without looking at the numbers. It must not know where the rows go.

use std::sync::Arc;

use graphmill_disk::ReadAt;
use graphmill_format::TableShape;

use crate::npy::ArrayType;
use crate::source::array::ArrayFile;
use crate::{Error, Result};

/// Rows of numbers at a place of a file.
pub(crate) struct TableFile {
    pub(crate) file: Arc<dyn ReadAt>,
    pub(crate) shape: TableShape,
    /// Where the first row starts.
    pub(crate) start: u64,
}

impl TableFile {
    /// Takes an array whose rows lie in the file as they are; None for one that has to be streamed:
    /// packed, in Fortran's order, of a type that tables have not, or in an archive, whose checksum
    /// only a stream confirms.
    pub(crate) fn of(array: &ArrayFile) -> Result<Option<Self>> {
        let header = array.header();
        let is_turned =
            array.is_fortran() && header.shape.iter().filter(|&&side| side > 1).count() > 1;
        let ArrayType::Element(element) = header.numbers else { return Ok(None) };
        let start = array.stored_at().filter(|_| !is_turned && array.checksum().is_none());
        let Some(start) = start else { return Ok(None) };
        let shape = match header.shape[..] {
            [rows] => TableShape::vector(rows, element),
            [rows, columns] => TableShape::matrix(rows, columns, element),
            _ => return Ok(None),
        };
        let shape = match array.stride() {
            Some(_) => shape.and_then(TableShape::with_aligned_rows),
            None => shape,
        };
        let shape = shape.map_err(Error::format(array.file.path()))?;
        Ok(Some(TableFile { file: array.file.clone(), shape, start }))
    }
}
