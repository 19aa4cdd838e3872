//! `.gd` files, written row by row.
//! A [`TableWriter`] fills the table section of an open file and seals it with the header as the
//! very last write, so an unfinished file is never mistaken for a table; datasets and lone files
//! use it alike. It must not know where rows come from.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{FileDraft, OutputFile, RealFileSystem};
use graphmill_format::{ElementType, HEADER_LENGTH, Header, TableShape, content, digest};

use crate::section_writer::SectionWriter;
use crate::{Error, Result};

/// What was written into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The header as it stands in the file.
    pub header: Vec<u8>,
    /// Bytes of the whole file.
    pub length: u64,
}

/// Writes the rows of one table into a file.
pub struct TableWriter<'a> {
    file: &'a dyn OutputFile,
    shape: TableShape,
    counts: bool,
    rows: u64,
    section: SectionWriter<'a>,
}

impl<'a> TableWriter<'a> {
    /// Starts a table of exactly this shape in an empty file.
    pub fn new(file: &'a dyn OutputFile, shape: TableShape) -> Result<Self> {
        let header = Header::for_table(&shape).map_err(Error::format(file.path()))?;
        let table = header.table_section().map_err(Error::format(file.path()))?;
        let section = SectionWriter::new(file, table);
        Ok(TableWriter { file, shape, counts: false, rows: 0, section })
    }

    /// Starts a table with as many rows as will come; the rows of `shape` are ignored.
    pub fn counting(file: &'a dyn OutputFile, shape: TableShape) -> Result<Self> {
        if shape.row_length() == 0 {
            let problem = "rows without columns cannot be counted; say how many there are";
            return Err(Error::request("table", problem));
        }
        let section = SectionWriter::open_ended(file, HEADER_LENGTH);
        Ok(TableWriter { file, shape, counts: true, rows: 0, section })
    }

    /// The shape as planned.
    pub fn shape(&self) -> &TableShape {
        &self.shape
    }

    /// Rows written so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes the bytes of whole rows, little-endian and without padding.
    pub fn write_rows(&mut self, bytes: &[u8]) -> Result<()> {
        let row_length = self.shape.row_length();
        let length = bytes.len() as u64;
        if length == 0 {
            return Ok(());
        }
        if row_length == 0 || !length.is_multiple_of(row_length) {
            let expected = format!("whole rows of {row_length} bytes");
            return Err(self.wrong(format!("{length} bytes"), expected));
        }
        let rows = length / row_length;
        if !self.counts && rows > self.shape.rows() - self.rows {
            let found = format!("{} rows or more", self.rows + rows);
            return Err(self.wrong(found, format!("{} rows", self.shape.rows())));
        }
        if self.shape.element() == ElementType::Bool
            && let Some(at) = content::first_bad_bool(bytes)
        {
            return Err(self.wrong(format!("{} at byte {at}", bytes[at]), "0 or 1"));
        }
        if self.shape.is_contiguous() {
            self.section.write(bytes)?;
        } else {
            let padding = vec![0; (self.shape.stride() - row_length) as usize];
            for row in bytes.chunks_exact(row_length as usize) {
                self.section.write(row)?;
                self.section.write(&padding)?;
            }
        }
        self.rows += rows;
        Ok(())
    }

    /// Writes the digests and, last of all, the header.
    pub fn finish(self) -> Result<Written> {
        let shape = if self.counts {
            with_rows(&self.shape, self.rows).map_err(Error::format(self.file.path()))?
        } else {
            // Rows without columns have no bytes that could be missing.
            if self.rows != self.shape.rows() && self.shape.row_length() > 0 {
                let found = format!("{} rows", self.rows);
                return Err(self.wrong(found, format!("{} rows", self.shape.rows())));
            }
            self.shape
        };
        let header = Header::for_table(&shape).map_err(Error::format(self.file.path()))?;
        let digests = self.section.finish()?;
        seal(self.file, header, &digests)
    }

    fn wrong(&self, found: impl ToString, expected: impl ToString) -> Error {
        let place = format!("row {}", self.rows);
        Error::source(place, found, expected, "give rows that match the shape of the table")
    }
}

/// Writes the digest table and then the header, which makes the file whole.
pub(crate) fn seal(file: &dyn OutputFile, mut header: Header, digests: &[u64]) -> Result<Written> {
    let table = digest::encode(digests);
    let mut section = SectionWriter::new(file, header.digest_section());
    section.write(&table)?;
    section.finish()?;
    header.seal(&table);
    let bytes = header.encode();
    file.write_all_at(0, &bytes)?;
    Ok(Written { header: bytes, length: header.file_length() })
}

pub(crate) fn with_rows(shape: &TableShape, rows: u64) -> graphmill_format::Result<TableShape> {
    let counted = if shape.is_vector() {
        TableShape::vector(rows, shape.element())?
    } else {
        TableShape::matrix(rows, shape.columns(), shape.element())?
    };
    if shape.is_contiguous() { Ok(counted) } else { counted.with_aligned_rows() }
}

/// Writes a lone `.gd` from chunks of whole rows.
///
/// ```
/// use graphmill_format::{ElementType, TableShape};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("x.gd");
/// let shape = TableShape::matrix(2, 3, ElementType::U8).unwrap();
/// graphmill_ingest::write_table(&path, shape, [Ok([1, 2, 3]), Ok([4, 5, 6])], false)?;
/// # Ok::<(), graphmill_ingest::Error>(())
/// ```
pub fn write_table<C: AsRef<[u8]>>(
    path: &Path,
    shape: TableShape,
    chunks: impl IntoIterator<Item = Result<C>>,
    overwrite: bool,
) -> Result<Written> {
    let draft = FileDraft::begin(Arc::new(RealFileSystem), path, overwrite)?;
    let written = write_chunks(TableWriter::new(draft.file(), shape)?, chunks)
        .map_err(|error| error.in_file(path))?;
    draft.publish()?;
    Ok(written)
}

/// Writes a lone `.gd` from chunks of whole rows whose number is not known; that of `shape` is
/// ignored.
pub fn write_counted_table<C: AsRef<[u8]>>(
    path: &Path,
    shape: TableShape,
    chunks: impl IntoIterator<Item = Result<C>>,
    overwrite: bool,
) -> Result<Written> {
    let draft = FileDraft::begin(Arc::new(RealFileSystem), path, overwrite)?;
    let written = write_chunks(TableWriter::counting(draft.file(), shape)?, chunks)
        .map_err(|error| error.in_file(path))?;
    draft.publish()?;
    Ok(written)
}

fn write_chunks<C: AsRef<[u8]>>(
    mut writer: TableWriter<'_>,
    chunks: impl IntoIterator<Item = Result<C>>,
) -> Result<Written> {
    for chunk in chunks {
        writer.write_rows(chunk?.as_ref())?;
    }
    writer.finish()
}
