//! Sources of a build as Python hands them over: lists of paths, or arrays that stay where they are.
//! `python/graphmill/_sources.py` makes contiguous arrays of known types of whatever users have; here they become
//! slices. It must not know what is built.

use crate::errors::Result;
use graphmill::ingest::build::{EdgeSource, TableSource};
use graphmill::ingest::npy::ArrayType;
use graphmill::ingest::source::{EdgeArrays, IdArray, SparseRows, TableArray, TextCells};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Ids as numbers or words.
#[derive(FromPyObject)]
enum Ids<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
    NarrowUnsigned(PyReadonlyArray1<'py, u32>),
    WideUnsigned(PyReadonlyArray1<'py, u64>),
    Words(Vec<String>),
}

/// The edges of a build.
#[derive(FromPyObject)]
pub enum Edges<'py> {
    Files(Vec<PathBuf>),
    Memory(EdgeColumns<'py>),
}

/// `EdgeArrays` of the Python side.
#[derive(FromPyObject)]
pub struct EdgeColumns<'py> {
    sources: Ids<'py>,
    destinations: Ids<'py>,
    weights: Option<PyReadonlyArray1<'py, f32>>,
    times: Option<PyReadonlyArray1<'py, i64>>,
}

/// A table or a split of a build.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    Files(Vec<PathBuf>),
    Memory(RowArray<'py>),
}

/// `TableArray` of the Python side.
#[derive(FromPyObject)]
pub struct RowArray<'py> {
    data: Option<PyReadonlyArray1<'py, u8>>,
    texts: Option<Vec<String>>,
    element: String,
    rows: u64,
    columns: Option<u64>,
    ids: Option<Ids<'py>>,
    sparse: Option<SparseIndex<'py>>,
}

/// `SparseIndex` of the Python side: where the values of a `RowArray` stand.
#[derive(FromPyObject)]
struct SparseIndex<'py> {
    offsets: Ids<'py>,
    columns: Ids<'py>,
}

/// Words in the form that readers hand them around in; numbers need no other form.
#[derive(Default)]
pub struct Words {
    first: Option<TextCells>,
    second: Option<TextCells>,
}

impl Ids<'_> {
    fn words(&self) -> Option<TextCells> {
        match self {
            Ids::Words(words) => Some(words.iter().collect()),
            _ => None,
        }
    }

    fn slice<'a>(&'a self, words: &'a Option<TextCells>) -> Result<IdArray<'a>> {
        Ok(match (self, words) {
            (_, Some(words)) => IdArray::Text(words),
            (Ids::Narrow(ids), None) => IdArray::I32(ids.as_slice().map_err(PyErr::from)?),
            (Ids::Wide(ids), None) => IdArray::I64(ids.as_slice().map_err(PyErr::from)?),
            (Ids::NarrowUnsigned(ids), None) => IdArray::U32(ids.as_slice().map_err(PyErr::from)?),
            (Ids::WideUnsigned(ids), None) => IdArray::U64(ids.as_slice().map_err(PyErr::from)?),
            (Ids::Words(_), None) => unreachable!("words are converted before they are used"),
        })
    }
}

impl Edges<'_> {
    /// What has to live as long as the source.
    pub fn words(&self) -> Words {
        match self {
            Edges::Files(_) => Words::default(),
            Edges::Memory(edges) => {
                Words { first: edges.sources.words(), second: edges.destinations.words() }
            }
        }
    }

    pub fn source<'a>(&'a self, words: &'a Words) -> Result<EdgeSource<'a>> {
        let edges = match self {
            Edges::Files(paths) => return Ok(EdgeSource::Files(paths.clone())),
            Edges::Memory(edges) => edges,
        };
        let sources = edges.sources.slice(&words.first)?;
        let mut arrays = EdgeArrays::new(sources, edges.destinations.slice(&words.second)?);
        if let Some(weights) = &edges.weights {
            arrays = arrays.weights(weights.as_slice().map_err(PyErr::from)?);
        }
        if let Some(times) = &edges.times {
            arrays = arrays.times(times.as_slice().map_err(PyErr::from)?);
        }
        Ok(EdgeSource::Memory(arrays))
    }
}

impl Rows<'_> {
    /// What has to live as long as the source.
    pub fn words(&self) -> Words {
        match self {
            Rows::Files(_) => Words::default(),
            Rows::Memory(rows) => Words {
                first: rows.texts.as_ref().map(|texts| texts.iter().collect()),
                second: rows.ids.as_ref().and_then(Ids::words),
            },
        }
    }

    pub fn source<'a>(&'a self, words: &'a Words) -> Result<TableSource<'a>> {
        let rows = match self {
            Rows::Files(paths) => return Ok(TableSource::Files(paths.clone())),
            Rows::Memory(rows) => rows,
        };
        let mut table = match (&words.first, &rows.data) {
            (Some(texts), _) => TableArray::texts(texts),
            (None, data) => {
                let numbers: ArrayType = rows.element.parse()?;
                let bytes = match data {
                    Some(data) => data.as_slice().map_err(PyErr::from)?,
                    None => &[],
                };
                match (&rows.sparse, rows.columns) {
                    (Some(sparse), columns) => {
                        let (offsets, places) =
                            (sparse.offsets.slice(&None)?, sparse.columns.slice(&None)?);
                        let sparse = SparseRows::new(offsets, places, bytes, numbers);
                        TableArray::sparse(sparse, columns.unwrap_or(1))
                    }
                    (None, Some(columns)) => TableArray::matrix(bytes, numbers, rows.rows, columns),
                    (None, None) => TableArray::vector(bytes, numbers, rows.rows),
                }
            }
        };
        if let Some(ids) = &rows.ids {
            table = table.ids(ids.slice(&words.second)?);
        }
        Ok(TableSource::Memory(table))
    }
}
