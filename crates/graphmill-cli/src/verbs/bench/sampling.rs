//! The section `sampling`: how fast neighbourhoods are found.
//! The same seeds are sampled from plain and packed lists, by one thread and by all, and must give the same bytes. How a
//! neighbour is picked is unknown here.

use super::bench_run::BenchRun;
use super::figure::{Figure, Section, State};
use crate::counts::counted;
use crate::drawn_nodes::draw_nodes;
use graphmill::disk::Budget;
use graphmill::format::Direction;
use graphmill::sample::{self, Batches, FanoutOptions, Sample, sample_batches};
use graphmill::store::{Graph, Placement};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

pub const FANOUTS: [i64; 3] = [15, 10, 5];
const BATCH_SIZE: usize = 1024;

/// What a pass over all seeds found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    nodes: u64,
    edges: u64,
    /// Of every list; 0 if nobody looked.
    digest: u64,
}

/// One way to sample.
struct Sampling<'a> {
    graph: &'a Graph,
    seeds: &'a [i64],
    threads: usize,
    seed: u64,
    budget: &'a Budget,
}

pub fn measure(run: &BenchRun<'_>) -> anyhow::Result<Section> {
    let plain = run.dataset()?.graph().clone();
    let mut seeds = Vec::new();
    let count = (run.shape.sampled_batches * BATCH_SIZE) as u64;
    draw_nodes(&plain.lists(Direction::In)?, count, &mut run.draw(1), &mut seeds)?;
    let mut figures = Vec::new();
    let mut first: Option<Found> = None;
    for (encoding, graph) in [("i32", plain), ("packed", Graph::open(run.place.packed())?)] {
        for threads in run.thread_counts() {
            let budget = run.budget();
            let graph = graph.clone().placed(Placement::Auto, &budget)?;
            let graph = &graph;
            let way = Sampling { graph, seeds: &seeds, threads, seed: run.seed, budget: &budget };
            // The first pass brings pages in, and is the one whose every byte is looked at.
            let found = way.pass(true)?.0;
            let expected = *first.get_or_insert(found);
            let by = counted(threads as u64, "thread", "threads");
            let what = format!("samples of {encoding} lists by {by}");
            if found != expected {
                return Err(run.mismatch(&what, "those of i32 lists by one"));
            }
            let seconds = run.timed(|| {
                let (again, time) = way.pass(false)?;
                if (again.nodes, again.edges) != (found.nodes, found.edges) {
                    return Err(run.mismatch(&what, "those of the pass before"));
                }
                Ok(time)
            })?;
            let placement = graph.placement().name();
            let figure = Figure::rate(encoding, "edges/s", found.edges as f64, &seconds);
            figures.push(figure.threads(threads).state(State::Warm).note(placement));
        }
    }
    Ok(Section { name: "sampling", figures, missing: Vec::new() })
}

impl Sampling<'_> {
    /// Samples all seeds, and looks at every byte if asked to, which takes its time.
    fn pass(&self, looks: bool) -> anyhow::Result<(Found, std::time::Duration)> {
        let lists = self.graph.lists(Direction::In)?;
        let batches = Batches::new(self.seeds, BATCH_SIZE).threads(self.threads);
        let batches = batches.budget(self.budget);
        let options = FanoutOptions::new(FANOUTS).seed(self.seed);
        let (mut nodes, mut edges, mut hasher) = (0, 0, DefaultHasher::new());
        let start = Instant::now();
        sample_batches(&lists, &batches, &options, Direction::In, |_, found| {
            nodes += found.nodes.len() as u64;
            edges += found.row.len() as u64;
            if looks {
                digest(&found, &mut hasher);
            }
            Ok::<(), sample::Error>(())
        })?;
        let digest = if looks { hasher.finish() } else { 0 };
        Ok((Found { nodes, edges, digest }, start.elapsed()))
    }
}

/// Adds all that a sample holds.
pub fn digest(sample: &Sample, hasher: &mut DefaultHasher) {
    for ids in [&sample.nodes, &sample.row, &sample.col, &sample.edge_ids] {
        ids.hash(hasher);
    }
    (&sample.nodes_per_hop, &sample.edges_per_hop).hash(hasher);
}
