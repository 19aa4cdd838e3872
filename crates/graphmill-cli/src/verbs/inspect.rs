//! `graphmill inspect`: what is in a file or a dataset.
//! Facts are gathered from the store first and shown second, as text for people or as JSON for programs, so both always
//! agree. Nothing is written, and of the data itself only the offsets are read.

mod disk;
mod facts;
mod text;

use super::Outcome;
use crate::output;
use anyhow::{anyhow, bail};
use clap::Args;
use graphmill::disk::{Backend, Budget, Error, open};
use graphmill::format::{FileKind, graphzero, manifest};
use graphmill::store::{self, Dataset, Graph, Table};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
JSON keys: kind (topology, table or dataset), path, written_by, format_version, bytes,
cached (0 to 1, null when the system does not tell), and by kind
  topology  num_nodes, num_edges, undirected, directions, neighbor_order, index_dtype, has_edge_ids,
            has_weights, has_times, has_original_ids, bits_per_edge, degrees (by direction: largest,
            mean, isolated), sections (name, dtype, count, bytes)
  table     shape, dtype, row_bytes, sections
  --disk    disk: random_4k_per_second, best_depth, break_even_gap, bytes_per_second, device,
            is_direct, random (bytes, depth, per_second, processor_seconds), sequential; alone if
            the path is another folder
  dataset   generation, order, num_nodes, num_edges, source_rows, undirected, graph (a topology),
            tables, edge_tables and splits (tables by name), which have all these keys but kind

Example:
  graphmill inspect papers/ --json";

/// Show what a .gl, a .gd, a GraphZero file or a dataset holds
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// The file or dataset folder
    path: PathBuf,
    /// Measure the disk that holds the path, which may be any folder then; takes some seconds, and is kept for estimate
    #[arg(long)]
    disk: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print no text: the exit code tells whether the path can be opened
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(flags: &Flags) -> anyhow::Result<Outcome> {
    let is_mere_folder = flags.path.is_dir() && !flags.path.join(manifest::FILE_NAME).exists();
    let only_disk = flags.disk && is_mere_folder;
    let facts = (!only_disk).then(|| gather(&flags.path)).transpose()?;
    let disk = flags.disk.then(|| disk::measure(&flags.path)).transpose()?;
    if flags.json {
        let told = Told { facts: facts.as_ref(), disk: disk.as_ref() };
        output::print(&(serde_json::to_string_pretty(&told)? + "\n"))?;
    } else if !flags.quiet {
        let facts = facts.as_ref().map(text::describe).unwrap_or_default();
        output::print(&(facts + &disk.as_ref().map(disk::describe).unwrap_or_default()))?;
    }
    Ok(Outcome::Fine)
}

/// All that is told, as one object.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    facts: Option<&'a facts::Facts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<&'a disk::DiskFacts>,
}

fn gather(path: &Path) -> anyhow::Result<facts::Facts> {
    check_is_dataset_or_file(path)?;
    if path.is_dir() {
        // Nothing is loaded from the dataset, so there is nothing to limit.
        let dataset = Dataset::open(path, Budget::unlimited()).map_err(explain_missing_file)?;
        return facts::of_dataset(&dataset);
    }
    Ok(if is_table(path)? {
        facts::Facts::Table(facts::of_table(&Table::open(path)?))
    } else {
        facts::Facts::Topology(facts::of_graph(&Graph::open(path)?)?)
    })
}

/// The store cannot know that the file it did not find belongs to a dataset.
fn explain_missing_file(error: store::Error) -> anyhow::Error {
    match &error {
        store::Error::Disk(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            anyhow!(
                "{error}; {} names it: restore it or build the dataset again",
                manifest::FILE_NAME
            )
        }
        _ => error.into(),
    }
}

/// Refuses a path that cannot be meant, with a better word than the manifest's absence.
pub fn check_is_dataset_or_file(path: &Path) -> anyhow::Result<()> {
    if !path.exists() {
        bail!("`{}` does not exist: give a .gl, a .gd or a dataset folder", path.display());
    }
    if path.is_dir() && !path.join(manifest::FILE_NAME).exists() {
        bail!(
            "`{}` is a folder without {}, so it is no dataset: give the dataset's own folder, or a single file",
            path.display(),
            manifest::FILE_NAME
        );
    }
    Ok(())
}

/// Whether a file says that it is a table; whatever else it says is the business of opening it.
fn is_table(path: &Path) -> anyhow::Result<bool> {
    let file = open(path, Backend::Pread)?;
    let mut start = [0; 8];
    if file.len() < start.len() as u64 {
        return Ok(false);
    }
    file.read_exact_at(0, &mut start)?;
    Ok(start == FileKind::Table.magic() || start == graphzero::TABLE_MAGIC)
}
