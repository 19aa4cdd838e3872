//! One pass over the edges, batch by batch.
//! A batch is read in parallel chunks and handed on whole, in the order of the stream, so that
//! whoever consumes it can keep that order. Every pass checks what it reads, because a source may
//! lie or change between passes. It must not know what the edges are wanted for.

use graphmill_disk::{Budget, Reservation};
use graphmill_format::content;
use rayon::prelude::*;

use crate::edges::{EdgeColumn, EdgeRecords, EdgeStream, bad_id};
use crate::progress::Stage;
use crate::{Error, Result};

/// Edges of one batch at most: a few MiB.
const BATCH: u64 = 1 << 18;
/// Edges read by one thread at a time.
const CHUNK: usize = 1 << 14;

/// The edges and what belongs to each.
#[derive(Clone, Copy)]
pub(crate) struct EdgeInput<'a> {
    pub(crate) edges: &'a dyn EdgeStream,
    pub(crate) num_nodes: u64,
    rows: Option<EdgeColumn<'a, i64>>,
    weights: Option<EdgeColumn<'a, f32>>,
    times: Option<EdgeColumn<'a, i64>>,
}

impl<'a> EdgeInput<'a> {
    pub(crate) fn new(records: EdgeRecords<'a>, num_nodes: u64) -> Self {
        let EdgeRecords { edges, rows, weights, times } = records;
        EdgeInput { edges, num_nodes, rows, weights, times }
    }

    /// Bytes of a batch for one edge.
    fn bytes_per_edge(&self) -> u64 {
        let optional =
            [(self.rows.is_some(), 8), (self.weights.is_some(), 4), (self.times.is_some(), 8)];
        16 + optional.iter().filter(|(wanted, _)| *wanted).map(|(_, bytes)| bytes).sum::<u64>()
    }
}

/// Consecutive edges of the stream; a column that the input lacks is empty.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) first: u64,
    pub(crate) sources: Vec<u64>,
    pub(crate) destinations: Vec<u64>,
    rows: Vec<i64>,
    weights: Vec<f32>,
    times: Vec<i64>,
}

impl Batch {
    #[inline(always)]
    pub(crate) fn row(&self, position: usize) -> u64 {
        // A stored id survives the round trip through unsigned bits.
        self.rows.get(position).map_or(self.first + position as u64, |&row| row as u64)
    }

    #[inline(always)]
    pub(crate) fn weight(&self, position: usize) -> f32 {
        self.weights.get(position).copied().unwrap_or(0.0)
    }

    #[inline(always)]
    pub(crate) fn time(&self, position: usize) -> i64 {
        self.times.get(position).copied().unwrap_or(0)
    }
}

/// Reads the stream from front to back as often as asked.
pub(crate) struct Replay<'a> {
    input: EdgeInput<'a>,
    capacity: u64,
    batch: Batch,
    /// Passes made.
    pub(crate) passes: u32,
    _reserved: Reservation,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(input: EdgeInput<'a>, budget: &Budget) -> Result<Self> {
        let per_edge = input.bytes_per_edge();
        let affordable = budget.free() / 8 / per_edge;
        let capacity = input.edges.edge_count().min(BATCH).min(affordable.max(1));
        let reserved = budget.reserve(capacity * per_edge, "a batch of edges")?;
        Ok(Replay { input, capacity, batch: Batch::default(), passes: 0, _reserved: reserved })
    }

    /// Hands every batch to `consume`; the values of edges are read only where `with_values`.
    pub(crate) fn run(
        &mut self,
        with_values: bool,
        stage: &mut Stage<'_>,
        mut consume: impl FnMut(&Batch) -> Result<()>,
    ) -> Result<()> {
        self.passes += 1;
        let total = self.input.edges.edge_count();
        let mut first = 0;
        while first < total {
            let length = self.capacity.min(total - first);
            self.read(first, length as usize, with_values)?;
            consume(&self.batch)?;
            stage.advance(length)?;
            first += length;
        }
        Ok(())
    }

    fn read(&mut self, first: u64, length: usize, with_values: bool) -> Result<()> {
        let input = self.input;
        let batch = &mut self.batch;
        batch.first = first;
        batch.sources.resize(length, 0);
        batch.destinations.resize(length, 0);
        graphmill_disk::pool()?.install(|| {
            let sources = batch.sources.par_chunks_mut(CHUNK);
            let chunks = sources.zip(batch.destinations.par_chunks_mut(CHUNK)).enumerate();
            chunks.try_for_each(|(chunk, (sources, destinations))| {
                let first = first + (chunk * CHUNK) as u64;
                input.edges.read(first, sources, destinations)?;
                check_ids(first, sources, destinations, input.num_nodes)
            })
        })?;
        if with_values {
            read_column(input.rows, first, length, &mut batch.rows)?;
            read_column(input.weights, first, length, &mut batch.weights)?;
            read_column(input.times, first, length, &mut batch.times)?;
            if let Some(at) = content::first_bad_weight(&batch.weights) {
                let place = format!("weight of edge {}", first + at as u64);
                let remedy = "correct the weight or leave the edge out";
                let found = batch.weights[at];
                return Err(Error::source(place, found, "a finite number of at least 0", remedy));
            }
        }
        Ok(())
    }
}

fn read_column<T: Copy + Default>(
    column: Option<EdgeColumn<'_, T>>,
    first: u64,
    length: usize,
    into: &mut Vec<T>,
) -> Result<()> {
    let Some(column) = column else { return Ok(()) };
    into.resize(length, T::default());
    column.read(first, into)
}

fn check_ids(first: u64, sources: &[u64], destinations: &[u64], num_nodes: u64) -> Result<()> {
    for (end, ids) in [("source", sources), ("destination", destinations)] {
        let largest = ids.iter().fold(0, |largest, &id| largest.max(id));
        if largest >= num_nodes
            && let Some(at) = ids.iter().position(|&id| id >= num_nodes)
        {
            // Streams sign-extend, and no graph has ids of 2^63 or more.
            return Err(bad_id(first + at as u64, end, ids[at] as i64, Some(num_nodes)));
        }
    }
    Ok(())
}
