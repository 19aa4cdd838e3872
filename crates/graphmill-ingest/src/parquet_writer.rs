//! Parquet files that are written a row group at a time.
//! Record batches are encoded as they come, and a row group goes to the file as soon as it has taken
//! the memory that was reserved for it; what remains is the footer, which is charged as it grows.
//! It must not know what the columns mean, nor who publishes the file.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use graphmill_disk::{Budget, OutputFile, Reservation};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::section_writer::SectionWriter;
use crate::{Error, Result};

/// Rows of a row group at most.
const ROWS: usize = 1 << 20;
/// Bytes of a row group at most, and at least.
const MOST: u64 = 64 << 20;
const LEAST: u64 = 128 << 10;
/// Bytes of a page.
const PAGE: usize = 64 << 10;
/// What the footer keeps of a column of a row group.
const FOOTER: u64 = 512;

/// A Parquet file that grows.
pub(crate) struct ParquetWriter<'a> {
    writer: ArrowWriter<Sink<'a>>,
    failure: Arc<Mutex<Option<Error>>>,
    file: &'a dyn OutputFile,
    columns: u64,
    row_group: usize,
    reserved: Reservation,
}

impl<'a> ParquetWriter<'a> {
    pub(crate) fn new(
        file: &'a dyn OutputFile,
        schema: SchemaRef,
        budget: &Budget,
    ) -> Result<Self> {
        let columns = schema.fields().len() as u64;
        let row_group = (budget.free() / 8).clamp(LEAST, MOST);
        // A page of every column is open, and one of them is being compressed.
        let pages = (columns + 2) * PAGE as u64;
        let what = "a row group of Parquet";
        let reserved = budget.reserve(2 * row_group + pages.min(row_group), what)?;
        let page = PAGE.min((row_group / (columns + 2)) as usize).max(1 << 10);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_data_page_size_limit(page)
            .set_max_row_group_row_count(Some(ROWS))
            .set_created_by(concat!("graphmill ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let failure: Arc<Mutex<Option<Error>>> = Arc::default();
        let sink = Sink { text: SectionWriter::text(file), failure: failure.clone() };
        let writer = ArrowWriter::try_new(sink, schema, Some(properties))
            .map_err(|error| failed(&failure, file, &error))?;
        let row_group = row_group as usize;
        Ok(ParquetWriter { writer, failure, file, columns, row_group, reserved })
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let groups = self.writer.flushed_row_groups().len();
        let mut written = self.writer.write(rows);
        if written.is_ok() && self.writer.memory_size() >= self.row_group {
            written = self.writer.flush();
        }
        written.map_err(|error| failed(&self.failure, self.file, &error))?;
        let more = self.writer.flushed_row_groups().len() - groups;
        Ok(self.reserved.grow(more as u64 * self.columns * FOOTER)?)
    }

    /// Writes the footer; gives the bytes of the file.
    pub(crate) fn finish(self) -> Result<u64> {
        let ParquetWriter { writer, failure, file, .. } = self;
        let sink = writer.into_inner().map_err(|error| failed(&failure, file, &error))?;
        let length = sink.text.written();
        sink.text.finish()?;
        Ok(length)
    }
}

/// What the encoder writes to.
struct Sink<'a> {
    text: SectionWriter<'a>,
    failure: Arc<Mutex<Option<Error>>>,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.text.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                let said = io::Error::other(error.to_string());
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Err(said)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error of the disk if it was one, and what the encoder says otherwise.
fn failed(failure: &Mutex<Option<Error>>, file: &dyn OutputFile, error: &ParquetError) -> Error {
    let own = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    own.unwrap_or_else(|| {
        let problem = format!("`{}`: {error}; name a .csv target instead", file.path().display());
        Error::request("parquet", problem)
    })
}
