//! `graphmill reorder`: a dataset with its nodes in another order.
//! The ingest crate does it; here is only what is asked, and the report at the end.

use super::Outcome;
use crate::counts::grouped;
use crate::interruption::Interruption;
use crate::output;
use crate::progress_bar::ProgressBar;
use crate::storage_flags::WorkFlags;
use clap::Args;
use graphmill::disk::format_size;
use graphmill::ingest::build::{BuildOptions, NodeOrder, ReorderReport, reorder};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
Topology, tables, labels and splits are renumbered together; original ids, names and the ids of
edges stay what they were, so seeds and results mean the same as before.

Example:
  graphmill reorder papers/ papers-community/ --order community --memory 4GiB";

/// Write a dataset once more, its nodes in another order
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// The folder of the dataset
    dataset: PathBuf,
    /// The folder to write to
    out: PathBuf,
    /// How nodes are numbered: hot puts those first that are neighbours most often, visits those
    /// that sampling meets most in several hops, bfs neighbours behind each other, community those
    /// together that are linked among each other
    #[arg(long, value_name = "ORDER")]
    order: NodeOrder,
    #[command(flatten)]
    work: WorkFlags,
}

pub fn run(flags: &Flags, interruption: &Interruption) -> anyhow::Result<Outcome> {
    let budget = flags.work.budget();
    let start = Instant::now();
    let report = {
        let _guard = interruption.while_writing();
        let progress = ProgressBar::new(flags.work.quiet, interruption);
        let observer = |report| progress.observe(report);
        let options = BuildOptions::new()
            .order(flags.order)
            .overwrite(flags.work.overwrite)
            .budget(budget)
            .observer(&observer);
        flags.work.install(|| reorder(&flags.dataset, &flags.out, &options))?
    };
    if !flags.work.quiet {
        output::print(&text(&flags.out, &report, start.elapsed()))?;
    }
    Ok(Outcome::Fine)
}

fn text(out: &Path, report: &ReorderReport, elapsed: Duration) -> String {
    let (node, edge) = (report.manifest.node(), report.manifest.edge());
    let bytes = report.manifest.files().map(|file| file.bytes).sum();
    let stages =
        report.stages.iter().map(|(name, time)| format!("{name} {:.2} s", time.as_secs_f64()));
    format!(
        "{}: {} nodes, {} edges, {} order\n  {:<10} {} in {:.2} s: {}\n  {:<10} {} at most\n",
        out.display(),
        grouped(node.count),
        grouped(edge.count),
        report.manifest.order,
        "written",
        format_size(bytes),
        elapsed.as_secs_f64(),
        stages.collect::<Vec<_>>().join(", "),
        "memory",
        format_size(report.peak_memory),
    )
}
