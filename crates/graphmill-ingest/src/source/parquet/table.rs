//! Tables in Parquet files: columns of numbers, and perhaps one of ids.
//! Every row group becomes chunks of row bytes with exact row numbers. It must not know which node
//! a row belongs to.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use graphmill_disk::Budget;
use graphmill_format::ElementType;

use super::{BATCH, MEMORY_PER_COLUMN, ParquetFile, array_of, damaged, each_group, open_all};
use crate::progress::{Observer, Stage};
use crate::source::array_edges::is_integer;
use crate::source::array_table::push_number;
use crate::source::cells::{Cells, push_signed};
use crate::source::chunk::{ReadReport, TableChunk, TableDescription};
use crate::source::options::{OnBadRow, TableInputOptions};
use crate::{Error, Result};

/// Rows in Parquet files.
#[derive(Debug)]
pub(crate) struct ParquetTable {
    files: Vec<ParquetFile>,
    /// For each file, the column of ids and the columns of cells.
    columns: Vec<(Option<usize>, Vec<usize>)>,
    element: ElementType,
    missing: Option<i64>,
    ordered: bool,
    description: TableDescription,
}

impl ParquetTable {
    pub(crate) fn open(paths: &[PathBuf], options: &TableInputOptions) -> Result<Self> {
        if options.text || options.on_bad_row == OnBadRow::Skip {
            let problem = "words and leaving out rows are not read from Parquet; write text";
            return Err(Error::request("table", problem));
        }
        let files = open_all(paths)?;
        let element = options.element.unwrap_or(ElementType::F32);
        let mut columns = Vec::new();
        for file in &files {
            let names = file.names();
            let usual = || {
                let is_id = |name: &String| {
                    ["id", "node_id"].iter().any(|id| name.eq_ignore_ascii_case(id))
                };
                names.iter().position(is_id).filter(|_| !options.positional)
            };
            let id = match &options.id {
                Some(column) => Some(file.place(column)?),
                None if options.first_is_id => Some(0),
                None => usual(),
            };
            let cells: Vec<usize> = match &options.columns {
                Some(chosen) => {
                    chosen.iter().map(|column| file.place(column)).collect::<Result<_>>()?
                }
                None => (0..names.len()).filter(|column| Some(*column) != id).collect(),
            };
            for column in cells.iter().chain(&id) {
                let data = file.data_type(*column);
                let wanted = data.is_numeric() || *data == DataType::Boolean;
                if !wanted || (Some(*column) == id && !data.is_integer()) {
                    let found = format!("{} of type {data}", names[*column]);
                    let remedy = "choose the columns that are numbers";
                    let error = Error::source("schema", found, "a column of numbers", remedy);
                    return Err(error.in_file(&file.path));
                }
            }
            columns.push((id, cells));
        }
        let first = columns.first().cloned().unwrap_or_default();
        if columns
            .iter()
            .any(|(id, cells)| (id.is_some(), cells.len()) != (first.0.is_some(), first.1.len()))
        {
            return Err(Error::request("table", "the files have different columns"));
        }
        let description = TableDescription {
            columns: first.1.len() as u64,
            is_vector: first.1.len() == 1,
            element: Some(element),
            has_ids: first.0.is_some(),
            rows: Some(files.iter().map(ParquetFile::rows).sum()),
            names: files.first().map(|file| {
                let names = file.names();
                first.1.iter().map(|column| names[*column].clone()).collect()
            }),
            looks_numeric: true,
        };
        let (missing, ordered) = (options.missing, options.ordered);
        Ok(ParquetTable { files, columns, element, missing, ordered, description })
    }

    pub(crate) fn description(&self) -> &TableDescription {
        &self.description
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.file.0.len()).sum()
    }

    pub(crate) fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let columns = self.description.columns + 1;
        let per_worker = columns * (MEMORY_PER_COLUMN / 4 + 24 * BATCH as u64);
        let threads = graphmill_disk::pool()?.current_num_threads();
        let most = if self.ordered { 1 } else { threads };
        let workers = ((budget.free() / 2 / per_worker) as usize).clamp(1, most);
        let _reserved = budget.reserve(workers as u64 * per_worker, "pages of Parquet")?;
        let rows = self.description.rows.unwrap_or(0);
        let stage = Mutex::new(Stage::new(observer, "reading rows", rows));
        each_group(&self.files, workers, &|file, group, first_row| {
            let number = self.files.iter().position(|known| std::ptr::eq(known, file)).unwrap_or(0);
            let (id, cells) = &self.columns[number];
            let mut row = first_row;
            let mut chunk = TableChunk::default();
            let wanted: Vec<usize> = cells.iter().copied().chain(*id).collect();
            file.batches(group, &wanted, |batch| {
                chunk.clear();
                self.rows(file, &batch, *id, cells, row, &mut chunk)?;
                chunk.first_row = row;
                chunk.rows = batch.num_rows();
                row += batch.num_rows() as u64;
                consume(&mut chunk)?;
                let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
                stage.advance(batch.num_rows() as u64)
            })
        })?;
        Ok(ReadReport { rows, bytes: self.bytes(), ..ReadReport::default() })
    }

    fn rows(
        &self,
        file: &ParquetFile,
        batch: &RecordBatch,
        id: Option<usize>,
        cells: &[usize],
        first_row: u64,
        chunk: &mut TableChunk,
    ) -> Result<()> {
        let wanted: Vec<usize> = cells.iter().copied().chain(id).collect();
        let array = |column: usize| array_of(batch, &wanted, column);
        let fault = |row: usize, column: usize, found: String| {
            let place = format!(
                "row {}, column {}",
                first_row - file.first_row + row as u64,
                file.names()[column]
            );
            let wanted = Cells::Numbers { element: self.element, missing: None }.wanted();
            let remedy = "correct it or choose another element type";
            Error::source(place, found, wanted, remedy).in_file(&file.path)
        };
        if let Some(id) = id {
            let ids =
                cast(array(id), &DataType::Int64).map_err(|error| damaged(&file.path, &error))?;
            let ids = ids.as_primitive::<Int64Type>();
            let into = chunk.ids.get_or_insert_default();
            for row in 0..batch.num_rows() {
                if ids.is_null(row) || ids.value(row) < 0 {
                    return Err(fault(row, id, "no id".to_owned()));
                }
                into.push(ids.value(row) as u64);
            }
        }
        let whole = is_integer(self.element) || self.element == ElementType::Bool;
        let mut arrays = Vec::new();
        for column in cells {
            let from_integer = array(*column).data_type().is_integer();
            let wanted = if from_integer && whole { DataType::Int64 } else { DataType::Float64 };
            let cast = cast(array(*column), &wanted).map_err(|e| damaged(&file.path, &e))?;
            arrays.push((*column, cast));
        }
        for row in 0..batch.num_rows() {
            for (column, array) in &arrays {
                let outcome = match (array.is_null(row), self.missing) {
                    (true, Some(missing)) => push_signed(self.element, missing, &mut chunk.bytes),
                    (true, None) => return Err(fault(row, *column, "an empty cell".to_owned())),
                    (false, _) if *array.data_type() == DataType::Int64 => {
                        let value = array.as_primitive::<Int64Type>().value(row);
                        push_signed(self.element, value, &mut chunk.bytes)
                    }
                    (false, missing) => {
                        let value = array.as_primitive::<Float64Type>().value(row);
                        push_number(self.element, missing, value, &mut chunk.bytes)
                    }
                };
                if outcome.is_err() {
                    let shown = arrow::util::display::array_value_to_string(array, row);
                    return Err(fault(row, *column, shown.unwrap_or_default()));
                }
            }
        }
        Ok(())
    }
}
