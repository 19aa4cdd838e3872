//! A dataset that exists, as reordering and exports read it: its manifest, its topology, and what its
//! nodes are called. It must not know what is made of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphmill_disk::{Backend, Budget, ReadAt};
use graphmill_format::manifest::{self, FileEntry, Names};
use graphmill_format::{ElementType, HEADER_LENGTH, Header, Manifest, Section};

use crate::graph_file::GraphFile;
use crate::node_naming::{NodeNaming, StoredNames};
use crate::stored::StoredValues;
use crate::stored_ids::StoredIds;
use crate::{Error, Result};

/// The folder of a dataset and what its manifest says.
#[derive(Debug)]
pub(crate) struct StoredDataset {
    folder: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) graph: GraphFile,
}

impl StoredDataset {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(manifest::FILE_NAME);
        let file = graphmill_disk::open(&path, Backend::Pread)?;
        // One byte more lets the parser say that it is too long.
        let mut bytes = vec![0; file.len().min(manifest::LONGEST as u64 + 1) as usize];
        file.read_exact_at(0, &mut bytes)?;
        let manifest = Manifest::parse(&bytes).map_err(Error::format(&path))?;
        let graph = GraphFile::open(&folder.join(&manifest.edge().graph.name))?;
        Ok(StoredDataset { folder: folder.to_path_buf(), manifest, graph })
    }

    /// The dataset that a lone topology is part of, if it lies in the folder of one.
    pub(crate) fn around(graph: &Path) -> Option<Self> {
        let folder = graph.parent()?;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if !folder.join(manifest::FILE_NAME).is_file() {
            return None;
        }
        // A folder that cannot be opened is none; the topology is a file by itself all the same.
        let dataset = Self::open(folder).ok()?;
        let is_its_graph = graph.file_name()? == dataset.manifest.edge().graph.name.as_str();
        is_its_graph.then_some(dataset)
    }

    pub(crate) fn path(&self, entry: &FileEntry) -> PathBuf {
        self.folder.join(&entry.name)
    }

    /// The names of the nodes, if their ids were text.
    pub(crate) fn names(&self) -> Option<&Names> {
        self.manifest.node().ids.as_ref()?.names.as_ref()
    }

    /// What the nodes are called.
    pub(crate) fn naming(&self, budget: &Budget) -> Result<NodeNaming> {
        let ids = self.graph.original_ids();
        let ids = ids.map(|ids| StoredIds::load(ids, budget)).transpose()?;
        let Some(names) = self.names() else {
            return Ok(ids.map_or(NodeNaming::Numbers, NodeNaming::Ids));
        };
        let (text, section) = vector(&self.path(&names.text), ElementType::U8)?;
        let (file, ends) = vector(&self.path(&names.ends), ElementType::I64)?;
        let ends = StoredValues { file, section: ends };
        let names = StoredNames::load(text, section, ends, budget)?;
        if names.count() != self.graph.layout().num_nodes {
            let found = format!("{} names", names.count());
            let expected = format!("{}, one for each node", self.graph.layout().num_nodes);
            let remedy = "run `graphmill verify`, and build the dataset again";
            return Err(
                Error::source("names of nodes", found, expected, remedy).in_file(&self.folder)
            );
        }
        Ok(NodeNaming::Names(Box::new(names), ids))
    }
}

/// The bytes that hold the header of a file.
pub(crate) fn start_of(file: &dyn ReadAt) -> Result<Vec<u8>> {
    let mut start = vec![0; file.len().min(HEADER_LENGTH) as usize];
    file.read_exact_at(0, &mut start)?;
    Ok(start)
}

/// The values of a table that must be a vector of a type.
fn vector(path: &Path, element: ElementType) -> Result<(Arc<dyn ReadAt>, Section)> {
    let file = graphmill_disk::open(path, Backend::Pread)?;
    let header = Header::parse(&start_of(&*file)?, file.len()).map_err(Error::format(path))?;
    let shape = header.table_shape().map_err(Error::format(path))?;
    let mut section = *header.table_section().map_err(Error::format(path))?;
    section.count = shape.rows();
    if !shape.is_vector() || shape.element() != element {
        let expected = format!("a vector of {}", element.name());
        let remedy = "run `graphmill verify`, and build the dataset again";
        let found = format!("{} of {} columns", shape.element().name(), shape.columns());
        return Err(Error::source("table", found, expected, remedy).in_file(path));
    }
    Ok((file, section))
}
