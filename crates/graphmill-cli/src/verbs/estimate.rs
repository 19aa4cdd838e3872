//! `graphmill estimate`: what training on a dataset will cost, before it is begun.
//! A few batches are sampled and planned as a loader would do it, and the measured disk says how long their reads take.
//! Rows are not read.

use super::{Outcome, usage};
use crate::counts::{self, grouped};
use crate::follow::Follow;
use crate::output;
use crate::residency::ResidencyName;
use clap::Args;
use graphmill::disk::{self, Budget, DeviceProfile, format_size};
use graphmill::load::{Estimate, Limit, LoaderOptions, NeighborLoader, Seeds};
use graphmill::store::{Dataset, Placement};
use serde::Serialize;
use std::num::NonZero;
use std::path::PathBuf;

const AFTER_HELP: &str = "\
The estimate is for batches whose rows are not in the page cache, and for a loop that does nothing
with them: a model on the same cores takes its share. Requests and bytes are those of a whole epoch,
rates those that are reached once windows have their full length. The disk is measured first, for
some seconds, unless it was measured before; inspect --disk measures it again.

JSON keys: path, fanouts, batch_size, memory, residency, batches, nodes_per_batch, edges_per_batch,
hot_rows, hot_share, window, requests_per_batch, bytes_per_batch, batches_per_second (by all stages
side by side, so fewer than by disk or processor alone), disk_batches_per_second (null if all rows
will be in memory), sampling_batches_per_second (sampling alone), processor_batches_per_second
(never waiting for the disk), limit (disk, sampling or processor), least_memory, memory_used, fits,
disk_measured

Example:
  graphmill estimate papers/ --fanouts 15,10,5 --batch-size 1024 --memory 4GiB --split train";

/// Predict whether training fits into memory, and whether the disk can feed it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// A dataset folder
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
    /// Memory of the dataset, such as 4GiB [default: a quarter of the machine's or cgroup's]
    #[arg(long, value_name = "SIZE", value_parser = disk::parse_size)]
    memory: Option<u64>,
    /// The split whose nodes are seeds [default: all nodes]
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Edges to follow: in as message passing does, or out
    #[arg(long, value_enum, default_value_t = Follow::In)]
    direction: Follow,
    /// Node tables to load, by name [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Take seeds in the order of the split, as loaders that do not shuffle
    #[arg(long)]
    in_order: bool,
    /// Where the topology is read from: the mapped file, or a copy in memory on huge pages, as gm.open has it
    #[arg(long, value_enum, default_value_t = ResidencyName::Auto)]
    residency: ResidencyName,
    /// The most batches that are read together [default: as many as the memory allows]
    #[arg(long, value_name = "N")]
    window: Option<NonZero<usize>>,
    /// Another seed gives other batches
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Print no text: the exit code tells whether it fits
    #[arg(long, short)]
    quiet: bool,
}

/// What is told; the names are the keys of the JSON.
#[derive(Debug, Serialize)]
struct Told {
    path: PathBuf,
    fanouts: Vec<i64>,
    batch_size: u64,
    memory: u64,
    residency: &'static str,
    batches: u64,
    nodes_per_batch: f64,
    edges_per_batch: f64,
    hot_rows: u64,
    hot_share: f64,
    window: usize,
    requests_per_batch: f64,
    bytes_per_batch: f64,
    batches_per_second: f64,
    /// None if every row will be in memory.
    disk_batches_per_second: Option<f64>,
    sampling_batches_per_second: f64,
    processor_batches_per_second: f64,
    limit: &'static str,
    least_memory: u64,
    memory_used: u64,
    fits: bool,
    disk_measured: bool,
}

pub fn run(flags: &Flags) -> anyhow::Result<Outcome> {
    let told = tell(flags)?;
    if flags.json {
        output::print(&(serde_json::to_string_pretty(&told)? + "\n"))?;
    } else if !flags.quiet {
        output::print(&describe(&told))?;
    }
    Ok(if told.fits { Outcome::Fine } else { Outcome::FaultsFound })
}

fn tell(flags: &Flags) -> anyhow::Result<Told> {
    if flags.batch_size == 0 {
        return Err(usage("estimate", "--batch-size is 0, expected at least 1").into());
    }
    let memory = flags.memory.unwrap_or_else(disk::default_budget);
    let dataset =
        Dataset::open(&flags.dataset, Budget::new(memory))?.placed(flags.residency.into())?;
    let profile = DeviceProfile::cached_or_measured(&flags.dataset)?;
    let options = LoaderOptions::new(flags.fanouts.as_slice())
        .batch_size(usize::try_from(flags.batch_size).unwrap_or(usize::MAX))
        .shuffle(!flags.in_order)
        .columns(flags.columns.clone())
        .direction(flags.direction.into())
        .window(flags.window.map(NonZero::get))
        // As Python's loaders have it: two cores read and put together.
        .threads(
            std::thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(2).max(1),
        )
        .seed(flags.seed);
    let seeds = flags.split.clone().map_or(Seeds::All, Seeds::Split);
    let loader = NeighborLoader::over(dataset, seeds, options)?;
    let Some(estimate) = loader.estimate(0, &profile)? else {
        return Err(usage("estimate", "there are no seeds, so there is no batch to look at").into());
    };
    Ok(told(flags, memory, loader.len(), &profile, &estimate))
}

fn told(
    flags: &Flags,
    memory: u64,
    batches: u64,
    profile: &DeviceProfile,
    estimate: &Estimate,
) -> Told {
    Told {
        path: flags.dataset.clone(),
        fanouts: flags.fanouts.clone(),
        batch_size: flags.batch_size,
        memory,
        residency: Placement::from(flags.residency).name(),
        batches,
        nodes_per_batch: estimate.nodes,
        edges_per_batch: estimate.edges,
        hot_rows: estimate.hot_rows,
        hot_share: estimate.hot_share,
        window: estimate.window,
        requests_per_batch: estimate.requests,
        bytes_per_batch: estimate.bytes,
        batches_per_second: estimate.rate,
        disk_batches_per_second: Some(estimate.disk_rate).filter(|rate| rate.is_finite()),
        sampling_batches_per_second: estimate.sampling_rate,
        processor_batches_per_second: estimate.processor_rate,
        limit: match estimate.limit() {
            Limit::Disk => "disk",
            Limit::Sampling => "sampling",
            Limit::Processor => "processor",
        },
        least_memory: estimate.least_memory,
        memory_used: estimate.memory,
        fits: estimate.least_memory <= memory,
        disk_measured: profile.is_measured,
    }
}

fn describe(told: &Told) -> String {
    let fanouts: Vec<String> = told.fanouts.iter().map(i64::to_string).collect();
    let verdict = match told.fits {
        true => format!(
            "fits: one batch needs {} of {}, windows and hot rows take up to {}",
            format_size(told.least_memory),
            format_size(told.memory),
            format_size(told.memory_used)
        ),
        false => format!(
            "does not fit: one batch needs {}, the memory is {}; raise --memory, or lower the batch size or fan-outs",
            format_size(told.least_memory),
            format_size(told.memory)
        ),
    };
    let disk = match told.disk_batches_per_second {
        Some(rate) => format!("the disk allows {rate:.1} batches/s"),
        None => "all rows stay in memory".to_owned(),
    };
    format!(
        "{}: fan-outs {} of {} seeds, {} batches an epoch\n\
         {verdict}\n\
         {} nodes and {} edges a batch; {:.0}% of the rows are among {} hot ones\n\
         {} requests and {} a batch, {} batches read together\n\
         {disk}, sampling {:.1}, all cores {:.1}: {:.1} batches/s, {} is the limit\n",
        told.path.display(),
        fanouts.join(","),
        grouped(told.batch_size),
        grouped(told.batches),
        grouped(told.nodes_per_batch.round() as u64),
        grouped(told.edges_per_batch.round() as u64),
        told.hot_share * 100.0,
        grouped(told.hot_rows),
        grouped(told.requests_per_batch.round() as u64),
        format_size(told.bytes_per_batch as u64),
        told.window,
        told.sampling_batches_per_second,
        told.processor_batches_per_second,
        told.batches_per_second,
        match told.limit {
            "sampling" => "sampling".to_owned(),
            other => format!("the {other}"),
        },
    )
}
