//! One file, or a dataset, into another kind of file.
//! What the source is, is found from its first bytes; what the target shall be, from the request
//! and its extension. Everything is streamed, and the target appears complete or not at all. It
//! must not know how datasets are built.

mod coverage;
mod edge_list;
mod export;
mod graph;
mod kinds;
mod survey;
mod table;

use std::path::{Path, PathBuf};

use graphmill_disk::Budget;
use graphmill_format::{Encoding, ListOrder};

use crate::graph_options::Directions;
use crate::npy::NpyFile;
use crate::npy_edges::NpyEdges;
use crate::progress::Observer;
use crate::source::{EdgeInputOptions, TableInputOptions, expand};
use crate::{Error, Result};
use graph::GraphSource;

pub use kinds::{SourceKind, TargetFormat, TargetKind};

/// Options of a conversion; what is not said is taken over from the source.
#[derive(Clone, Default)]
pub struct ConvertOptions<'a> {
    format: Option<TargetFormat>,
    num_nodes: Option<u64>,
    directions: Option<Directions>,
    order: Option<ListOrder>,
    encoding: Encoding,
    input: EdgeInputOptions,
    table: TableInputOptions,
    last_row_wins: bool,
    edge_ids: bool,
    dedup: bool,
    drop_self_loops: bool,
    add_self_loops: bool,
    align_rows: bool,
    csv_header: bool,
    internal_ids: bool,
    exported_table: Option<String>,
    overwrite: bool,
    budget: Option<Budget>,
    observer: Option<Observer<'a>>,
}

impl<'a> ConvertOptions<'a> {
    /// The target's extension decides.
    pub fn new() -> Self {
        Self::default()
    }

    /// The family of the target.
    pub fn to(mut self, format: TargetFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// At least this many nodes.
    pub fn num_nodes(mut self, num_nodes: u64) -> Self {
        self.num_nodes = Some(num_nodes);
        self
    }

    /// Which lists are stored; by default those of a `.gl` source, and out for plain edges.
    pub fn directions(mut self, directions: Directions) -> Self {
        self.directions = Some(directions);
        self
    }

    /// The order within lists; by default that of a graphmill source, and by id otherwise.
    pub fn order(mut self, order: ListOrder) -> Self {
        self.order = Some(order);
        self
    }

    /// How neighbours are stored; packed by default if those of the source are, else the narrowest.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Stores the place of every edge in the source, or the ids that it has there.
    pub fn edge_ids(mut self, edge_ids: bool) -> Self {
        self.edge_ids = edge_ids;
        self
    }

    /// How a list of edges is read.
    pub fn input(mut self, input: EdgeInputOptions) -> Self {
        self.input = input;
        self
    }

    /// How a table is read, and the type of its cells.
    pub fn table(mut self, table: TableInputOptions) -> Self {
        self.table = table;
        self
    }

    /// Of rows of a table with the same id, the last stays; otherwise they are an error.
    pub fn last_row_wins(mut self, wins: bool) -> Self {
        self.last_row_wins = wins;
        self
    }

    /// Of edges with the same ends in a list of edges only the first is kept.
    pub fn dedup(mut self, dedup: bool) -> Self {
        self.dedup = dedup;
        self
    }

    /// Leaves out the edges of a list that lead from a node to itself.
    pub fn drop_self_loops(mut self, drop: bool) -> Self {
        self.drop_self_loops = drop;
        self
    }

    /// Adds an edge from every node to itself to those of a list.
    pub fn add_self_loops(mut self, add: bool) -> Self {
        self.add_self_loops = add;
        self
    }

    /// Whether rows of a `.gd` start on multiples of 512 bytes.
    pub fn align_rows(mut self, align: bool) -> Self {
        self.align_rows = align;
        self
    }

    /// Whether a text of edges without weights and times starts with the line `src,dst`.
    pub fn csv_header(mut self, header: bool) -> Self {
        self.csv_header = header;
        self
    }

    /// Arrays, text and Parquet name nodes by the numbers that they have in the topology, and not by
    /// the ids or names that they had in its source.
    pub fn internal_ids(mut self, internal: bool) -> Self {
        self.internal_ids = internal;
        self
    }

    /// Of a dataset, the rows of this table are written instead of its edges: one of the nodes with
    /// a column of ids, or one of the edges with a column of their ids.
    pub fn exported_table(mut self, name: impl Into<String>) -> Self {
        self.exported_table = Some(name.into());
        self
    }

    /// Whether a target that exists is replaced.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// The memory to stay within; by default a quarter of what the machine allows.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Hears about progress and may cancel.
    pub fn observer(mut self, observer: Observer<'a>) -> Self {
        self.observer = Some(observer);
        self
    }

    fn memory(&self) -> Budget {
        let budget = self.budget.clone();
        budget.unwrap_or_else(|| Budget::new(graphmill_disk::default_budget()))
    }
}

/// What was converted into what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertReport {
    /// What the source was found to be.
    pub source: SourceKind,
    /// What was written.
    pub target: TargetKind,
    /// Edges of one direction, or rows of a table.
    pub rows: u64,
    /// Bytes of the target.
    pub length: u64,
    /// Rows of the source that could not be used and were left out, as asked for.
    pub skipped: u64,
    /// Rows of a table that no row of the source was for, which hold zeros.
    pub filled: u64,
    /// What the source has and the target cannot hold, such as "weights" and "edge ids".
    pub left_out: Vec<String>,
}

impl ConvertReport {
    /// What to warn of: all that was left out, in one sentence.
    pub fn warning(&self) -> Option<String> {
        let (last, others) = self.left_out.split_last()?;
        let is_one = others.is_empty() && last.starts_with("the ");
        let what = if others.is_empty() {
            last.clone()
        } else {
            format!("{} and {last}", others.join(", "))
        };
        let (are, them) = if is_one { ("is", "it") } else { ("are", "them") };
        Some(format!("{what} {are} left out: {} has no place for {them}", self.target.name()))
    }
}

/// Converts one file.
///
/// ```
/// use graphmill_format::{ElementType, TableShape};
/// use graphmill_ingest::{ConvertOptions, convert, write_table};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let (table, array) = (folder.path().join("x.gd"), folder.path().join("x.npy"));
/// let shape = TableShape::matrix(2, 3, ElementType::U8)?;
/// write_table(&table, shape, [Ok([1, 2, 3, 4, 5, 6])], false)?;
/// let report = convert(&table, &array, &ConvertOptions::new())?;
/// assert_eq!(report.rows, 2);
/// # Ok(())
/// # }
/// ```
pub fn convert(
    source: &Path,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<ConvertReport> {
    convert_files(&[source.to_path_buf()], target, options)
}

/// What came out of a conversion.
#[derive(Default)]
struct Converted {
    rows: u64,
    length: u64,
    skipped: u64,
    filled: u64,
    left_out: Vec<String>,
}

/// Converts files that are one source, one after the other; `*` and `?` stand for sorted names.
pub fn convert_files(
    sources: &[PathBuf],
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<ConvertReport> {
    let paths = expand(sources)?;
    let Some(first) = paths.first() else {
        return Err(Error::request("convert", "no source is named; name at least one file"));
    };
    let source_kind = SourceKind::of(first)?;
    let target_kind = TargetKind::of(target, options.format)?;
    paths.iter().try_for_each(|path| refuse_same_file(path, target))?;
    let is_graph =
        matches!(source_kind, SourceKind::Dataset | SourceKind::Graph | SourceKind::GraphZeroGraph);
    let is_table = matches!(source_kind, SourceKind::Table | SourceKind::GraphZeroTable);
    let makes_lists = matches!(target_kind, TargetKind::Graph | TargetKind::GraphZeroGraph);
    let makes_table = matches!(target_kind, TargetKind::Table | TargetKind::GraphZeroTable);
    if is_graph || is_table || !makes_lists {
        refuse_edge_options(options, source_kind)?;
    }
    refuse_ids_options(options, source_kind)?;
    let refuse = |remedy| refuse(source_kind, target_kind, remedy);
    let converted = match (source_kind, target_kind) {
        _ if is_graph && paths.len() > 1 => {
            let problem = format!("{} is a source by itself; name one", source_kind.name());
            Err(Error::request("convert", problem))
        }
        (SourceKind::Dataset, _) if options.exported_table.is_some() => {
            table::export(first, target, target_kind, options)
        }
        (SourceKind::Dataset, _) if makes_table => {
            Err(refuse("name a table of it (--table, table=), or a .gl, .npy, .csv or .parquet"))
        }
        _ if makes_table && is_graph => Err(refuse("name a .gl, .npy, .csv or .parquet")),
        _ if makes_table => table::convert(&paths, target, target_kind, options),
        (_, TargetKind::Npy | TargetKind::Csv | TargetKind::Parquet) if is_table => {
            table::convert(&paths, target, target_kind, options)
        }
        _ if is_table => Err(refuse("name a .gd, .npy, .csv or .parquet")),
        _ if is_graph => {
            graph::from_graph(&GraphSource::open(first)?, target, target_kind, options)
        }
        _ if makes_lists => edge_list::convert(&paths, target, target_kind, options),
        (SourceKind::Npy, TargetKind::Csv | TargetKind::Parquet) if paths.len() == 1 => {
            let edges = NpyEdges::new(NpyFile::open(first)?, options.num_nodes)?;
            graph::from_edges(&edges, target, target_kind, options)
        }
        _ => Err(refuse("name a .gl or .gd")),
    };
    let Converted { rows, length, skipped, filled, left_out } =
        converted.map_err(|error| error.in_file(first))?;
    let (source, target) = (source_kind, target_kind);
    Ok(ConvertReport { source, target, rows, length, skipped, filled, left_out })
}

/// Options that only a list of edges obeys must not be ignored for anything else.
fn refuse_edge_options(options: &ConvertOptions<'_>, source: SourceKind) -> Result<()> {
    if options.dedup || options.drop_self_loops || options.add_self_loops {
        let problem = format!("only a list of edges can be changed, and this is {}", source.name());
        return Err(Error::request("dedup and self loops", problem));
    }
    Ok(())
}

/// Options about ids and tables of a dataset must not be ignored for anything else.
fn refuse_ids_options(options: &ConvertOptions<'_>, source: SourceKind) -> Result<()> {
    if options.exported_table.is_some() && source != SourceKind::Dataset {
        let problem = format!("only a dataset has tables by name, and this is {}", source.name());
        return Err(Error::request("table", problem));
    }
    if options.internal_ids && !matches!(source, SourceKind::Dataset | SourceKind::Graph) {
        let problem = format!("{} has no other ids; leave internal ids out", source.name());
        return Err(Error::request("internal ids", problem));
    }
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn without_parquet() -> Error {
    Error::request("parquet", "this build writes no Parquet; build it with the feature `parquet`")
}

fn refuse(source: SourceKind, target: TargetKind, remedy: &'static str) -> Error {
    let problem = format!("{} cannot become {}; {remedy} target", source.name(), target.name());
    Error::request("convert", problem)
}

fn refuse_same_file(source: &Path, target: &Path) -> Result<()> {
    // A target that does not exist has no canonical path, and cannot be the source.
    let same = std::fs::canonicalize(target)
        .is_ok_and(|target| std::fs::canonicalize(source).is_ok_and(|source| source == target));
    if same {
        let problem = format!("`{}` is source and target; name another target", source.display());
        return Err(Error::request("convert", problem));
    }
    Ok(())
}
