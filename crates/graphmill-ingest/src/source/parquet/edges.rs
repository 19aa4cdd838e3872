//! Edges in Parquet files: two columns of ids, and perhaps weights and times.
//! Every row group becomes chunks with exact row numbers, of numbers or of names; rows with gaps
//! and negative ids are faults with their place. It must not know what is built.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float32Array, Int64Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use graphmill_disk::Budget;

use super::reading::Reading;
use super::words::{self, CHUNK_MEMORY, Words};
use super::{ParquetFile, array_of, damaged, open_all};
use crate::error::Setting;
use crate::progress::{Observer, Stage};
use crate::source::chunk::{EdgeChunk, ReadReport, TextCells};
use crate::source::endpoints::endpoints;
use crate::source::faults::{Faults, RowFault, WANTED_ID, WANTED_WEIGHT};
use crate::source::names::{NoName, name};
use crate::source::options::{Column, EdgeInputOptions, OnBadRow};
use crate::{Error, Result};

/// Edges in Parquet files.
#[derive(Debug)]
pub(crate) struct ParquetEdges {
    files: Vec<ParquetFile>,
    columns: Vec<EdgePlaces>,
    on_bad_row: OnBadRow,
}

#[derive(Clone, Copy, Debug)]
struct EdgePlaces {
    source: usize,
    destination: usize,
    weight: Option<usize>,
    time: Option<usize>,
    /// Whether ids are words.
    names: bool,
}

impl ParquetEdges {
    pub(crate) fn open(paths: &[PathBuf], options: &EdgeInputOptions) -> Result<Self> {
        let files = open_all(paths)?;
        let mut columns = Vec::new();
        for file in &files {
            let optional = |column: &Option<Column>| {
                column.as_ref().map(|column| file.place(column)).transpose()
            };
            let mut weight = optional(&options.weight)?;
            if options.third_is_weight && weight.is_none() && file.names().len() > 2 {
                weight = Some(2);
            }
            let (time, source) = (optional(&options.time)?, optional(&options.source)?);
            let destination = optional(&options.destination)?;
            let taken: Vec<usize> = weight.into_iter().chain(time).collect();
            let called: TextCells = file.names().iter().collect();
            let ends = endpoints(called.len(), Some(&called), source, destination, &taken);
            let (source, destination) = ends.map_err(|error| error.in_file(&file.path))?;
            // A file of one column lacks the other.
            file.place(&Column::Index(source))?;
            file.place(&Column::Index(destination))?;
            let names = options.text_ids;
            let places = EdgePlaces { source, destination, weight, time, names };
            for id in [places.source, places.destination] {
                let data = file.data_type(id);
                let is_id = if places.names { words::is_wordy(data) } else { data.is_integer() };
                if !is_id {
                    let found = format!("{} of type {data}", file.names()[id]);
                    let (remedy, setting) = match words::is_wordy(data) {
                        true => ("read ids as words", Setting::TextIds),
                        false => {
                            ("name the columns of sources and destinations", Setting::Endpoints)
                        }
                    };
                    let expected = if places.names { "text or integers" } else { "integers" };
                    let expected = format!("a column of {expected}");
                    let error = Error::source("schema", found, expected, remedy);
                    return Err(error.setting(setting).in_file(&file.path));
                }
            }
            file.check_columns(&places.all())?;
            columns.push(places);
        }
        Ok(ParquetEdges { files, columns, on_bad_row: options.on_bad_row })
    }

    pub(crate) fn has_weights(&self) -> bool {
        self.columns.iter().any(|places| places.weight.is_some())
    }

    pub(crate) fn has_times(&self) -> bool {
        self.columns.iter().any(|places| places.time.is_some())
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.file.len()).sum()
    }

    pub(crate) fn rows(&self) -> u64 {
        self.files.iter().map(ParquetFile::rows).sum()
    }

    pub(crate) fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let names = self.columns.iter().any(|places| places.names);
        let further = 2 * CHUNK_MEMORY * u64::from(names);
        // Rows that are left out move the numbers of all that follow, so one thread counts them.
        let most = if self.on_bad_row == OnBadRow::Skip {
            1
        } else {
            graphmill_disk::pool()?.current_num_threads()
        };
        let wanted: Vec<_> =
            self.files.iter().zip(self.columns.iter().map(EdgePlaces::all)).collect();
        let cells = wanted.iter().map(|(_, columns)| columns.len() as u64).max().unwrap_or(0);
        let reading = Reading::plan(&wanted, (cells, further), most, budget)?;
        let stage = Stage::new(observer, "reading edges", self.rows());
        let shared =
            Mutex::new((stage, ReadReport { bytes: self.bytes(), ..ReadReport::default() }));
        reading.each_group(&self.files, &|file, group, first_row| {
            let number = self.files.iter().position(|known| std::ptr::eq(known, file)).unwrap_or(0);
            let places = self.columns[number];
            let mut row = first_row;
            let mut chunk = EdgeChunk::default();
            file.batches(group, &places.all(), (&reading, budget), |batch| {
                let columns = places.columns(&batch).map_err(|e| damaged(&file.path, &e))?;
                let mut left = 0..batch.num_rows();
                while !left.is_empty() {
                    let rows = columns.fitting(left.clone());
                    left.start = rows.end;
                    let before = row;
                    row += rows.len() as u64;
                    let mut faults = Faults::new(self.on_bad_row, Some(&file.path));
                    let first = before - file.first_row;
                    let count = rows.len() as u64;
                    columns.edges(rows, first, &file.names(), &mut chunk, &mut faults)?;
                    chunk.first_row = before;
                    {
                        let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        let (stage, report) = &mut *guard;
                        if self.on_bad_row == OnBadRow::Skip {
                            chunk.first_row = report.rows;
                        }
                        faults.report(report);
                        report.rows += chunk.len() as u64;
                        stage.advance(count)?;
                    }
                    if !chunk.is_empty() {
                        consume(&mut chunk)?;
                    }
                }
                Ok(())
            })
        })?;
        Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).1)
    }
}

impl EdgePlaces {
    fn all(&self) -> Vec<usize> {
        let ends = [self.source, self.destination];
        ends.into_iter().chain(self.weight).chain(self.time).collect()
    }

    /// The columns of a batch as what they are read as.
    fn columns(&self, batch: &RecordBatch) -> std::result::Result<EdgeColumns<'_>, ArrowError> {
        let all = self.all();
        let array = |column: usize| array_of(batch, &all, column);
        let integers = |column| -> std::result::Result<Int64Array, ArrowError> {
            Ok(cast(array(column), &DataType::Int64)?.as_primitive::<Int64Type>().clone())
        };
        let ends = if self.names {
            Ends::Names(Words::new(array(self.source))?, Words::new(array(self.destination))?)
        } else {
            Ends::Numbers(integers(self.source)?, integers(self.destination)?)
        };
        let floats = |column| -> std::result::Result<Float32Array, ArrowError> {
            Ok(cast(array(column), &DataType::Float32)?.as_primitive::<Float32Type>().clone())
        };
        let weights = self.weight.map(floats).transpose()?;
        let times = self.time.map(|column| times_of(array(column))).transpose()?;
        Ok(EdgeColumns { places: self, ends, weights, times })
    }
}

/// Times as whole numbers; a fraction is no time, as in text.
fn times_of(array: &ArrayRef) -> std::result::Result<Int64Array, ArrowError> {
    if !array.data_type().is_floating() {
        return Ok(cast(array, &DataType::Int64)?.as_primitive::<Int64Type>().clone());
    }
    let times = cast(array, &DataType::Float64)?;
    // Below 2^63 in magnitude, where every whole number of this type is one of 64 bits.
    let whole =
        |time: f64| (time.fract() == 0.0 && time.abs() < i64::MAX as f64).then_some(time as i64);
    Ok(times.as_primitive::<Float64Type>().unary_opt(whole))
}

enum Ends {
    Numbers(Int64Array, Int64Array),
    Names(Words, Words),
}

/// The columns of one batch.
struct EdgeColumns<'a> {
    places: &'a EdgePlaces,
    ends: Ends,
    weights: Option<Float32Array>,
    times: Option<Int64Array>,
}

impl EdgeColumns<'_> {
    /// The first of some rows that make up one chunk.
    fn fitting(&self, rows: Range<usize>) -> Range<usize> {
        match &self.ends {
            Ends::Numbers(..) => rows,
            Ends::Names(sources, destinations) => words::fitting(rows, &[sources, destinations]),
        }
    }

    /// Puts rows into a chunk; `first` is the row of the file that row 0 of them has.
    fn edges(
        &self,
        rows: Range<usize>,
        first: u64,
        names: &[String],
        chunk: &mut EdgeChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        chunk.clear();
        let start = rows.start;
        for row in rows {
            if let Err((column, fault)) = self.edge(row, chunk) {
                let place =
                    format!("row {}, column {}", first + (row - start) as u64, names[column]);
                faults.add(RowFault { place, ..fault })?;
            }
        }
        Ok(())
    }

    /// Adds one edge, or says which column is to blame and why.
    fn edge(
        &self,
        row: usize,
        chunk: &mut EdgeChunk,
    ) -> std::result::Result<(), (usize, RowFault)> {
        let EdgePlaces { source, destination, weight: weights, time: times, .. } = *self.places;
        let weight = self.weights.as_ref().map(|array| (array.is_valid(row), array.value(row)));
        if let Some((valid, weight)) = weight
            && !(valid && weight >= 0.0 && weight.is_finite())
        {
            let found = valid.then(|| weight.to_string());
            return Err((weights.unwrap_or(0), cell_fault(found, WANTED_WEIGHT)));
        }
        if self.times.as_ref().is_some_and(|array| array.is_null(row)) {
            return Err((times.unwrap_or(0), cell_fault(None, "a time")));
        }
        match &self.ends {
            Ends::Numbers(sources, destinations) => {
                for (ids, column) in [(sources, source), (destinations, destination)] {
                    if ids.is_null(row) || ids.value(row) < 0 {
                        let found = ids.is_valid(row).then(|| ids.value(row).to_string());
                        return Err((column, cell_fault(found, WANTED_ID)));
                    }
                }
                chunk.sources.push(sources.value(row) as u64);
                chunk.destinations.push(destinations.value(row) as u64);
            }
            Ends::Names(sources, destinations) => {
                let from = word(sources, row).map_err(|fault| (source, fault))?;
                let to = word(destinations, row).map_err(|fault| (destination, fault))?;
                chunk.source_names.push(from);
                chunk.destination_names.push(to);
            }
        }
        if let Some((_, weight)) = weight {
            // Adding nothing turns -0.0 into 0.0.
            chunk.weights.get_or_insert_default().push(weight + 0.0);
        }
        if let Some(times) = &self.times {
            chunk.times.get_or_insert_default().push(times.value(row));
        }
        Ok(())
    }
}

fn word(words: &Words, row: usize) -> std::result::Result<&str, RowFault> {
    words.get(row).ok_or(NoName::Empty).and_then(name).map_err(|why| why.at(String::new()))
}

fn cell_fault(found: Option<String>, expected: &str) -> RowFault {
    RowFault {
        place: String::new(),
        found: found
            .unwrap_or_else(|| "an empty cell, a fraction or a number too large".to_owned()),
        expected: expected.to_owned(),
        remedy: "correct it or leave the row out",
    }
}
