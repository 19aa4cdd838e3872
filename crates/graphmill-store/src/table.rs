//! Rows: features, labels and every other per-node or per-edge column.

use crate::mapped_file::{self, Origin, check_index};
use crate::{Error, Result};
use graphmill_disk::{Mapped, ReadAt};
use graphmill_format::{FileKind, Header, Section, TableShape, graphzero};
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
