//! Sampled edges per second over a stream of batches: `throughput GRAPH.gl [THREADS] [BATCHES] [uniform|labor|disjoint|weighted] [auto|on|off] [mapped|ram]`.
#![expect(clippy::print_stdout, reason = "a program")]

use graphmill_disk::Budget;
use graphmill_format::Direction;
use graphmill_sample::random::{Key, Purpose};
use graphmill_sample::{Batches, Error, FanoutOptions, Method, sample_batches};
use graphmill_store::{Announce, Graph, Placement};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let graph = Graph::open(arguments.first().ok_or("which graph?")?)?;
    let graph = graph.announced(match arguments.get(4).map_or("auto", String::as_str) {
        "on" => Announce::Always,
        "off" => Announce::Never,
        _ => Announce::Auto,
    });
    let placement = arguments.get(5).map_or(Ok(Placement::Auto), |name| name.parse())?;
    let graph = graph.placed(placement, &Budget::unlimited())?;
    let (threads, batches) = (number(1, 1)?, number(2, 50)?);
    let options = FanoutOptions::new([15, 10, 5]).seed(1);
    let options = match arguments.get(3).map_or("uniform", String::as_str) {
        "labor" => options.method(Method::Labor { layer_dependency: false }),
        "disjoint" => options.disjoint(true),
        "weighted" => options.weighted(true),
        _ => options,
    };
    let mut stream = Key::new(0, Purpose::Shuffle).stream();
    let lists = graph.lists(Direction::In)?;
    let mut seeds: Vec<i64> = Vec::new();
    while seeds.len() < 1024 * batches {
        let seed = stream.below(graph.num_nodes());
        if lists.degree(seed)? > 0 {
            seeds.push(seed as i64);
        }
    }
    for _ in 0..3 {
        let (mut edges, mut nodes) = (0, 0);
        let start = Instant::now();
        let plan = Batches::new(&seeds, 1024).threads(threads);
        sample_batches(&lists, &plan, &options, Direction::In, |_, found| {
            edges += found.row.len();
            nodes += found.nodes.len();
            Ok::<(), Error>(())
        })?;
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{threads} threads: {:.1} M edges/s, {:.1} batches/s, {} edges and {} nodes a batch",
            edges as f64 / seconds / 1e6,
            batches as f64 / seconds,
            edges / batches,
            nodes / batches,
        );
    }
    Ok(())
}
