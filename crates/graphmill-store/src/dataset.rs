//! A dataset folder: the manifest and every file that it names, opened together.
//!
//! Everything is opened at once, so that a dataset replaced meanwhile cannot mix generations: what was opened stays
//! readable through its maps, and an opening that finds the files gone starts again with the new manifest.

use crate::{Error, Graph, NodeIds, Placement, Result, Table};
use graphmill_disk::{Budget, Pread, ReadAt, room};
use graphmill_format::manifest::{self, EdgeType, FileEntry, Manifest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often an opening starts again because the dataset was replaced under it.
const ATTEMPTS: usize = 100;

/// An open dataset. Cloning shares maps and budget.
#[derive(Clone, Debug)]
pub struct Dataset {
    path: PathBuf,
    manifest: Arc<Manifest>,
    graph: Graph,
    ids: Arc<NodeIds>,
    tables: Arc<BTreeMap<String, Table>>,
    edge_tables: Arc<BTreeMap<String, Table>>,
    splits: Arc<BTreeMap<String, Table>>,
    budget: Budget,
}

impl Dataset {
    /// Opens a dataset folder; takes microseconds whatever its size. `budget` covers all that is loaded from it.
    pub fn open(path: impl AsRef<Path>, budget: Budget) -> Result<Self> {
        let path = path.as_ref();
        let mut text = read_manifest(path)?;
        for _ in 1..ATTEMPTS {
            let error = match Self::open_once(path, &text, budget.clone()) {
                Ok(dataset) => return Ok(dataset),
                Err(error) => error,
            };
            let newer = read_manifest(path)?;
            if newer == text {
                return Err(error);
            }
            text = newer;
        }
        Self::open_once(path, &text, budget)
    }

    fn open_once(path: &Path, text: &[u8], budget: Budget) -> Result<Self> {
        let manifest =
            Manifest::parse(text).map_err(Error::format(&path.join(manifest::FILE_NAME)))?;
        let (node, edge) = (manifest.node(), manifest.edge());
        let graph = Graph::open(path.join(&edge.graph.name))?;
        check_entry(graph.mapped().as_ref(), &edge.graph)?;
        check_count(graph.path(), "number of nodes", graph.num_nodes(), node.count)?;
        check_count(graph.path(), "number of edges", graph.num_edges(), edge.count)?;
        check_undirected(&graph, edge)?;
        let ids = NodeIds::open(path, &graph, node.ids.as_ref())?;
        let tables = open_tables(path, &node.tables, node.count)?;
        let edge_tables = open_tables(path, &edge.tables, edge.source_rows)?;
        let mut splits = BTreeMap::new();
        for (name, split) in &manifest.splits {
            splits.insert(name.clone(), open_table(path, &split.file, split.count)?);
        }
        Ok(Dataset {
            path: path.to_path_buf(),
            graph,
            ids: Arc::new(ids),
            tables: Arc::new(tables),
            edge_tables: Arc::new(edge_tables),
            splits: Arc::new(splits),
            budget,
            manifest: Arc::new(manifest),
        })
    }

    /// Reads the topology from the mapped file or from a copy in memory, which the dataset's budget pays for.
    pub fn placed(self, placement: Placement) -> Result<Self> {
        let graph = self.graph.placed(placement, &self.budget)?;
        Ok(Dataset { graph, ..self })
    }

    /// Reads the topology from where `other` does; its copy in memory is used again if it is of the same file.
    pub fn placed_like(self, other: &Dataset) -> Result<Self> {
        if self.graph.path() == other.graph.path() {
            return Ok(Dataset { graph: other.graph.clone(), ..self });
        }
        self.placed(other.graph.asked_placement())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The manifest as it was when the dataset was opened.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The topology.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The memory that everything loaded from this dataset shares.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What leads from the ids of the source to the numbers of the nodes.
    pub fn ids(&self) -> &NodeIds {
        &self.ids
    }

    /// Whether a node's number is not its id in the source.
    pub fn is_renumbered(&self) -> bool {
        !self.ids.are_numbers()
    }

    /// The ids that these nodes have in the source.
    pub fn original_ids(&self, numbers: &[i64]) -> Result<Vec<i64>> {
        let mut ids = room::copy_of(numbers)?;
        self.ids.make_original(&mut ids)?;
        Ok(ids)
    }

    /// The nodes that have these ids in the source.
    pub fn node_ids(&self, original: &[i64]) -> Result<Vec<i64>> {
        let mut numbers = room::copy_of(original)?;
        self.ids.make_numbers(&mut numbers)?;
        Ok(numbers)
    }

    /// The names of these nodes, if the ids of the source are text.
    pub fn node_names(&self, numbers: &[i64]) -> Result<Vec<String>> {
        let mut names = room::vector(numbers.len())?;
        self.ids.visit_names(numbers, |name| names.push(name.to_owned()))?;
        Ok(names)
    }

    /// The nodes with these names, if the ids of the source are text.
    pub fn node_ids_of_names<S: AsRef<str>>(&self, names: &[S]) -> Result<Vec<i64>> {
        self.ids.numbers_of_names(names)
    }

    /// The names of the classes that the numbers of a table stand for, if they were text.
    pub fn class_names(&self, table: &str) -> Option<&[String]> {
        self.manifest.node().classes.get(table).map(Vec::as_slice)
    }

    /// A table of the nodes by name; `x` holds the features and `y` the labels.
    pub fn table(&self, name: &str) -> Result<&Table> {
        self.find(&self.tables, "table", name)
    }

    /// A table of the edges by name, one row per source row.
    pub fn edge_table(&self, name: &str) -> Result<&Table> {
        self.find(&self.edge_tables, "edge table", name)
    }

    /// A named list of nodes by their numbers, an `int64` vector.
    pub fn split(&self, name: &str) -> Result<&Table> {
        self.find(&self.splits, "split", name)
    }

    /// All tables of the nodes.
    pub fn tables(&self) -> &BTreeMap<String, Table> {
        &self.tables
    }

    /// All tables of the edges.
    pub fn edge_tables(&self) -> &BTreeMap<String, Table> {
        &self.edge_tables
    }

    /// All splits.
    pub fn splits(&self) -> &BTreeMap<String, Table> {
        &self.splits
    }

    fn find<'a>(
        &self,
        tables: &'a BTreeMap<String, Table>,
        what: &'static str,
        name: &str,
    ) -> Result<&'a Table> {
        tables.get(name).ok_or_else(|| Error::UnknownName {
            path: self.path.clone(),
            what,
            name: name.to_owned(),
            available: tables.keys().cloned().collect(),
        })
    }
}

/// The text of a dataset's manifest.
pub(crate) fn read_manifest(path: &Path) -> Result<Vec<u8>> {
    let file = Pread::open(path.join(manifest::FILE_NAME))?;
    // A manifest is refused by its parser above this length; one byte more lets it say so.
    let mut text = vec![0; file.len().min(manifest::LONGEST as u64 + 1) as usize];
    file.read_exact_at(0, &mut text)?;
    Ok(text)
}

/// Fails unless the file is the one that the manifest was written for.
pub(crate) fn check_entry(file: &dyn ReadAt, entry: &FileEntry) -> Result<()> {
    check_count(file.path(), "length", file.len(), entry.bytes)?;
    let mut start = vec![0; file.len().min(graphmill_format::HEADER_LENGTH) as usize];
    file.read_exact_at(0, &mut start)?;
    let found = manifest::header_checksum(&start);
    check_count(file.path(), "checksum of the header", found.into(), entry.header_crc32c.into())
}

/// Fails unless manifest and topology agree on whether every edge is stored both ways.
pub(crate) fn check_undirected(graph: &Graph, edge: &EdgeType) -> Result<()> {
    let (found, expected) = (graph.layout().undirected, edge.undirected);
    check_count(graph.path(), "mark of an undirected graph", found.into(), expected.into())
}

pub(crate) fn check_count(
    path: &Path,
    what: &'static str,
    found: u64,
    expected: u64,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::ManifestMismatch { path: path.to_path_buf(), what, found, expected })
}

pub(crate) fn open_table(folder: &Path, entry: &FileEntry, rows: u64) -> Result<Table> {
    let table = Table::open(folder.join(&entry.name))?;
    check_entry(table.mapped().as_ref(), entry)?;
    check_count(table.path(), "number of rows", table.shape().rows(), rows)?;
    Ok(table)
}

fn open_tables(
    folder: &Path,
    entries: &BTreeMap<String, FileEntry>,
    rows: u64,
) -> Result<BTreeMap<String, Table>> {
    let open =
        |(name, entry): (&String, &FileEntry)| Ok((name.clone(), open_table(folder, entry, rows)?));
    entries.iter().map(open).collect()
}
