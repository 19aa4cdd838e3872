//! `dataset.json`: which files make up a dataset.
//!
//! The manifest is typed from the first version: node types with their tables, edge types with their topology, splits.
//! It records the length and header checksum of every file it names, and a CRC32C of its own text, so that a changed
//! digit is as visible here as a changed bit is in a header.

use crate::header::CHECKSUM_AT;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The name of the manifest in a dataset's folder; renaming it into place is what publishes a dataset.
pub const FILE_NAME: &str = "dataset.json";
/// The node type of a graph without types.
pub const NODE_TYPE: &str = "node";
/// The edge type of a graph without types.
pub const EDGE_TYPE: &str = "node,to,node";
/// The table that holds the features.
pub const FEATURES: &str = "x";
/// The table that holds the labels.
pub const LABELS: &str = "y";

const FORMAT: &str = "graphmill-dataset";
const MAJOR: u32 = 1;
/// Bytes of a manifest at most. It names files; it never has to be large, and a hostile one shall not fill memory.
pub const LONGEST: usize = 16 << 20;

/// What a dataset consists of.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Manifest {
    format: String,
    version: (u32, u32),
    /// Names of features that a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    requires: Vec<String>,
    /// Rises with every publication; part of every file's name.
    pub generation: u64,
    /// Who wrote it.
    pub created_by: String,
    /// How nodes were numbered: `none` keeps the source's ids.
    pub order: String,
    /// A digest of what it was built from, if its builder recorded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Node types by name.
    pub nodes: BTreeMap<String, NodeType>,
    /// Edge types by `source,relation,destination`.
    pub edges: BTreeMap<String, EdgeType>,
    /// Named lists of nodes.
    #[serde(default)]
    pub splits: BTreeMap<String, Split>,
}

/// The nodes of one type.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct NodeType {
    /// Number of nodes.
    pub count: u64,
    /// One row per node in each.
    #[serde(default)]
    pub tables: BTreeMap<String, FileEntry>,
    /// The names of the classes that the numbers of a table stand for, by table.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, Vec<String>>,
    /// How to find the node of an original id, where that is not the node's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<NodeIds>,
}

/// What leads from the ids of the source to the numbers of the nodes.
///
/// The way back is the section of original ids in the topology.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct NodeIds {
    /// The nodes in ascending order of their original ids; missing if they are stored in that order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<FileEntry>,
    /// The names of the nodes, if the ids of the source were text: an original id is then the place of a name here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Names>,
}

/// Texts in ascending order of their bytes, one after the other.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Names {
    /// All texts as one vector of bytes, UTF-8.
    pub text: FileEntry,
    /// Where each text ends, as an `int64` vector.
    pub ends: FileEntry,
}

/// The edges of one type.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct EdgeType {
    /// Number of stored edges of one direction.
    pub count: u64,
    /// Number of rows of the source.
    pub source_rows: u64,
    /// Whether every row was stored both ways.
    pub undirected: bool,
    /// The topology.
    pub graph: FileEntry,
    /// One row per source row in each.
    #[serde(default)]
    pub tables: BTreeMap<String, FileEntry>,
}

/// A named list of nodes of one type.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Split {
    /// Which nodes it lists.
    pub node_type: String,
    /// How many.
    pub count: u64,
    /// The list, as an `int64` vector.
    pub file: FileEntry,
}

/// A file of the dataset.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name in the dataset's folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// CRC32C of its header up to the checksum that stands there.
    pub header_crc32c: u32,
}

impl FileEntry {
    /// An entry for a file with this header and length.
    pub fn new(name: impl Into<String>, bytes: u64, header: &[u8]) -> Self {
        FileEntry { name: name.into(), bytes, header_crc32c: header_checksum(header) }
    }
}

impl NodeIds {
    fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let names = self.names.iter().flat_map(|names| [&names.text, &names.ends]);
        self.places.iter().chain(names)
    }
}

/// The checksum that a [`FileEntry`] records; `start` are the first bytes of the file.
///
/// The header's own checksum is left out: a CRC over bytes and their CRC is the same number for all bytes.
pub fn header_checksum(start: &[u8]) -> u32 {
    crc32c::crc32c(&start[..start.len().min(CHECKSUM_AT)])
}

/// The file name of a part of a dataset in one generation, such as `graph.3.gl`.
pub fn file_name(stem: &str, generation: u64, extension: &str) -> String {
    format!("{stem}.{generation}.{extension}")
}

/// Whether a name is one that [`file_name`] makes: only such files are ever removed from a dataset's folder.
pub fn is_file_name(name: &str) -> bool {
    let mut parts = name.rsplitn(3, '.');
    let (extension, generation, stem) = (parts.next(), parts.next(), parts.next());
    matches!(extension, Some("gl" | "gd"))
        && generation
            .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        && stem.is_some_and(|stem| !stem.is_empty())
}

/// Whether a table or split may have this name: it becomes part of a file's name.
pub fn is_plain_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.len() <= 100 && name.bytes().all(allowed)
}

/// The text in the file: the manifest and the checksum of exactly its characters.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    manifest: &'a RawValue,
    crc32c: u32,
}

impl Manifest {
    /// A manifest of a graph without types and, for now, without tables.
    pub fn new(generation: u64, num_nodes: u64, edges: EdgeType) -> Self {
        let node_type = NodeType {
            count: num_nodes,
            tables: BTreeMap::new(),
            classes: BTreeMap::new(),
            ids: None,
        };
        Manifest {
            format: FORMAT.to_owned(),
            version: (MAJOR, 0),
            requires: Vec::new(),
            generation,
            created_by: concat!("graphmill ", env!("CARGO_PKG_VERSION")).to_owned(),
            order: "none".to_owned(),
            origin: None,
            nodes: BTreeMap::from([(NODE_TYPE.to_owned(), node_type)]),
            edges: BTreeMap::from([(EDGE_TYPE.to_owned(), edges)]),
            splits: BTreeMap::new(),
        }
    }

    /// The only node type, until graphs have types.
    pub fn node(&self) -> &NodeType {
        &self.nodes[NODE_TYPE]
    }

    /// The only edge type, until graphs have types.
    pub fn edge(&self) -> &EdgeType {
        &self.edges[EDGE_TYPE]
    }

    /// Every file that the dataset consists of.
    pub fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let nodes = self
            .nodes
            .values()
            .flat_map(|node| node.tables.values().chain(node.ids.iter().flat_map(NodeIds::files)));
        let edges = self.edges.values().flat_map(|edge| edge.tables.values().chain([&edge.graph]));
        nodes.chain(edges).chain(self.splits.values().map(|split| &split.file))
    }

    /// The names of all tables and splits.
    fn names(&self) -> impl Iterator<Item = &String> {
        let nodes = self.nodes.values().flat_map(|node| node.tables.keys());
        let edges = self.edges.values().flat_map(|edge| edge.tables.keys());
        nodes.chain(edges).chain(self.splits.keys())
    }

    /// The text of `dataset.json`.
    pub fn encode(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self)
            .expect("a manifest has string keys and plain values");
        let checksum = crc32c::crc32c(text.as_bytes());
        format!("{{\"crc32c\": {checksum},\n\"manifest\": {text}}}\n").into_bytes()
    }

    /// Reads the text of a `dataset.json`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > LONGEST {
            return Err(problem(
                "size",
                format!("{} bytes, expected at most {LONGEST}", bytes.len()),
            ));
        }
        let Envelope { manifest, crc32c: found } = serde_json::from_slice(bytes).map_err(syntax)?;
        let expected = crc32c::crc32c(manifest.get().as_bytes());
        if found != expected {
            let text = format!("found checksum {found}, expected {expected}: the text was changed");
            return Err(problem("crc32c", text));
        }
        let manifest: Manifest = serde_json::from_str(manifest.get()).map_err(syntax)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<()> {
        if self.format != FORMAT {
            return Err(problem("format", format!("found {:?}, expected {FORMAT:?}", self.format)));
        }
        if self.version.0 != MAJOR {
            let found = u16::try_from(self.version.0).unwrap_or(u16::MAX);
            return Err(Error::Version { place: "version", found, expected: MAJOR as u16 });
        }
        if !self.requires.is_empty() {
            return Err(Error::Feature { place: "requires", names: self.requires.join(", ") });
        }
        if !self.nodes.contains_key(NODE_TYPE) || self.nodes.len() != 1 {
            let found: Vec<_> = self.nodes.keys().collect();
            return Err(problem(
                "nodes",
                format!("found types {found:?}, expected {NODE_TYPE:?} alone"),
            ));
        }
        if !self.edges.contains_key(EDGE_TYPE) || self.edges.len() != 1 {
            let found: Vec<_> = self.edges.keys().collect();
            return Err(problem(
                "edges",
                format!("found types {found:?}, expected {EDGE_TYPE:?} alone"),
            ));
        }
        if let Some(file) = self.files().find(|file| !is_safe_file_name(&file.name)) {
            let text =
                format!("found file name {:?}, expected a plain name like graph.1.gl", file.name);
            return Err(problem("files", text));
        }
        if let Some(name) = self.names().find(|name| !is_plain_name(name)) {
            let text = format!("found the name {name:?}, expected letters, digits, '_' and '-'");
            return Err(problem("tables and splits", text));
        }
        if let Some((name, split)) =
            self.splits.iter().find(|(_, split)| split.node_type != NODE_TYPE)
        {
            let text = format!(
                "split {name:?} lists nodes of type {:?}, which is not there",
                split.node_type
            );
            return Err(problem("splits", text));
        }
        Ok(())
    }
}

/// A file of a dataset lies in its folder: no separators, no parent, nothing hidden.
fn is_safe_file_name(name: &str) -> bool {
    let forbidden = |c: char| matches!(c, '/' | '\\' | ':' | '\0');
    is_file_name(name) && name.len() <= 200 && !name.starts_with('.') && !name.contains(forbidden)
}

fn syntax(error: serde_json::Error) -> Error {
    problem(&format!("line {}, column {}", error.line(), error.column()), error.to_string())
}

fn problem(place: &str, problem: String) -> Error {
    Error::Manifest { place: place.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Manifest {
        let file = |name: &str| FileEntry::new(name, 8192, &[1; 4096]);
        let edges = EdgeType {
            count: 20,
            source_rows: 10,
            undirected: true,
            graph: file("graph.1.gl"),
            tables: BTreeMap::new(),
        };
        let mut manifest = Manifest::new(1, 5, edges);
        let node = manifest.nodes.get_mut(NODE_TYPE).unwrap();
        node.tables.insert(FEATURES.to_owned(), file("x.1.gd"));
        let split =
            Split { node_type: NODE_TYPE.to_owned(), count: 3, file: file("split-train.1.gd") };
        manifest.splits.insert("train".to_owned(), split);
        manifest
    }

    #[test]
    fn text_leads_back_to_the_manifest() {
        let manifest = example();
        assert_eq!(Manifest::parse(&manifest.encode()), Ok(manifest.clone()));
        let names: Vec<_> = manifest.files().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["x.1.gd", "graph.1.gl", "split-train.1.gd"]);
    }

    #[test]
    fn any_changed_byte_is_seen() {
        let text = example().encode();
        for at in 0..text.len() - 1 {
            for flip in [0x01, 0x02, 0x10, 0x20, 0x80] {
                let mut damaged = text.clone();
                damaged[at] ^= flip;
                let parsed = Manifest::parse(&damaged);
                assert!(parsed.is_err() || parsed == Ok(example()), "byte {at} with {flip:#x}");
            }
        }
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for name in
            ["../x.1.gd", "/etc/x.1.gd", "a/b.1.gd", "..1.gd", "x.gd", "", "c:x.1.gd", ".x.1.gd"]
        {
            let mut manifest = example();
            manifest.edges.get_mut(EDGE_TYPE).unwrap().graph.name = name.to_owned();
            let error = Manifest::parse(&manifest.encode()).unwrap_err();
            assert!(matches!(error, Error::Manifest { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn names_that_could_not_be_file_names_are_refused() {
        for name in ["../x", "", "a/b", "x y"] {
            let mut manifest = example();
            let split = manifest.splits["train"].clone();
            manifest.splits.insert(name.to_owned(), split);
            let error = Manifest::parse(&manifest.encode()).unwrap_err();
            assert!(matches!(error, Error::Manifest { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn unknown_requirements_are_refused_by_name() {
        let mut manifest = example();
        manifest.requires = vec!["teleport".to_owned()];
        let error = Manifest::parse(&manifest.encode()).unwrap_err();
        assert_eq!(error, Error::Feature { place: "requires", names: "teleport".to_owned() });
    }

    #[test]
    fn only_names_of_ours_are_ever_removed() {
        assert!(is_file_name("graph.12.gl") && is_file_name("split-a.b.1.gd"));
        assert!(!is_file_name("graph.gl") && !is_file_name("notes.txt") && !is_file_name(".1.gd"));
    }
}
