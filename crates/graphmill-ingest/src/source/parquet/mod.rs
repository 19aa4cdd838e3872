//! Parquet files, a row group at a time.
//!
//! Row groups are read by all threads, a batch of rows at a time, so that memory holds pages and not files; columns
//! are found by name or index. The library decodes values; what it is given is checked first: the footer by
//! [`footer`], every page by [`pages`], and calls run [`guarded`]. Arrow stays inside this folder.

mod columns;
mod delta;
mod edges;
mod footer;
mod guarded;
mod page_charge;
mod page_header;
mod pages;
mod reading;
mod table;
mod thrift;
mod unpack;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema};
use graphmill_disk::{Budget, ReadAt};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::column::page::PageIterator;
use parquet::errors::{ParquetError, Result as LibraryResult};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::options::Column;
use crate::{Error, Result};
use guarded::guarded;
use page_charge::PageCharge;
use pages::{OneChunk, Pages};
use reading::Reading;

pub(crate) use edges::ParquetEdges;
pub(crate) use table::ParquetTable;

/// What to do about a file that is damaged.
const REMEDY: &str = "the file is damaged or of a kind that is not read; write it again";

/// One open file.
#[derive(Debug)]
struct ParquetFile {
    path: PathBuf,
    file: Arc<dyn ReadAt>,
    metadata: ParquetMetaData,
    /// Where the footer starts, and columns end.
    footer: u64,
    schema: Schema,
    /// For each column of the schema, the first of those that lie in the file: nested ones take several.
    leaves: Vec<usize>,
    first_row: u64,
}

impl ParquetFile {
    fn open(path: &Path, first_row: u64) -> Result<Self> {
        // Checks that it is a regular file, as every other source does.
        let file = graphmill_disk::open(path, graphmill_disk::Backend::Pread)?;
        let (metadata, footer) = footer::read(&file)?;
        // Types are those of Parquet itself: what Arrow noted beside them would only name others for the same values.
        let columns = metadata.file_metadata().schema_descr();
        let schema = guarded(|| parquet_to_arrow_schema(columns, None))
            .map_err(|panic| damaged(path, &panic))?
            .map_err(|error| damaged(path, &error))?;
        if schema.fields().len() != columns.root_schema().get_fields().len() {
            return Err(damaged(path, &"a group without columns"));
        }
        let mut leaves = vec![usize::MAX; schema.fields().len()];
        for leaf in (0..columns.num_columns()).rev() {
            leaves[columns.get_column_root_idx(leaf)] = leaf;
        }
        let (path, schema) = (path.to_path_buf(), views(&schema));
        Ok(ParquetFile { path, file, metadata, footer, schema, leaves, first_row })
    }

    fn rows(&self) -> u64 {
        self.metadata.file_metadata().num_rows().max(0) as u64
    }

    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
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
        self.schema.field(column).data_type()
    }

    fn row_groups(&self) -> Vec<u64> {
        let groups = self.metadata.row_groups();
        groups.iter().map(|group| group.num_rows().max(0) as u64).collect()
    }

    /// Hands every batch of a row group to `take`: the columns asked for, in the order of the file.
    fn batches(
        &self,
        group: usize,
        columns: &[usize],
        (reading, budget): (&Reading, &Budget),
        mut take: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let wanted = sorted(columns);
        let are_text: Vec<bool> =
            wanted.iter().map(|column| words::is_text(self.data_type(*column))).collect();
        let charge = Arc::new(PageCharge::new(&are_text, reading.prepaid, budget)?);
        let failed = |error: &dyn std::fmt::Display| {
            charge.refusal().unwrap_or_else(|| damaged(&self.path, error))
        };
        let schema = self.metadata.file_metadata().schema_descr();
        let mask = ProjectionMask::roots(schema, wanted.iter().copied());
        let rows = self.batch_rows(group, columns, reading.batch_rows);
        let source = Group { file: self, group, wanted: &wanted, charge: &charge };
        let mut reader = guarded(|| {
            let levels = parquet_to_arrow_field_levels(schema, mask, Some(self.schema.fields()))?;
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, &source, rows, None)
        })
        .map_err(|panic| failed(&panic))?
        .map_err(|error| failed(&error))?;
        let mut left = source.num_rows();
        while let Some(batch) = guarded(|| reader.next()).map_err(|panic| failed(&panic))? {
            let batch = batch.map_err(|error| failed(&error))?;
            left = left.checked_sub(batch.num_rows()).ok_or_else(|| failed(&"too many rows"))?;
            take(batch)?;
            charge.end_batch()?;
        }
        match left {
            0 => Ok(()),
            _ => Err(failed(&format!("a row group that lacks {left} of its rows"))),
        }
    }
}

/// One row group as the library asks for it.
struct Group<'a> {
    file: &'a ParquetFile,
    group: usize,
    /// Columns that are read, ascending.
    wanted: &'a [usize],
    charge: &'a Arc<PageCharge>,
}

impl RowGroups for Group<'_> {
    fn num_rows(&self) -> usize {
        self.file.metadata.row_group(self.group).num_rows().max(0) as usize
    }

    fn column_chunks(&self, leaf: usize) -> LibraryResult<Box<dyn PageIterator>> {
        let root = self.file.metadata.file_metadata().schema_descr().get_column_root_idx(leaf);
        let column = self.wanted.partition_point(|wanted| *wanted < root);
        let chunk = self.file.chunk(self.group, root, column).map_err(|error| {
            let said = ParquetError::General(error.to_string());
            self.charge.refuse(error);
            said
        })?;
        let pages = Pages::new(self.file.file.clone(), self.charge.clone(), chunk);
        Ok(Box::new(OneChunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.file.metadata.row_group(self.group)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.file.metadata
    }
}

/// The same columns with strings as views of their pages.
fn views(schema: &Schema) -> Schema {
    let view = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => {
            Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View))
        }
        _ => field.clone(),
    };
    Schema::new(schema.fields().iter().map(view).collect::<Fields>())
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::source("content", error, "a Parquet file", REMEDY).in_file(path)
}

fn open_all(paths: &[PathBuf]) -> Result<Vec<ParquetFile>> {
    let mut files: Vec<ParquetFile> = Vec::new();
    let mut first_row = 0_u64;
    for path in paths {
        let file = ParquetFile::open(path, first_row)?;
        first_row = first_row
            .checked_add(file.rows())
            .filter(|rows| *rows <= i64::MAX as u64)
            .ok_or_else(|| damaged(path, &"more than 2^63 rows, with the files before it"))?;
        files.push(file);
    }
    Ok(files)
}

/// Columns in the order of the file, each once.
fn sorted(columns: &[usize]) -> Vec<usize> {
    let mut sorted = columns.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

/// The array of a column in a batch that holds only `wanted`, in the order of the file.
fn array_of<'a>(batch: &'a RecordBatch, wanted: &[usize], column: usize) -> &'a ArrayRef {
    batch.column(sorted(wanted).partition_point(|known| *known < column))
}
