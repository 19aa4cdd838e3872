//! Tables into tables: ours, GraphZero's and NumPy's, in any direction.
//! Rows are read without their padding, a few MiB at a time, and written as the target lays them
//! out. It must not know topologies.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Backend, FileDraft, OutputFile, ReadAt, RealFileSystem};
use graphmill_format::{HEADER_LENGTH, Header, TableShape, graphzero};

use super::{ConvertOptions, TargetKind};
use crate::npy::{NpyFile, NpyHeader};
use crate::progress::Stage;
use crate::section_writer::SectionWriter;
use crate::table_writer::TableWriter;
use crate::{Error, Result};

/// Bytes of rows copied at a time.
const PIECE: u64 = 4 << 20;

/// A table in a file, whatever its layout.
pub(super) struct TableFile {
    file: Arc<dyn ReadAt>,
    shape: TableShape,
    start: u64,
}

impl TableFile {
    /// Opens a graphmill or GraphZero `.gd`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut first = vec![0; file.len().min(HEADER_LENGTH) as usize];
        file.read_exact_at(0, &mut first)?;
        let found = if first.starts_with(&graphzero::TABLE_MAGIC) {
            graphzero::parse_table(&first, file.len())
        } else {
            Header::parse(&first, file.len())
                .and_then(|header| Ok((header.table_shape()?, *header.table_section()?)))
        };
        let (shape, section) = found.map_err(Error::format(path))?;
        Ok(TableFile { file, shape, start: section.offset })
    }

    /// Takes an array of one or two dimensions as a table.
    pub(super) fn from_npy(npy: NpyFile) -> Result<Self> {
        let NpyFile { file, header } = npy;
        let shape = match header.shape[..] {
            [rows] => TableShape::vector(rows, header.element),
            [rows, columns] => TableShape::matrix(rows, columns, header.element),
            _ => {
                let found = format!("an array of shape {:?}", header.shape);
                let remedy = "reshape it to one row per node";
                let error = Error::source("shape", found, "[rows] or [rows, columns]", remedy);
                return Err(error.in_file(file.path()));
            }
        };
        let shape = shape.map_err(Error::format(file.path()))?;
        Ok(TableFile { file, shape, start: header.data_offset })
    }

    /// Hands all rows to `write` in order and without padding.
    fn copy(
        &self,
        options: &ConvertOptions<'_>,
        mut write: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (rows, stride) = (self.shape.rows(), self.shape.stride());
        let row_length = self.shape.row_length() as usize;
        let mut stage = Stage::new(options.observer, "writing rows", rows);
        if stride == 0 {
            return stage.advance(rows);
        }
        let step = (PIECE / stride).max(1);
        let mut buffer = Vec::new();
        let mut first = 0;
        while first < rows {
            let count = step.min(rows - first);
            buffer.resize((count * stride) as usize, 0);
            self.file.read_exact_at(self.start + first * stride, &mut buffer)?;
            if self.shape.is_contiguous() {
                write(&buffer)?;
            } else {
                for row in 1..count as usize {
                    let from = row * stride as usize;
                    buffer.copy_within(from..from + row_length, row * row_length);
                }
                write(&buffer[..count as usize * row_length])?;
            }
            stage.advance(count)?;
            first += count;
        }
        Ok(())
    }
}

/// Rows and bytes written from a table.
pub(super) fn convert(
    table: &TableFile,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<(u64, u64)> {
    let draft = FileDraft::begin(Arc::new(RealFileSystem), target, options.overwrite)?;
    let file = draft.file();
    let shape = &table.shape;
    let length = match kind {
        TargetKind::Table => {
            let mut writer = TableWriter::new(file, stored_shape(shape, target, options)?)?;
            table.copy(options, |rows| writer.write_rows(rows))?;
            writer.finish()?.length
        }
        TargetKind::GraphZeroTable => {
            let header = graphzero::encode_table_header(shape).map_err(Error::format(target))?;
            write_plain(file, &header, table, options)?
        }
        _ => {
            let sides = [shape.rows(), shape.columns()];
            let sides = if shape.is_vector() { &sides[..1] } else { &sides };
            let header = NpyHeader::encode(shape.element(), sides)?;
            write_plain(file, &header, table, options)?
        }
    };
    draft.publish()?;
    Ok((shape.rows(), length))
}

fn stored_shape(
    shape: &TableShape,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<TableShape> {
    let plain = if shape.is_vector() {
        TableShape::vector(shape.rows(), shape.element())
    } else {
        TableShape::matrix(shape.rows(), shape.columns(), shape.element())
    };
    let aligned =
        if options.align_rows { plain.and_then(TableShape::with_aligned_rows) } else { plain };
    aligned.map_err(Error::format(target))
}

/// Writes a header and the rows right behind it.
fn write_plain(
    file: &dyn OutputFile,
    header: &[u8],
    table: &TableFile,
    options: &ConvertOptions<'_>,
) -> Result<u64> {
    let start = header.len() as u64;
    let length = table.shape.rows() * table.shape.row_length();
    let mut section = SectionWriter::unpadded(file, start..start + length);
    table.copy(options, |rows| section.write(rows))?;
    section.finish()?;
    file.write_all_at(0, header)?;
    Ok(start + length)
}
