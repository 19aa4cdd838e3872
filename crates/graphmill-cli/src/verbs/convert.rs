//! `graphmill convert`: one file into another kind of file.
//! What the source is, its first bytes tell; what the target shall be, its name and `--to`. The ingest crate converts;
//! here is only what is asked and what is reported.

use super::Outcome;
use crate::counts::{counted, grouped};
use crate::interruption::Interruption;
use crate::output;
use crate::progress_bar::ProgressBar;
use crate::source_flags::SourceFlags;
use crate::storage_flags::WorkFlags;
use crate::topology_flags::TopologyFlags;
use anyhow::bail;
use clap::{Args, ValueEnum};
use graphmill::disk::format_size;
use graphmill::ingest::convert::convert_files;
use graphmill::ingest::convert::{
    ConvertOptions, ConvertReport, SourceKind, TargetFormat, TargetKind,
};
use std::path::PathBuf;
use std::time::Instant;

const AFTER_HELP: &str = "\
Sources and their targets:
  .gl of graphmill or GraphZero   .gl, .npy (int64 [2, edges]), .csv, .parquet
  .gd of graphmill or GraphZero   .gd, .npy, .csv (a line for each row), .parquet
  a dataset                       as its .gl, or one of its tables as that .gd (--table)
  .npy                            .gd, or when it holds edges .gl, .csv, .parquet
  text, .gz, .zst, .npz, Parquet  .gl when it holds edges, .gd when it holds rows

What is not said is taken over from a .gl; plain edges become out-lists in id order. Rows are in the
order of the ids unless a column is named id or node_id.

A .csv or .parquet of edges has the columns source, destination, weight and time where there are
weights or times, in the order of the stored edge ids (and edge_id where these leave gaps); each
edge of an undirected graph is one row. Nodes have the ids that they had before they were
renumbered, or their names. A .csv of a .gd has no header, and numbers that read back to the same.
What a target has no place for is named in a warning.

Ids that are scattered or words are numbered by `graphmill build --map-ids` or `--string-ids`.

Examples:
  graphmill convert edges.csv graph.gl --undirected --memory 512MiB
  graphmill convert features.csv features.gd --dtype f16
  graphmill convert 'part-*.csv.gz' graph.gl --to graphzero
  graphmill convert papers/ edges.parquet
  graphmill convert papers/ year.csv --table year";

/// Convert one file or a dataset: edges into a .gl, features into a .gd, and back
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// The files to read, one after the other, a pattern like 'part-*.csv', or the folder of a dataset
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The file to write
    target: PathBuf,
    /// What to write, where the name of TARGET does not say it
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<FormatName>,
    /// Write this table of a dataset, with the ids of its rows
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Name nodes by their numbers in the .gl, not by the ids or names that they had before
    #[arg(long)]
    internal_ids: bool,
    #[arg(long, hide = true)]
    map_ids: bool,
    #[arg(long, hide = true)]
    string_ids: bool,
    /// Let rows of a .gd start on multiples of 512 bytes
    #[arg(long)]
    align_rows: bool,
    #[command(flatten)]
    source: SourceFlags,
    #[command(flatten)]
    topology: TopologyFlags,
    #[command(flatten)]
    work: WorkFlags,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatName {
    Graphmill,
    Graphzero,
    Npy,
    Csv,
    Parquet,
}

pub fn run(flags: &Flags, interruption: &Interruption) -> anyhow::Result<Outcome> {
    let Flags { sources, target, .. } = flags;
    if flags.map_ids || flags.string_ids {
        let flag = if flags.map_ids { "--map-ids" } else { "--string-ids" };
        bail!(
            "one file has no room for a numbering of nodes: use `graphmill build OUT --edges FILE {flag}`"
        );
    }
    super::check_folder_of(target)?;
    let budget = flags.work.budget();
    let start = Instant::now();
    let report = {
        let _guard = interruption.while_writing();
        let progress = ProgressBar::new(flags.work.quiet, interruption);
        let observer = |report| progress.observe(report);
        let options = options(flags).budget(budget.clone()).observer(&observer);
        flags.work.install(|| convert_files(sources, target, &options))?
    };
    if report.skipped > 0 {
        let rows = counted(report.skipped, "row", "rows");
        output::complain(&format!("warning: {rows} of `{}` skipped\n", sources[0].display()));
    }
    if let Some(what) = report.warning().filter(|_| !flags.work.quiet) {
        output::complain(&format!("warning: {what}\n"));
    }
    if !flags.work.quiet {
        output::print(&format!(
            "{}: {} from {}: {}, {}\n{:.2} s, at most {} of the memory budget of {} in use\n",
            target.display(),
            report.target.name(),
            report.source.name(),
            content(&report, flags.table.is_some()),
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
    let mut options = flags
        .topology
        .convert(options)
        .input(flags.source.input())
        .table(flags.source.table())
        .align_rows(flags.align_rows)
        .internal_ids(flags.internal_ids);
    if let Some(table) = &flags.table {
        options = options.exported_table(table);
    }
    if let Some(format) = flags.to {
        options = options.to(match format {
            FormatName::Graphmill => TargetFormat::Graphmill,
            FormatName::Graphzero => TargetFormat::GraphZero,
            FormatName::Npy => TargetFormat::Npy,
            FormatName::Csv => TargetFormat::Csv,
            FormatName::Parquet => TargetFormat::Parquet,
        });
    }
    options
}

fn content(report: &ConvertReport, of_dataset: bool) -> String {
    let is_table = of_dataset
        || matches!(report.target, TargetKind::Table | TargetKind::GraphZeroTable)
        || matches!(report.source, SourceKind::Table | SourceKind::GraphZeroTable);
    if is_table {
        let rows = counted(report.rows, "row", "rows");
        match report.filled {
            0 => rows,
            filled => format!("{rows}, {} of them without a source and zero", grouped(filled)),
        }
    } else {
        counted(report.rows, "edge", "edges")
    }
}
