//! What a loader will cost, before it reads a row.
//! The first windows of an epoch are gone through on trial; the profile of the disk says how long their reads take, and what
//! they take of a processor; sampling, planning, and moving lists and rows are timed. What stages take by themselves
//! becomes a rate in `pace`. It must not plan anything itself, and it reads topology only.

use crate::buffers::Buffers;
use crate::columns::Columns;
use crate::heat::Heat;
use crate::hot_ids::HotIds;
use crate::hot_rows::hot_count;
use crate::pace::{StageTime, seconds_between};
use crate::resident_copy::copy_rows;
use crate::sampled_batch::SampledBatch;
use crate::trial_epoch::{TrialEpoch, TrialSampling, TrialWindow};
use crate::{Column, NeighborLoader, Result};
use graphmill_disk::DeviceProfile;
use std::collections::VecDeque;
use std::time::Instant;

/// Batches that are sampled at least, if an epoch has as many, so that chance does not count for much.
const ENOUGH: usize = 48;

/// What the batches of an epoch cost. Figures are per batch where nothing else is said; rates are those that are reached
/// once windows have their full length.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Batches that were sampled for it.
    pub sampled: u32,
    /// Nodes, each of which wants its rows.
    pub nodes: f64,
    /// Edges.
    pub edges: f64,
    /// Rows that stay in memory.
    pub hot_rows: u64,
    /// The part of the wanted node rows that is hot.
    pub hot_share: f64,
    /// Batches that are read together once windows no longer grow.
    pub window: usize,
    /// Rows of all tables that come from the disk, over the whole epoch; not those of reading what stays in memory.
    pub rows_read: f64,
    /// Requests to the disk, over the whole epoch, which begins with short windows.
    pub requests: f64,
    /// Bytes of all requests, and of reading the rows that stay in memory.
    pub bytes: f64,
    /// Batches per second that the disk allows.
    pub disk_rate: f64,
    /// Batches per second that were sampled, by one call after the other.
    pub sampling_rate: f64,
    /// Batches per second that all cores sample, read and put together, if nobody else wants them and the disk never lets them
    /// wait.
    pub processor_rate: f64,
    /// Batches per second, for whoever does nothing else with them: the disk rests while reads are planned, and who reads
    /// waits for a core like everybody else, so that these are fewer than disk and processor would allow by themselves.
    pub rate: f64,
    /// Bytes of memory that one batch needs by itself; less than that is an error.
    pub least_memory: u64,
    /// Bytes of memory that hot rows and windows will take.
    pub memory: u64,
}

/// What an epoch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Requests and bytes.
    Disk,
    /// Sampling one batch after the other: further cores would not help much.
    Sampling,
    /// What all cores share.
    Processor,
}

impl Estimate {
    /// What takes most of the time between two batches.
    pub fn limit(&self) -> Limit {
        if self.disk_rate <= self.processor_rate {
            Limit::Disk
        } else if self.sampling_rate <= 2.0 * self.processor_rate {
            Limit::Sampling
        } else {
            Limit::Processor
        }
    }
}

impl NeighborLoader {
    /// Predicts what the batches of an epoch cost on a disk, if nothing of their rows is in the page cache.
    pub fn estimate(&self, epoch: u64, disk: &DeviceProfile) -> Result<Option<Estimate>> {
        if self.is_empty() {
            return Ok(None);
        }
        self.settle()?;
        let mut sampling = TrialSampling::new(self, epoch);
        sampling.ahead(self.presampled())?;
        let first = &sampling.pending[0];
        let free = self.dataset().budget().free();
        let (rows, work) = self.delivery_bytes(first);
        let least_memory = first.memory.bytes().saturating_add(rows).saturating_add(work);
        let hot_bytes = self.hot_bytes(free, first, self.len());
        let hot = self.hot_ids(hot_bytes, &sampling.pending)?;
        let hot_bytes = if hot.is_some() { hot_bytes } else { 0 };
        let windows = self.windows(&mut sampling, hot.as_ref(), hot_bytes)?;
        let steady = Cost::of(steady(&windows), disk);
        let all = Cost::of(&windows, disk);
        let left = self.len() as f64 - all.batches;
        let over_epoch = |of: fn(&Cost) -> f64| {
            (of(&all) * all.batches + of(&steady) * left) / self.len() as f64
        };
        let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
        let [sampled, read, put_together] = self.stages(&sampling, &steady, cores)?;
        // Reads are planned first, and while they are made, what arrives is copied.
        let alone = read.alone.max(steady.planning + steady.disk);
        let waiting = StageTime { alone, disk: steady.disk.min(alone), ..read };
        let hot_rows = hot.as_ref().map_or(0, HotIds::len);
        let of_hot_rows = hot_rows.saturating_mul(self.columns.stored_row_bytes());
        let most = windows.iter().map(|window| window.bytes).max().unwrap_or(0);
        Ok(Some(Estimate {
            sampled: all.batches as u32,
            nodes: all.nodes,
            edges: all.edges,
            hot_rows,
            hot_share: hot.as_ref().map_or(0.0, |_| 1.0 - all.cold / all.nodes.max(1.0)),
            window: windows.iter().map(|window| window.batches).max().unwrap_or(0),
            rows_read: over_epoch(|cost| cost.rows_read),
            requests: over_epoch(|cost| cost.requests),
            bytes: over_epoch(|cost| cost.bytes) + of_hot_rows as f64 / self.len() as f64,
            disk_rate: 1.0 / steady.disk,
            sampling_rate: 1.0 / sampled.alone,
            processor_rate: 1.0 / seconds_between(&[sampled, read, put_together], cores),
            rate: 1.0 / seconds_between(&[sampled, waiting, put_together], cores),
            least_memory,
            memory: hot_bytes.saturating_add(most).max(least_memory),
        }))
    }

    /// The windows of an epoch, until they no longer grow.
    fn windows(
        &self,
        sampling: &mut TrialSampling<'_>,
        hot: Option<&HotIds>,
        hot_bytes: u64,
    ) -> Result<Vec<TrialWindow>> {
        let mut trial = TrialEpoch::new(self, hot, hot_bytes);
        let mut windows: Vec<TrialWindow> = Vec::new();
        let (mut batches, mut full) = (0, 0);
        let is_read = |window: &TrialWindow| window.cold > 0 || window.edge_rows > 0;
        while batches < ENOUGH || (full < 2 && windows.iter().any(is_read)) {
            let window = match trial.window(sampling) {
                // The reader would go on with shorter windows; what was gone through tells enough.
                Err(error) if error.is_budget() && !windows.is_empty() => break,
                window => window?,
            };
            let Some(window) = window else { break };
            batches += window.batches;
            full += usize::from(window.is_full);
            windows.push(window);
        }
        Ok(windows)
    }

    /// What sampling, reading and putting together take for a batch, without waiting for the disk.
    fn stages(
        &self,
        sampling: &TrialSampling<'_>,
        steady: &Cost,
        cores: f64,
    ) -> Result<[StageTime; 3]> {
        // One thread begins it, then all of them share the rest.
        let stage =
            |one: f64, all: f64| StageTime { alone: one + all / cores, disk: 0.0, busy: one + all };
        let (sampled, narrowed) = sampling.seconds();
        let nodes = self.copying_seconds(&self.columns, steady.nodes)?;
        let edges = self.copying_seconds(&self.edge_columns, steady.edge_rows)?;
        let copying = nodes + edges;
        // Rows that come from the disk are copied to their window first, and edges have no hot rows.
        let cold = nodes * steady.cold / steady.nodes.max(1.0) + edges;
        let read = stage(steady.planning, steady.reading + cold);
        // Lists are widened again before they are delivered, which moves the same bytes as narrowing.
        Ok([stage(sampled + narrowed, 0.0), read, stage(narrowed, copying)])
    }

    /// Seconds of a processor that putting so many rows together takes, from memory that no cache holds.
    fn copying_seconds(&self, columns: &Columns, rows_of_batch: f64) -> Result<f64> {
        let mut seconds = 0.0;
        for (name, rows) in columns.named() {
            let stored = rows.table().shape().row_length() as usize;
            let bytes = Buffers::memory(rows.row_length()) + Buffers::memory(stored as u64);
            let fitting = self.dataset().budget().free() / 2 / bytes;
            let count = (rows_of_batch.ceil() as usize).min(fitting as usize);
            if count == 0 || stored == 0 {
                continue;
            }
            let from = self.buffers.take(count * stored, "a copy on trial")?;
            let mut into = Column::of(name, rows, count, &self.buffers)?;
            // All rows, in an order that nothing foresees.
            let row_at = |index: usize| {
                let place = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) % count;
                &from[place * stored..][..stored]
            };
            let length = rows.row_length() as usize;
            let mut copy = || copy_rows(count, &mut into.bytes, length, rows.how, row_at, || true);
            // The first time finds the pages.
            copy()?;
            let began = Instant::now();
            copy()?;
            let threads = graphmill_disk::pool()?.current_num_threads() as f64;
            seconds += began.elapsed().as_secs_f64() * threads * rows_of_batch / count as f64;
        }
        Ok(seconds)
    }

    /// The rows that would be hot in so many bytes.
    fn hot_ids(&self, bytes: u64, batches: &VecDeque<SampledBatch>) -> Result<Option<HotIds>> {
        let heat = Heat::of(self.dataset(), self.options().direction);
        let count = hot_count(self.dataset(), &self.columns, &heat, bytes);
        if count == 0 {
            return Ok(None);
        }
        let lists: Vec<&[i64]> = batches.iter().map(|batch| &batch.sample.nodes[..]).collect();
        let sampled = lists.iter().map(|list| list.len()).sum();
        let bytes = heat.memory(self.dataset().graph().num_nodes());
        let bytes = bytes.saturating_add(heat.work_memory(sampled));
        let _memory = self.dataset().budget().reserve(bytes, "the list of hot rows")?;
        heat.hottest(self.dataset(), count, &lists).map(Some)
    }
}

/// What a batch of some windows takes on average.
#[derive(Debug)]
struct Cost {
    /// How many there are.
    batches: f64,
    nodes: f64,
    cold: f64,
    edges: f64,
    edge_rows: f64,
    rows_read: f64,
    requests: f64,
    bytes: f64,
    /// Seconds that the disk needs.
    disk: f64,
    /// Seconds of a processor for the reads.
    reading: f64,
    planning: f64,
}

impl Cost {
    fn of(windows: &[TrialWindow], disk: &DeviceProfile) -> Self {
        let batches: usize = windows.iter().map(|window| window.batches).sum();
        let mean = |sum: f64| sum / batches.max(1) as f64;
        let count =
            |of: fn(&TrialWindow) -> usize| mean(windows.iter().map(of).sum::<usize>() as f64);
        let reads =
            || windows.iter().flat_map(|window| &window.reads).map(|(&length, &n)| (length, n));
        Cost {
            batches: batches as f64,
            nodes: count(|window| window.nodes),
            cold: count(|window| window.cold),
            edges: count(|window| window.edges),
            edge_rows: count(|window| window.edge_rows),
            rows_read: count(|window| window.rows_read),
            requests: mean(reads().map(|(_, count)| count).sum::<u64>() as f64),
            bytes: mean(reads().map(|(length, count)| length * count).sum::<u64>() as f64),
            disk: mean(disk.seconds(reads())),
            reading: mean(disk.processor_seconds(reads())),
            planning: mean(windows.iter().map(|window| window.planning.as_secs_f64()).sum()),
        }
    }
}

/// The windows that all others will be like: the latter half of those that no longer grow, or the last one. The first that
/// are full still follow shorter ones.
fn steady(windows: &[TrialWindow]) -> &[TrialWindow] {
    let first = windows.iter().position(|window| window.is_full).unwrap_or(windows.len());
    let full = windows.len() - first;
    &windows[windows.len() - full.div_ceil(2).max(1)..]
}
