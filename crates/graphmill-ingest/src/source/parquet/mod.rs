//! Parquet files, a row group at a time.
//! Row groups are read by all threads, a batch of rows at a time, so that memory holds pages and
//! not files; columns are found by name or place. Arrow stays inside this folder, and this file
//! does not know what the columns mean.

mod edges;
mod page_charge;
mod positioned;
mod table;
mod words;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema};
use graphmill_disk::Budget;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::options::Column;
use crate::{Error, Result};
use page_charge::PageCharge;
use positioned::Positioned;

pub(crate) use edges::ParquetEdges;
pub(crate) use table::ParquetTable;

/// Rows of one batch.
const BATCH: usize = 1 << 15;
/// Rows of one batch of long texts.
const SMALLEST_BATCH: usize = 64;
/// Bytes of text that a batch shall have about.
const BATCH_TEXT: u64 = 1 << 20;
/// What the numbers of a column of one batch take, as stored and as handed over; its pages are
/// paid for when they are read.
const MEMORY_PER_COLUMN: u64 = 32 * BATCH as u64;

/// One open file.
#[derive(Debug)]
struct ParquetFile {
    path: PathBuf,
    file: Positioned,
    metadata: ArrowReaderMetadata,
    first_row: u64,
}

impl ParquetFile {
    fn open(path: &Path, first_row: u64) -> Result<Self> {
        // Checks that it is a regular file, as every other source does.
        let file = graphmill_disk::open(path, graphmill_disk::Backend::Pread)?;
        let file = Positioned { file, charge: None };
        let metadata = ArrowReaderMetadata::load(&file, Default::default())
            .and_then(|found| {
                let options = ArrowReaderOptions::new().with_schema(Arc::new(views(&found)));
                ArrowReaderMetadata::try_new(found.metadata().clone(), options)
            })
            .map_err(|error| damaged(path, &error))?;
        Ok(ParquetFile { path: path.to_path_buf(), file, metadata, first_row })
    }

    fn rows(&self) -> u64 {
        self.metadata.metadata().file_metadata().num_rows().max(0) as u64
    }

    fn names(&self) -> Vec<String> {
        self.metadata.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn place(&self, column: &Column) -> Result<usize> {
        let names = self.names();
        let place = match column {
            Column::Index(index) => Some(*index).filter(|index| *index < names.len()),
            Column::Name(name) => names
                .iter()
                .position(|known| known == name)
                .or_else(|| names.iter().position(|known| known.eq_ignore_ascii_case(name))),
        };
        place.ok_or_else(|| {
            let expected = format!("a column {column:?}");
            let remedy = "name a column, or its number counted from 0";
            Error::source("schema", names.join(", "), expected, remedy).in_file(&self.path)
        })
    }

    fn data_type(&self, column: usize) -> &DataType {
        self.metadata.schema().field(column).data_type()
    }

    fn row_groups(&self) -> Vec<u64> {
        let groups = self.metadata.metadata().row_groups();
        groups.iter().map(|group| group.num_rows().max(0) as u64).collect()
    }

    /// Where the columns of a row group lie in the file.
    fn places(&self, group: usize) -> Vec<Range<u64>> {
        let columns = self.metadata.metadata().row_group(group).columns();
        let range = |(start, length): (u64, u64)| start..start.saturating_add(length);
        columns.iter().map(|column| range(column.byte_range())).collect()
    }

    /// Rows of one batch, fewer where texts are long.
    fn batch_rows(&self, group: usize, columns: &[usize]) -> usize {
        let group = self.metadata.metadata().row_group(group);
        let rows = group.num_rows().max(1) as u64;
        let texts = columns.iter().filter(|column| words::is_text(self.data_type(**column)));
        // Columns of numbers and text are leaves, so that fields and columns have one number.
        let length = texts
            .filter_map(|column| group.columns().get(*column))
            .map(|column| (column.uncompressed_size().max(0) as u64 / rows).max(1));
        let most = length.max().map_or(BATCH as u64, |length| BATCH_TEXT / length);
        most.clamp(SMALLEST_BATCH as u64, BATCH as u64) as usize
    }

    /// Hands every batch of a row group to `take`: the columns asked for, in the order of the file.
    fn batches(
        &self,
        group: usize,
        columns: &[usize],
        budget: &Budget,
        mut take: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let charge = Arc::new(PageCharge::new(self.places(group), budget)?);
        let file = Positioned { charge: Some(charge.clone()), ..self.file.clone() };
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let failed = |error: &dyn std::fmt::Display| match charge.refusal() {
            Some(refusal) => refusal.into(),
            None => damaged(&self.path, error),
        };
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![group])
                .with_projection(mask)
                .with_batch_size(self.batch_rows(group, columns))
                .build()
                .map_err(|error| failed(&error))?;
        for batch in reader {
            take(batch.map_err(|error| failed(&error))?)?;
        }
        Ok(())
    }
}

/// The same columns with strings as views of their pages.
fn views(metadata: &ArrowReaderMetadata) -> Schema {
    let schema = metadata.schema();
    let view = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => {
            Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View))
        }
        _ => field.clone(),
    };
    let fields: Fields = schema.fields().iter().map(view).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> Error {
    let remedy = "the file is damaged or of a kind that is not read; write it again";
    Error::source("content", error, "a Parquet file", remedy).in_file(path)
}

fn open_all(paths: &[PathBuf]) -> Result<Vec<ParquetFile>> {
    let mut files: Vec<ParquetFile> = Vec::new();
    let mut first_row = 0;
    for path in paths {
        let file = ParquetFile::open(path, first_row)?;
        first_row += file.rows();
        files.push(file);
    }
    Ok(files)
}

/// Runs over all row groups of all files with some threads; each is told its first row.
fn each_group(
    files: &[ParquetFile],
    workers: usize,
    work: &(dyn Fn(&ParquetFile, usize, u64) -> Result<()> + Sync),
) -> Result<()> {
    let mut groups = Vec::new();
    for file in files {
        let mut first_row = file.first_row;
        for (group, rows) in file.row_groups().into_iter().enumerate() {
            groups.push((file, group, first_row));
            first_row += rows;
        }
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let outcomes = graphmill_disk::pool()?.broadcast(|context| {
        while context.index() < workers && !failed.load(Ordering::Relaxed) {
            let Some((file, group, first_row)) = groups.get(next.fetch_add(1, Ordering::Relaxed))
            else {
                break;
            };
            if let Err(error) = work(file, *group, *first_row) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    });
    outcomes.into_iter().collect()
}

/// The array of a column in a batch that holds only `wanted`, in the order of the file.
fn array_of<'a>(batch: &'a RecordBatch, wanted: &[usize], column: usize) -> &'a ArrayRef {
    let mut sorted = wanted.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    batch.column(sorted.partition_point(|known| *known < column))
}
