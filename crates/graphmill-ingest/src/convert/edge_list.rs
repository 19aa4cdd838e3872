//! Edges that are read once, from text and its kin, into a `.gl`.
//! The reader's threads push what they parse into the sorter, which shares the budget with them. It must not know what
//! files look like inside.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Budget, FileDraft, RealFileSystem};

use super::{ConvertOptions, TargetKind};
use crate::edge_sort::{EdgeChunk, EdgeSortOptions, EdgeSorter};
use crate::graph_options::Directions;
use crate::source::{self, EdgeInput};
use crate::{Error, Result};

/// Memory that readers get at most; more would not make them faster.
const MOST_FOR_READING: u64 = 32 << 20;
/// Memory that readers get at least, unless that is more than half.
const LEAST_FOR_READING: u64 = 1 << 20;

/// Edges and bytes written, and the rows of the source that were left out.
pub(super) fn convert(
    path: &Path,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<(u64, u64, u64)> {
    if kind != TargetKind::Graph {
        let problem = format!("a list of edges cannot become {}; name a .gl target", kind.name());
        return Err(Error::request("convert", problem));
    }
    let input = EdgeInput::open(&[path.to_path_buf()], &options.input)?;
    let budget = match &options.budget {
        Some(budget) => budget.clone(),
        None => Budget::new(graphmill_disk::default_budget()),
    };
    let file_system = Arc::new(RealFileSystem);
    let draft = FileDraft::begin(file_system.clone(), target, options.overwrite)?;
    let free = budget.free();
    let reading = (free / 8).max(LEAST_FOR_READING.min(free / 2)).min(MOST_FOR_READING);
    let wanted = sort_options(&input, options).memory(free - reading);
    let sorter = EdgeSorter::new(wanted, &budget, file_system, target)?;
    let push = |chunk: &mut source::EdgeChunk| {
        let mut edges = EdgeChunk::new(chunk.first_row, &chunk.sources, &chunk.destinations);
        if let Some(weights) = &chunk.weights {
            edges = edges.weights(weights);
        }
        if let Some(times) = &chunk.times {
            edges = edges.times(times);
        }
        sorter.push(&edges)
    };
    let read = input.read(&budget, &push, options.observer)?;
    if read.rows == 0 {
        // An empty file, or a header alone, is a file that went wrong more often than a graph without edges.
        let found = if read.skipped == 0 { "no edge" } else { "no edge that can be used" };
        let error = Error::source("content", found, "at least one", "is this the right file?");
        return Err(error.in_file(path));
    }
    let (written, report) = sorter.finish(draft.file(), target, None)?;
    draft.publish()?;
    Ok((report.graph.num_edges, written.length, read.skipped))
}

fn sort_options<'a>(input: &EdgeInput, options: &ConvertOptions<'a>) -> EdgeSortOptions<'a> {
    let mut wanted = EdgeSortOptions::new()
        .num_nodes(options.num_nodes.unwrap_or(0))
        .directions(options.directions.unwrap_or(Directions::Out))
        .order(options.order.unwrap_or_default())
        .edge_ids(options.edge_ids)
        .weights(input.has_weights())
        .times(input.has_times())
        .dedup(options.dedup)
        .drop_self_loops(options.drop_self_loops)
        .add_self_loops(options.add_self_loops);
    if let Some(element) = options.neighbours {
        wanted = wanted.neighbours(element);
    }
    match options.observer {
        Some(observer) => wanted.observer(observer),
        None => wanted,
    }
}
