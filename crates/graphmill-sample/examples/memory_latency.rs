//! What memory allows a sampler: `memory_latency GRAPH.gl [THREADS] [MILLIONS] [mapped|ram]`.
//! Reads random places of the neighbours that sampling reads, in the mapped file or a copy of it: one after the other, so that each
//! waits for the one before, and independently of each other, announced some reads ahead. The first is the limit of a
//! sampler that waits, the second of one that never does.
#![expect(clippy::print_stdout, reason = "a program")]

use graphmill_disk::{Budget, prefetch};
use graphmill_format::Direction;
use graphmill_sample::random::{Key, Purpose};
use graphmill_store::{Graph, Neighbours, Placement};
use std::hint::black_box;
use std::thread;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let graph = Graph::open(arguments.first().ok_or("which graph?")?)?;
    let placement = arguments.get(3).map_or(Ok(Placement::Mapped), |name| name.parse())?;
    let graph = graph.placed(placement, &Budget::unlimited())?;
    let (threads, reads) = (number(1, 1)?, number(2, 10)? * 1_000_000);
    let lists = graph.lists(Direction::In)?;
    let Neighbours::I32(neighbours) = lists.neighbours() else {
        return Err("the neighbours are not int32".into());
    };
    let read_once = neighbours.iter().fold(0_i32, |sum, &id| sum.wrapping_add(id));
    black_box(read_once);
    println!(
        "{threads} threads, {} MB of neighbours, {placement}",
        neighbours.len() * 4 / 1_000_000
    );
    report("drawing a place, nothing read", threads, reads, |thread| {
        let mut stream = Key::new(thread, Purpose::Shuffle).stream();
        (0..reads).map(|_| stream.below(neighbours.len() as u64)).fold(0, u64::wrapping_add)
    });
    report("dependent reads", threads, reads / 4, |thread| {
        let mut key = Key::new(thread, Purpose::Shuffle);
        for _ in 0..reads / 4 {
            let place = key.stream().below(neighbours.len() as u64) as usize;
            key = key.with(neighbours[place] as u64);
        }
        key.stream().word()
    });
    for ahead in [0, 4, 8, 16, 32, 64, 128] {
        let name = match ahead {
            0 => "independent reads, none announced".to_owned(),
            _ => format!("independent reads, announced {ahead} ahead"),
        };
        report(&name, threads, reads, |thread| {
            // The same places twice: once to announce them, once to read them.
            let mut announced = Key::new(thread, Purpose::Shuffle).stream();
            let mut read = announced.clone();
            let mut place_of = || announced.below(neighbours.len() as u64) as usize;
            (0..ahead).for_each(|_| prefetch(neighbours, place_of()));
            let mut sum = 0_u64;
            for _ in 0..reads {
                if ahead > 0 {
                    prefetch(neighbours, place_of());
                }
                let place = read.below(neighbours.len() as u64) as usize;
                sum = sum.wrapping_add(neighbours[place] as u64);
            }
            sum
        });
    }
    Ok(())
}

/// Does it on every thread at once and prints the nanoseconds that a read took on each.
fn report(name: &str, threads: usize, reads: usize, work: impl Fn(u64) -> u64 + Sync) {
    let start = Instant::now();
    thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let work = &work;
            scope.spawn(move || black_box(work(thread)));
        }
    });
    let nanoseconds = start.elapsed().as_secs_f64() * 1e9 / reads as f64;
    println!("{name:40} {nanoseconds:6.1} ns a read and thread");
}
