//! The section `ingest`: raw data into files.
//! Text becomes a dataset and an array becomes a table, each held against what was generated without that detour. How
//! either is read or sorted is unknown here.

use super::bench_run::BenchRun;
use super::cold::warm;
use super::figure::{Figure, Section, State};
use super::same_lists::same_lists;
use graphmill::format::{Encoding, manifest};
use graphmill::ingest::build::{BuildOptions, BuildSources, EdgeSource, build};
use graphmill::ingest::{ConvertOptions, EdgeSortOptions, convert};
use graphmill::store::{Dataset, Table};
use std::path::Path;
use std::time::{Duration, Instant};

pub fn measure(run: &BenchRun<'_>) -> anyhow::Result<Section> {
    let edges = run.place.edges();
    warm(&edges)?;
    let seconds = run.timed(|| build_once(run))?;
    let rows = Figure::rate("text to dataset", "edges/s", run.shape.edges as f64, &seconds);
    let mut figures = with_bytes(run, rows, &edges, &seconds)?;
    let array = run.place.array();
    warm(&array)?;
    let seconds = run.timed(|| convert_once(run))?;
    let rows = Figure::rate("array to table", "rows/s", run.num_nodes() as f64, &seconds);
    figures.extend(with_bytes(run, rows, &array, &seconds)?);
    Ok(Section { name: "ingest", figures, missing: Vec::new() })
}

/// Puts the bytes of the source beside its rows.
fn with_bytes(
    run: &BenchRun<'_>,
    rows: Figure,
    source: &Path,
    seconds: &[f64],
) -> anyhow::Result<Vec<Figure>> {
    let megabytes = source.metadata()?.len() as f64 / 1e6;
    let bytes = Figure::rate(format!("{}, its source", rows.name), "MB/s", megabytes, seconds);
    let sequential = run.disk.as_ref().map(|disk| disk.sequential / 1e6);
    let bytes = bytes.limit("the disk's sequential reads", sequential);
    let warm = |figure: Figure| figure.threads(run.threads).state(State::Warm);
    Ok(vec![warm(rows), warm(bytes)])
}

fn build_once(run: &BenchRun<'_>) -> anyhow::Result<Duration> {
    let target = run.place.scratch("built");
    let observer = |report| run.observe(report);
    let topology = EdgeSortOptions::new().num_nodes(run.num_nodes()).encoding(Encoding::I32);
    let options = BuildOptions::new().topology(topology).budget(run.budget()).observer(&observer);
    let sources = BuildSources::new(EdgeSource::Files(vec![run.place.edges()]));
    let start = Instant::now();
    run.install(|| Ok(build(&target, &sources, &options)?))?;
    let time = start.elapsed();
    let built = Dataset::open(&target, run.budget())?;
    if !same_lists(built.graph(), run.dataset()?.graph())? {
        return Err(run.mismatch("the graph built from text", "the generated one"));
    }
    drop(built);
    std::fs::remove_dir_all(&target)?;
    Ok(time)
}

fn convert_once(run: &BenchRun<'_>) -> anyhow::Result<Duration> {
    let target = run.place.scratch("x.gd");
    let observer = |report| run.observe(report);
    let options = ConvertOptions::new().budget(run.budget()).observer(&observer);
    let start = Instant::now();
    run.install(|| Ok(convert(&run.place.array(), &target, &options)?))?;
    let time = start.elapsed();
    let converted = Table::open(&target)?;
    let dataset = run.dataset()?;
    let generated = dataset.table(manifest::FEATURES)?;
    if converted.shape() != generated.shape() || content(&converted) != content(generated) {
        return Err(run.mismatch("the table made of an array", "the generated one"));
    }
    drop(converted);
    std::fs::remove_file(&target)?;
    Ok(time)
}

/// The bytes of all rows.
fn content(table: &Table) -> &[u8] {
    let section = table.section();
    &table.mapped().bytes()[section.offset as usize..section.end() as usize]
}
