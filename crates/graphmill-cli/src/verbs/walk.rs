//! `graphmill walk`: how fast random walks go through a graph.
//! Draws starts, walks from them call by call and counts; nothing is kept and nothing is written. The walks are those
//! that a program would get.

use super::{Outcome, open_graph};
use crate::counts::{self, counted, grouped};
use crate::drawn_nodes::draw_nodes;
use crate::follow::Follow;
use crate::output;
use crate::walked_steps::count_steps;
use anyhow::bail;
use clap::Args;
use graphmill::disk::{self, Budget};
use graphmill::sample::random::{Key, Purpose};
use graphmill::sample::{self, WalkOptions};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Walks of one call.
const AT_ONCE: u64 = 100_000;

const AFTER_HELP: &str = "\
Walks start at nodes with edges, drawn at random, or at those given. The first calls pay for the
pages of the file that are not in memory yet.

JSON keys: path, num_nodes, num_edges, direction, walks, length, p, q, weighted, restart, threads,
seed, steps, dead_ends, seconds, steps_per_second, walks_per_second

Example:
  graphmill walk papers/ --length 20 --p 1 --q 0.5 --threads 2";

/// Measure how fast random walks are
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// A dataset folder or a .gl
    dataset: PathBuf,
    /// Steps of each walk
    #[arg(long, value_name = "L", default_value = "20", value_parser = counts::parse)]
    length: u64,
    /// Number of walks, from starts drawn at random [default: 1M]
    #[arg(long, value_name = "N", value_parser = counts::parse, conflicts_with = "starts")]
    walks: Option<u64>,
    /// Nodes to start from, one walk each
    #[arg(long, value_name = "ID,...", value_delimiter = ',', allow_hyphen_values = true)]
    starts: Option<Vec<i64>>,
    /// Return parameter of node2vec
    #[arg(long, value_name = "P", default_value_t = 1.0)]
    p: f64,
    /// In-out parameter of node2vec
    #[arg(long, value_name = "Q", default_value_t = 1.0)]
    q: f64,
    /// Take edges in proportion to their weights [default where there are any]
    #[arg(long)]
    weighted: bool,
    /// Take all edges of a node equally often
    #[arg(long, conflicts_with = "weighted")]
    uniform: bool,
    /// Probability of going back to the start at each step
    #[arg(long, value_name = "R", default_value_t = 0.0)]
    restart: f64,
    /// Edges to follow
    #[arg(long, value_enum, default_value_t = Follow::Out)]
    direction: Follow,
    /// Memory to work in, such as 512MiB [default: a quarter of the machine's or cgroup's]
    #[arg(long, value_name = "SIZE", value_parser = disk::parse_size)]
    memory: Option<u64>,
    /// Threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Another seed gives other starts and other walks
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print nothing: the exit code tells whether walking works
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Serialize)]
struct Measured {
    path: PathBuf,
    num_nodes: u64,
    num_edges: u64,
    direction: &'static str,
    walks: u64,
    length: u64,
    p: f64,
    q: f64,
    weighted: bool,
    restart: f64,
    threads: usize,
    seed: u64,
    steps: u64,
    dead_ends: u64,
    seconds: f64,
    steps_per_second: f64,
    walks_per_second: f64,
}

pub fn run(flags: &Flags) -> anyhow::Result<Outcome> {
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
    let graph = open_graph(&flags.dataset, &budget)?;
    let direction = flags.direction.into();
    let weighted = match (flags.weighted, flags.uniform) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let Some(width) = usize::try_from(flags.length).ok().and_then(|length| length.checked_add(1))
    else {
        bail!("walks of {} steps do not fit into memory", grouped(flags.length))
    };
    let options = WalkOptions::new(width - 1)
        .node2vec(flags.p, flags.q)
        .weighted(weighted)
        .restart(flags.restart);
    let lists = graph.lists(direction)?;
    let pool = disk::with_threads(flags.threads.map(Into::into))?;
    let total = match &flags.starts {
        Some(starts) => starts.len() as u64,
        None => flags.walks.unwrap_or(1_000_000),
    };
    let at_once = total.min(AT_ONCE) as usize;
    let _held =
        budget.reserve((at_once as u64).saturating_mul(8 * (width as u64 + 1)), "the walks")?;
    let mut walks = vec![0; at_once * width];
    let mut draw = Key::new(flags.seed, Purpose::Shuffle).stream();
    let mut starts = Vec::new();
    let (mut done, mut steps, mut dead_ends, mut time) = (0, 0, 0, Duration::ZERO);
    while done < total {
        let now = at_once.min((total - done) as usize);
        match &flags.starts {
            Some(given) => starts = given[done as usize..][..now].to_vec(),
            None => draw_nodes(&lists, now as u64, &mut draw, &mut starts)?,
        }
        // Rows are numbered anew in each call: another seed keeps equal starts from equal walks.
        let options = options.clone().seed(flags.seed.wrapping_add(done / AT_ONCE));
        let walks = &mut walks[..now * width];
        let start = Instant::now();
        pool.install(|| sample::walk(&lists, &starts, &options, &budget, walks))?;
        time += start.elapsed();
        let (more_steps, more_dead_ends) = count_steps(walks, width);
        (steps, dead_ends) = (steps + more_steps, dead_ends + more_dead_ends);
        done += now as u64;
    }
    let seconds = time.as_secs_f64();
    let a_second = |count: u64| count as f64 / f64::max(seconds, f64::MIN_POSITIVE);
    Ok(Measured {
        path: flags.dataset.clone(),
        num_nodes: graph.num_nodes(),
        num_edges: graph.num_edges(),
        direction: direction.name(),
        walks: done,
        length: flags.length,
        p: flags.p,
        q: flags.q,
        weighted: weighted.unwrap_or_else(|| graph.has_weights()),
        restart: flags.restart,
        threads: pool.current_num_threads(),
        seed: flags.seed,
        steps,
        dead_ends,
        seconds,
        steps_per_second: a_second(steps),
        walks_per_second: a_second(done),
    })
}

fn describe(measured: &Measured) -> String {
    let Measured { path, direction, p, q, restart, seconds, .. } = measured;
    let mut manner = if measured.weighted { "weighted" } else { "uniform" }.to_owned();
    if (*p, *q) != (1.0, 1.0) {
        manner += &format!(", node2vec with p {p} and q {q}");
    }
    if *restart > 0.0 {
        manner += &format!(", restarted with probability {restart}");
    }
    format!(
        "{}: {} nodes, {} edges\n\
         {} of {}, {manner}, {direction}-edges, {}\n\
         {} in {seconds:.3} s: {} steps/s, {} walks/s\n\
         {}\n",
        path.display(),
        grouped(measured.num_nodes),
        grouped(measured.num_edges),
        counted(measured.walks, "walk", "walks"),
        counted(measured.length, "step", "steps"),
        counted(measured.threads as u64, "thread", "threads"),
        counted(measured.steps, "step", "steps"),
        grouped(measured.steps_per_second as u64),
        grouped(measured.walks_per_second as u64),
        counted(measured.dead_ends, "dead end", "dead ends"),
    )
}
