//! A whole dataset: topology, tables and splits in one folder, valid from one moment on.
//! Files carry a generation in their names and are synced before the manifest that names them is
//! renamed into place; until then readers go by the previous manifest, and a writer that is dropped
//! takes its files with it. It must not know where edges and rows come from.

mod generations;
mod id_files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphmill_disk::{Budget, FileSystem, FolderDraft, OutputFile, RealFileSystem};
use graphmill_format::manifest::{self, EdgeType, FileEntry, NODE_TYPE, NodeType, Split};
use graphmill_format::{ElementType, Manifest, TableShape};

use crate::edges::{Borrowed, EdgeStream};
use crate::graph_options::GraphOptions;
use crate::graph_writer::{GraphReport, write_graph_into};
use crate::table_writer::{TableWriter, Written};
use crate::{Error, Result};
use generations::{file_names, newest_generation, next};

/// File names of splits, edge tables and original ids start with these, so node tables may not.
const RESERVED: [&str; 3] = ["split-", "edge-", "id-"];

/// Writes or extends a dataset.
///
/// ```
/// use graphmill_disk::Budget;
/// use graphmill_format::{ElementType, TableShape};
/// use graphmill_ingest::{DatasetWriter, GraphOptions, MemoryEdges};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("tiny");
/// let mut writer = DatasetWriter::begin(&folder, false)?;
/// let edges = MemoryEdges::new(&[0_i64, 1], &[1, 2], None)?;
/// writer.graph(&edges, &GraphOptions::new(), &Budget::new(1 << 20))?;
/// let labels = TableShape::vector(3, ElementType::U8)?;
/// writer.table("y", labels, |table| table.write_rows(&[0, 1, 0]))?;
/// writer.split("train", &[0, 2])?;
/// let manifest = writer.publish()?;
/// assert_eq!((manifest.generation, manifest.node().count), (1, 3));
/// # Ok(())
/// # }
/// ```
pub struct DatasetWriter {
    file_system: Arc<dyn FileSystem>,
    draft: FolderDraft,
    generation: u64,
    /// What will be published; None until the graph is written.
    manifest: Option<Manifest>,
    /// The files that the dataset had before.
    superseded: Vec<String>,
}

/// A file of a dataset that is being written.
pub(crate) struct NewFile {
    name: String,
    file: Arc<dyn OutputFile>,
}

impl NewFile {
    /// The file, for writing.
    pub(crate) fn file(&self) -> &dyn OutputFile {
        &*self.file
    }

    /// A name beside the file that nobody else uses, for what does not fit in memory.
    pub(crate) fn scratch_path(&self) -> PathBuf {
        self.file.path().with_file_name(format!(".{}.scratch", self.name))
    }
}

impl DatasetWriter {
    /// Starts a dataset in `folder`, which is created if missing.
    ///
    /// A dataset that is there already is refused, or replaced on publication if `overwrite`.
    pub fn begin(folder: &Path, overwrite: bool) -> Result<Self> {
        Self::begin_on(Arc::new(RealFileSystem), folder, overwrite)
    }

    /// The same on another file system, such as one that fails on purpose.
    pub fn begin_on(
        file_system: Arc<dyn FileSystem>,
        folder: &Path,
        overwrite: bool,
    ) -> Result<Self> {
        let draft = FolderDraft::begin(
            file_system.clone(),
            folder,
            manifest::FILE_NAME,
            overwrite,
            manifest::is_file_name,
        )?;
        let previous = draft.previous_commit().map(|bytes| Manifest::parse(&bytes));
        let (generation, superseded) = match &previous {
            Some(Ok(previous)) => (previous.generation, file_names(previous)),
            _ => (0, Vec::new()),
        };
        // Of a dataset whose manifest is unreadable somebody may still want to rescue the files.
        if !matches!(previous, Some(Err(_))) {
            draft.clear_leftovers(&superseded)?;
        }
        let generation = next(generation.max(newest_generation(&*file_system, folder)?))?;
        Ok(DatasetWriter { file_system, draft, generation, manifest: None, superseded })
    }

    /// Starts a change of the dataset in `folder`: what it holds stays, tables and splits can be
    /// added.
    pub fn amend(folder: &Path) -> Result<Self> {
        Self::amend_on(Arc::new(RealFileSystem), folder)
    }

    /// The same on another file system.
    pub fn amend_on(file_system: Arc<dyn FileSystem>, folder: &Path) -> Result<Self> {
        let name = manifest::FILE_NAME;
        let draft = FolderDraft::amend(file_system.clone(), folder, name, manifest::is_file_name)?;
        let bytes = draft.previous_commit().unwrap_or_default();
        let mut manifest = Manifest::parse(&bytes).map_err(Error::format(&folder.join(name)))?;
        let superseded = file_names(&manifest);
        draft.clear_leftovers(&superseded)?;
        let newest = newest_generation(&*file_system, folder)?;
        let generation = next(manifest.generation.max(newest))?;
        manifest.generation = generation;
        Ok(DatasetWriter { file_system, draft, generation, manifest: Some(manifest), superseded })
    }

    /// The folder being written.
    pub fn folder(&self) -> &Path {
        self.draft.folder()
    }

    /// The files of the dataset as the manifest has them.
    pub(crate) fn published_files(&self) -> Result<Vec<String>> {
        Ok(file_names(self.manifest()?))
    }

    /// Number of nodes, once the graph is written.
    pub fn num_nodes(&self) -> Option<u64> {
        self.manifest.as_ref().map(|manifest| manifest.node().count)
    }

    /// The file of the topology, once it is written: as long as it is the same, so are the numbers
    /// of the nodes.
    pub fn topology(&self) -> Option<&FileEntry> {
        self.manifest.as_ref().map(|manifest| &manifest.edge().graph)
    }

    /// Writes the topology; comes first and once.
    pub fn graph<S: EdgeStream + ?Sized>(
        &mut self,
        source: &S,
        options: &GraphOptions<'_>,
        budget: &Budget,
    ) -> Result<GraphReport> {
        self.check_no_graph()?;
        let mut outcome = None;
        let graph = self.file("graph", "gl", |file| {
            let source = Borrowed(source);
            let name = file.path();
            let (written, report) =
                write_graph_into(&*self.file_system, file, name, &source, options, budget)?;
            outcome = Some(report);
            Ok(written)
        })?;
        let report = outcome.expect("the file was written, and with it the report");
        let edges = EdgeType {
            count: report.num_edges,
            source_rows: report.source_rows,
            undirected: report.undirected,
            graph,
            tables: Default::default(),
        };
        self.record_graph(report.num_nodes, edges, options.original_ids.is_some())?;
        Ok(report)
    }

    /// Lets the dataset have a topology that [`file`](Self::file) wrote.
    ///
    /// `original_ids` says whether the file holds them. They ascend with the numbers of the nodes,
    /// or [`id_places`](Self::id_places) has to follow.
    pub(crate) fn record_graph(
        &mut self,
        num_nodes: u64,
        edges: EdgeType,
        original_ids: bool,
    ) -> Result<()> {
        self.check_no_graph()?;
        let mut manifest = Manifest::new(self.generation, num_nodes, edges);
        node_of(&mut manifest).ids = original_ids.then(Default::default);
        self.manifest = Some(manifest);
        Ok(())
    }

    /// Says how the nodes were numbered; `none` unless it is said.
    pub fn order(&mut self, order: &str) -> Result<()> {
        self.manifest_mut()?.order = order.to_owned();
        Ok(())
    }

    /// Records a digest of what the dataset was built from; removing a part of it forgets the digest.
    pub fn origin(&mut self, digest: &str) -> Result<()> {
        self.manifest_mut()?.origin = Some(digest.to_owned());
        Ok(())
    }

    /// Records the names of the classes that the numbers of a table stand for, from 0 on.
    pub fn classes(&mut self, table: &str, names: Vec<String>) -> Result<()> {
        let node = node_of(self.manifest_mut()?);
        if !node.tables.contains_key(table) {
            let problem = format!("there is no table {table:?}; write it before its classes");
            return Err(Error::request("classes", problem));
        }
        node.classes.insert(table.to_owned(), names);
        Ok(())
    }

    /// Writes a table with one row per node; `write` gives it exactly the rows of `shape`.
    pub fn table(
        &mut self,
        name: &str,
        shape: TableShape,
        write: impl FnOnce(&mut TableWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let node = self.manifest()?.node();
        check_table_name(name, node.tables.contains_key(name))?;
        check_rows(name, shape.rows(), node.count, "node")?;
        let entry = self.rows(name, shape, write)?;
        node_of(self.manifest_mut()?).tables.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Writes a table with one row per edge of the source.
    pub fn edge_table(
        &mut self,
        name: &str,
        shape: TableShape,
        write: impl FnOnce(&mut TableWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let edge = self.manifest()?.edge();
        check_name("edge table", name, edge.tables.contains_key(name))?;
        check_rows(name, shape.rows(), edge.source_rows, "edge of the source")?;
        let entry = self.rows(&format!("edge-{name}"), shape, write)?;
        let edge = self.manifest_mut()?.edges.get_mut(manifest::EDGE_TYPE).expect(ONLY_TYPE);
        edge.tables.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Writes a named list of nodes.
    pub fn split(&mut self, name: &str, nodes: &[i64]) -> Result<()> {
        self.split_chunks(name, [Ok(nodes)])
    }

    /// Writes a named list of nodes that comes in chunks.
    pub fn split_chunks<C: AsRef<[i64]>>(
        &mut self,
        name: &str,
        chunks: impl IntoIterator<Item = Result<C>>,
    ) -> Result<()> {
        let manifest = self.manifest()?;
        check_name("split", name, manifest.splits.contains_key(name))?;
        let num_nodes = manifest.node().count;
        let shape =
            TableShape::vector(0, ElementType::I64).map_err(Error::format(self.folder()))?;
        let mut count = 0;
        let file = self.file(&format!("split-{name}"), "gd", |file| {
            let mut table = TableWriter::counting(file, shape)?;
            for chunk in chunks {
                let chunk = chunk?;
                let nodes = chunk.as_ref();
                check_nodes(&format!("split {name:?}"), table.rows(), nodes, num_nodes)?;
                let bytes: Vec<u8> = nodes.iter().flat_map(|id| id.to_le_bytes()).collect();
                table.write_rows(&bytes)?;
            }
            count = table.rows();
            table.finish()
        })?;
        let split = Split { node_type: NODE_TYPE.to_owned(), count, file };
        self.manifest_mut()?.splits.insert(name.to_owned(), split);
        Ok(())
    }

    /// Leaves a table of the nodes out of the next generation.
    pub fn remove_table(&mut self, name: &str) -> Result<()> {
        self.manifest_mut()?.origin = None;
        let node = node_of(self.manifest_mut()?);
        node.classes.remove(name);
        removed("table", name, &mut node.tables)
    }

    /// Leaves a table of the edges out of the next generation.
    pub fn remove_edge_table(&mut self, name: &str) -> Result<()> {
        self.manifest_mut()?.origin = None;
        let edge = self.manifest_mut()?.edges.get_mut(manifest::EDGE_TYPE).expect(ONLY_TYPE);
        removed("edge table", name, &mut edge.tables)
    }

    /// Leaves a split out of the next generation.
    pub fn remove_split(&mut self, name: &str) -> Result<()> {
        self.manifest_mut()?.origin = None;
        removed("split", name, &mut self.manifest_mut()?.splits)
    }

    /// Makes the dataset valid and removes the files of the one before.
    pub fn publish(self) -> Result<Manifest> {
        let manifest = self.manifest.ok_or_else(no_graph)?;
        let text = manifest.encode();
        // Names of classes can make it longer than readers accept; nobody shall find that out later.
        Manifest::parse(&text)
            .map_err(Error::format(&self.draft.folder().join(manifest::FILE_NAME)))?;
        self.draft.publish(&text, &file_names(&manifest), &self.superseded)?;
        Ok(manifest)
    }

    fn rows(
        &self,
        stem: &str,
        shape: TableShape,
        write: impl FnOnce(&mut TableWriter<'_>) -> Result<()>,
    ) -> Result<FileEntry> {
        self.file(stem, "gd", |file| {
            let mut table = TableWriter::new(file, shape)?;
            let filled = write(&mut table).and_then(|()| table.finish());
            filled.map_err(|error| error.in_file(file.path()))
        })
    }

    /// Creates, fills and syncs one file; one that fails is gone. Whoever writes a file must see to
    /// it that the manifest names it.
    pub(crate) fn file(
        &self,
        stem: &str,
        extension: &str,
        write: impl FnOnce(&dyn OutputFile) -> Result<Written>,
    ) -> Result<FileEntry> {
        let file = self.create(stem, extension)?;
        match write(file.file()) {
            Ok(written) => self.keep(file, &written),
            Err(error) => {
                self.discard(file);
                Err(error)
            }
        }
    }

    /// Creates a file of the dataset, to be kept or discarded.
    pub(crate) fn create(&self, stem: &str, extension: &str) -> Result<NewFile> {
        let name = manifest::file_name(stem, self.generation, extension);
        let file = self.draft.create(&name)?;
        Ok(NewFile { name, file })
    }

    /// Makes a filled file durable.
    pub(crate) fn keep(&self, file: NewFile, written: &Written) -> Result<FileEntry> {
        if let Err(error) = file.file.sync() {
            self.discard(file);
            return Err(error.into());
        }
        // A courtesy to the page cache; the file is whole either way.
        let _ = file.file.drop_pages();
        Ok(FileEntry::new(file.name, written.length, &written.header))
    }

    /// Removes a file that is not wanted.
    pub(crate) fn discard(&self, file: NewFile) {
        let NewFile { name, file } = file;
        drop(file);
        self.remove(&name);
    }

    fn remove(&self, name: &str) {
        // Should it stay, the draft or the next build clears it.
        let _ = self.draft.remove(name);
    }

    fn check_no_graph(&self) -> Result<()> {
        if self.manifest.is_none() {
            return Ok(());
        }
        let problem = "the dataset has one already; build it anew to change its topology";
        Err(Error::request("graph", problem))
    }

    fn manifest(&self) -> Result<&Manifest> {
        self.manifest.as_ref().ok_or_else(no_graph)
    }

    /// What will be published, once the graph is recorded.
    pub(crate) fn manifest_mut(&mut self) -> Result<&mut Manifest> {
        self.manifest.as_mut().ok_or_else(no_graph)
    }
}

const ONLY_TYPE: &str = "a manifest that was made or parsed has the only type";

fn node_of(manifest: &mut Manifest) -> &mut NodeType {
    manifest.nodes.get_mut(NODE_TYPE).expect(ONLY_TYPE)
}

fn no_graph() -> Error {
    Error::request("dataset", "it has no graph yet; write the graph before anything else")
}

/// Refuses a name that a table of the nodes cannot have.
pub(crate) fn check_table_name(name: &str, taken: bool) -> Result<()> {
    check_name("table", name, taken)?;
    match RESERVED.iter().find(|prefix| name.starts_with(**prefix)) {
        Some(prefix) => {
            let problem = format!("{name:?} starts with {prefix:?}; choose another name");
            Err(Error::request("table", problem))
        }
        None => Ok(()),
    }
}

/// Refuses a name that cannot be part of a file's name or exists already.
pub(crate) fn check_name(what: &'static str, name: &str, taken: bool) -> Result<()> {
    if !manifest::is_plain_name(name) {
        let problem = format!(
            "{name:?} cannot be part of a file's name; use up to 100 letters, digits, _ and -"
        );
        return Err(Error::request(what, problem));
    }
    if taken {
        let problem = format!("the dataset has {name:?} already; choose another name");
        return Err(Error::request(what, problem));
    }
    Ok(())
}

/// Takes an entry out of a map of the manifest, which must have it.
fn removed<T>(what: &'static str, name: &str, entries: &mut BTreeMap<String, T>) -> Result<()> {
    if entries.remove(name).is_some() {
        return Ok(());
    }
    let there: Vec<&str> = entries.keys().map(String::as_str).collect();
    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
    Err(Error::request(what, format!("the dataset has no {name:?}; it has {there}")))
}

fn check_rows(name: &str, found: u64, expected: u64, one_per: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let expected = format!("{expected}, one for each {one_per}");
    let remedy = "give as many rows, in the order of the ids";
    Err(Error::source(format!("table {name:?}"), format!("{found} rows"), expected, remedy))
}

fn check_nodes(what: &str, first: u64, nodes: &[i64], num_nodes: u64) -> Result<()> {
    let Some(at) = graphmill_format::content::first_bad_id(nodes, num_nodes) else {
        return Ok(());
    };
    let place = format!("{what}, position {}", first + at as u64);
    let expected = format!("the id of one of {num_nodes} nodes");
    Err(Error::source(place, nodes[at], expected, "list only ids of the graph"))
}
