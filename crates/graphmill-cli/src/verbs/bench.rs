//! `graphmill bench`: what this machine makes of graphmill, section by section.
//! Inputs are generated, each section times its part and checks what it timed, and a report ends it. How anything is
//! built, sampled or read is unknown here: the crates below do the work, as they do it for every program.

mod bench_run;
mod cold;
mod features;
mod figure;
mod ingest;
mod inputs;
mod machine;
mod same_lists;
mod sampling;
mod shape;
mod text;
mod topology;
mod training;
mod walks;

use super::Outcome;
use crate::interruption::Interruption;
use crate::output;
use crate::progress_bar::{ProgressBar, Spinner};
use anyhow::anyhow;
use bench_run::BenchRun;
use clap::{Args, ValueEnum};
use figure::Section;
use graphmill::disk;
use inputs::Workplace;
use machine::{DiskRates, Machine};
use serde::Serialize;
use shape::Size;
use std::num::NonZero;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
Sections, in the order in which they run:
  ingest    edges from text into a dataset, and a table from .npy into a .gd
  topology  bits that an edge takes, plain and packed
  sampling  fan-outs 15,10,5 of 1024 seeds, plain and packed, by one thread and by all
  walks     uniform and node2vec walks of 20 steps
  features  rows by id, from the page cache and from the disk
  training  whole batches of a loader, from memory and from the disk, without a model

Sizes, all of R-MAT graphs:
  tiny      2^12 nodes, 40 thousand edges, 16 features: to try the command, figures mean nothing
  small     2^18 nodes, 4 million edges, 128 features: about half a minute
  medium    2^22 nodes, 64 million edges, 128 features: minutes, and 11 GiB of disk

Every figure is the median of the repeats, with the lowest and the highest. Warm figures read what
is in the page cache; for cold ones the system is told to forget the files first, which only Linux
can be. Where the disk sets a limit it is measured in the same run, and the share of it stands
beside the figure; tiny takes what inspect --disk kept. What was timed is checked: a wrong result
is an error. A training figure tells what the loader waited for most.

JSON keys: graphmill, machine (processor, cores, memory_bytes, cgroup_limit_bytes, system, kernel,
file_system), disk (random_4k_per_second, sequential_bytes_per_second, bytes_per_second; null if not
measured), size, num_nodes, num_edges, features, seed, threads, memory, repeats, sections: a list of
name, figures (name, unit, median, lowest, highest, repeats, threads, state: warm, cold or
unconfirmed, limit: null or name, value and share, note) and missing (name, reason)

Examples:
  graphmill bench
  graphmill bench sampling walks --threads 2 --json
  graphmill bench --size medium --work /data/bench --repeats 5";

/// Measure what this machine makes of graphmill, checking every result
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// What to measure [default: everything]
    #[arg(value_enum, value_name = "SECTION", hide_possible_values = true)]
    sections: Vec<SectionName>,
    /// How large the graph is
    #[arg(long, value_enum, default_value_t = Size::Small)]
    size: Size,
    /// A folder that keeps the inputs for the next time [default: a temporary one, removed at the end]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Memory to work in, such as 512MiB [default: a quarter of the machine's or cgroup's]
    #[arg(long, value_name = "SIZE", value_parser = disk::parse_size)]
    memory: Option<u64>,
    /// Threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// How often everything is timed
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    repeats: u16,
    /// Another seed gives another graph
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print nothing: the exit code tells whether all results are right
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SectionName {
    Ingest,
    Topology,
    Sampling,
    Walks,
    Features,
    Training,
}

impl SectionName {
    fn name(self) -> &'static str {
        match self {
            SectionName::Ingest => "ingest",
            SectionName::Topology => "topology",
            SectionName::Sampling => "sampling",
            SectionName::Walks => "walks",
            SectionName::Features => "features",
            SectionName::Training => "training",
        }
    }

    fn measure(self, run: &BenchRun<'_>) -> anyhow::Result<Section> {
        match self {
            SectionName::Ingest => ingest::measure(run),
            SectionName::Topology => topology::measure(run),
            SectionName::Sampling => sampling::measure(run),
            SectionName::Walks => walks::measure(run),
            SectionName::Features => features::measure(run),
            SectionName::Training => training::measure(run),
        }
    }

    fn needs_packed_lists(self) -> bool {
        matches!(self, SectionName::Topology | SectionName::Sampling)
    }

    fn needs_disk_rates(self) -> bool {
        matches!(self, SectionName::Ingest | SectionName::Features | SectionName::Training)
    }
}

/// All that is told; the names are keys of the JSON.
#[derive(Debug, Serialize)]
struct Told {
    graphmill: &'static str,
    machine: Machine,
    disk: Option<DiskRates>,
    size: Size,
    num_nodes: u64,
    num_edges: u64,
    features: usize,
    seed: u64,
    threads: usize,
    memory: u64,
    repeats: u16,
    sections: Vec<Section>,
}

pub fn run(flags: &Flags, interruption: &Interruption) -> anyhow::Result<Outcome> {
    let told = {
        let _guard = interruption.while_writing();
        measure(flags, interruption).map_err(|error| match interruption.is_requested() {
            true => {
                anyhow!("cancelled; finished inputs stay in the folder of --work, nothing else")
            }
            false => error,
        })?
    };
    if flags.json {
        output::print(&(serde_json::to_string_pretty(&told)? + "\n"))?;
    } else if !flags.quiet {
        output::print(&text::describe(&told))?;
    }
    Ok(Outcome::Fine)
}

fn measure(flags: &Flags, interruption: &Interruption) -> anyhow::Result<Told> {
    let asked = |name: &SectionName| flags.sections.is_empty() || flags.sections.contains(name);
    let names: Vec<_> = SectionName::value_variants().iter().copied().filter(asked).collect();
    let shape = flags.size.shape();
    let place = Workplace::prepare(flags.work.as_deref(), flags.size, flags.seed, &names)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = flags.threads.map_or(cores, Into::into);
    let memory = flags.memory.unwrap_or_else(disk::default_budget);
    let mut run = BenchRun::new(place, shape, flags, threads, memory, interruption)?;
    {
        let progress = ProgressBar::new(flags.quiet, interruption);
        let observer = |report| progress.observe(report);
        run.make_inputs(&names, &observer)?;
    }
    if names.iter().any(|name| name.needs_disk_rates()) {
        let _turning = Spinner::new(flags.quiet, "measuring the disk");
        run.measure_disk(flags.size)?;
    }
    let mut sections = Vec::new();
    for name in names {
        let _turning = Spinner::new(flags.quiet, format!("measuring {}", name.name()));
        run.go_on()?;
        sections.push(name.measure(&run)?);
    }
    Ok(Told {
        graphmill: env!("CARGO_PKG_VERSION"),
        machine: Machine::of(run.place.root()),
        disk: run.disk.as_ref().map(DiskRates::of),
        size: flags.size,
        num_nodes: run.num_nodes(),
        num_edges: shape.edges,
        features: shape.features,
        seed: flags.seed,
        threads,
        memory,
        repeats: flags.repeats,
        sections,
    })
}
