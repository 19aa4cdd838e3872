//! How long numbering takes, for whoever asks: `cargo test --release numbering::tests::speed --
//! --ignored --nocapture`. Nothing is asserted of the time.

#![expect(clippy::print_stderr, reason = "it is a measurement")]

use std::time::Instant;

use super::*;
use crate::generate::{EdgeSource, Rmat};

const CHUNK: u64 = 1 << 15;

/// Edges of a benchmark graph, made beforehand so that making them is not measured.
struct Made(Vec<(Vec<u64>, Vec<u64>)>);

fn made(rows: u64) -> Made {
    let graph = Rmat::builder(22, rows).build().unwrap();
    let chunks = Mutex::new(vec![(Vec::new(), Vec::new()); (rows / CHUNK) as usize]);
    share_out(
        2,
        (rows / CHUNK) as usize,
        || (),
        |(), index| {
            let (mut sources, mut to) = (vec![0; CHUNK as usize], vec![0; CHUNK as usize]);
            graph.fill(index as u64 * CHUNK, &mut sources, &mut to);
            chunks.lock().unwrap()[index] = (sources, to);
            Ok(())
        },
    )
    .unwrap();
    Made(chunks.into_inner().unwrap())
}

fn push(made: &Made, take: impl Fn(&EdgeChunk<'_>, &[u64], &[u64]) -> Result<()> + Sync) {
    share_out(
        2,
        made.0.len(),
        || (),
        |(), index| {
            let (sources, to) = &made.0[index];
            take(&EdgeChunk::new(index as u64 * CHUNK, sources, to), sources, to)
        },
    )
    .unwrap();
}

/// Seconds that all threads of the process have computed, in hundredths; Linux only.
fn computed() -> f64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else { return 0.0 };
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), computed());
    let outcome = work();
    let (elapsed, computed) = (start.elapsed().as_secs_f64(), computed() - before);
    eprintln!("{what:24} {elapsed:6.3} s, {computed:.2} s of all cores");
    outcome
}

fn drain(numbering: &Numbering, log: &EdgeLog) -> u64 {
    let sum = std::sync::atomic::AtomicU64::new(0);
    let stage = Mutex::new(Stage::new(None, "test", log.rows()));
    let consume = |chunk: EdgeChunk<'_>| {
        let part: u64 = match chunk.ids {
            crate::edge_sort::ChunkIds::Narrow(sources, to) => {
                sources.iter().chain(to).map(|&id| u64::from(id)).sum()
            }
            crate::edge_sort::ChunkIds::Wide(sources, to) => sources.iter().chain(to).sum(),
        };
        sum.fetch_add(part, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    };
    numbering.replay(log, &stage, &consume).unwrap();
    sum.into_inner()
}

#[test]
#[ignore = "a measurement"]
fn heat_of_64_million_edges() {
    let made = made(64 << 20);
    for memory in [512_u64 << 20, 64 << 20] {
        for _ in 0..2 {
            let bench = Bench::new(memory);
            eprintln!("memory {} MiB", memory >> 20);
            let log = timed("log", || {
                let log = EdgeLogWriter::new(&bench.workspace, LogColumns::default(), memory / 8);
                let log = log.unwrap();
                push(&made, |chunk, _, _| log.push(chunk));
                log.finish().unwrap()
            });
            let heat = Heat::at(End::Source);
            let plain = || Numbering::plain(&bench.workspace).unwrap();
            let (numbering, log) =
                timed("by visits", || plain().ordered(log, Order::Visits(heat), None).unwrap());
            drop(numbering);
            let (numbering, log) = timed("count and number", || {
                plain().ordered(log, Order::Heat(heat), None).unwrap()
            });
            timed("replay", || drain(&numbering, &log));
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn mapping_of_64_million_edges() {
    let mut made = made(64 << 20);
    for (sources, to) in &mut made.0 {
        sources.iter_mut().chain(to).for_each(|id| *id = mixed(*id));
    }
    for memory in [1_u64 << 30, 128 << 20] {
        let bench = Bench::new(memory);
        eprintln!("memory {} MiB", memory >> 20);
        let (ids, log) = timed("log and collect", || {
            let ids = IdCollector::new(&bench.workspace, memory / 4).unwrap();
            let columns = LogColumns::default();
            let log = EdgeLogWriter::new(&bench.workspace, columns, memory / 8).unwrap();
            push(&made, |chunk, sources, to| {
                ids.push(sources)?;
                ids.push(to)?;
                log.push(chunk)
            });
            (ids, log.finish().unwrap())
        });
        let ids = timed("sort ids", || ids.finish(None).unwrap());
        let numbering = timed("index", || Numbering::mapped(&bench.workspace, ids).unwrap());
        timed("replay", || drain(&numbering, &log));
        let (numbering, log) = timed("by heat", || {
            numbering.ordered(log, Order::Heat(Heat::at(End::Both)), None).unwrap()
        });
        timed("replay by heat", || drain(&numbering, &log));
    }
}
