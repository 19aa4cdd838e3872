//! `graphmill sample`: how fast neighbourhoods are sampled from a graph.
//! Draws seeds, samples their neighbourhoods batch by batch and counts; nothing is kept and nothing is written. The
//! samples are those that a loader would make of the same seeds.

use super::{Outcome, open_graph, usage};
use crate::counts::{self, counted, grouped};
use crate::drawn_nodes::draw_nodes;
use crate::follow::Follow;
use crate::output;
use crate::residency::ResidencyName;
use anyhow::bail;
use clap::{Args, ValueEnum};
use graphmill::disk::{self, Budget};
use graphmill::format::Direction;
use graphmill::sample::random::{Key, Purpose};
use graphmill::sample::{self, Batches, FanoutOptions, Method, sample_batches};
use graphmill::store::{Announce, Placement};
use serde::Serialize;
use std::fmt::Write;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

const AFTER_HELP: &str = "\
Seeds are nodes with neighbours in the direction followed, drawn at random. The first batch is not
timed: it pays for the pages of the file that are not in memory yet. Some hundred batches of
--warm-up show the pace of a long run, which reads a copy of the lists on huge pages.

JSON keys: path, num_nodes, num_edges, direction, method, fanouts, replace, weighted, batch_size,
batches, warm_up, threads, seed, residency, announce, seconds, batches_per_second, edges_per_second,
edges_per_batch, nodes_per_batch

Example:
  graphmill sample papers/ --fanouts 15,10,5 --batches 200 --threads 2";

/// Measure how fast neighbourhoods are sampled
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// A dataset folder or a .gl
    dataset: PathBuf,
    /// Neighbours to pick per node in each hop; -1 takes all
    #[arg(
        long,
        value_name = "K,...",
        value_delimiter = ',',
        required = true,
        allow_hyphen_values = true
    )]
    fanouts: Vec<i64>,
    /// Seeds of a batch
    #[arg(long, value_name = "N", default_value = "1024", value_parser = counts::parse)]
    batch_size: u64,
    /// Number of batches to time
    #[arg(long, value_name = "N", default_value = "100", value_parser = counts::parse)]
    batches: u64,
    /// Batches before the clock starts
    #[arg(long, value_name = "N", default_value = "1", value_parser = counts::parse)]
    warm_up: u64,
    /// Edges to follow: in as message passing does, or out
    #[arg(long, value_enum, default_value_t = Follow::In)]
    direction: Follow,
    /// Let an edge be picked several times
    #[arg(long)]
    replace: bool,
    /// Pick edges in proportion to their weights
    #[arg(long)]
    weighted: bool,
    /// How edges are picked: each list by itself, or with numbers shared by all lists of a hop
    #[arg(long, value_enum, default_value_t = MethodName::Uniform)]
    method: MethodName,
    /// Where the topology is read from: the mapped file, or a copy in memory on huge pages; auto copies what is read much
    #[arg(long, value_enum, default_value_t = ResidencyName::Auto)]
    residency: ResidencyName,
    /// Whether pages of the mapped file are announced to the disk in bulk: when they are not in memory, always, or never
    #[arg(long, value_enum, default_value_t = AnnounceName::Auto)]
    announce: AnnounceName,
    /// Memory to work in, such as 512MiB [default: a quarter of the machine's or cgroup's]
    #[arg(long, value_name = "SIZE", value_parser = disk::parse_size)]
    memory: Option<u64>,
    /// Threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Another seed gives other nodes and other samples
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print nothing: the exit code tells whether sampling works
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodName {
    Uniform,
    Labor,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AnnounceName {
    Auto,
    On,
    Off,
}

#[derive(Debug, Serialize)]
struct Measured {
    path: PathBuf,
    num_nodes: u64,
    num_edges: u64,
    direction: &'static str,
    method: &'static str,
    fanouts: Vec<i64>,
    replace: bool,
    weighted: bool,
    batch_size: u64,
    batches: u64,
    warm_up: u64,
    threads: usize,
    seed: u64,
    residency: &'static str,
    announce: &'static str,
    seconds: f64,
    batches_per_second: f64,
    edges_per_second: f64,
    edges_per_batch: f64,
    nodes_per_batch: f64,
}

pub fn run(flags: &Flags) -> anyhow::Result<Outcome> {
    for (name, number) in [("batch-size", flags.batch_size), ("batches", flags.batches)] {
        if number == 0 {
            return Err(usage("sample", format!("--{name} is 0, expected at least 1")).into());
        }
    }
    let measured = measure(flags)?;
    if flags.json {
        output::print(&(serde_json::to_string_pretty(&measured)? + "\n"))?;
    } else if !flags.quiet {
        output::print(&describe(&measured))?;
    }
    Ok(Outcome::Fine)
}

fn measure(flags: &Flags) -> anyhow::Result<Measured> {
    let budget = Budget::new(flags.memory.unwrap_or_else(disk::default_budget));
    let placement = Placement::from(flags.residency);
    let (announce, announce_name) = match flags.announce {
        AnnounceName::Auto => (Announce::Auto, "auto"),
        AnnounceName::On => (Announce::Always, "on"),
        AnnounceName::Off => (Announce::Never, "off"),
    };
    let graph =
        open_graph(&flags.dataset, &budget)?.announced(announce).placed(placement, &budget)?;
    let follow = Direction::from(flags.direction);
    let (method, method_name) = match flags.method {
        MethodName::Uniform => (Method::Uniform, "uniform"),
        MethodName::Labor => (Method::Labor { layer_dependency: false }, "labor"),
    };
    let options = FanoutOptions::new(flags.fanouts.as_slice())
        .replace(flags.replace)
        .weighted(flags.weighted)
        .method(method)
        .seed(flags.seed);
    options.check()?;
    let threads = match flags.threads {
        Some(threads) => threads.into(),
        None => std::thread::available_parallelism().map_or(1, NonZero::get),
    };
    let (mut batches, mut edges, mut nodes) = (0, 0, 0);
    let mut draw = Key::new(flags.seed, Purpose::Shuffle).stream();
    // As many seeds at a time as fit easily, and every thread finds enough to do; in between, the graph may be copied.
    let at_once = (1_u64 << 16).div_ceil(flags.batch_size).max(8 * threads as u64);
    let mut seconds = 0.0;
    let mut seeds = Vec::new();
    let mut warmed = 0;
    while batches < flags.batches {
        let is_timed = warmed == flags.warm_up;
        let left = if is_timed { flags.batches - batches } else { flags.warm_up - warmed };
        let now = at_once.min(left);
        let count = now.checked_mul(flags.batch_size).filter(|&count| count < 1 << 40);
        let Some(count) = count else {
            bail!("batches of {} seeds do not fit into memory", flags.batch_size)
        };
        let _held = budget.reserve(count * 8, "the seeds")?;
        let lists = graph.lists(follow)?;
        draw_nodes(&lists, count, &mut draw, &mut seeds)?;
        let plan = Batches::new(&seeds, flags.batch_size as usize).threads(threads).budget(&budget);
        let start = Instant::now();
        let (mut more_edges, mut more_nodes) = (0, 0);
        let numbered = options.clone().batch(batches);
        sample_batches(&lists, &plan, &numbered, follow, |_, found| {
            more_edges += found.row.len() as u64;
            more_nodes += found.nodes.len() as u64;
            Ok::<(), sample::Error>(())
        })?;
        if is_timed {
            seconds += start.elapsed().as_secs_f64();
            (batches, edges, nodes) = (batches + now, edges + more_edges, nodes + more_nodes);
        } else {
            warmed += now;
        }
    }
    let a_batch = |count: u64| count as f64 / batches as f64;
    let a_second = |count: u64| count as f64 / f64::max(seconds, f64::MIN_POSITIVE);
    Ok(Measured {
        path: flags.dataset.clone(),
        num_nodes: graph.num_nodes(),
        num_edges: graph.num_edges(),
        direction: follow.name(),
        method: method_name,
        fanouts: flags.fanouts.clone(),
        replace: flags.replace,
        weighted: flags.weighted,
        batch_size: flags.batch_size,
        batches,
        warm_up: flags.warm_up,
        threads,
        seed: flags.seed,
        residency: graph.placement().name(),
        announce: announce_name,
        seconds,
        batches_per_second: a_second(batches),
        edges_per_second: a_second(edges),
        edges_per_batch: a_batch(edges),
        nodes_per_batch: a_batch(nodes),
    })
}

fn describe(measured: &Measured) -> String {
    let Measured { path, direction, method, fanouts, seconds, .. } = measured;
    let fanouts: Vec<String> = fanouts.iter().map(i64::to_string).collect();
    let mut manner = format!("{method}, {direction}-edges");
    for (is_so, word) in [(measured.weighted, "weighted"), (measured.replace, "with replacement")] {
        if is_so {
            let _ = write!(manner, ", {word}");
        }
    }
    format!(
        "{}: {} nodes, {} edges\n\
         fan-outs {} of {}, {manner}, {}\n\
         {} in {seconds:.3} s: {:.1} batches/s, {} edges/s\n\
         {} nodes and {} edges a batch\n",
        path.display(),
        grouped(measured.num_nodes),
        grouped(measured.num_edges),
        fanouts.join(","),
        counted(measured.batch_size, "seed", "seeds"),
        counted(measured.threads as u64, "thread", "threads"),
        counted(measured.batches, "batch", "batches"),
        measured.batches_per_second,
        grouped(measured.edges_per_second as u64),
        grouped(measured.nodes_per_batch.round() as u64),
        grouped(measured.edges_per_batch.round() as u64),
    )
}
