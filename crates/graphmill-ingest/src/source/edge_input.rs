//! Edges in files of any format, as one input.
//! The builder opens what the user named, asks what it has, and receives numbered chunks from
//! several threads; which reader does it is decided here. It must not know what is built.

use std::path::PathBuf;

use graphmill_disk::Budget;

use super::array::ArrayFile;
use super::array_edges::ArrayEdges;
use super::chunk::{EdgeChunk, ReadReport};
use super::detect::{SourceFormat, expand};
use super::folder::FolderSources;
use super::options::{EdgeInputOptions, OnBadRow};
#[cfg(feature = "parquet")]
use super::parquet::ParquetEdges;
use super::text::TextEdges;
use crate::progress::Observer;
use crate::{Error, Result};

/// Edges in one or more files.
///
/// ```
/// use graphmill_disk::Budget;
/// use graphmill_ingest::source::{EdgeInput, EdgeInputOptions};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("edges.csv");
/// std::fs::write(&path, "src,dst\n0,1\n1,2\n")?;
/// let input = EdgeInput::open(&[path], &EdgeInputOptions::new())?;
/// let sum = AtomicU64::new(0);
/// let report = input.read(
///     &Budget::new(64 << 20),
///     &|chunk| {
///         sum.fetch_add(chunk.destinations.iter().sum(), Ordering::Relaxed);
///         Ok(())
///     },
///     None,
/// )?;
/// assert_eq!((report.rows, sum.into_inner()), (2, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EdgeInput {
    format: SourceFormat,
    reader: Reader,
    on_bad_row: OnBadRow,
}

#[derive(Debug)]
enum Reader {
    Text(TextEdges),
    Arrays(Vec<ArrayEdges>),
    #[cfg(feature = "parquet")]
    Parquet(ParquetEdges),
}

impl EdgeInput {
    /// Opens files, which are one input in the order given; `*` and `?` stand for sorted names.
    ///
    /// All files have one format. A folder of a benchmark stands for its edges.
    pub fn open(paths: &[PathBuf], options: &EdgeInputOptions) -> Result<Self> {
        let paths = expand(paths)?;
        let format = one_format(&paths, options.format)?;
        let reader = match format {
            SourceFormat::Text => Reader::Text(TextEdges::open(&paths, options)?),
            SourceFormat::Npy | SourceFormat::Npz => {
                refuse_columns(options, format)?;
                let mut arrays = Vec::new();
                for path in &paths {
                    let array = match format {
                        SourceFormat::Npy => ArrayFile::npy(path)?,
                        _ => ArrayFile::npz(path, options.member.as_deref(), &["edge_index"])?,
                    };
                    arrays.push(ArrayEdges::new(array)?);
                }
                Reader::Arrays(arrays)
            }
            SourceFormat::Ogb | SourceFormat::Mag240m | SourceFormat::Igb => {
                let mut options = options.clone();
                let mut files = Vec::new();
                for path in &paths {
                    let edges = FolderSources::of(path, format)?.edges;
                    options.member = options.member.or(edges.member);
                    files.push(edges.path);
                }
                options.format = None;
                return Ok(EdgeInput { format, ..Self::open(&files, &options)? });
            }
            #[cfg(feature = "parquet")]
            SourceFormat::Parquet => Reader::Parquet(ParquetEdges::open(&paths, options)?),
            #[cfg(not(feature = "parquet"))]
            SourceFormat::Parquet => return Err(without_parquet()),
            SourceFormat::Graphmill | SourceFormat::GraphZero => {
                let problem = format!(
                    "`{}` is already compiled; use convert or reorder instead of building it again",
                    paths[0].display()
                );
                return Err(Error::request("edges", problem));
            }
        };
        Ok(EdgeInput { format, reader, on_bad_row: options.on_bad_row })
    }

    /// What the files are.
    pub fn format(&self) -> SourceFormat {
        self.format
    }

    /// Number of rows, where the files say it beforehand; bad ones are counted too.
    pub fn rows(&self) -> Option<u64> {
        match &self.reader {
            Reader::Text(_) => None,
            Reader::Arrays(arrays) => Some(arrays.iter().map(ArrayEdges::edges).sum()),
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => Some(edges.rows()),
        }
    }

    /// Bytes of the files as they lie on the disk.
    pub fn bytes(&self) -> u64 {
        match &self.reader {
            Reader::Text(edges) => edges.bytes(),
            Reader::Arrays(arrays) => arrays.iter().map(ArrayEdges::bytes).sum(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => edges.bytes(),
        }
    }

    /// Whether chunks have weights.
    pub fn has_weights(&self) -> bool {
        match &self.reader {
            Reader::Text(edges) => edges.has_weights(),
            Reader::Arrays(_) => false,
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => edges.has_weights(),
        }
    }

    /// Whether chunks have times.
    pub fn has_times(&self) -> bool {
        match &self.reader {
            Reader::Text(edges) => edges.has_times(),
            Reader::Arrays(_) => false,
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => edges.has_times(),
        }
    }

    /// Reads all edges once, on the threads of the current pool.
    ///
    /// Chunks come from several threads and out of order; `first_row` is exact, and all rows
    /// together are `0 .. report.rows`. A chunk's buffers are used again unless `consume` takes
    /// them (`std::mem::take`). An error of `consume` ends the reading and is returned.
    pub fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut EdgeChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let arrays = match &self.reader {
            Reader::Text(edges) => return edges.read(budget, consume, observer),
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => return edges.read(budget, consume, observer),
            Reader::Arrays(arrays) => arrays,
        };
        let mut total = ReadReport::default();
        for array in arrays {
            let report = array.read(total.rows, self.on_bad_row, budget, consume, observer)?;
            total.add(report);
        }
        Ok(total)
    }
}

/// The one format of some paths, forced or found.
pub(super) fn one_format(paths: &[PathBuf], forced: Option<SourceFormat>) -> Result<SourceFormat> {
    let Some(first) = paths.first() else {
        return Err(Error::request("input", "no file is named; name at least one"));
    };
    if let Some(forced) = forced {
        return Ok(forced);
    }
    let format = SourceFormat::of(first)?;
    for path in &paths[1..] {
        let other = SourceFormat::of(path)?;
        if other != format {
            let expected = format!("{}, as the first file is", format.name());
            let remedy = "give files of one format";
            return Err(Error::source("byte 0", other.name(), expected, remedy).in_file(path));
        }
    }
    Ok(format)
}

fn refuse_columns(options: &EdgeInputOptions, format: SourceFormat) -> Result<()> {
    let named = [&options.source, &options.destination, &options.weight, &options.time];
    if named.iter().all(|column| column.is_none()) {
        return Ok(());
    }
    let problem =
        format!("{} has no columns to name; write weights and times as text", format.name());
    Err(Error::request("columns", problem))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn without_parquet() -> Error {
    Error::request("format", "this build reads no Parquet; build it with the feature `parquet`")
}
