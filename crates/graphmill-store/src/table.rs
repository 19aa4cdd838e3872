//! Rows: features, labels and every other per-node or per-edge column.

use crate::mapped_file::{self, Origin, check_index, elements};
use crate::{Error, Result};
use graphmill_disk::{Mapped, ReadAt};
use graphmill_format::{ElementType, FileKind, Header, Section, TableShape, graphzero};
use std::path::Path;
use std::sync::Arc;

/// An open `.gd` file, ours or GraphZero's. Cloning shares the map.
#[derive(Clone, Debug)]
pub struct Table {
    mapped: Arc<Mapped>,
    shape: TableShape,
    section: Section,
    header: Option<Arc<Header>>,
}

impl Table {
    /// Opens a table; takes microseconds whatever its size.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (mapped, start) = mapped_file::open(path)?;
        let length = mapped.len();
        let (shape, section, header) = match mapped_file::recognise(&start) {
            Some((Origin::GraphZero, FileKind::Table)) => graphzero::parse_table(&start, length)
                .map(|(shape, section)| (shape, section, None)),
            _ => own_table(&start, length),
        }
        .map_err(Error::format(path))?;
        Ok(Table { mapped, shape, section, header })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        self.mapped.path()
    }

    /// Rows, columns and element type.
    pub fn shape(&self) -> &TableShape {
        &self.shape
    }

    /// Where the rows lie in the file.
    pub fn section(&self) -> &Section {
        &self.section
    }

    /// The header, for files of ours.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_deref()
    }

    /// Who wrote the file.
    pub fn origin(&self) -> Origin {
        if self.header.is_some() { Origin::Graphmill } else { Origin::GraphZero }
    }

    /// The map, which keeps the bytes of every view alive.
    pub fn mapped(&self) -> &Arc<Mapped> {
        &self.mapped
    }

    /// The bytes of one row, in place. Checks first that the file is as long as it was.
    pub fn row(&self, row: u64) -> Result<&[u8]> {
        let start = self.row_offset(row)?;
        self.mapped.check_length()?;
        Ok(&self.mapped.bytes()[start as usize..(start + self.shape.row_length()) as usize])
    }

    /// All values of an `int64` vector, in place. Checks first that the file is as long as it was.
    pub fn as_i64(&self) -> Result<&[i64]> {
        self.check_vector(&[ElementType::I64])?;
        self.mapped.check_length()?;
        Ok(elements(&self.mapped, &self.section))
    }

    /// Fails unless the table is a vector of one of these types without gaps.
    pub(crate) fn check_vector(&self, allowed: &[ElementType]) -> Result<()> {
        let shape = &self.shape;
        if shape.is_vector() && shape.is_contiguous() && allowed.contains(&shape.element()) {
            return Ok(());
        }
        let kind = if shape.is_vector() { "vector" } else { "matrix" };
        let allowed: Vec<_> = allowed.iter().map(|element| element.name()).collect();
        Err(Error::Corrupt {
            path: self.path().to_path_buf(),
            // Where the header describes the table.
            byte: 64,
            what: "the table",
            found: format!("a {kind} of {}", shape.element()),
            expected: format!("a vector of {} without padding", allowed.join(" or ")),
        })
    }

    /// Where a row starts in the file.
    pub fn row_offset(&self, row: u64) -> Result<u64> {
        check_index(self.path(), "row", row, self.shape.rows())?;
        Ok(self.section.offset + row * self.shape.stride())
    }
}

fn own_table(
    start: &[u8],
    length: u64,
) -> graphmill_format::Result<(TableShape, Section, Option<Arc<Header>>)> {
    let header = Header::parse(start, length)?;
    let shape = header.table_shape()?;
    let section = *header.table_section()?;
    Ok((shape, section, Some(Arc::new(header))))
}
