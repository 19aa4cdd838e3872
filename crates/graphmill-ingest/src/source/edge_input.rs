//! Edges in files of any format or in memory, as one input.
//! The builder opens what the user named, asks what it has, and receives numbered chunks from
//! several threads; which reader does it is decided here. It must not know what is built.

use std::path::{Path, PathBuf};

use graphmill_disk::Budget;

use super::array::ArrayFile;
use super::array_edges::ArrayEdges;
use super::chunk::{EdgeChunk, ReadReport};
use super::compiled_edges::CompiledEdges;
use super::detect::{SourceFormat, expand};
use super::folder::{FolderSources, refuse_other_relations};
use super::memory_edges::EdgeArrays;
use super::options::EdgeInputOptions;
#[cfg(feature = "parquet")]
use super::parquet::ParquetEdges;
use super::text::TextEdges;
use crate::progress::Observer;
use crate::{Error, Result};

/// Edges in one or more files, or in memory.
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
pub struct EdgeInput<'a> {
    format: Option<SourceFormat>,
    reader: Reader<'a>,
    options: EdgeInputOptions,
}

#[derive(Debug)]
enum Reader<'a> {
    Text(TextEdges),
    Arrays(Vec<ArrayEdges>),
    Compiled(Vec<CompiledEdges>),
    Memory(EdgeArrays<'a>),
    #[cfg(feature = "parquet")]
    Parquet(ParquetEdges),
}

impl<'a> EdgeInput<'a> {
    /// Takes edges that are in memory.
    ///
    /// Of the options, `on_bad_row` and `text_ids` count: ids that are words are read as names
    /// anyway, numbers only if `text_ids` asks for it.
    pub fn memory(arrays: EdgeArrays<'a>, options: &EdgeInputOptions) -> Result<Self> {
        arrays.check()?;
        let reader = Reader::Memory(arrays);
        Ok(EdgeInput { format: None, reader, options: options.clone() })
    }

    /// Opens files, which are one input in the order given; `*` and `?` stand for sorted names.
    ///
    /// All files have one format. A folder of a benchmark stands for its edges. A compiled
    /// topology stands for its lists: its edges in stored order, with the weights and times that it
    /// has, between the original ids of its nodes; of an undirected one each edge comes both ways,
    /// as it is stored, unless [`each_edge_once`](Self::each_edge_once) was called. Edges of one
    /// topology that stores their ids have these as rows.
    pub fn open(paths: &[PathBuf], options: &EdgeInputOptions) -> Result<Self> {
        let paths = expand(paths)?;
        let format = one_format(&paths, options.format)?;
        let reader = match format {
            SourceFormat::Text => Reader::Text(TextEdges::open(&paths, options)?),
            SourceFormat::Npy | SourceFormat::Npz => {
                refuse_columns(options, format)?;
                let mut arrays = Vec::new();
                for path in &paths {
                    refuse_other_relations(path)?;
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
                return Ok(EdgeInput { format: Some(format), ..Self::open(&files, &options)? });
            }
            #[cfg(feature = "parquet")]
            SourceFormat::Parquet => Reader::Parquet(ParquetEdges::open(&paths, options)?),
            #[cfg(not(feature = "parquet"))]
            SourceFormat::Parquet => return Err(without_parquet()),
            SourceFormat::Graphmill | SourceFormat::GraphZero => {
                refuse_columns(options, format)?;
                let open = |path: &PathBuf| {
                    refuse_dataset(path)?;
                    CompiledEdges::open(path)
                };
                let mut files: Vec<CompiledEdges> =
                    paths.iter().map(open).collect::<Result<_>>()?;
                refuse_mixture(&files)?;
                if let [file] = &mut files[..] {
                    file.keep_rows();
                }
                Reader::Compiled(files)
            }
        };
        Ok(EdgeInput { format: Some(format), reader, options: options.clone() })
    }

    /// What the files are; None for memory.
    pub fn format(&self) -> Option<SourceFormat> {
        self.format
    }

    /// Whether chunks carry names instead of numbers.
    pub fn has_names(&self) -> bool {
        let is_text = matches!(&self.reader, Reader::Memory(arrays) if arrays.sources.is_text());
        is_text || self.options.text_ids
    }

    /// Number of nodes, where the source says it: no id is as large, but there may be nodes
    /// without edges.
    pub fn num_nodes(&self) -> Option<u64> {
        match &self.reader {
            Reader::Compiled(files) => files.iter().map(CompiledEdges::nodes).max(),
            _ => None,
        }
    }

    /// Number of rows, where the files say it beforehand; bad ones are counted too.
    pub fn rows(&self) -> Option<u64> {
        match &self.reader {
            Reader::Text(_) => None,
            Reader::Arrays(arrays) => Some(arrays.iter().map(ArrayEdges::edges).sum()),
            Reader::Compiled(files) => Some(files.iter().map(CompiledEdges::edges).sum()),
            Reader::Memory(arrays) => Some(arrays.edges()),
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => Some(edges.rows()),
        }
    }

    /// Bytes of the files as they lie on the disk.
    pub fn bytes(&self) -> u64 {
        match &self.reader {
            Reader::Text(edges) => edges.bytes(),
            Reader::Arrays(arrays) => arrays.iter().map(ArrayEdges::bytes).sum(),
            Reader::Compiled(files) => files.iter().map(CompiledEdges::bytes).sum(),
            Reader::Memory(arrays) => arrays.bytes(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => edges.bytes(),
        }
    }

    /// Whether chunks bring the row of each edge.
    pub fn has_rows(&self) -> bool {
        matches!(&self.reader, Reader::Compiled(files) if files.iter().any(CompiledEdges::has_rows))
    }

    /// Whether the source stores each edge both ways.
    ///
    /// GraphZero's files do not say it, so those are read for it, if `looks_closer`; graphs in any
    /// other format are never undirected by themselves.
    pub fn is_undirected(
        &self,
        looks_closer: bool,
        budget: &Budget,
        observer: Option<Observer<'_>>,
    ) -> Result<bool> {
        let Reader::Compiled(files) = &self.reader else { return Ok(false) };
        let is_undirected = |file: &CompiledEdges| match file.is_undirected() {
            Some(is) => Ok(is),
            None if looks_closer => file.holds_both_ways(budget, observer),
            None => Ok(false),
        };
        let said: Vec<bool> = files.iter().map(is_undirected).collect::<Result<_>>()?;
        if said.iter().any(|is| *is != said[0]) {
            let problem =
                "only some of the topologies are undirected; build from files of one kind";
            return Err(Error::request("edges", problem));
        }
        Ok(said.first().copied().unwrap_or(false))
    }

    /// Lets each edge of undirected topologies come once instead of both ways.
    ///
    /// Self loops that a build added have one entry alone and are left out; without `loops_added`,
    /// which says that they are added again, that is an error.
    pub fn each_edge_once(&mut self, loops_added: bool) {
        if let Reader::Compiled(files) = &mut self.reader {
            files.iter_mut().for_each(|file| file.each_edge_once(loops_added));
        }
    }

    /// Hands over the original ids of all nodes of compiled topologies that were renumbered.
    pub(crate) fn read_node_ids(&self, take: &dyn Fn(&[u64]) -> Result<()>) -> Result<()> {
        let Reader::Compiled(files) = &self.reader else { return Ok(()) };
        files.iter().try_for_each(|file| file.read_node_ids(take))
    }

    /// Whether chunks have weights.
    pub fn has_weights(&self) -> bool {
        match &self.reader {
            Reader::Text(edges) => edges.has_weights(),
            Reader::Arrays(_) => false,
            Reader::Compiled(files) => files.iter().any(CompiledEdges::has_weights),
            Reader::Memory(arrays) => arrays.weights.is_some(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => edges.has_weights(),
        }
    }

    /// Whether chunks have times.
    pub fn has_times(&self) -> bool {
        match &self.reader {
            Reader::Text(edges) => edges.has_times(),
            Reader::Arrays(_) => false,
            Reader::Compiled(files) => files.iter().any(CompiledEdges::has_times),
            Reader::Memory(arrays) => arrays.times.is_some(),
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
        let on_bad_row = self.options.on_bad_row;
        let mut total = ReadReport::default();
        match &self.reader {
            Reader::Text(edges) => return edges.read(budget, consume, observer),
            #[cfg(feature = "parquet")]
            Reader::Parquet(edges) => return edges.read(budget, consume, observer),
            Reader::Memory(arrays) => {
                return arrays.read(self.has_names(), on_bad_row, budget, consume, observer);
            }
            Reader::Arrays(arrays) => {
                for array in arrays {
                    let report =
                        array.read(total.rows, &self.options, budget, consume, observer)?;
                    total.add(report);
                }
            }
            Reader::Compiled(files) => {
                for file in files {
                    total.add(file.read(total.rows, on_bad_row, budget, consume, observer)?);
                }
            }
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
    if options.text_ids {
        let problem = format!("{} holds numbers; leave out ids as text", format.name());
        return Err(Error::request("ids", problem));
    }
    let named = [&options.source, &options.destination, &options.weight, &options.time];
    if named.iter().all(|column| column.is_none()) {
        return Ok(());
    }
    let problem =
        format!("{} has no columns to name; write weights and times as text", format.name());
    Err(Error::request("columns", problem))
}

/// A dataset is more than its edges.
pub(super) fn refuse_dataset(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Ok(());
    }
    let problem = format!(
        "`{}` is a dataset; `graphmill reorder` and `graphmill convert` take it as it is, here name a .gl or .gd in it",
        path.display()
    );
    Err(Error::request("input", problem))
}

/// Either all topologies have weights, and times, or none has.
fn refuse_mixture(files: &[CompiledEdges]) -> Result<()> {
    let values = |file: &CompiledEdges| (file.has_weights(), file.has_times());
    if files.iter().all(|file| values(file) == values(&files[0])) {
        return Ok(());
    }
    Err(Error::request("edges", "only some of the topologies have weights or times"))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn without_parquet() -> Error {
    Error::request("format", "this build reads no Parquet; build it with the feature `parquet`")
}
