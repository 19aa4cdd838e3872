//! Where the parts of a dataset come from.
//! The command line and the bindings name files or hand over memory; a benchmark's folder names
//! all its parts at once. It must not know how anything is read or built.

use std::path::{Path, PathBuf};

use graphmill_disk::Budget;

use crate::Result;
use crate::source::{EdgeArrays, FolderPart, FolderSources, SourceFormat, TableArray};

/// Where edges come from.
#[derive(Clone, Debug)]
pub enum EdgeSource<'a> {
    /// Files, one after the other; `*` and `?` stand for sorted names.
    Files(Vec<PathBuf>),
    /// The edges of a benchmark's folder.
    Part(FolderPart),
    /// Arrays of the caller.
    Memory(EdgeArrays<'a>),
}

/// Where a table or a list of nodes comes from.
#[derive(Clone, Debug)]
pub enum TableSource<'a> {
    /// Files, one after the other; `*` and `?` stand for sorted names.
    Files(Vec<PathBuf>),
    /// A file of a benchmark's folder.
    Part(FolderPart),
    /// Arrays of the caller.
    Memory(TableArray<'a>),
}

/// Everything that a dataset is built from.
///
/// ```
/// use graphmill_ingest::build::{BuildSources, EdgeSource, TableSource};
/// let edges = EdgeSource::Files(vec!["edges.csv".into()]);
/// let sources = BuildSources::new(edges)
///     .features(TableSource::Files(vec!["x.npy".into()]))
///     .split("train", TableSource::Files(vec!["train.npy".into()]));
/// ```
#[derive(Clone, Debug)]
pub struct BuildSources<'a> {
    pub(super) edges: EdgeSource<'a>,
    pub(super) features: Vec<TableSource<'a>>,
    pub(super) labels: Option<TableSource<'a>>,
    pub(super) edge_features: Vec<TableSource<'a>>,
    pub(super) edge_tables: Vec<(String, TableSource<'a>)>,
    pub(super) tables: Vec<(String, TableSource<'a>)>,
    pub(super) splits: Vec<(String, TableSource<'a>)>,
    pub(super) num_nodes: Option<u64>,
}

impl<'a> BuildSources<'a> {
    /// Edges alone.
    pub fn new(edges: EdgeSource<'a>) -> Self {
        BuildSources {
            edges,
            features: Vec::new(),
            labels: None,
            edge_features: Vec::new(),
            edge_tables: Vec::new(),
            tables: Vec::new(),
            splits: Vec::new(),
            num_nodes: None,
        }
    }

    /// Features of the nodes; given again, further columns of the same nodes.
    pub fn features(mut self, source: TableSource<'a>) -> Self {
        self.features.push(source);
        self
    }

    /// Labels of the nodes.
    pub fn labels(mut self, source: TableSource<'a>) -> Self {
        self.labels = Some(source);
        self
    }

    /// Features of the edges, a row for each row of the edges; given again, further columns.
    pub fn edge_features(mut self, source: TableSource<'a>) -> Self {
        self.edge_features.push(source);
        self
    }

    /// A further table of the edges, a row for each row of the edges.
    pub fn edge_table(mut self, name: impl Into<String>, source: TableSource<'a>) -> Self {
        self.edge_tables.push((name.into(), source));
        self
    }

    /// A further table of the nodes.
    pub fn table(mut self, name: impl Into<String>, source: TableSource<'a>) -> Self {
        self.tables.push((name.into(), source));
        self
    }

    /// A named list of nodes, or a mask.
    pub fn split(mut self, name: impl Into<String>, source: TableSource<'a>) -> Self {
        self.splits.push((name.into(), source));
        self
    }

    /// Adds what the folder of a benchmark holds, if the edges are one; what was named stays.
    pub(super) fn with_folder(
        mut self,
        forced: Option<SourceFormat>,
        budget: &Budget,
    ) -> Result<Self> {
        let EdgeSource::Files(paths) = &self.edges else { return Ok(self) };
        let [folder] = &paths[..] else { return Ok(self) };
        if !folder.is_dir() {
            return Ok(self);
        }
        let format = match forced {
            Some(format) => format,
            None => SourceFormat::of(folder)?,
        };
        let parts = FolderSources::of(folder, format)?;
        self.num_nodes = parts.count_nodes(budget)?;
        self.edges = EdgeSource::Part(parts.edges);
        if self.features.is_empty() {
            self.features.extend(parts.features.map(TableSource::Part));
        }
        if self.edge_features.is_empty() {
            self.edge_features.extend(parts.edge_features.map(TableSource::Part));
        }
        self.labels = self.labels.or(parts.labels.map(TableSource::Part));
        let named = |known: &[(String, TableSource<'a>)], name: &String| {
            known.iter().any(|(other, _)| other == name)
        };
        for (name, part) in parts.tables {
            if !named(&self.tables, &name) {
                self.tables.push((name, TableSource::Part(part)));
            }
        }
        for (name, part) in parts.splits {
            if !named(&self.splits, &name) {
                self.splits.push((name, TableSource::Part(part)));
            }
        }
        Ok(self)
    }

    /// Whether anything is to be found by the ids of edges.
    pub(super) fn has_edge_tables(&self) -> bool {
        !self.edge_features.is_empty() || !self.edge_tables.is_empty()
    }

    /// Every file that will be read.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let edges = match &self.edges {
            EdgeSource::Files(paths) => &paths[..],
            EdgeSource::Part(part) => std::slice::from_ref(&part.path),
            EdgeSource::Memory(_) => &[],
        };
        let named = self.tables.iter().chain(&self.edge_tables).chain(&self.splits);
        let tables = self.features.iter().chain(&self.labels).chain(&self.edge_features);
        let tables =
            tables.chain(named.map(|(_, source)| source)).flat_map(|source| match source {
                TableSource::Files(paths) => &paths[..],
                TableSource::Part(part) => std::slice::from_ref(&part.path),
                TableSource::Memory(_) => &[],
            });
        edges.iter().chain(tables).map(PathBuf::as_path)
    }
}
