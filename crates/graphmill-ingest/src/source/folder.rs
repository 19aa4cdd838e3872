//! Folders of the benchmarks that users bring: which file is what.
//! OGB, MAG240M and IGB each have their own names; here they become plain sources, so that readers
//! know files and not benchmarks. It must not read what is in the files.

use std::path::{Path, PathBuf};

use graphmill_format::ElementType;

use super::detect::SourceFormat;
use crate::{Error, Result};

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
    /// Further tables by name.
    pub tables: Vec<(String, FolderPart)>,
    /// Lists of nodes by name: train, valid, test.
    pub splits: Vec<(String, FolderPart)>,
}

/// Whether a folder has the layout of a format.
pub(crate) fn is_folder_of(format: SourceFormat, path: &Path) -> bool {
    let raw = path.join("raw");
    match format {
        SourceFormat::Graphmill => path.join("dataset.json").is_file(),
        SourceFormat::Ogb => {
            ["edge.csv.gz", "edge.csv", "data.npz"].iter().any(|name| raw.join(name).is_file())
        }
        SourceFormat::Mag240m => edge_folder(path, "___").is_some(),
        SourceFormat::Igb => edge_folder(path, "__").is_some(),
        _ => false,
    }
}

impl FolderSources {
    /// Finds the files of a folder whose format is known.
    pub fn of(path: &Path, format: SourceFormat) -> Result<Self> {
        let found = match format {
            SourceFormat::Ogb => ogb(path),
            SourceFormat::Mag240m => processed(path, format, "___"),
            SourceFormat::Igb => processed(path, format, "__"),
            _ => None,
        };
        found.ok_or_else(|| {
            let expected = format!("the files of {}", format.name());
            let remedy = "name the files themselves";
            Error::source("content", "no edges", expected, remedy).in_file(path)
        })
    }
}

/// The first of some names that is a file.
fn first(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

fn ogb(path: &Path) -> Option<FolderSources> {
    let raw = path.join("raw");
    let text = |name: &str| {
        first(&raw, &[&format!("{name}.csv.gz"), &format!("{name}.csv")]).map(FolderPart::file)
    };
    let archive = first(&raw, &["data.npz"]);
    let label_archive = first(&raw, &["node-label.npz"]);
    let (edges, features, labels, tables) = match archive {
        Some(data) => (
            FolderPart::member(data.clone(), "edge_index"),
            Some(FolderPart::member(data.clone(), "node_feat")),
            label_archive.map(|path| FolderPart::member(path, "node_label")),
            vec![("year".to_owned(), FolderPart::member(data, "node_year"))],
        ),
        None => {
            let year = text("node_year").map(|part| ("year".to_owned(), part));
            let (features, labels) = (text("node-feat"), text("node-label"));
            (text("edge")?, features, labels, year.into_iter().collect())
        }
    };
    let mut splits = Vec::new();
    let mut kinds: Vec<PathBuf> = std::fs::read_dir(path.join("split"))
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    kinds.sort();
    if let Some(folder) = kinds.first() {
        for name in ["train", "valid", "test"] {
            let names = [format!("{name}.csv.gz"), format!("{name}.csv")];
            let file = first(folder, &[&names[0], &names[1]]);
            splits.extend(file.map(|path| (name.to_owned(), FolderPart::file(path))));
        }
    }
    Some(FolderSources { format: SourceFormat::Ogb, edges, features, labels, tables, splits })
}

/// The folder of the edges between papers, whose name has this between its parts.
fn edge_folder(path: &Path, between: &str) -> Option<PathBuf> {
    let folder = path.join("processed").join(format!("paper{between}cites{between}paper"));
    folder.join("edge_index.npy").is_file().then_some(folder)
}

fn processed(path: &Path, format: SourceFormat, between: &str) -> Option<FolderSources> {
    /// The width of IGB's embeddings, which its raw files do not say.
    const IGB_COLUMNS: u64 = 1024;
    let edges = FolderPart::file(edge_folder(path, between)?.join("edge_index.npy"));
    let paper = path.join("processed").join("paper");
    let mut features = first(&paper, &["node_feat.npy"]).map(FolderPart::file);
    if let Some(part) = &mut features
        && format == SourceFormat::Igb
        && !matches!(SourceFormat::of(&part.path), Ok(SourceFormat::Npy))
    {
        part.raw = Some((ElementType::F32, IGB_COLUMNS));
    }
    let labels = ["node_label.npy", "node_label_19.npy", "node_label_2K.npy"];
    let labels = first(&paper, &labels).map(FolderPart::file);
    let year = first(&paper, &["node_year.npy"]).map(FolderPart::file);
    let tables = year.map(|part| ("year".to_owned(), part)).into_iter().collect();
    Some(FolderSources { format, edges, features, labels, tables, splits: Vec::new() })
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

    fn find(files: &[&str]) -> FolderSources {
        let folder = folder(files);
        let format = SourceFormat::of(folder.path()).unwrap();
        FolderSources::of(folder.path(), format).unwrap()
    }

    #[test]
    fn benchmarks_are_known_by_their_folders() {
        let small = find(&["raw/edge.csv.gz", "raw/node-feat.csv.gz", "split/time/train.csv.gz"]);
        assert_eq!((small.format, small.splits.len()), (SourceFormat::Ogb, 1));
        assert!(small.edges.path.ends_with("raw/edge.csv.gz"));
        let large = find(&["raw/data.npz", "raw/node-label.npz"]);
        assert_eq!(large.edges.member.as_deref(), Some("edge_index"));
        assert_eq!(large.labels.unwrap().member.as_deref(), Some("node_label"));
        let edges = "processed/paper___cites___paper/edge_index.npy";
        let mag = find(&[edges, "processed/paper/node_feat.npy"]);
        assert_eq!(mag.format, SourceFormat::Mag240m);
        assert_eq!(mag.features.unwrap().raw, None);
        let edges = "processed/paper__cites__paper/edge_index.npy";
        assert_eq!(find(&[edges]).format, SourceFormat::Igb);
    }

    #[test]
    fn a_folder_of_something_else_is_refused() {
        let folder = folder(&["holiday/beach.jpg"]);
        let error = SourceFormat::of(folder.path()).unwrap_err().to_string();
        assert!(error.contains("known layouts"), "{error}");
    }
}
