//! `graphmill generate`: synthetic graphs, the same for the same seed.
//! Flags become settings, the ingest crate writes, a report ends it. What OUT is called decides what is written: a
//! folder becomes a dataset, a `.gl` holds the topology, a `.csv` the edges as text.

mod settings;

use super::Outcome;
use crate::counts::{self, counted, grouped};
use crate::interruption::Interruption;
use crate::output;
use crate::progress_bar::ProgressBar;
use crate::storage_flags::{DirectionFlags, WorkFlags};
use anyhow::bail;
use clap::{Args, ValueEnum};
use graphmill::disk::{Budget, format_size};
use graphmill::format::Manifest;
use graphmill::ingest::{self, GeneratedOptions, GraphOptions, Observer};
use settings::{Settings, Target};
use std::path::PathBuf;
use std::time::Instant;

const AFTER_HELP: &str = "\
Kinds:
  rmat    skewed degrees as in Graph500, for throughput
  sbm     blocks that are the classes, for tests whose answer is known
  papers  power-law citations with communities and classes, for training

Example:
  graphmill generate papers papers/ --nodes 1M --features 128 --undirected --memory 256MiB";

/// Write a synthetic graph: the same seed gives the same bytes
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// The kind of graph
    #[arg(value_enum)]
    kind: Kind,
    /// A dataset folder, a .gl (topology only) or a .csv (edges only, as text)
    out: PathBuf,
    /// Number of nodes of papers and sbm, such as 100k or 4M [default: 100k]
    #[arg(long, value_name = "N", value_parser = counts::parse)]
    nodes: Option<u64>,
    /// rmat has 2^S nodes [default: 17]
    #[arg(long, value_name = "S")]
    scale: Option<u32>,
    /// Number of edges, such as 20M [default: by --edges-per-node]
    #[arg(long, value_name = "M", value_parser = counts::parse, conflicts_with = "edges_per_node")]
    edges: Option<u64>,
    /// Mean degree, instead of a number of edges [default: 14.5 for papers, 16 otherwise]
    #[arg(long, value_name = "X")]
    edges_per_node: Option<f64>,
    /// Feature values of a node, 0 for no node data at all [default: 128, rmat: 0]
    #[arg(long, value_name = "D")]
    features: Option<usize>,
    /// Number of classes; the blocks of sbm [default: 16]
    #[arg(long, value_name = "C")]
    classes: Option<u32>,
    /// Number of communities of papers [default: one for 8192 nodes]
    #[arg(long, value_name = "K", value_parser = counts::parse)]
    communities: Option<u64>,
    /// How far the features of a class stand out from the noise [default: 1.75]
    #[arg(long, value_name = "X")]
    signal: Option<f32>,
    /// Type of the features [default: f32]
    #[arg(long, value_enum)]
    dtype: Option<FeatureType>,
    /// Another seed gives another graph
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    direction: DirectionFlags,
    #[command(flatten)]
    work: WorkFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Rmat,
    Sbm,
    Papers,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FeatureType {
    F32,
    F16,
}

pub fn run(flags: &Flags, interruption: &Interruption) -> anyhow::Result<Outcome> {
    let settings = Settings::resolve(flags)?;
    match settings.target {
        Target::Dataset if settings.out.is_file() => bail!(
            "`{}` is a file, and a dataset is a folder: choose another name",
            settings.out.display()
        ),
        Target::Dataset => {}
        Target::Topology | Target::Csv => super::check_folder_of(&settings.out)?,
    }
    let budget = flags.work.budget();
    let start = Instant::now();
    let summary = {
        let _guard = interruption.while_writing();
        let progress = ProgressBar::new(flags.work.quiet, interruption);
        let observer = |report| progress.observe(report);
        flags.work.install(|| write(&settings, &budget, &observer))?
    };
    if !flags.work.quiet {
        output::print(&format!(
            "{summary}\n{:.2} s, at most {} of the memory budget of {} in use\n",
            start.elapsed().as_secs_f64(),
            format_size(budget.peak()),
            format_size(budget.total()),
        ))?;
    }
    Ok(Outcome::Fine)
}

/// Writes the target and says in one line what it holds.
fn write(settings: &Settings, budget: &Budget, observer: Observer<'_>) -> ingest::Result<String> {
    let Settings { out, overwrite, .. } = settings;
    let edges = settings.graph.edges();
    let graph = GraphOptions::new().directions(settings.directions).observer(observer);
    let (num_nodes, num_edges, content, bytes) = match settings.target {
        Target::Csv => {
            let bytes = ingest::write_edge_csv(out, edges, true, *overwrite, Some(observer))?;
            (edges.num_nodes(), edges.num_edges(), String::new(), bytes)
        }
        Target::Topology => {
            let report = ingest::write_graph(out, edges, &graph, budget, *overwrite)?;
            (report.num_nodes, report.num_edges, String::new(), report.length)
        }
        Target::Dataset => {
            let options = GeneratedOptions::new()
                .graph(graph)
                .features(settings.features)
                .overwrite(*overwrite)
                .observer(observer);
            let nodes = settings.graph.nodes();
            let written = ingest::write_generated(out, edges, nodes, &options, budget)?;
            let content = nodes.map_or_else(String::new, |nodes| {
                let features = counted(nodes.num_features() as u64, "feature", "features");
                let classes = counted(nodes.num_classes().into(), "class", "classes");
                format!(", {features} ({}), {classes}", settings.features)
            });
            let bytes = dataset_bytes(&written);
            (written.node().count, written.edge().count, content, bytes)
        }
    };
    Ok(format!(
        "{}: {} nodes, {} edges{content}, {}",
        out.display(),
        grouped(num_nodes),
        grouped(num_edges),
        format_size(bytes),
    ))
}

fn dataset_bytes(manifest: &Manifest) -> u64 {
    manifest.files().map(|file| file.bytes).sum::<u64>() + manifest.encode().len() as u64
}
