//! The section `walks`: how fast random walks go.
//! Uniform and node2vec walks from the same starts, by one thread and by all, which must give the same walks. How a step
//! is chosen is unknown here.

use super::bench_run::BenchRun;
use super::figure::{Figure, Section, State};
use crate::counts::counted;
use crate::drawn_nodes::draw_nodes;
use crate::walked_steps::count_steps;
use graphmill::disk;
use graphmill::format::Direction;
use graphmill::sample::{self, WalkOptions};
use std::time::Instant;

const LENGTH: usize = 20;
/// Places of a walk: its start and its steps.
const WIDTH: usize = LENGTH + 1;

pub fn measure(run: &BenchRun<'_>) -> anyhow::Result<Section> {
    let graph = run.dataset()?.graph().clone();
    let lists = graph.lists(Direction::Out)?;
    let budget = run.budget();
    let mut starts = Vec::new();
    draw_nodes(&lists, run.shape.walks, &mut run.draw(2), &mut starts)?;
    let _held = budget.reserve(2 * 8 * (starts.len() * WIDTH) as u64, "the walks")?;
    let (mut expected, mut walks) = (vec![0; starts.len() * WIDTH], vec![0; starts.len() * WIDTH]);
    let mut figures = Vec::new();
    for (name, q) in [("uniform", 1.0), ("node2vec, p 1 and q 0.5", 0.5)] {
        let options = WalkOptions::new(LENGTH).node2vec(1.0, q).seed(run.seed);
        let one = disk::with_threads(Some(1))?;
        // Brings pages in, and says what every other pass must give.
        one.install(|| sample::walk(&lists, &starts, &options, &budget, &mut expected))?;
        let (steps, _) = count_steps(&expected, WIDTH);
        for threads in run.thread_counts() {
            let pool = disk::with_threads(Some(threads))?;
            let by = counted(threads as u64, "thread", "threads");
            let seconds = run.timed(|| {
                let start = Instant::now();
                pool.install(|| sample::walk(&lists, &starts, &options, &budget, &mut walks))?;
                let time = start.elapsed();
                if walks != expected {
                    return Err(run.mismatch(format!("{name} walks by {by}"), "those by one"));
                }
                Ok(time)
            })?;
            let figure = Figure::rate(name, "steps/s", steps as f64, &seconds);
            figures.push(figure.threads(threads).state(State::Warm));
        }
    }
    Ok(Section { name: "walks", figures, missing: Vec::new() })
}
