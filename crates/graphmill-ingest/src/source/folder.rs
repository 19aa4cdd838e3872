//! Folders of the benchmarks that users bring: which file is what.
//! OGB, MAG240M and IGB each have their own names; here they become plain sources, so that readers
//! know files and not benchmarks. Graphs with several kinds of nodes are refused by name. It must
//! not read more than headers, but for the number of nodes.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;

use super::array::npz_names;
use super::detect::SourceFormat;
use super::options::{EdgeInputOptions, TableInputOptions};
use super::table_input::TableInput;
use super::turns::lock;
use crate::{Error, Result};

/// The width of IGB's embeddings, which its raw files do not say.
const IGB_COLUMNS: u64 = 1024;
/// A file of OGB that only graphs with several kinds of edges have.
const TRIPLETS: [&str; 2] = ["triplet-type-list.csv.gz", "triplet-type-list.csv"];

/// One source of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderPart {
    /// The file.
    pub path: PathBuf,
    /// Its array, for an `.npz`.
    pub member: Option<String>,
    /// The type and the columns of a file that is numbers and nothing else.
    pub raw: Option<(ElementType, u64)>,
}

impl FolderPart {
    fn file(path: PathBuf) -> Self {
        FolderPart { path, member: None, raw: None }
    }

    fn member(path: PathBuf, name: &str) -> Self {
        FolderPart { path, member: Some(name.to_owned()), raw: None }
    }

    /// What [`EdgeInput::open`](super::EdgeInput::open) must be told to read this part.
    pub fn edge_options(&self, options: &EdgeInputOptions) -> EdgeInputOptions {
        EdgeInputOptions { format: None, member: self.member.clone(), ..options.clone() }
    }

    /// What [`TableInput::open`] must be told to read this part: rows are positional.
    pub fn table_options(&self, options: &TableInputOptions) -> TableInputOptions {
        TableInputOptions {
            format: None,
            member: self.member.clone(),
            raw: self.raw,
            positional: true,
            ..options.clone()
        }
    }
}

/// What a folder of a benchmark holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderSources {
    /// Whose folder it is.
    pub format: SourceFormat,
    /// The edges.
    pub edges: FolderPart,
    /// A row of features for each node.
    pub features: Option<FolderPart>,
    /// A label for each node.
    pub labels: Option<FolderPart>,
    /// A row of features for each edge.
    pub edge_features: Option<FolderPart>,
    /// Further tables by name.
    pub tables: Vec<(String, FolderPart)>,
    /// Lists of nodes by name: train, valid, test.
    pub splits: Vec<(String, FolderPart)>,
    /// A table whose only cell is the number of nodes.
    pub num_nodes: Option<FolderPart>,
}

/// Whether a folder has the layout of a format.
pub(crate) fn is_folder_of(format: SourceFormat, path: &Path) -> bool {
    let raw = path.join("raw");
    match format {
        SourceFormat::Graphmill => path.join("dataset.json").is_file(),
        SourceFormat::Ogb => {
            let edges = ["edge.csv.gz", "edge.csv", "data.npz"];
            edges.iter().chain(&TRIPLETS).any(|name| raw.join(name).is_file())
        }
        SourceFormat::Mag240m => edge_folder(path, "___").is_some(),
        SourceFormat::Igb => edge_folder(path, "__").is_some(),
        _ => false,
    }
}

impl FolderSources {
    /// Finds the files of a folder whose format is known.
    ///
    /// What is optional and absent is None. The folder of one relation (`paper___cites___paper`)
    /// stands for its edges alone.
    pub fn of(path: &Path, format: SourceFormat) -> Result<Self> {
        let found = match format {
            SourceFormat::Ogb => ogb(path)?,
            SourceFormat::Mag240m => processed(path, format, "___")?,
            SourceFormat::Igb => processed(path, format, "__")?,
            _ => None,
        };
        found.ok_or_else(|| {
            let expected = format!("the files of {}", format.name());
            let remedy = "name the files themselves";
            Error::source("content", "no edges", expected, remedy).in_file(path)
        })
    }

    /// Reads the number of nodes, where the folder says it.
    pub fn count_nodes(&self, budget: &Budget) -> Result<Option<u64>> {
        let Some(part) = &self.num_nodes else { return Ok(None) };
        let options = part.table_options(&TableInputOptions::new().element(ElementType::I64));
        let counts: Mutex<Vec<u64>> = Mutex::default();
        let input = TableInput::open(std::slice::from_ref(&part.path), &options)?;
        input.read(
            budget,
            &|chunk| {
                let numbers = chunk.bytes.as_chunks().0.iter();
                lock(&counts).extend(numbers.map(|bytes| u64::from_le_bytes(*bytes)));
                Ok(())
            },
            None,
        )?;
        match lock(&counts)[..] {
            [count] if count <= i64::MAX as u64 => Ok(Some(count)),
            ref counts => {
                let found = format!("{} numbers of nodes", counts.len());
                let remedy = "datasets of many small graphs are not built";
                let error = Error::source("content", found, "one, of one graph", remedy);
                Err(error.in_file(&part.path))
            }
        }
    }

    fn new(format: SourceFormat, edges: FolderPart) -> Self {
        FolderSources {
            format,
            edges,
            features: None,
            labels: None,
            edge_features: None,
            tables: Vec::new(),
            splits: Vec::new(),
            num_nodes: None,
        }
    }
}

/// The first of some names that is a file.
fn first(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn ogb(path: &Path) -> Result<Option<FolderSources>> {
    let raw = path.join("raw");
    if first(&raw, &TRIPLETS).is_some() {
        return Err(several_kinds("several kinds of nodes and edges", path));
    }
    let text = |name: &str| {
        first(&raw, &[&format!("{name}.csv.gz"), &format!("{name}.csv")]).map(FolderPart::file)
    };
    let label_archive = first(&raw, &["node-label.npz"]);
    let labels = label_archive
        .map(|path| FolderPart::member(path, "node_label"))
        .or_else(|| text("node-label"));
    let known = [("year", "node_year"), ("species", "node_species")];
    let mut sources = match first(&raw, &["data.npz"]) {
        Some(data) => {
            let names = npz_names(&data)?;
            let member = |name: &str| {
                let there = names.iter().any(|known| known == name);
                there.then(|| FolderPart::member(data.clone(), name))
            };
            let tables = known.iter().filter_map(|(name, of)| Some((*name, member(of)?)));
            FolderSources {
                features: member("node_feat"),
                num_nodes: member("num_nodes_list"),
                tables: tables.map(|(name, part)| (name.to_owned(), part)).collect(),
                ..FolderSources::new(
                    SourceFormat::Ogb,
                    FolderPart::member(data.clone(), "edge_index"),
                )
            }
        }
        None => {
            let Some(edges) = text("edge") else { return Ok(None) };
            let tables = known.iter().filter_map(|(name, of)| Some((*name, text(of)?)));
            FolderSources {
                features: text("node-feat"),
                edge_features: text("edge-feat"),
                num_nodes: text("num-node-list"),
                tables: tables.map(|(name, part)| (name.to_owned(), part)).collect(),
                ..FolderSources::new(SourceFormat::Ogb, edges)
            }
        }
    };
    sources.labels = labels;
    sources.splits = ogb_splits(&path.join("split"));
    Ok(Some(sources))
}

/// The lists of the first way of splitting that has any as text.
fn ogb_splits(folder: &Path) -> Vec<(String, FolderPart)> {
    let mut kinds: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    kinds.sort();
    let lists = |kind: &PathBuf| -> Vec<(String, FolderPart)> {
        let part = |name: &str| {
            let file = first(kind, &[&format!("{name}.csv.gz"), &format!("{name}.csv")])?;
            Some((name.to_owned(), FolderPart::file(file)))
        };
        ["train", "valid", "test"].into_iter().filter_map(part).collect()
    };
    kinds.iter().map(lists).find(|lists| !lists.is_empty()).unwrap_or_default()
}

/// The folder of the edges between papers, or a relation's own folder, whose name has this between
/// its parts.
fn edge_folder(path: &Path, between: &str) -> Option<PathBuf> {
    let papers = path.join("processed").join(format!("paper{between}cites{between}paper"));
    let is_relation = relation(path).is_some_and(|(_, found)| found == between);
    let own = is_relation.then(|| path.to_path_buf());
    own.into_iter().chain([papers]).find(|folder| folder.join("edge_index.npy").is_file())
}

/// The kinds of nodes that a folder called `a___relation___b` or `a__relation__b` connects.
fn relation(folder: &Path) -> Option<([&str; 2], &'static str)> {
    let name = folder.file_name()?.to_str()?;
    ["___", "__"].into_iter().find_map(|between| {
        let parts: Vec<&str> = name.split(between).collect();
        match parts[..] {
            [from, _, to] if !from.is_empty() && !to.is_empty() => Some(([from, to], between)),
            _ => None,
        }
    })
}

fn several_kinds(found: &str, path: &Path) -> Error {
    let remedy = "graphs with one kind of node are built; name edges between nodes of one kind";
    Error::source("content", found, "edges between nodes of one kind", remedy).in_file(path)
}

/// Refuses the edges of a relation between two kinds of nodes, whose ids mean different things.
pub(super) fn refuse_other_relations(edges: &Path) -> Result<()> {
    let Some(folder) = edges.parent() else { return Ok(()) };
    match relation(folder) {
        Some(([from, to], _)) if from != to => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            Err(several_kinds(&format!("the relation {name}"), edges))
        }
        _ => Ok(()),
    }
}

fn processed(path: &Path, format: SourceFormat, between: &str) -> Result<Option<FolderSources>> {
    let Some(folder) = edge_folder(path, between) else { return Ok(None) };
    let edges = folder.join("edge_index.npy");
    refuse_other_relations(&edges)?;
    let sources = FolderSources::new(format, FolderPart::file(edges));
    if folder == path {
        return Ok(Some(sources));
    }
    let paper = path.join("processed").join("paper");
    // IGB's large sets are numbers without a header, whatever their names say.
    let part = |names: &[&str], columns: u64| {
        let mut part = FolderPart::file(first(&paper, names)?);
        let has_header = matches!(SourceFormat::of(&part.path), Ok(SourceFormat::Npy));
        if format == SourceFormat::Igb && !has_header {
            part.raw = Some((ElementType::F32, columns));
        }
        Some(part)
    };
    let labels = part(&["node_label.npy", "node_label_19.npy", "node_label_2K.npy"], 1);
    let many = part(&["node_label_2K.npy"], 1).filter(|many| Some(many) != labels.as_ref());
    let year = part(&["node_year.npy"], 1);
    let tables = [("year", year), ("label_2K", many)];
    let tables = tables.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?)));
    let (tables, features) = (tables.collect(), part(&["node_feat.npy"], IGB_COLUMNS));
    Ok(Some(FolderSources { features, labels, tables, ..sources }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"\x93NUMPY").unwrap();
        }
        folder
    }

    fn find(files: &[&str]) -> Result<FolderSources> {
        let folder = folder(files);
        let format = SourceFormat::of(folder.path())?;
        FolderSources::of(folder.path(), format)
    }

    #[test]
    fn small_sets_of_ogb_are_text() {
        let files = [
            "raw/edge.csv.gz",
            "raw/node-feat.csv.gz",
            "raw/num-node-list.csv.gz",
            "split/random/train.pt",
            "split/time/train.csv.gz",
            "split/time/valid.csv.gz",
        ];
        let small = find(&files).unwrap();
        assert_eq!((small.format, small.splits.len()), (SourceFormat::Ogb, 2));
        assert!(small.edges.path.ends_with("raw/edge.csv.gz"));
        assert!(small.num_nodes.is_some() && small.labels.is_none() && small.tables.is_empty());
        let error = find(&["raw/triplet-type-list.csv.gz"]).unwrap_err().to_string();
        assert!(error.contains("several kinds of nodes"), "{error}");
    }

    #[test]
    fn relations_between_different_nodes_are_refused_by_name() {
        let edges = "processed/paper___cites___paper/edge_index.npy";
        let other = "processed/author___writes___paper/edge_index.npy";
        let folder = folder(&[edges, other, "processed/paper/node_feat.npy"]);
        let of = |path: &Path| {
            let format = SourceFormat::of(path)?;
            FolderSources::of(path, format)
        };
        let mag = of(folder.path()).unwrap();
        assert_eq!((mag.format, mag.features.unwrap().raw), (SourceFormat::Mag240m, None));
        let alone = of(&folder.path().join("processed/paper___cites___paper")).unwrap();
        assert_eq!((alone.edges.path, alone.features), (folder.path().join(edges), None));
        let writes = folder.path().join("processed/author___writes___paper");
        let error = of(&writes).unwrap_err().to_string();
        assert!(error.contains("the relation author___writes___paper"), "{error}");
        assert!(refuse_other_relations(&folder.path().join(other)).is_err());
        assert!(refuse_other_relations(Path::new("edges.npy")).is_ok());
    }

    #[test]
    fn igb_may_have_raw_numbers_and_two_sets_of_labels() {
        let edges = "processed/paper__cites__paper/edge_index.npy";
        let labels = ["node_label_19.npy", "node_label_2K.npy"];
        let folder = folder(&[edges, "processed/paper/node_label_2K.npy"]);
        let paper = folder.path().join("processed/paper");
        let of = || FolderSources::of(folder.path(), SourceFormat::Igb).unwrap();
        assert!(of().labels.unwrap().path.ends_with(labels[1]) && of().tables.is_empty());
        std::fs::write(paper.join(labels[0]), [0; 8]).unwrap();
        std::fs::write(paper.join("node_feat.npy"), [0; 8192]).unwrap();
        let igb = of();
        assert_eq!(igb.labels.unwrap().raw, Some((ElementType::F32, 1)));
        assert_eq!(igb.features.unwrap().raw, Some((ElementType::F32, 1024)));
        assert_eq!((&*igb.tables[0].0, igb.tables[0].1.raw), ("label_2K", None));
    }

    #[test]
    fn a_folder_of_something_else_is_refused() {
        let folder = folder(&["holiday/beach.jpg"]);
        let error = SourceFormat::of(folder.path()).unwrap_err().to_string();
        assert!(error.contains("known layouts"), "{error}");
    }
}
