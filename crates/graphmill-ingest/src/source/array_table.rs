//! Tables in NumPy arrays, raw files of numbers, and conversion of their cells.
//! Rows are streamed front to back, a MiB at a time, and become the element type that is wanted;
//! arrays in Fortran's order are gathered column by column where they are not packed. It must not
//! know which node a row belongs to.

use graphmill_disk::{Budget, PageBuffer};
use graphmill_format::ElementType;
use half::{bf16, f16};

use super::array::ArrayFile;
use super::array_edges::{integers, is_integer};
use super::cells::{Cells, push_float, push_signed};
use super::chunk::{ReadReport, TableChunk, TableDescription};
use super::options::TableInputOptions;
use super::text::Unfit;
use crate::progress::{Observer, Stage};
use crate::{Error, Result};

/// Bytes of rows read at a time.
const PIECE: u64 = 1 << 20;

/// Rows in one array.
#[derive(Debug)]
pub(crate) struct ArrayTable {
    array: ArrayFile,
    rows: u64,
    columns: u64,
    element: ElementType,
    missing: Option<i64>,
}

impl ArrayTable {
    pub(crate) fn new(array: ArrayFile, options: &TableInputOptions) -> Result<Self> {
        let path = array.file.path();
        let header = array.header();
        if options.text || options.id.is_some() || options.first_is_id || options.columns.is_some()
        {
            let problem = format!(
                "`{}` is an array: rows are positional and all numbers; \
                 leave out columns of ids and words",
                path.display()
            );
            return Err(Error::request("table", problem));
        }
        let (rows, columns) = match header.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                let found = format!("an array of shape {:?}", header.shape);
                let remedy = "reshape it to one row per node";
                let error = Error::source("shape", found, "[rows] or [rows, columns]", remedy);
                return Err(error.in_file(path));
            }
        };
        if array.is_fortran() && columns > 1 && rows > 1 && array.stored_at().is_none() {
            let remedy = "save numpy.ascontiguousarray(array)";
            let error = Error::source("order", "Fortran order, compressed", "C order", remedy);
            return Err(error.in_file(path));
        }
        let element = options.element.unwrap_or(header.element);
        Ok(ArrayTable { rows, columns, element, missing: options.missing, array })
    }

    pub(crate) fn description(&self) -> TableDescription {
        TableDescription {
            columns: self.columns,
            is_vector: self.array.header().shape.len() == 1,
            element: Some(self.element),
            has_ids: false,
            rows: Some(self.rows),
            names: None,
            looks_numeric: true,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.array.data_length()
    }

    /// Reads all rows in order, the first as row `first_row`.
    pub(crate) fn read(
        &self,
        first_row: u64,
        budget: &Budget,
        consume: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let stored = self.array.header().element;
        let row = self.columns * stored.width();
        let step = (PIECE / row.max(1)).clamp(1, self.rows.max(1));
        let memory = step * (row + self.columns * self.element.width()) + 4096;
        let _reserved = budget.reserve(memory, "rows of an array")?;
        let mut stage = Stage::new(observer, "reading rows", self.rows);
        let mut raw = PageBuffer::new((step * row) as usize);
        let mut chunk = TableChunk::default();
        let gathers = self.array.is_fortran() && self.columns > 1 && self.rows > 1;
        let mut stream = self.array.stream()?;
        let mut first = 0;
        while first < self.rows {
            let count = step.min(self.rows - first);
            let bytes = &mut raw[..(count * row) as usize];
            chunk.clear();
            if gathers {
                self.gather(first, count, bytes, &mut chunk.bytes)?;
                bytes.copy_from_slice(&chunk.bytes);
                chunk.bytes.clear();
            } else {
                stream.fill(bytes)?;
            }
            if stored == self.element && self.missing.is_none() {
                chunk.bytes.extend_from_slice(bytes);
            } else {
                self.convert(stored, bytes, first, &mut chunk.bytes)?;
            }
            chunk.first_row = first_row + first;
            chunk.rows = count as usize;
            consume(&mut chunk)?;
            stage.advance(count)?;
            first += count;
        }
        Ok(ReadReport { rows: self.rows, bytes: self.bytes(), ..ReadReport::default() })
    }

    /// Reads some rows of an array that is stored column by column.
    fn gather(&self, first: u64, count: u64, raw: &mut [u8], rows: &mut Vec<u8>) -> Result<()> {
        let width = self.array.header().element.width();
        let start = self.array.stored_at().unwrap_or_default();
        let length = (count * width) as usize;
        for column in 0..self.columns {
            let into = &mut raw[column as usize * length..][..length];
            let at = start + (column * self.rows + first) * width;
            self.array.file.read_exact_at(at, into)?;
        }
        let width = width as usize;
        for row in 0..count as usize {
            for column in 0..self.columns as usize {
                rows.extend_from_slice(&raw[column * length + row * width..][..width]);
            }
        }
        Ok(())
    }

    fn convert(
        &self,
        from: ElementType,
        bytes: &[u8],
        first: u64,
        into: &mut Vec<u8>,
    ) -> Result<()> {
        let mut cell = 0_u64;
        let mut fault: Option<(u64, f64)> = None;
        let mut note = |value: f64, outcome: std::result::Result<(), Unfit>| {
            if outcome.is_err() {
                fault.get_or_insert((cell, value));
            }
            cell += 1;
        };
        let element = self.element;
        if is_integer(from) || from == ElementType::Bool {
            integers(from, bytes, |value| note(value as f64, push_signed(element, value, into)));
        } else {
            floats(from, bytes, |value| {
                note(value, push_number(element, self.missing, value, into));
            });
        }
        let Some((cell, value)) = fault else { return Ok(()) };
        let place = format!("row {}, column {}", first + cell / self.columns, cell % self.columns);
        let wanted = Cells::Numbers { element, missing: None }.wanted();
        let remedy = "choose another element type or correct the array";
        Err(Error::source(place, value, wanted, remedy).in_file(self.array.file.path()))
    }
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
    if !is_integer(element) && element != ElementType::Bool {
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

fn floats(element: ElementType, bytes: &[u8], mut take: impl FnMut(f64)) {
    match element {
        ElementType::F16 => {
            bytes.as_chunks().0.iter().for_each(|b| take(f16::from_le_bytes(*b).to_f64()));
        }
        ElementType::Bf16 => {
            bytes.as_chunks().0.iter().for_each(|b| take(bf16::from_le_bytes(*b).to_f64()));
        }
        ElementType::F32 => {
            bytes.as_chunks().0.iter().for_each(|b| take(f32::from_le_bytes(*b).into()));
        }
        _ => bytes.as_chunks().0.iter().for_each(|b| take(f64::from_le_bytes(*b))),
    }
}
