//! What a loader will cost, before it reads a row.
//! A few batches are sampled and planned as an epoch would plan them; the profile of the disk says how long their reads
//! take, and what they take of a processor; planning, and moving lists and rows, are timed. It uses the planning of windows
//! and hot rows as they are, so that it cannot promise anything else than what happens, and it reads topology only.

use crate::buffers::Buffers;
use crate::columns::Columns;
use crate::heat::Heat;
use crate::hot_ids::HotIds;
use crate::hot_rows::hot_count;
use crate::read_plan::ReadPlan;
use crate::resident_copy::copy_rows;
use crate::row_order::RowOrder;
use crate::sampled_batch::SampledBatch;
use crate::window_plan::WindowPlan;
use crate::window_size::missing;
use crate::{Column, Error, NeighborLoader, Result};
use graphmill_disk::DeviceProfile;
use std::time::{Duration, Instant};

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
    /// Batches that are read together.
    pub window: usize,
    /// Requests to the disk, over the whole epoch, which begins with short windows.
    pub requests: f64,
    /// Bytes of all requests, and of reading the rows that stay in memory.
    pub bytes: f64,
    /// Batches per second that the disk allows.
    pub disk_rate: f64,
    /// Batches per second that were sampled, by one call after the other.
    pub sampling_rate: f64,
    /// Batches per second that all cores sample, read and put together, if nobody else wants them.
    pub processor_rate: f64,
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
    /// Batches per second, for whoever does nothing else with them.
    pub fn rate(&self) -> f64 {
        self.disk_rate.min(self.processor_rate)
    }

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
        let (mut sampling, mut narrowing, mut sampled) = (Duration::ZERO, Duration::ZERO, 0);
        let mut sample = |index| {
            // The first time may wait for lists on the disk, which an epoch does only in the beginning.
            drop(self.sampled(epoch, index)?);
            let began = Instant::now();
            let mut batch = self.sampled(epoch, index)?;
            sampling += began.elapsed();
            sampled += 1;
            let began = Instant::now();
            batch.narrow(self.wants_edge_ids());
            narrowing += began.elapsed();
            Ok::<_, Error>(batch)
        };
        let mut batches = vec![sample(0)?];
        let free = self.dataset().budget().free();
        let (rows, work) = self.delivery_bytes(&batches[0]);
        let least_memory = batches[0].memory.bytes().saturating_add(rows).saturating_add(work);
        let hot_bytes = self.hot_bytes(free, &batches[0], self.len());
        let hot = self.hot_ids(hot_bytes, &batches)?;
        let limit = self.window_limit(free.saturating_sub(hot_bytes), &batches[0]);
        let mut bytes = self.window_bytes(&batches[0], hot.as_ref(), 1.0);
        for index in 1..self.len().min(self.most_batches() as u64) {
            let next = match sample(index) {
                Err(error) if error.is_budget() => break,
                outcome => outcome?,
            };
            bytes = bytes.saturating_add(self.window_bytes(&next, hot.as_ref(), 1.0));
            if bytes > limit {
                break;
            }
            batches.push(next);
        }
        let count = batches.len() as f64;
        let nodes = lists(&batches, |batch| &batch.sample.nodes);
        let edges = lists(&batches, |batch| &batch.sample.edge_ids);
        let began = Instant::now();
        let node_reads = self.reads_of(&self.columns, &nodes, hot.as_ref())?;
        let edge_reads = self.reads_of(&self.edge_columns, &edges, None)?;
        let planning = began.elapsed().as_secs_f64() / count;
        let reads = || node_reads.iter().chain(&edge_reads).copied();
        let total_nodes: usize = nodes.iter().map(|list| list.len()).sum();
        let wanted_edges: usize = edges.iter().map(|list| list.len()).sum();
        let total_edges: usize = batches.iter().map(SampledBatch::num_edges).sum();
        let cold = nodes.iter().map(|list| missing(list, hot.as_ref()));
        let cold = cold.sum::<usize>() as f64;
        let narrowing = narrowing.as_secs_f64() / f64::from(sampled);
        let sampling = sampling.as_secs_f64() / f64::from(sampled) + narrowing;
        // Lists are widened again before they are delivered, which moves the same bytes.
        let widening = narrowing;
        let copying = self.copying_seconds(&self.columns, total_nodes as f64 / count)?
            + self.copying_seconds(&self.edge_columns, wanted_edges as f64 / count)?;
        // Rows that come from the disk are copied to their window first.
        let copying = copying * (1.0 + cold / (total_nodes as f64).max(1.0));
        let reading = disk.processor_seconds(reads().map(|length| (length, 1))) / count;
        let others = planning + reading + copying + widening;
        let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
        let full = (reads().count() as f64 / count, reads().sum::<u64>() as f64 / count);
        let (requests, bytes_read) = self.over_epoch(&nodes, &edges, hot.as_ref(), full)?;
        let hot_rows = hot.as_ref().map_or(0, HotIds::len);
        let of_hot_rows = hot_rows.saturating_mul(self.columns.stored_row_bytes());
        Ok(Some(Estimate {
            sampled,
            nodes: total_nodes as f64 / count,
            edges: total_edges as f64 / count,
            hot_rows,
            hot_share: 1.0 - cold / (total_nodes as f64).max(1.0),
            window: batches.len(),
            requests,
            bytes: bytes_read + of_hot_rows as f64 / self.len() as f64,
            disk_rate: count / disk.seconds(reads().map(|length| (length, 1))),
            sampling_rate: 1.0 / sampling,
            processor_rate: 1.0 / shared_by(cores, sampling, others),
            least_memory,
            memory: hot_bytes.saturating_add(bytes.min(limit)).max(least_memory),
        }))
    }

    /// Requests and bytes of a batch over a whole epoch, if the sampled batches are like the others and these are those of a
    /// full window: windows begin with one batch and have twice as many each time until they are full.
    fn over_epoch(
        &self,
        nodes: &[&[i64]],
        edges: &[&[i64]],
        hot: Option<&HotIds>,
        full: (f64, f64),
    ) -> Result<(f64, f64)> {
        let (mut width, mut left) = (1, self.len());
        let (mut requests, mut bytes) = (0.0, 0.0);
        while width < nodes.len() && left > 0 {
            let count = width.min(left as usize);
            let mut reads = self.reads_of(&self.columns, &nodes[..count], hot)?;
            reads.extend(self.reads_of(&self.edge_columns, &edges[..count], None)?);
            requests += reads.len() as f64;
            bytes += reads.iter().sum::<u64>() as f64;
            left -= count as u64;
            width *= 2;
        }
        let (rest, batches) = (left as f64, self.len() as f64);
        Ok(((requests + rest * full.0) / batches, (bytes + rest * full.1) / batches))
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
    fn hot_ids(&self, bytes: u64, batches: &[SampledBatch]) -> Result<Option<HotIds>> {
        let heat = Heat::of(self.dataset(), self.options().direction);
        let count = hot_count(self.dataset(), &self.columns, &heat, bytes);
        if count == 0 {
            return Ok(None);
        }
        let lists = lists(batches, |batch| &batch.sample.nodes);
        let sampled = lists.iter().map(|list| list.len()).sum();
        let bytes = heat.memory(self.dataset().graph().num_nodes());
        let bytes = bytes.saturating_add(heat.work_memory(sampled));
        let _memory = self.dataset().budget().reserve(bytes, "the list of hot rows")?;
        heat.hottest(self.dataset(), count, &lists).map(Some)
    }

    /// The lengths of all requests of a window, for all columns.
    fn reads_of(
        &self,
        columns: &Columns,
        lists: &[&[i64]],
        hot: Option<&HotIds>,
    ) -> Result<Vec<u64>> {
        let places = lists.iter().map(|list| list.len()).sum();
        let missing = lists.iter().map(|list| missing(list, hot)).sum();
        let plan_bytes = RowOrder::memory(missing) + ReadPlan::memory(missing);
        let bytes = WindowPlan::memory(places, missing) + plan_bytes;
        let _memory = self.dataset().budget().reserve(bytes, "planning reads")?;
        let mut lengths = Vec::new();
        for rows in columns.rows() {
            let count = rows.table().shape().rows();
            let plan = WindowPlan::new(count, lists, hot);
            let order =
                RowOrder::new(count, plan.rows().len(), plan.rows().iter().copied().zip(0..));
            let reads = ReadPlan::new(&order, &rows.places(), &rows.merging);
            lengths.extend(reads.ranges.iter().map(|range| range.end - range.start));
        }
        Ok(lengths)
    }
}

/// Seconds from one batch to the next if `chain` seconds of each are done by one thread at a time and `others` by all cores.
///
/// No order of the work is faster than the longer of the chain and an equal share of everything, and none in which no core
/// rests while there is work is slower than the chain and then a share of the others. It will be something in between.
fn shared_by(cores: f64, chain: f64, others: f64) -> f64 {
    let (fastest, slowest) = (chain.max((chain + others) / cores), chain + others / cores);
    f64::midpoint(fastest, slowest)
}

fn lists(batches: &[SampledBatch], list: impl Fn(&SampledBatch) -> &Vec<i64>) -> Vec<&[i64]> {
    batches.iter().map(|batch| list(batch).as_slice()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_no_less_than_its_chain_and_no_more_than_one_core_would() {
        assert_eq!(shared_by(1.0, 3.0, 4.0), 7.0);
        assert_eq!(shared_by(2.0, 3.0, 0.0), 3.0);
        // As fast as 4, as slow as 2 + 3.
        assert_eq!(shared_by(2.0, 2.0, 6.0), 4.5);
        assert!(shared_by(1000.0, 3.0, 4.0) < 3.01);
    }
}
