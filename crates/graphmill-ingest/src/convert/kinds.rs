//! What conversions are made from and what they make.
//! A source is known by its first bytes, a target by the request and its extension. It must not know
//! how anything is converted.

use std::path::Path;

use graphmill_disk::Backend;
use graphmill_format::{FileKind, graphzero};

use crate::source::SourceFormat;
use crate::{Error, Result, npy};

/// A family of files to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetFormat {
    /// Our own `.gl` and `.gd`.
    Graphmill,
    /// The layouts of GraphZero 0.2.
    GraphZero,
    /// NumPy's `.npy`.
    Npy,
    /// Text: edges with their weights and times, or the rows of a table.
    Csv,
    /// Apache Parquet: the same.
    Parquet,
}

impl std::str::FromStr for TargetFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "graphmill" => Ok(TargetFormat::Graphmill),
            "graphzero" => Ok(TargetFormat::GraphZero),
            "npy" => Ok(TargetFormat::Npy),
            "csv" => Ok(TargetFormat::Csv),
            "parquet" => Ok(TargetFormat::Parquet),
            _ => {
                let problem =
                    format!("{text:?} is none of graphmill, graphzero, npy, csv, parquet");
                Err(Error::request("target format", problem))
            }
        }
    }
}

/// What a source was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceKind {
    /// A graphmill dataset.
    Dataset,
    /// A graphmill topology.
    Graph,
    /// A graphmill table.
    Table,
    /// A GraphZero topology.
    GraphZeroGraph,
    /// A GraphZero table.
    GraphZeroTable,
    /// A NumPy array.
    Npy,
    /// Rows, of edges or of a table: text, plain or compressed, `.npz` or Parquet.
    Edges,
}

impl SourceKind {
    /// Looks at the first bytes of a file; a folder may hold the edges of a benchmark.
    pub fn of(path: &Path) -> Result<Self> {
        if path.is_dir() {
            let format = SourceFormat::of(path)?;
            let is_dataset = format == SourceFormat::Graphmill;
            return Ok(if is_dataset { SourceKind::Dataset } else { SourceKind::Edges });
        }
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut start = vec![0; file.len().min(16) as usize];
        file.read_exact_at(0, &mut start)?;
        match FileKind::of(&start) {
            Some(FileKind::Graph) => return Ok(SourceKind::Graph),
            Some(FileKind::Table) => return Ok(SourceKind::Table),
            None => {}
        }
        let known = [
            (&graphzero::GRAPH_MAGIC[..], SourceKind::GraphZeroGraph),
            (&graphzero::TABLE_MAGIC[..], SourceKind::GraphZeroTable),
            (&npy::MAGIC[..], SourceKind::Npy),
        ];
        match known.into_iter().find(|(magic, _)| start.starts_with(magic)) {
            Some((_, kind)) => Ok(kind),
            None => match SourceFormat::of_bytes(&start) {
                Ok(_) => Ok(SourceKind::Edges),
                Err(error) => Err(error.in_file(path)),
            },
        }
    }

    /// What messages call it.
    pub fn name(self) -> &'static str {
        match self {
            SourceKind::Dataset => "a graphmill dataset",
            SourceKind::Graph => "a graphmill topology",
            SourceKind::Table => "a graphmill table",
            SourceKind::GraphZeroGraph => "a GraphZero topology",
            SourceKind::GraphZeroTable => "a GraphZero table",
            SourceKind::Npy => "a NumPy array",
            SourceKind::Edges => "rows",
        }
    }
}

/// What a target shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetKind {
    /// A graphmill topology.
    Graph,
    /// A graphmill table.
    Table,
    /// A GraphZero topology.
    GraphZeroGraph,
    /// A GraphZero table.
    GraphZeroTable,
    /// A NumPy array.
    Npy,
    /// Edges or the rows of a table as text.
    Csv,
    /// The same as Parquet.
    Parquet,
}

impl TargetKind {
    /// The kind that a request and a name's extension ask for.
    pub fn of(path: &Path, format: Option<TargetFormat>) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        match (format, extension) {
            (None | Some(TargetFormat::Graphmill), "gl") => Ok(TargetKind::Graph),
            (None | Some(TargetFormat::Graphmill), "gd") => Ok(TargetKind::Table),
            (Some(TargetFormat::GraphZero), "gl") => Ok(TargetKind::GraphZeroGraph),
            (Some(TargetFormat::GraphZero), "gd") => Ok(TargetKind::GraphZeroTable),
            (Some(TargetFormat::Npy), _) | (None, "npy") => Ok(TargetKind::Npy),
            (Some(TargetFormat::Csv), _) | (None, "csv") => Ok(TargetKind::Csv),
            (Some(TargetFormat::Parquet), _) | (None, "parquet") => Ok(TargetKind::Parquet),
            _ => {
                let problem = format!(
                    "the extension of `{}` does not say what to write; \
                     name the target .gl (topology), .gd (table), .npy, .csv or .parquet",
                    path.display()
                );
                Err(Error::request("target", problem))
            }
        }
    }

    /// What messages call it.
    pub fn name(self) -> &'static str {
        match self {
            TargetKind::Graph => "a graphmill topology",
            TargetKind::Table => "a graphmill table",
            TargetKind::GraphZeroGraph => "a GraphZero topology",
            TargetKind::GraphZeroTable => "a GraphZero table",
            TargetKind::Npy => "a NumPy array",
            TargetKind::Csv => "text",
            TargetKind::Parquet => "Parquet",
        }
    }
}
