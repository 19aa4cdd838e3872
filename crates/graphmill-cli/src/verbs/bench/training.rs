//! The section `training`: how fast a loader makes batches, without a model.
//! First from memory, then from files that were forgotten and within a quarter of the dataset; both must give the same
//! batches, with the rows that were generated. How batches are made is unknown here.

use super::bench_run::BenchRun;
use super::cold::evict;
use super::figure::{Figure, Missing, Section, State};
use super::sampling::{FANOUTS, digest};
use graphmill::disk::{Budget, format_size};
use graphmill::format::{digest::digest as digest_of_bytes, manifest};
use graphmill::ingest::generate::NodeData;
use graphmill::load::{Batch, LoaderOptions, LoaderStats, NeighborLoader, Seeds};
use graphmill::store::Dataset;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a pass over the batches found; the same every time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    batches: u64,
    nodes: u64,
    edges: u64,
}

/// A quarter of a small dataset is less than reading takes whatever the data.
const LEAST_MEMORY: u64 = 48 << 20;

pub fn measure(run: &BenchRun<'_>) -> anyhow::Result<Section> {
    // By a loader of its own: who looks at every byte keeps batches waiting, and the other shall not tell of that.
    let expected = look_at_all(run, &loader(run, run.budget())?, true)?;
    let loader = loader(run, run.budget())?;
    // Once for the rows that stay in memory.
    timed_pass(run, &loader, expected.0)?;
    let seconds = run.timed(|| timed_pass(run, &loader, expected.0))?;
    let batches = expected.0.batches as f64;
    let figure = Figure::rate("batches from memory", "batches/s", batches, &seconds);
    let mut figures = vec![figure.threads(run.threads).state(State::Warm).note(bound(&loader))];
    let mut missing = Vec::new();
    let files = files(loader.dataset());
    let quarter = dataset_bytes(loader.dataset()) / 4;
    drop(loader);
    match cold(run, &files, quarter.max(LEAST_MEMORY), expected)? {
        Ok(cold) => figures.extend(cold),
        Err(reason) => missing.push(Missing { name: "batches from disk".to_owned(), reason }),
    }
    Ok(Section { name: "training", figures, missing })
}

fn cold(
    run: &BenchRun<'_>,
    files: &[PathBuf],
    memory: u64,
    expected: (Counts, u64),
) -> anyhow::Result<Result<[Figure; 2], String>> {
    let mut state = Ok(State::Cold);
    let (mut megabytes, mut limit) = (Vec::new(), String::new());
    let seconds = run.timed(|| {
        state = state.clone().and(evict(files)?);
        let loader = loader(run, Budget::new(memory))?;
        let time = timed_pass(run, &loader, expected.0)?;
        let stats: LoaderStats = loader.stats();
        megabytes.push(stats.reads.bytes_read as f64 / 1e6);
        limit = bound(&loader);
        Ok(time)
    })?;
    if look_at_all(run, &loader(run, Budget::new(memory))?, false)? != expected {
        return Err(run.mismatch("batches from disk", "those from memory"));
    }
    Ok(state.map(|state| {
        let batches = expected.0.batches as f64;
        let name = format!("batches from disk, within {}", format_size(memory));
        let rates = megabytes.iter().zip(&seconds).map(|(read, seconds)| read / seconds).collect();
        let bandwidth = run.disk.as_ref().map(|disk| disk.bandwidth() / 1e6);
        let cold = |figure: Figure| figure.threads(run.threads).state(state);
        [
            cold(Figure::rate(name, "batches/s", batches, &seconds)).note(limit),
            cold(Figure::of("rows read for them", "MB/s", rates))
                .limit("the disk's largest requests", bandwidth),
        ]
    }))
}

fn loader(run: &BenchRun<'_>, budget: Budget) -> anyhow::Result<Arc<NeighborLoader>> {
    let dataset = Dataset::open(run.place.dataset(), budget)?;
    let options = LoaderOptions::new(FANOUTS)
        .batch_size(run.shape.loaded_seeds)
        .shuffle(true)
        // As Python's loaders have it: two cores read and put together.
        .threads(run.threads.saturating_sub(2).max(1))
        .seed(run.seed);
    Ok(Arc::new(NeighborLoader::over(dataset, Seeds::Split("train".to_owned()), options)?))
}

/// Loads the batches and counts, which must give what is expected.
fn timed_pass(
    run: &BenchRun<'_>,
    loader: &Arc<NeighborLoader>,
    expected: Counts,
) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let counts = each_batch(run, loader, |_| Ok(()))?;
    let time = start.elapsed();
    if counts != expected {
        return Err(run.mismatch("nodes and edges of batches", "those of the first pass"));
    }
    Ok(time)
}

/// Counts and a digest of all batches; with `generated`, rows are held against what was generated, too.
fn look_at_all(
    run: &BenchRun<'_>,
    loader: &Arc<NeighborLoader>,
    generated: bool,
) -> anyhow::Result<(Counts, u64)> {
    let mut hasher = DefaultHasher::new();
    let counts = each_batch(run, loader, |batch| {
        digest(&batch.sample, &mut hasher);
        for column in &batch.columns {
            digest_of_bytes(&column.bytes).hash(&mut hasher);
            if generated && column.name == manifest::FEATURES {
                check_rows(run, &batch.sample.nodes, &column.bytes)?;
            }
        }
        Ok(())
    })?;
    Ok((counts, hasher.finish()))
}

fn check_rows(run: &BenchRun<'_>, nodes: &[i64], bytes: &[u8]) -> anyhow::Result<()> {
    let mut expected = vec![0.0_f32; run.shape.features];
    let length = 4 * expected.len();
    for (&node, row) in nodes.iter().zip(bytes.chunks(length)) {
        run.nodes.features(node as u64, &mut expected);
        if !expected.iter().flat_map(|value| value.to_le_bytes()).eq(row.iter().copied()) {
            return Err(
                run.mismatch(format!("the row of node {node} in a batch"), "the generated one")
            );
        }
    }
    Ok(())
}

fn each_batch(
    run: &BenchRun<'_>,
    loader: &Arc<NeighborLoader>,
    mut visit: impl FnMut(&Batch) -> anyhow::Result<()>,
) -> anyhow::Result<Counts> {
    let mut counts = Counts::default();
    for batch in loader.epoch(0, 0).take(run.shape.loaded_batches as usize) {
        run.go_on()?;
        let batch = batch?;
        counts.batches += 1;
        counts.nodes += batch.sample.nodes.len() as u64;
        counts.edges += batch.sample.row.len() as u64;
        visit(&batch)?;
    }
    Ok(counts)
}

/// What the loader waited for most.
fn bound(loader: &NeighborLoader) -> String {
    loader.stats().bound().map_or("bound unknown".to_owned(), |bound| format!("{bound}-bound"))
}

fn files(dataset: &Dataset) -> Vec<PathBuf> {
    dataset.manifest().files().map(|file| dataset.path().join(&file.name)).collect()
}

fn dataset_bytes(dataset: &Dataset) -> u64 {
    dataset.manifest().files().map(|file| file.bytes).sum()
}
