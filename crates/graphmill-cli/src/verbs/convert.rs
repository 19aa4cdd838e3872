//! `graphmill convert`: one file into another kind of file.
//! What the source is, its first bytes tell; what the target shall be, its name and `--to`. The ingest crate converts;
//! here is only what is asked and what is reported.

use super::Outcome;
use crate::counts::counted;
use crate::edge_list_flags::EdgeListFlags;
use crate::interruption::Interruption;
use crate::output;
use crate::progress_bar::ProgressBar;
use crate::storage_flags::{DirectionFlags, WorkFlags};
use anyhow::bail;
use clap::{Args, ValueEnum};
use graphmill::disk::format_size;
use graphmill::format::{ElementType, ListOrder};
use graphmill::ingest::convert::convert;
use graphmill::ingest::convert::{
    ConvertOptions, ConvertReport, SourceKind, TargetFormat, TargetKind,
};
use std::path::PathBuf;
use std::time::Instant;

const AFTER_HELP: &str = "\
Sources and their targets:
  .gl of graphmill or GraphZero   .gl, .npy (int64 [2, edges]), .csv
  .gd of graphmill or GraphZero   .gd, .npy
  .npy                            .gd, or when it holds edges .gl, .csv
  edges: text, .gz, .zst, .npz     .gl

What is not said is taken over from a .gl; plain edges become out-lists in id order.

Example:
  graphmill convert edges.npy graph.gl --undirected";

/// Convert one file: edges into a .gl, features into a .gd, and back
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// The file to read
    source: PathBuf,
    /// The file to write
    target: PathBuf,
    /// What to write, where the name of TARGET does not tell
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FormatName>,
    #[command(flatten)]
    direction: DirectionFlags,
    /// The order of the neighbours within a list
    #[arg(long, value_enum, value_name = "ORDER")]
    neighbor_order: Option<OrderName>,
    /// The type of the neighbours in a .gl; auto takes the narrowest
    #[arg(long, value_enum, default_value_t = Encoding::Auto)]
    encoding: Encoding,
    #[command(flatten)]
    edges: EdgeListFlags,
    #[command(flatten)]
    work: WorkFlags,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatName {
    Graphmill,
    Graphzero,
    Npy,
    Csv,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    Id,
    Time,
    File,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Encoding {
    Auto,
    I32,
    I64,
}

pub fn run(flags: &Flags, interruption: &Interruption) -> anyhow::Result<Outcome> {
    let Flags { source, target, .. } = flags;
    if !source.exists() {
        bail!("`{}` does not exist: give edges, a .gl, a .gd or a .npy", source.display());
    }
    if source.is_dir() {
        bail!(
            "`{}` is a folder: convert takes one file, such as a .gl or .gd inside it",
            source.display()
        );
    }
    super::check_folder_of(target)?;
    let budget = flags.work.budget();
    let start = Instant::now();
    let report = {
        let _guard = interruption.while_writing();
        let progress = ProgressBar::new(flags.work.quiet, interruption);
        let observer = |report| progress.observe(report);
        convert(source, target, &options(flags).budget(budget.clone()).observer(&observer))?
    };
    if report.skipped > 0 {
        let rows = counted(report.skipped, "row", "rows");
        output::complain(&format!("warning: {rows} of `{}` skipped\n", source.display()));
    }
    if !flags.work.quiet {
        output::print(&format!(
            "{}: {} from {}: {}, {}\n{:.2} s, at most {} of the memory budget of {} in use\n",
            target.display(),
            report.target.name(),
            report.source.name(),
            content(&report),
            format_size(report.length),
            start.elapsed().as_secs_f64(),
            format_size(budget.peak()),
            format_size(budget.total()),
        ))?;
    }
    Ok(Outcome::Fine)
}

fn options(flags: &Flags) -> ConvertOptions<'static> {
    let options = ConvertOptions::new().overwrite(flags.work.overwrite).csv_header(true);
    let mut options = flags.edges.apply(options);
    if let Some(format) = flags.to {
        options = options.to(match format {
            FormatName::Graphmill => TargetFormat::Graphmill,
            FormatName::Graphzero => TargetFormat::GraphZero,
            FormatName::Npy => TargetFormat::Npy,
            FormatName::Csv => TargetFormat::Csv,
        });
    }
    if let Some(directions) = flags.direction.directions() {
        options = options.directions(directions);
    }
    if let Some(order) = flags.neighbor_order {
        options = options.order(match order {
            OrderName::Id => ListOrder::Id,
            OrderName::Time => ListOrder::Time,
            OrderName::File => ListOrder::File,
        });
    }
    match flags.encoding {
        Encoding::Auto => options,
        Encoding::I32 => options.neighbours(ElementType::I32),
        Encoding::I64 => options.neighbours(ElementType::I64),
    }
}

fn content(report: &ConvertReport) -> String {
    let is_table = matches!(report.target, TargetKind::Table | TargetKind::GraphZeroTable)
        || matches!(report.source, SourceKind::Table | SourceKind::GraphZeroTable);
    if is_table {
        counted(report.rows, "row", "rows")
    } else {
        counted(report.rows, "edge", "edges")
    }
}
