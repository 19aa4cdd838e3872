//! A table in files of any format or in memory, as one input.
//! The builder opens what the user named, asks for its columns and types, and receives rows as the
//! bytes that will be stored. It must not know which node a row belongs to.

use std::path::PathBuf;

use graphmill_disk::Budget;

use super::array::ArrayFile;
use super::array_table::ArrayTable;
use super::chunk::{ReadReport, TableChunk, TableDescription};
use super::detect::{SourceFormat, expand};
use super::edge_input::{one_format, refuse_dataset};
use super::memory_table::{MemoryTable, TableArray};
use super::options::TableInputOptions;
#[cfg(feature = "parquet")]
use super::parquet::ParquetTable;
use super::table_text::TextTable;
use crate::placement::TableFile;
use crate::progress::Observer;
use crate::{Error, Result};

/// Rows in one or more files, or in memory.
#[derive(Debug)]
pub struct TableInput<'a> {
    format: Option<SourceFormat>,
    reader: Reader<'a>,
}

#[derive(Debug)]
enum Reader<'a> {
    Text(TextTable),
    Arrays(Vec<ArrayTable>),
    Memory(MemoryTable<'a>),
    #[cfg(feature = "parquet")]
    Parquet(ParquetTable),
}

impl<'a> TableInput<'a> {
    /// Takes a table that is in memory.
    ///
    /// Of the options, those about cells count: `element`, `missing`, `text`, `ordered` and
    /// `on_bad_row`. Ids come with the table and are names if they are words.
    pub fn memory(table: TableArray<'a>, options: &TableInputOptions) -> Result<Self> {
        let reader = Reader::Memory(MemoryTable::new(table, options)?);
        Ok(TableInput { format: None, reader })
    }

    /// Opens files, which are one input in the order given; `*` and `?` stand for sorted names.
    pub fn open(paths: &[PathBuf], options: &TableInputOptions) -> Result<Self> {
        let paths = expand(paths)?;
        let format = match options.raw {
            Some(_) => SourceFormat::Npy,
            None => one_format(&paths, options.format)?,
        };
        let reader = match format {
            SourceFormat::Text => Reader::Text(TextTable::open(&paths, options)?),
            SourceFormat::Npy
            | SourceFormat::Npz
            | SourceFormat::Graphmill
            | SourceFormat::GraphZero => {
                let mut tables: Vec<ArrayTable> = Vec::new();
                for path in &paths {
                    let array = match (options.raw, format) {
                        (Some((element, columns)), _) => ArrayFile::raw(path, element, columns)?,
                        (None, SourceFormat::Npy) => ArrayFile::npy(path)?,
                        (None, SourceFormat::Graphmill | SourceFormat::GraphZero) => {
                            refuse_dataset(path)?;
                            ArrayFile::table(path)?
                        }
                        _ => ArrayFile::npz(path, options.member.as_deref(), &[])?,
                    };
                    let table = ArrayTable::new(array, options)?;
                    let shape = |table: &ArrayTable| {
                        let TableDescription { columns, is_vector, element, .. } =
                            table.description();
                        (columns, is_vector, element)
                    };
                    if tables.first().is_some_and(|first| shape(first) != shape(&table)) {
                        let problem = format!(
                            "`{}` has other columns or another type than the first file",
                            path.display()
                        );
                        return Err(Error::request("table", problem));
                    }
                    tables.push(table);
                }
                Reader::Arrays(tables)
            }
            #[cfg(feature = "parquet")]
            SourceFormat::Parquet => Reader::Parquet(ParquetTable::open(&paths, options)?),
            #[cfg(not(feature = "parquet"))]
            SourceFormat::Parquet => return Err(super::edge_input::without_parquet()),
            other => {
                let problem = format!(
                    "`{}` is a folder of {}; name one of its tables",
                    paths[0].display(),
                    other.name()
                );
                return Err(Error::request("table", problem));
            }
        };
        Ok(TableInput { format: Some(format), reader })
    }

    /// What the files are; None for memory.
    pub fn format(&self) -> Option<SourceFormat> {
        self.format
    }

    /// What rows will look like.
    pub fn description(&self) -> TableDescription {
        match &self.reader {
            Reader::Text(table) => table.description().clone(),
            Reader::Memory(table) => table.description(),
            Reader::Arrays(tables) => {
                // There is at least one file, and all have the same columns.
                let rows = tables.iter().filter_map(|table| table.description().rows).sum();
                TableDescription { rows: Some(rows), ..tables[0].description() }
            }
            #[cfg(feature = "parquet")]
            Reader::Parquet(table) => table.description().clone(),
        }
    }

    /// Bytes of the files as they lie on the disk.
    pub fn bytes(&self) -> u64 {
        match &self.reader {
            Reader::Text(table) => table.bytes(),
            Reader::Memory(table) => table.bytes(),
            Reader::Arrays(tables) => tables.iter().map(ArrayTable::bytes).sum(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(table) => table.bytes(),
        }
    }

    /// The rows as they lie in a file, if they need not be read to be stored.
    pub(crate) fn plain_rows(&self) -> Result<Option<TableFile>> {
        match &self.reader {
            Reader::Arrays(tables) if tables.len() == 1 => tables[0].plain_rows(),
            _ => Ok(None),
        }
    }

    /// Reads all rows once, on the threads of the current pool.
    ///
    /// Chunks come from several threads and out of order, unless the options ask for order;
    /// `first_row` is exact either way. Buffers are used again unless taken.
    pub fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let tables = match &self.reader {
            Reader::Text(table) => return table.read(budget, consume, observer),
            Reader::Memory(table) => return table.read(budget, consume, observer),
            #[cfg(feature = "parquet")]
            Reader::Parquet(table) => return table.read(budget, consume, observer),
            Reader::Arrays(tables) => tables,
        };
        let mut total = ReadReport::default();
        for table in tables {
            let report = table.read(total.rows, budget, consume, observer)?;
            total.add(report);
        }
        Ok(total)
    }
}
