//! `.gd`: one table of rows, C-contiguous as NumPy and torch expect.
//!
//! The description in the header gives rows, columns, the distance between rows, the element type and whether the
//! table is a vector or a matrix; one section holds the rows.

use crate::bytes::{first_nonzero, put, u32_at, u64_at};
use crate::header::{DESCRIPTION_AT, DESCRIPTION_LENGTH};
use crate::{ElementType, Error, FileKind, Header, Result, Section, SectionKind};

const ROWS_AT: usize = 0;
const COLUMNS_AT: usize = 8;
const STRIDE_AT: usize = 16;
const ELEMENT_AT: usize = 24;
const DIMENSIONS_AT: usize = 28;
const DESCRIPTION_USED: usize = 32;

/// Rows are padded to this when they are asked to start on disk blocks.
const ROW_ALIGNMENT: u64 = 512;

/// The shape of a table and how its rows lie on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableShape {
    rows: u64,
    columns: u64,
    stride: u64,
    element: ElementType,
    is_vector: bool,
}

impl TableShape {
    /// A table of `rows` x `columns`.
    pub fn matrix(rows: u64, columns: u64, element: ElementType) -> Result<Self> {
        let stride = columns.checked_mul(element.width()).ok_or_else(|| overflow(rows, columns))?;
        TableShape { rows, columns, stride, element, is_vector: false }.checked()
    }

    /// One value per row, such as labels.
    pub fn vector(rows: u64, element: ElementType) -> Result<Self> {
        TableShape { rows, columns: 1, stride: element.width(), element, is_vector: true }.checked()
    }

    /// The same table with every row starting on a multiple of 512 bytes.
    pub fn with_aligned_rows(self) -> Result<Self> {
        let stride = self
            .stride
            .checked_next_multiple_of(ROW_ALIGNMENT)
            .ok_or_else(|| overflow(self.rows, self.columns))?;
        TableShape { stride, ..self }.checked()
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Elements of one row.
    pub fn columns(&self) -> u64 {
        self.columns
    }

    /// Bytes from one row to the next.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// Bytes of one row's elements.
    pub fn row_length(&self) -> u64 {
        self.columns * self.element.width()
    }

    /// Bytes of all rows as they lie on disk.
    pub fn length(&self) -> u64 {
        self.rows * self.stride
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Whether the table has one dimension, `[rows]`, rather than two.
    pub fn is_vector(&self) -> bool {
        self.is_vector
    }

    /// Whether rows follow each other without a gap.
    pub fn is_contiguous(&self) -> bool {
        self.stride == self.row_length()
    }

    fn checked(self) -> Result<Self> {
        if !self.element.is_table_type() {
            return Err(Error::impossible("table", format!("elements of type {}", self.element)));
        }
        match self.rows.checked_mul(self.stride) {
            Some(length) if length <= i64::MAX as u64 => Ok(self),
            _ => Err(overflow(self.rows, self.columns)),
        }
    }

    fn encode(&self) -> [u8; DESCRIPTION_LENGTH] {
        let mut description = [0; DESCRIPTION_LENGTH];
        put(&mut description, ROWS_AT, &self.rows.to_le_bytes());
        put(&mut description, COLUMNS_AT, &self.columns.to_le_bytes());
        put(&mut description, STRIDE_AT, &self.stride.to_le_bytes());
        put(&mut description, ELEMENT_AT, &(self.element as u32).to_le_bytes());
        put(
            &mut description,
            DIMENSIONS_AT,
            &(if self.is_vector { 1_u32 } else { 2 }).to_le_bytes(),
        );
        description
    }

    fn parse(description: &[u8]) -> Result<Self> {
        let place = |offset: usize| (DESCRIPTION_AT + offset) as u64;
        let (rows, columns, stride) = (
            u64_at(description, ROWS_AT),
            u64_at(description, COLUMNS_AT),
            u64_at(description, STRIDE_AT),
        );
        let code = u32_at(description, ELEMENT_AT);
        let element = ElementType::from_code(code)
            .filter(|element| element.is_table_type())
            .ok_or_else(|| Error::field("element type", place(ELEMENT_AT), code, "1 to 10"))?;
        let dimensions = u32_at(description, DIMENSIONS_AT);
        if !(1..=2).contains(&dimensions) {
            return Err(Error::field("dimensions", place(DIMENSIONS_AT), dimensions, "1 or 2"));
        }
        let is_vector = dimensions == 1;
        if is_vector && columns != 1 {
            return Err(Error::field("columns", place(COLUMNS_AT), columns, "1 for a vector"));
        }
        if let Some(at) = first_nonzero(description, DESCRIPTION_USED..DESCRIPTION_LENGTH) {
            return Err(Error::field("reserved byte", place(at), description[at], 0));
        }
        let row_length = columns.checked_mul(element.width());
        let aligned = row_length.and_then(|length| length.checked_next_multiple_of(ROW_ALIGNMENT));
        if Some(stride) != row_length && Some(stride) != aligned {
            let expected = format!("{columns} columns of {} bytes", element.width());
            return Err(Error::field("row stride", place(STRIDE_AT), stride, expected));
        }
        TableShape { rows, columns, stride, element, is_vector }
            .checked()
            .map_err(|error| Error::field("rows", place(ROWS_AT), rows, error))
    }
}

fn overflow(rows: u64, columns: u64) -> Error {
    Error::impossible("table", format!("{rows} x {columns} exceeds 2^63 bytes"))
}

impl Header {
    /// Plans a `.gd` file.
    pub fn for_table(shape: &TableShape) -> Result<Self> {
        let count = shape.length() / shape.element.width();
        Header::plan(
            FileKind::Table,
            shape.encode(),
            [(SectionKind::Table, None, shape.element, count)],
        )
    }

    /// The shape of a `.gd` file's table, checked against its section.
    pub fn table_shape(&self) -> Result<TableShape> {
        if self.kind() != FileKind::Table {
            let found = self.kind().name().to_owned();
            return Err(Error::Magic { expected: FileKind::Table.name(), found });
        }
        let shape = TableShape::parse(self.description())?;
        let section = self.table_section()?;
        if section.element != shape.element || section.length() != shape.length() {
            let found = format!("{} x {}", section.count, section.element);
            let expected = format!("{} bytes of {}", shape.length(), shape.element);
            return Err(Error::field("table section", section.offset, found, expected));
        }
        Ok(shape)
    }

    /// The section that holds the rows.
    pub fn table_section(&self) -> Result<&Section> {
        self.section(SectionKind::Table, None).ok_or(Error::MissingSection {
            section: SectionKind::Table.name().to_owned(),
            why: "a .gd file is one table",
        })
    }
}
