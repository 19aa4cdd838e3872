//! Edges on their way from a reader to a sorter.
//! A conversion and a build share the budget between the two in the same way, and both refuse
//! files without edges. It must not know what files look like inside, nor what is built.

use std::path::Path;

use crate::edge_sort::EdgeChunk;
use crate::source::{self, EdgeInput, ReadReport};
use crate::{Error, Result};

/// Memory that readers get at most; more would not make them faster.
const MOST_FOR_READING: u64 = 32 << 20;
/// Memory that readers get at least, unless that is more than half.
const LEAST_FOR_READING: u64 = 1 << 20;

/// The part of the free memory that is left to readers.
pub(crate) fn reading_share(free: u64) -> u64 {
    (free / 8).max(LEAST_FOR_READING.min(free / 2)).min(MOST_FOR_READING)
}

/// What was read, as the sorter takes it.
pub(crate) fn borrowed(chunk: &source::EdgeChunk) -> EdgeChunk<'_> {
    let mut edges = EdgeChunk::new(chunk.first_row, &chunk.sources, &chunk.destinations);
    if let Some(weights) = &chunk.weights {
        edges = edges.weights(weights);
    }
    if let Some(times) = &chunk.times {
        edges = edges.times(times);
    }
    if let Some(rows) = &chunk.rows {
        edges = edges.rows(rows);
    }
    edges
}

/// An empty text, or a header alone, is a file that went wrong more often than a graph without edges,
/// unless the number of nodes is said; arrays and topologies say themselves that they have no edge.
pub(crate) fn refuse_empty(
    input: &EdgeInput<'_>,
    read: &ReadReport,
    num_nodes: Option<u64>,
    path: &Path,
) -> Result<()> {
    if read.rows > 0 || input.rows() == Some(0) || (num_nodes.is_some() && read.skipped == 0) {
        return Ok(());
    }
    let found = if read.skipped == 0 { "no edge" } else { "no edge that can be used" };
    let remedy =
        "is this the right file? If it is, say how many nodes there are (--num-nodes, num_nodes=)";
    let error = Error::source("content", found, "at least one", remedy);
    Err(error.in_file(path))
}
