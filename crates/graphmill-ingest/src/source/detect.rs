//! What a path is, told by its content.
//! Files are known by their first bytes and folders by what lies in them, never by extensions; a
//! format that is forced is believed. It must not read more than a page of any file.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use graphmill_disk::Backend;
use graphmill_format::{FileKind, graphzero};

use super::compressed::Compression;
use super::folder::is_folder_of;
use crate::{Error, Result, npy};

/// A family of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceFormat {
    /// Text, plain or compressed.
    Text,
    /// One NumPy array.
    Npy,
    /// An archive of NumPy arrays.
    Npz,
    /// Apache Parquet.
    Parquet,
    /// A topology, table or dataset of ours.
    Graphmill,
    /// A topology or table of GraphZero.
    GraphZero,
    /// A folder of the Open Graph Benchmark.
    Ogb,
    /// The folder of MAG240M.
    Mag240m,
    /// A folder of the Illinois Graph Benchmark.
    Igb,
}

impl SourceFormat {
    const NAMES: [(&'static str, SourceFormat); 9] = [
        ("csv", SourceFormat::Text),
        ("npy", SourceFormat::Npy),
        ("npz", SourceFormat::Npz),
        ("parquet", SourceFormat::Parquet),
        ("graphmill", SourceFormat::Graphmill),
        ("graphzero", SourceFormat::GraphZero),
        ("ogb", SourceFormat::Ogb),
        ("mag240m", SourceFormat::Mag240m),
        ("igb", SourceFormat::Igb),
    ];

    /// The name that forces it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// Looks at a file or folder.
    pub fn of(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Self::of_folder(path);
        }
        let file = graphmill_disk::open(path, Backend::Pread)?;
        let mut start = [0; 16];
        let length = file.len().min(16) as usize;
        file.read_exact_at(0, &mut start[..length])?;
        Self::of_bytes(&start[..length]).map_err(|error| error.in_file(path))
    }

    /// Tells a file by its first 16 bytes, or all it has.
    pub fn of_bytes(start: &[u8]) -> Result<Self> {
        let known: [(&[u8], SourceFormat); 6] = [
            (&npy::MAGIC, SourceFormat::Npy),
            (b"PK\x03\x04", SourceFormat::Npz),
            (b"PK\x05\x06", SourceFormat::Npz),
            (b"PAR1", SourceFormat::Parquet),
            (&graphzero::GRAPH_MAGIC, SourceFormat::GraphZero),
            (&graphzero::TABLE_MAGIC, SourceFormat::GraphZero),
        ];
        if FileKind::of(start).is_some() {
            return Ok(SourceFormat::Graphmill);
        }
        if let Some((_, format)) = known.into_iter().find(|(magic, _)| start.starts_with(magic)) {
            return Ok(format);
        }
        if Compression::of(start).is_some() {
            return Ok(SourceFormat::Text);
        }
        let foreign: [(&[u8], &str, &'static str); 6] = [
            (b"BZh", "bzip2", "unpack it, or pack it as gzip or zstd"),
            (b"\xFD7zXZ", "xz", "unpack it, or pack it as gzip or zstd"),
            (b"\x89HDF", "HDF5", "save the arrays with numpy.save"),
            (b"ARROW1", "Arrow or Feather", "write it as Parquet"),
            (b"\x80\x02", "a Python pickle", "pickles are never loaded; save with numpy.save"),
            (b"\x80\x04", "a Python pickle", "pickles are never loaded; save with numpy.save"),
        ];
        match foreign.into_iter().find(|(magic, ..)| start.starts_with(magic)) {
            Some((_, found, remedy)) => {
                Err(Error::source("byte 0", found, "text, NumPy or Parquet", remedy))
            }
            None => Ok(SourceFormat::Text),
        }
    }

    fn of_folder(path: &Path) -> Result<Self> {
        let folders =
            [SourceFormat::Graphmill, SourceFormat::Ogb, SourceFormat::Mag240m, SourceFormat::Igb];
        folders.into_iter().find(|format| is_folder_of(*format, path)).ok_or_else(|| {
            let found = "a folder of none of the known layouts";
            let expected = "dataset.json, or the folders of OGB, MAG240M or IGB";
            let remedy = "name the files themselves";
            Error::source("content", found, expected, remedy).in_file(path)
        })
    }
}

impl FromStr for SourceFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = Self::NAMES.iter().find(|(name, _)| *name == text);
        known.map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            Error::request("format", format!("{text:?} is none of {}", names.join(", ")))
        })
    }
}

/// The files that patterns stand for: names as given, `*` and `?` in the last part matched and
/// sorted.
pub fn expand(patterns: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for pattern in patterns {
        let name = pattern.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if pattern.exists() || !name.contains(['*', '?']) {
            paths.push(pattern.clone());
            continue;
        }
        let folder = pattern.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder).map_err(|source| {
            let path = folder.to_path_buf();
            graphmill_disk::Error::Io { action: "list", path, source }
        })?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut matching: Vec<PathBuf> = names
            .filter(|found| found.to_str().is_some_and(|found| matches(name, found)))
            .map(|found| pattern.with_file_name(found))
            .collect();
        if matching.is_empty() {
            let remedy = "correct the pattern";
            let error = Error::source("pattern", "no file", "at least one that matches", remedy);
            return Err(error.in_file(pattern));
        }
        matching.sort();
        paths.extend(matching);
    }
    Ok(paths)
}

/// Whether a name matches a pattern of `*` and `?`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut star) = ((0, 0), None);
    while at.1 < name.len() {
        match pattern.get(at.0) {
            Some('*') => {
                star = Some(at);
                at.0 += 1;
            }
            Some(&character) if character == '?' || character == name[at.1] => {
                at = (at.0 + 1, at.1 + 1);
            }
            _ => match &mut star {
                Some(star) => {
                    // The star takes one character more.
                    star.1 += 1;
                    at = (star.0 + 1, star.1);
                }
                None => return false,
            },
        }
    }
    pattern[at.0..].iter().all(|character| *character == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_first_bytes() {
        for (bytes, format) in [
            (&b"1,2\n"[..], SourceFormat::Text),
            (b"", SourceFormat::Text),
            (b"\x1F\x8B\x08", SourceFormat::Text),
            (b"\x28\xB5\x2F\xFD", SourceFormat::Text),
            (b"\x93NUMPY\x01\0", SourceFormat::Npy),
            (b"PK\x03\x04", SourceFormat::Npz),
            (b"PAR1", SourceFormat::Parquet),
            (b"graphlit", SourceFormat::GraphZero),
            (b"\x89GML\r\n\x1A\n", SourceFormat::Graphmill),
        ] {
            assert_eq!(SourceFormat::of_bytes(bytes).unwrap(), format, "{bytes:?}");
        }
        for bytes in [&b"BZh9"[..], b"\x80\x04\x95", b"\x89HDF\r\n"] {
            assert!(SourceFormat::of_bytes(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn names_force_formats() {
        for (name, format) in SourceFormat::NAMES {
            assert_eq!(name.parse::<SourceFormat>().unwrap(), format);
            assert_eq!(format.name(), name);
        }
        assert!("xls".parse::<SourceFormat>().is_err());
    }

    #[test]
    fn patterns_match_as_shells_do() {
        for (pattern, name) in
            [("*.csv", "a.csv"), ("part-?", "part-1"), ("a*b*c", "aXbYbZc"), ("*", "")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("*.csv", "a.txt"), ("part-?", "part-10"), ("a*b", "acbd"), ("", "a")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn several_files_come_in_the_order_given_and_patterns_sorted() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["part-2.csv", "part-10.csv", "part-1.csv", "other.csv"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let given = [folder.path().join("part-*.csv"), folder.path().join("other.csv")];
        let names: Vec<String> = expand(&given)
            .unwrap()
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["part-1.csv", "part-10.csv", "part-2.csv", "other.csv"]);
        assert!(expand(&[folder.path().join("x*")]).is_err());
    }
}
