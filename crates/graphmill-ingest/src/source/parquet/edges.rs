//! Edges in Parquet files: two columns of ids, and perhaps weights and times.
//! Every row group becomes chunks with exact row numbers; rows with gaps and negative ids are
//! faults with their place. It must not know what is built.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Int64Type};
use graphmill_disk::Budget;

use super::{MEMORY_PER_COLUMN, ParquetFile, array_of, damaged, each_group, open_all};
use crate::progress::{Observer, Stage};
use crate::source::chunk::{BadRow, EdgeChunk, ReadReport};
use crate::source::options::{Column, EdgeInputOptions, OnBadRow};
use crate::source::text::Fault;
use crate::{Error, Result};

/// Rows left out that are kept for the report.
const KEPT: usize = 10;

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
}

impl ParquetEdges {
    pub(crate) fn open(paths: &[PathBuf], options: &EdgeInputOptions) -> Result<Self> {
        let files = open_all(paths)?;
        let mut columns = Vec::new();
        for file in &files {
            let place = |column: &Option<Column>, usual: usize| {
                file.place(column.as_ref().unwrap_or(&Column::Index(usual)))
            };
            let optional = |column: &Option<Column>| {
                column.as_ref().map(|column| file.place(column)).transpose()
            };
            let mut weight = optional(&options.weight)?;
            if options.third_is_weight && weight.is_none() && file.names().len() > 2 {
                weight = Some(2);
            }
            let places = EdgePlaces {
                source: place(&options.source, 0)?,
                destination: place(&options.destination, 1)?,
                weight,
                time: optional(&options.time)?,
            };
            for id in [places.source, places.destination] {
                if !file.data_type(id).is_integer() {
                    let found = format!("{} of type {}", file.names()[id], file.data_type(id));
                    let remedy = "name the columns of sources and destinations";
                    let error = Error::source("schema", found, "a column of integers", remedy);
                    return Err(error.in_file(&file.path));
                }
            }
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
        self.files.iter().map(|file| file.file.0.len()).sum()
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
        let per_worker = 4 * MEMORY_PER_COLUMN;
        // Rows that are left out move the numbers of all that follow, so one thread counts them.
        let most = if self.on_bad_row == OnBadRow::Skip {
            1
        } else {
            graphmill_disk::pool()?.current_num_threads()
        };
        let workers = ((budget.free() / 2 / per_worker) as usize).clamp(1, most);
        let _reserved = budget.reserve(workers as u64 * per_worker, "pages of Parquet")?;
        let stage = Stage::new(observer, "reading edges", self.rows());
        let shared =
            Mutex::new((stage, ReadReport { bytes: self.bytes(), ..ReadReport::default() }));
        each_group(&self.files, workers, &|file, group, first_row| {
            let number = self.files.iter().position(|known| std::ptr::eq(known, file)).unwrap_or(0);
            let places = self.columns[number];
            let mut row = first_row;
            let mut chunk = EdgeChunk::default();
            file.batches(group, &places.all(), |batch| {
                let before = row;
                row += batch.num_rows() as u64;
                let faults =
                    places.edges(&batch, &mut chunk).map_err(|e| damaged(&file.path, &e))?;
                chunk.first_row = before;
                {
                    let mut guard = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    let (stage, report) = &mut *guard;
                    if self.on_bad_row == OnBadRow::Skip {
                        chunk.first_row = report.rows;
                    }
                    for (at, column, fault) in faults {
                        let name = &file.names()[column];
                        let place =
                            format!("row {}, column {name}", before - file.first_row + at as u64);
                        if self.on_bad_row == OnBadRow::Stop {
                            let Fault { found, expected, remedy, .. } = fault;
                            return Err(
                                Error::source(place, found, expected, remedy).in_file(&file.path)
                            );
                        }
                        report.skipped += 1;
                        if report.bad_examples.len() < KEPT {
                            let Fault { found, expected, .. } = fault;
                            let file = file.path.clone();
                            report.bad_examples.push(BadRow { file, place, found, expected });
                        }
                    }
                    report.rows += chunk.len() as u64;
                    stage.advance(batch.num_rows() as u64)?;
                }
                if chunk.is_empty() { Ok(()) } else { consume(&mut chunk) }
            })
        })?;
        Ok(shared.into_inner().unwrap_or_else(PoisonError::into_inner).1)
    }
}

type RowFault = (usize, usize, Fault);

impl EdgePlaces {
    fn all(&self) -> Vec<usize> {
        let ends = [self.source, self.destination];
        ends.into_iter().chain(self.weight).chain(self.time).collect()
    }

    fn array<'a>(&self, batch: &'a RecordBatch, column: usize) -> &'a ArrayRef {
        array_of(batch, &self.all(), column)
    }

    fn edges(
        &self,
        batch: &RecordBatch,
        chunk: &mut EdgeChunk,
    ) -> std::result::Result<Vec<RowFault>, arrow::error::ArrowError> {
        let integers = |column| cast(self.array(batch, column), &DataType::Int64);
        let (sources, destinations) = (integers(self.source)?, integers(self.destination)?);
        let sources = sources.as_primitive::<Int64Type>();
        let destinations = destinations.as_primitive::<Int64Type>();
        let weights = match self.weight {
            Some(column) => Some(cast(self.array(batch, column), &DataType::Float32)?),
            None => None,
        };
        let weights = weights.as_ref().map(|array| array.as_primitive::<Float32Type>());
        let times = match self.time {
            Some(column) => Some(integers(column)?),
            None => None,
        };
        let times = times.as_ref().map(|array| array.as_primitive::<Int64Type>());
        chunk.clear();
        let mut faults = Vec::new();
        for row in 0..batch.num_rows() {
            let ends = [(sources, self.source), (destinations, self.destination)];
            let bad_end = ends.into_iter().find(|(ids, _)| ids.is_null(row) || ids.value(row) < 0);
            if let Some((ids, column)) = bad_end {
                let found = if ids.is_null(row) { None } else { Some(ids.value(row).to_string()) };
                faults.push((row, column, cell_fault(found, "a node id from 0 to 2^63 - 1")));
                continue;
            }
            let weight = weights.map(|weights| (weights.is_valid(row), weights.value(row)));
            if let Some((valid, weight)) = weight
                && !(valid && weight >= 0.0 && weight.is_finite())
            {
                let found = valid.then(|| weight.to_string());
                let wanted = "a weight: a finite number of at least 0";
                faults.push((row, self.weight.unwrap_or(0), cell_fault(found, wanted)));
                continue;
            }
            if times.is_some_and(|times| times.is_null(row)) {
                faults.push((row, self.time.unwrap_or(0), cell_fault(None, "a time")));
                continue;
            }
            chunk.sources.push(sources.value(row) as u64);
            chunk.destinations.push(destinations.value(row) as u64);
            if let Some((_, weight)) = weight {
                chunk.weights.get_or_insert_default().push(weight);
            }
            if let Some(times) = times {
                chunk.times.get_or_insert_default().push(times.value(row));
            }
        }
        Ok(faults)
    }
}

fn cell_fault(found: Option<String>, expected: &str) -> Fault {
    Fault {
        line: 0,
        column: None,
        found: found.unwrap_or_else(|| "an empty cell, or a number too large".to_owned()),
        expected: expected.to_owned(),
        remedy: "correct it or leave the row out",
    }
}
