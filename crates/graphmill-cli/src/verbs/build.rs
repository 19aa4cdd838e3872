//! `graphmill build`: raw sources into a dataset.
//! The ingest crate builds; here is only what is asked, and the report at the end.

mod report;

use super::Outcome;
use crate::interruption::Interruption;
use crate::output;
use crate::progress_bar::ProgressBar;
use crate::source_flags::SourceFlags;
use crate::storage_flags::WorkFlags;
use crate::topology_flags::TopologyFlags;
use anyhow::bail;
use clap::{ArgAction, Args};
use graphmill::ingest::build::{
    BuildOptions, BuildSources, EdgeSource, NodeOrder, SourceIds, TableSource, build,
};
use graphmill::ingest::source::Column;
use std::path::PathBuf;
use std::time::Instant;

const AFTER_HELP: &str = "\
Edges are text of any delimiter (.gz and .zst too), Parquet, .npy, .npz, .gl, or the folder of an
OGB, MAG240M or IGB dataset, which brings its features, labels and splits along. Tables are text,
Parquet, .npy, .npz or .gd; their rows are in the order of the ids unless a column is named id or
node_id. Several files of one flag are one after the other, so OUT comes first. Endpoints of edges
are the columns called src and dst, source and target, from and to or the like, else the first two.

Examples:
  graphmill build papers/ --edges edges.csv --features x.npy --labels y.npy --split train=train.npy
  graphmill build web/ --edges 'part-*.txt.gz' --map-ids --order hot --memory 2GiB
  graphmill build papers100M/ --edges ogbn_papers100M/ --undirected --order hot --dtype f16";

/// Compile edges, features, labels and splits into a dataset, within a memory budget
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, override_usage = "graphmill build <OUT> --edges <FILE>... [OPTIONS]")]
pub struct Flags {
    /// The folder of the dataset
    out: PathBuf,
    /// The edges: files, patterns like 'part-*.csv', or the folder of a benchmark
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, action = ArgAction::Append)]
    edges: Vec<PathBuf>,
    /// Features of the nodes
    #[arg(long, value_name = "FILE", num_args = 1.., action = ArgAction::Append)]
    features: Vec<PathBuf>,
    /// The files of features hold further columns of the same nodes, not further nodes
    #[arg(long)]
    side_by_side: bool,
    /// Labels of the nodes: numbers, or words that become the numbers of classes
    #[arg(long, value_name = "FILE", num_args = 1.., action = ArgAction::Append)]
    labels: Vec<PathBuf>,
    /// The column of the labels, where their table has several
    #[arg(long, value_name = "COLUMN")]
    label_column: Option<Column>,
    /// Features of the edges, a row for each row of the edges
    #[arg(long, value_name = "FILE", num_args = 1.., action = ArgAction::Append)]
    edge_features: Vec<PathBuf>,
    /// A further table of the edges, a row for each row of the edges
    #[arg(long, value_name = "NAME=FILE", value_parser = named_file)]
    edge_table: Vec<(String, PathBuf)>,
    /// A further table of the nodes
    #[arg(long, value_name = "NAME=FILE", value_parser = named_file)]
    table: Vec<(String, PathBuf)>,
    /// A list of nodes by their ids, or a mask
    #[arg(long, value_name = "NAME=FILE", value_parser = named_file)]
    split: Vec<(String, PathBuf)>,
    /// How nodes are numbered: none keeps their ids, hot puts those first that are neighbours most
    /// often, visits those that sampling meets most in several hops, bfs neighbours behind each
    /// other, community those together that are linked among each other
    #[arg(long, value_name = "ORDER", default_value = "none")]
    order: NodeOrder,
    /// Ids are any integers: number the nodes, and keep the ids with them
    #[arg(long, conflicts_with = "string_ids")]
    map_ids: bool,
    /// Ids are words: number the nodes, and keep the words with them
    #[arg(long)]
    string_ids: bool,
    /// Let rows of features start on multiples of 512 bytes
    #[arg(long)]
    align_rows: bool,
    #[command(flatten)]
    source: SourceFlags,
    #[command(flatten)]
    topology: TopologyFlags,
    #[command(flatten)]
    work: WorkFlags,
}

pub fn run(flags: &Flags, interruption: &Interruption) -> anyhow::Result<Outcome> {
    if flags.out.is_file() {
        bail!(
            "`{}` is a file, and a dataset is a folder: choose another name",
            flags.out.display()
        );
    }
    let budget = flags.work.budget();
    let start = Instant::now();
    let report = {
        let _guard = interruption.while_writing();
        let progress = ProgressBar::new(flags.work.quiet, interruption);
        let observer = |report| progress.observe(report);
        let options = options(flags).budget(budget.clone()).observer(&observer);
        let sources = sources(flags);
        flags.work.install(|| build(&flags.out, &sources, &options))?
    };
    let skipped = report::skipped(&report);
    if !skipped.is_empty() {
        output::complain(&skipped);
    }
    if !flags.work.quiet {
        output::print(&report::text(&flags.out, &report, start.elapsed(), &budget))?;
    }
    Ok(Outcome::Fine)
}

fn sources(flags: &Flags) -> BuildSources<'static> {
    let mut sources = BuildSources::new(EdgeSource::Files(flags.edges.clone()));
    for files in groups(&flags.features, flags.side_by_side) {
        sources = sources.features(TableSource::Files(files));
    }
    for files in groups(&flags.edge_features, flags.side_by_side) {
        sources = sources.edge_features(TableSource::Files(files));
    }
    if !flags.labels.is_empty() {
        sources = sources.labels(TableSource::Files(flags.labels.clone()));
    }
    for (name, file) in &flags.edge_table {
        sources = sources.edge_table(name, TableSource::Files(vec![file.clone()]));
    }
    for (name, file) in &flags.table {
        sources = sources.table(name, TableSource::Files(vec![file.clone()]));
    }
    for (name, file) in &flags.split {
        sources = sources.split(name, TableSource::Files(vec![file.clone()]));
    }
    sources
}

/// Files as one source, or as one source each.
fn groups(files: &[PathBuf], each: bool) -> Vec<Vec<PathBuf>> {
    match files {
        [] => Vec::new(),
        _ if each => files.iter().map(|file| vec![file.clone()]).collect(),
        _ => vec![files.to_vec()],
    }
}

fn options(flags: &Flags) -> BuildOptions<'static> {
    let mut options = BuildOptions::new()
        .topology(flags.topology.build())
        .input(flags.source.input())
        .order(flags.order)
        .align_rows(flags.align_rows)
        .overwrite(flags.work.overwrite);
    if flags.map_ids {
        options = options.ids(SourceIds::Integers);
    }
    if flags.string_ids {
        options = options.ids(SourceIds::Text);
    }
    if let Some(column) = &flags.source.id_column {
        options = options.id_column(column.clone());
    }
    if let Some(column) = &flags.label_column {
        options = options.label_column(column.clone());
    }
    match flags.source.dtype {
        Some(element) => options.features(element),
        None => options,
    }
}

/// Reads `name=file`.
fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(file)))
        }
        _ => Err("write NAME=FILE, as in train=train.npy".to_owned()),
    }
}
