//! How fast lists are read one by one: `list_speed GRAPH.gl [in|out] [mapped|ram]`, as one line of JSON.
//!
//! Nanoseconds for a neighbour when whole lists of random nodes are read, asked for one by one and many at once; for the
//! k-th neighbour of the longest list; and for an edge when picks come a block at a time, as samplers read them. Each is
//! the best of some rounds.
#![expect(clippy::print_stdout, reason = "a program")]

use graphmill_disk::Budget;
use graphmill_format::Direction;
use graphmill_store::{Graph, Lists, Placement};
use std::hint::black_box;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const ROUNDS: u64 = 7;
const LISTS: u64 = 200_000;
/// Lists that are asked for at once.
const MANY: usize = 1024;
/// Picks that are announced together, and how often.
const PICKS: usize = 512;
const BLOCKS: usize = 1000;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("which graph?")?;
    let direction = match arguments.get(1).map(String::as_str) {
        Some("out") => Direction::Out,
        _ => Direction::In,
    };
    let placement = arguments.get(2).map_or(Ok(Placement::Ram), |name| name.parse())?;
    let graph = Graph::open(path)?.placed(placement, &Budget::unlimited())?;
    let lists = graph.lists(direction)?;
    let (mut hub, mut degree) = (0, 0);
    for node in 0..lists.num_nodes() {
        let found = lists.degree(node)?;
        if found > degree {
            (hub, degree) = (node, found);
        }
    }
    let (mut whole, mut many) = (f64::MAX, f64::MAX);
    let (mut single, mut picked) = (f64::MAX, f64::MAX);
    for round in 0..ROUNDS {
        let mut random = Random(round + 1);
        let (seconds, edges) = read_lists(&lists, &mut random)?;
        whole = whole.min(seconds / edges as f64);
        many = many.min(read_many(&lists, &mut Random(round + 1))? / edges as f64);
        single = single.min(read_hub(&lists, hub, &mut random)?);
        picked = picked.min(read_picks(&lists, &mut random));
    }
    println!(
        "{{\"neighbour_ns\": {:.2}, \"neighbour_at_once_ns\": {:.2}, \"hub_degree\": {degree}, \
         \"kth_of_hub_ns\": {single:.1}, \"pick_ns\": {picked:.1}}}",
        whole * 1e9,
        many * 1e9,
    );
    Ok(())
}

/// Seconds for whole lists of random nodes, one after the other, and the edges in them.
fn read_lists(lists: &Lists<'_>, random: &mut Random) -> Outcome<(f64, usize)> {
    let mut ids = Vec::new();
    let mut edges = 0;
    let start = Instant::now();
    for _ in 0..LISTS {
        let range = lists.range(random.below(lists.num_nodes()))?;
        if ids.len() < range.len() {
            ids.resize(range.len(), 0);
        }
        lists.neighbours().read_list(range.start, &mut ids[..range.len()]);
        edges += black_box(&ids[..range.len()]).len();
    }
    Ok((start.elapsed().as_secs_f64(), edges))
}

/// Seconds for the same lists, asked for many at a time.
fn read_many(lists: &Lists<'_>, random: &mut Random) -> Outcome<f64> {
    let nodes: Vec<i64> = (0..LISTS).map(|_| random.below(lists.num_nodes()) as i64).collect();
    let (mut ranges, mut ids) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for nodes in nodes.chunks(MANY) {
        ranges.clear();
        lists.ranges(nodes, &mut ranges)?;
        let edges = ranges.iter().map(ExactSizeIterator::len).sum();
        if ids.len() < edges {
            ids.resize(edges, 0);
        }
        lists.read_lists(&ranges, &mut ids[..edges])?;
        black_box(&ids[..edges]);
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Nanoseconds for one neighbour of a node, each asked for when the one before is known.
fn read_hub(lists: &Lists<'_>, hub: u64, random: &mut Random) -> Outcome<f64> {
    let range = lists.range(hub)?;
    let degree = range.len() as u64;
    let mut found = 0;
    let start = Instant::now();
    for _ in 0..LISTS {
        let k = (random.below(degree) + (found & 1)) % degree;
        found = lists.neighbour(range.start + k as usize)?;
    }
    black_box(found);
    Ok(start.elapsed().as_secs_f64() * 1e9 / LISTS as f64)
}

/// Nanoseconds per edge for random positions, announced and read a block at a time.
fn read_picks(lists: &Lists<'_>, random: &mut Random) -> f64 {
    let count = lists.neighbours().len() as u64;
    let positions = BLOCKS * PICKS;
    let positions: Vec<usize> = (0..positions).map(|_| random.below(count) as usize).collect();
    let mut ids = Vec::with_capacity(PICKS);
    let start = Instant::now();
    for positions in positions.chunks(PICKS) {
        lists.neighbours().prefetch(positions);
        ids.clear();
        lists.neighbours().read(positions, &mut ids);
        black_box(&ids);
    }
    start.elapsed().as_secs_f64() * 1e9 / positions.len() as f64
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        let step = 1_442_695_040_888_963_407;
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
        ((u128::from(self.0 >> 11) * u128::from(limit)) >> 53) as u64
    }
}
