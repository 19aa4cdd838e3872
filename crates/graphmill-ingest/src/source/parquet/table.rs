//! Tables in Parquet files: columns of numbers or words, and perhaps one of ids.
//! Every row group becomes chunks of row bytes with exact row numbers. It must not know which node
//! a row belongs to.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use graphmill_disk::Budget;
use graphmill_format::ElementType;

use super::reading::Reading;
use super::words::{self, CHUNK_MEMORY, Words};
use super::{ParquetFile, array_of, damaged, open_all};
use crate::npy::ArrayType;
use crate::progress::{Observer, Stage};
use crate::source::cells::{Cells, push_signed};
use crate::source::chunk::{ReadReport, TableChunk, TableDescription};
use crate::source::faults::WANTED_ID;
use crate::source::names::{NoName, WANTED_NAME, name};
use crate::source::number_rows::push_number;
use crate::source::options::{OnBadRow, TableInputOptions};
use crate::source::text::ID_NAMES;
use crate::{Error, Result};

/// Rows in Parquet files.
#[derive(Debug)]
pub(crate) struct ParquetTable {
    files: Vec<ParquetFile>,
    /// For each file, the column of ids and the columns of cells.
    columns: Vec<(Option<usize>, Vec<usize>)>,
    cells: Cells,
    /// Whether ids are words.
    names: bool,
    ordered: bool,
    description: TableDescription,
}

impl ParquetTable {
    pub(crate) fn open(paths: &[PathBuf], options: &TableInputOptions) -> Result<Self> {
        if options.on_bad_row == OnBadRow::Skip {
            let problem = "bad rows of Parquet tables cannot be left out; correct them";
            return Err(Error::request("table", problem));
        }
        let files = open_all(paths)?;
        let mut columns = Vec::new();
        for file in &files {
            let names = file.names();
            let usual = || {
                let is_id = |name: &String| ID_NAMES.iter().any(|id| name.eq_ignore_ascii_case(id));
                names.iter().position(is_id).filter(|_| !options.positional)
            };
            let id = match &options.id {
                Some(column) => Some(file.place(column)?),
                None if options.first_is_id => Some(0),
                None => usual(),
            };
            let cells: Vec<usize> = match &options.columns {
                _ if options.ids_only => Vec::new(),
                Some(chosen) => {
                    chosen.iter().map(|column| file.place(column)).collect::<Result<_>>()?
                }
                None => (0..names.len()).filter(|column| Some(*column) != id).collect(),
            };
            for &column in cells.iter().chain(&id) {
                let data = file.data_type(column);
                let (fits, expected) = match (Some(column) == id, options.text_ids, options.text) {
                    (true, true, _) => (words::is_wordy(data), "text or integers"),
                    (true, false, _) => (data.is_integer(), "integers"),
                    // Cells may be looked at, to find what they are; reading refuses those of another kind.
                    (false, ..) => (is_numeric(data) || words::is_text(data), "numbers or text"),
                };
                if !fits {
                    return Err(unfit(file, column, expected));
                }
            }
            file.check_columns(&wanted(id, &cells))?;
            columns.push((id, cells));
        }
        let first = columns.first().cloned().unwrap_or_default();
        if columns
            .iter()
            .any(|(id, cells)| (id.is_some(), cells.len()) != (first.0.is_some(), first.1.len()))
        {
            return Err(Error::request("table", "the files have different columns"));
        }
        let of_type = |wanted: &dyn Fn(&DataType) -> bool| {
            let mut cells = files.iter().zip(&columns).flat_map(|(file, (_, cells))| {
                cells.iter().map(move |column| file.data_type(*column))
            });
            !first.1.is_empty() && cells.all(wanted)
        };
        let is_boolean = of_type(&|data| *data == DataType::Boolean);
        let usual = if is_boolean { ElementType::Bool } else { ElementType::F32 };
        let cells = match options.text {
            true => Cells::Text,
            false => Cells::Numbers {
                element: options.element.unwrap_or(usual),
                missing: options.missing,
            },
        };
        let description = TableDescription {
            columns: first.1.len() as u64,
            is_vector: first.1.len() == 1,
            element: cells.element(),
            has_ids: first.0.is_some(),
            rows: Some(files.iter().map(ParquetFile::rows).sum()),
            names: files.first().map(|file| {
                let names = file.names();
                first.1.iter().map(|column| names[*column].clone()).collect()
            }),
            looks_numeric: of_type(&is_numeric),
            looks_missing: false,
            looks_boolean: is_boolean,
        };
        let (names, ordered) = (options.text_ids, options.ordered);
        Ok(ParquetTable { files, columns, cells, names, ordered, description })
    }

    pub(crate) fn description(&self) -> &TableDescription {
        &self.description
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.file.len()).sum()
    }

    pub(crate) fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        self.refuse_other_cells()?;
        let texts = [self.names, self.cells == Cells::Text].iter().filter(|is| **is).count() as u64;
        let threads = graphmill_disk::pool()?.current_num_threads();
        let most = if self.ordered { 1 } else { threads };
        let columns = self.columns.iter().map(|(id, cells)| wanted(*id, cells));
        let columns: Vec<_> = self.files.iter().zip(columns).collect();
        let cells = self.description.columns + 1;
        let reading = Reading::plan(&columns, (cells, texts * CHUNK_MEMORY), most, budget)?;
        let rows = self.description.rows.unwrap_or(0);
        let stage = Mutex::new(Stage::new(observer, "reading rows", rows));
        reading.each_group(&self.files, &|file, group, first_row| {
            let number = self.files.iter().position(|known| std::ptr::eq(known, file)).unwrap_or(0);
            let (id, cells) = &self.columns[number];
            let mut row = first_row;
            let mut chunk = TableChunk::default();
            file.batches(group, &wanted(*id, cells), (&reading, budget), |batch| {
                let columns = self.batch_columns(&batch, *id, cells);
                let columns = columns.map_err(|error| damaged(&file.path, &error))?;
                let mut left = 0..batch.num_rows();
                while !left.is_empty() {
                    let rows = columns.fitting(left.clone());
                    left.start = rows.end;
                    chunk.clear();
                    let first = row - file.first_row;
                    for at in rows.clone() {
                        self.row(&columns, at, &mut chunk).map_err(|(column, found, wanted)| {
                            let number = first + (at - rows.start) as u64;
                            let place = format!("row {number}, column {}", file.names()[column]);
                            let remedy = "correct it or choose another element type";
                            Error::source(place, found, wanted, remedy).in_file(&file.path)
                        })?;
                    }
                    chunk.first_row = row;
                    chunk.rows = rows.len();
                    row += rows.len() as u64;
                    consume(&mut chunk)?;
                    let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
                    stage.advance(rows.len() as u64)?;
                }
                Ok(())
            })
        })?;
        Ok(ReadReport { rows, bytes: self.bytes(), ..ReadReport::default() })
    }

    /// Refuses columns of numbers that shall be words, and the reverse.
    fn refuse_other_cells(&self) -> Result<()> {
        let (fits, expected): (fn(&DataType) -> bool, _) = match self.cells {
            Cells::Text => (words::is_wordy, "text"),
            Cells::Numbers { .. } => (is_numeric, "numbers"),
        };
        for (file, (_, cells)) in self.files.iter().zip(&self.columns) {
            if let Some(&column) = cells.iter().find(|column| !fits(file.data_type(**column))) {
                return Err(unfit(file, column, expected));
            }
        }
        Ok(())
    }

    /// The columns of a batch as what they are read as.
    fn batch_columns(
        &self,
        batch: &RecordBatch,
        id: Option<usize>,
        cells: &[usize],
    ) -> std::result::Result<BatchColumns, ArrowError> {
        let all = wanted(id, cells);
        let array = |column: usize| array_of(batch, &all, column);
        let ids = match id {
            Some(id) if self.names => Some((id, Ids::Names(Words::new(array(id))?))),
            Some(id) => {
                let ids = cast(array(id), &DataType::Int64)?;
                Some((id, Ids::Numbers(ids.as_primitive::<Int64Type>().clone())))
            }
            None => None,
        };
        let mut columns = BatchColumns { ids, numbers: Vec::new(), words: Vec::new() };
        for &column in cells {
            let Cells::Numbers { element, .. } = self.cells else {
                columns.words.push((column, Words::new(array(column))?));
                continue;
            };
            let whole = ArrayType::from(element).is_integer() || element == ElementType::Bool;
            let from_integer = array(column).data_type().is_integer();
            let wanted = if from_integer && whole { DataType::Int64 } else { DataType::Float64 };
            let numbers = cast(array(column), &wanted)?;
            if numbers.null_count() > array(column).null_count() {
                let problem = format!("a number beyond {wanted} in column {column}");
                return Err(ArrowError::CastError(problem));
            }
            columns.numbers.push((column, numbers));
        }
        Ok(columns)
    }

    /// Adds one row, or says which column is to blame, what is there and what may be.
    fn row(
        &self,
        columns: &BatchColumns,
        row: usize,
        chunk: &mut TableChunk,
    ) -> std::result::Result<(), (usize, String, &'static str)> {
        match &columns.ids {
            Some((id, Ids::Numbers(ids))) => {
                if ids.is_null(row) || ids.value(row) < 0 {
                    let found = ids.is_valid(row).then(|| ids.value(row).to_string());
                    return Err((*id, found.unwrap_or("no id".to_owned()), WANTED_ID));
                }
                chunk.ids.get_or_insert_default().push(ids.value(row) as u64);
            }
            Some((id, Ids::Names(words))) => {
                let word = words.get(row).ok_or(NoName::Empty).and_then(name);
                let word = word.map_err(|why| (*id, why.told().0, WANTED_NAME))?;
                chunk.id_names.get_or_insert_default().push(word);
            }
            None => {}
        }
        for (column, words) in &columns.words {
            let text = std::str::from_utf8(words.get(row).unwrap_or_default());
            let text = text.map_err(|_| (*column, NoName::NotUtf8.told().0, "text in UTF-8"))?;
            chunk.texts.push(text);
        }
        let Cells::Numbers { element, missing } = self.cells else { return Ok(()) };
        for (column, array) in &columns.numbers {
            let outcome = match (array.is_null(row), missing) {
                (true, Some(missing)) => push_signed(element, missing, &mut chunk.bytes),
                (true, None) => {
                    return Err((*column, "an empty cell".to_owned(), self.cells.wanted()));
                }
                (false, _) if *array.data_type() == DataType::Int64 => {
                    let value = array.as_primitive::<Int64Type>().value(row);
                    push_signed(element, value, &mut chunk.bytes)
                }
                (false, missing) => {
                    let value = array.as_primitive::<Float64Type>().value(row);
                    push_number(element, missing, value, &mut chunk.bytes)
                }
            };
            if outcome.is_err() {
                let shown = arrow_cast::display::array_value_to_string(array, row);
                return Err((*column, shown.unwrap_or_default(), self.cells.wanted()));
            }
        }
        Ok(())
    }
}

/// The columns that are read.
fn wanted(id: Option<usize>, cells: &[usize]) -> Vec<usize> {
    cells.iter().copied().chain(id).collect()
}

/// Whether the cells of a column can be taken as numbers.
fn is_numeric(data: &DataType) -> bool {
    data.is_numeric() || *data == DataType::Boolean
}

fn unfit(file: &ParquetFile, column: usize, expected: &str) -> Error {
    let found = format!("{} of type {}", file.names()[column], file.data_type(column));
    let expected = format!("a column of {expected}");
    let remedy = "choose the columns that are wanted";
    Error::source("schema", found, expected, remedy).in_file(&file.path)
}

enum Ids {
    Numbers(Int64Array),
    Names(Words),
}

/// The columns of one batch.
struct BatchColumns {
    ids: Option<(usize, Ids)>,
    numbers: Vec<(usize, ArrayRef)>,
    words: Vec<(usize, Words)>,
}

impl BatchColumns {
    /// The first of some rows that make up one chunk.
    fn fitting(&self, rows: Range<usize>) -> Range<usize> {
        let names = match &self.ids {
            Some((_, Ids::Names(words))) => Some(words),
            _ => None,
        };
        let words: Vec<&Words> = self.words.iter().map(|(_, words)| words).chain(names).collect();
        if words.is_empty() { rows } else { words::fitting(rows, &words) }
    }
}
