//! A stretch of the edge log: a few ten thousand edges, column by column, as memory and file have it.
//! Chunks are added until it is full, and come out again as they went in, with their rows; ids take
//! four bytes each where all of them fit. It must not know which extents there are.

use std::ops::Range;

use graphmill_disk::{OutputFile, PageBuffer};

use super::scratch_array::{values, values_mut};
use crate::Result;
use crate::edge_sort::{ChunkIds, EdgeChunk};

/// The smallest extent; fewer bytes at a time make a slow file.
pub(super) const LEAST_EXTENT: usize = 320 << 10;
/// Edges come in multiples of this, so that every column is whole pages.
const GRAIN: usize = 8192;
/// Edges for which there is room to remember a first row.
const EDGES_PER_RUN: usize = 32;

/// What is kept of an edge beside its ends and its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogColumns {
    /// Every chunk brings weights.
    pub(crate) weights: bool,
    /// Every chunk brings times.
    pub(crate) times: bool,
    /// Every chunk brings the row of each edge.
    pub(crate) rows: bool,
}

/// Where the columns of an extent lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Edges that fit.
    capacity: usize,
    /// Bytes of an id.
    width: usize,
    columns: LogColumns,
}

impl Layout {
    /// The layout of an extent of at least [`LEAST_EXTENT`] bytes.
    pub(super) fn new(bytes: usize, wide: bool, columns: LogColumns) -> Self {
        let width = if wide { 8 } else { 4 };
        let LogColumns { weights, times, rows } = columns;
        let edge =
            2 * width + 4 * usize::from(weights) + 8 * (usize::from(times) + usize::from(rows));
        let capacity = bytes * EDGES_PER_RUN / (edge * EDGES_PER_RUN + size_of::<Run>());
        Layout { capacity: (capacity / GRAIN * GRAIN).max(GRAIN), width, columns }
    }

    pub(super) fn is_wide(&self) -> bool {
        self.width == 8
    }

    fn runs(&self) -> usize {
        self.capacity / EDGES_PER_RUN
    }

    /// The bytes of each column if it has so many edges, and of the runs.
    fn regions(&self, edges: usize, runs: usize) -> [Range<usize>; 6] {
        let LogColumns { weights, times, rows } = self.columns;
        let [weights, times, rows] = [weights, times, rows].map(usize::from);
        let widths = [self.width, self.width, 4 * weights, 8 * times, 8 * rows];
        let mut start = 0;
        let columns = widths.map(|width| {
            let region = start..start + width * edges;
            start += width * self.capacity;
            region
        });
        let [sources, destinations, weights, times, rows] = columns;
        [sources, destinations, weights, times, rows, start..start + size_of::<Run>() * runs]
    }
}

/// The first row of consecutive edges, and their number.
type Run = [u64; 2];

/// What a directory remembers of an extent.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtentShape {
    layout: Layout,
    pub(super) edges: usize,
    runs: usize,
}

/// Edges in memory, as they are in the file.
#[derive(Debug)]
pub(super) struct Extent {
    buffer: PageBuffer,
    shape: ExtentShape,
}

impl Extent {
    pub(super) fn new(bytes: usize, layout: Layout) -> Self {
        let shape = ExtentShape { layout, edges: 0, runs: 0 };
        Extent { buffer: PageBuffer::new(bytes), shape }
    }

    /// Forgets the edges.
    pub(super) fn restart(&mut self, layout: Layout) {
        self.shape = ExtentShape { layout, edges: 0, runs: 0 };
    }

    pub(super) fn shape(&self) -> ExtentShape {
        self.shape
    }

    pub(super) fn is_wide(&self) -> bool {
        self.shape.layout.is_wide()
    }

    /// Edges that can be added now.
    pub(super) fn room(&self) -> usize {
        let ExtentShape { layout, edges, runs } = self.shape;
        if runs == layout.runs() { 0 } else { layout.capacity - edges }
    }

    /// Adds edges of a chunk, for which there is room and whose ids fit.
    pub(super) fn add(&mut self, chunk: &EdgeChunk<'_>, edges: Range<usize>) {
        let count = edges.len();
        let at = self.shape.edges;
        match chunk.ids {
            ChunkIds::Narrow(sources, destinations) => {
                self.add_ids(&sources[edges.clone()], &destinations[edges.clone()]);
            }
            ChunkIds::Wide(sources, destinations) => {
                self.add_ids(&sources[edges.clone()], &destinations[edges.clone()]);
            }
        }
        let layout = self.shape.layout;
        let [_, _, weights, times, rows, runs] = layout.regions(layout.capacity, layout.runs());
        if let Some(added) = chunk.weights.filter(|_| layout.columns.weights) {
            let column = values_mut::<f32>(&mut self.buffer[weights]);
            column[at..at + count].copy_from_slice(&added[edges.clone()]);
        }
        if let Some(added) = chunk.times.filter(|_| layout.columns.times) {
            let column = values_mut::<i64>(&mut self.buffer[times]);
            column[at..at + count].copy_from_slice(&added[edges.clone()]);
        }
        // Edges that bring their rows need no runs: all of an extent are one.
        let mut first_row = chunk.first_row + edges.start as u64;
        if let Some(added) = chunk.rows.filter(|_| layout.columns.rows) {
            let column = values_mut::<u64>(&mut self.buffer[rows]);
            column[at..at + count].copy_from_slice(&added[edges.clone()]);
            first_row = at as u64;
        }
        let runs = values_mut::<Run>(&mut self.buffer[runs]);
        match runs[..self.shape.runs].last_mut() {
            Some([first, rows]) if *first + *rows == first_row => *rows += count as u64,
            _ => {
                runs[self.shape.runs] = [first_row, count as u64];
                self.shape.runs += 1;
            }
        }
        self.shape.edges += count;
    }

    fn add_ids<T: Copy + Into<u64>>(&mut self, sources: &[T], destinations: &[T]) {
        let ExtentShape { layout, edges, .. } = self.shape;
        let [first, second, ..] = layout.regions(layout.capacity, 0);
        for (region, ids) in [(first, sources), (second, destinations)] {
            let region = &mut self.buffer[region];
            if layout.is_wide() {
                for (into, &id) in values_mut::<u64>(region)[edges..].iter_mut().zip(ids) {
                    *into = id.into();
                }
            } else {
                for (into, &id) in values_mut::<u32>(region)[edges..].iter_mut().zip(ids) {
                    *into = id.into() as u32;
                }
            }
        }
    }

    /// The edges, in chunks of consecutive rows.
    pub(super) fn chunks(&self) -> impl Iterator<Item = EdgeChunk<'_>> {
        let ExtentShape { layout, edges, runs } = self.shape;
        let [sources, destinations, weights, times, rows, runs] =
            layout.regions(edges, runs).map(|region| &self.buffer[region]);
        let mut start = 0;
        values::<Run>(runs).iter().map(move |&[first_row, count]| {
            let run = start..start + count as usize;
            start = run.end;
            let mut chunk = if layout.is_wide() {
                let (sources, to) = (values::<u64>(sources), values::<u64>(destinations));
                EdgeChunk::new(first_row, &sources[run.clone()], &to[run.clone()])
            } else {
                let (sources, to) = (values::<u32>(sources), values::<u32>(destinations));
                EdgeChunk::narrow(first_row, &sources[run.clone()], &to[run.clone()])
            };
            if layout.columns.weights {
                chunk = chunk.weights(&values::<f32>(weights)[run.clone()]);
            }
            if layout.columns.times {
                chunk = chunk.times(&values::<i64>(times)[run.clone()]);
            }
            if layout.columns.rows {
                chunk = chunk.rows(&values::<u64>(rows)[run]);
            }
            chunk
        })
    }

    /// Writes the edges from byte `offset` of the file on; gives the number of bytes.
    pub(super) fn write(&self, file: &dyn OutputFile, offset: u64) -> Result<u64> {
        let mut written = 0;
        for region in self.shape.stretches() {
            file.write_all_at(offset + region.start as u64, &self.buffer[region.clone()])?;
            written += region.len() as u64;
        }
        Ok(written)
    }

    /// Reads edges that were written from byte `offset` on.
    pub(super) fn load(
        &mut self,
        file: &dyn OutputFile,
        offset: u64,
        shape: ExtentShape,
    ) -> Result<()> {
        self.restart(shape.layout);
        for region in shape.stretches() {
            file.read_exact_at(offset + region.start as u64, &mut self.buffer[region])?;
        }
        let [.., runs] = shape.layout.regions(shape.edges, shape.runs);
        let rows: u64 = values::<Run>(&self.buffer[runs]).iter().map(|run| run[1]).sum();
        debug_assert_eq!(rows, shape.edges as u64, "the file is ours alone");
        self.shape = shape;
        Ok(())
    }
}

impl ExtentShape {
    /// The bytes in use; columns that touch are one stretch.
    fn stretches(&self) -> Vec<Range<usize>> {
        let mut stretches: Vec<Range<usize>> = Vec::new();
        for region in self.layout.regions(self.edges, self.runs) {
            match stretches.last_mut() {
                Some(last) if last.end == region.start => last.end = region.end,
                _ if region.is_empty() => {}
                _ => stretches.push(region),
            }
        }
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_fits_into_the_smallest_extent_in_whole_pages() {
        for wide in [false, true] {
            for bits in 0..8 {
                let [weights, times, rows] = [1, 2, 4].map(|bit| bits & bit != 0);
                for bytes in [LEAST_EXTENT, 3 << 20, 4 << 20] {
                    let layout = Layout::new(bytes, wide, LogColumns { weights, times, rows });
                    let regions = layout.regions(layout.capacity, layout.runs());
                    assert!(regions[5].end <= bytes, "{layout:?}");
                    assert!(regions.iter().all(|region| region.start % 4096 == 0));
                }
            }
        }
    }
}
