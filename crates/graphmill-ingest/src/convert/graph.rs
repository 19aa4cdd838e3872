//! Edges into topologies, arrays and text.
//! A `.gl` source keeps its directions, order, weights, times and ids unless the request says
//! otherwise: its lists are replayed as a stream and built again, so any direction and order can be
//! made of it within the budget. It must not know how sources were recognised.

use std::path::Path;
use std::sync::Arc;

use graphmill_disk::{Budget, FileDraft, OutputFile, RealFileSystem};
use graphmill_format::{Direction, ElementType, Encoding, ListOrder};

use super::{ConvertOptions, Converted, TargetKind};
use crate::Result;
use crate::edge_csv::{EdgeLines, write_csv_into};
use crate::edges::{EdgeColumn, EdgeStream};
use crate::graph_file::GraphFile;
use crate::graph_options::{Directions, GraphOptions};
use crate::graph_writer::{write_graph_into, write_graphzero_into};
use crate::npy::NpyHeader;
use crate::progress::Stage;
use crate::section_writer::SectionWriter;

/// Edges of an array copied at a time.
const EDGES: u64 = 1 << 16;

/// What is written from a `.gl`.
pub(super) fn from_graph(
    graph: &GraphFile,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let layout = graph.layout();
    let stored: Vec<Direction> = layout.directions.iter().map(|lists| lists.direction).collect();
    let taken_over = match (kind, &stored[..]) {
        (_, [Direction::Both]) => Directions::Undirected,
        (TargetKind::GraphZeroGraph, _) => Directions::Out,
        (_, [Direction::Out]) => Directions::Out,
        (_, [Direction::In]) => Directions::In,
        _ => Directions::OutAndIn,
    };
    let order = match kind {
        TargetKind::GraphZeroGraph => ListOrder::File,
        _ if graph.is_graphzero() => ListOrder::Id,
        _ => layout.order,
    };
    let (edge_ids, weights) = (graph.edge_ids(), graph.weights());
    let (times, original_ids) = (graph.times(), graph.original_ids());
    let mut wanted = graph_options(options, taken_over, order);
    // GraphZero's layout has no other than 64-bit ids.
    wanted.packed = match kind {
        TargetKind::Graph => wanted.packed.or(Some(layout.is_packed())),
        _ => None,
    };
    wanted.symmetric = layout.undirected && wanted.directions == Directions::Undirected;
    wanted.rows = edge_ids.as_ref().map(|values| EdgeColumn::Stream(values));
    wanted.weights = weights.as_ref().map(|values| EdgeColumn::Stream(values));
    wanted.times = times.as_ref().map(|values| EdgeColumn::Stream(values));
    wanted.original_ids = original_ids.as_ref().map(|values| EdgeColumn::Stream(values));
    let left_out = match (kind, weights.is_some(), times.is_some()) {
        (TargetKind::Npy, true, true) => Some("weights and times"),
        (TargetKind::Npy, true, false) => Some("weights"),
        (TargetKind::Npy | TargetKind::GraphZeroGraph, _, true) => Some("times"),
        _ => None,
    };
    Ok(Converted { left_out, ..write(graph, target, kind, &wanted, options)? })
}

/// What is written from edges that are nothing else.
pub(super) fn from_edges(
    edges: &dyn EdgeStream,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let order = match kind {
        TargetKind::GraphZeroGraph => ListOrder::File,
        _ => ListOrder::Id,
    };
    write(edges, target, kind, &graph_options(options, Directions::Out, order), options)
}

fn graph_options<'a>(
    options: &ConvertOptions<'a>,
    directions: Directions,
    order: ListOrder,
) -> GraphOptions<'a> {
    GraphOptions {
        num_nodes: options.num_nodes,
        directions: options.directions.unwrap_or(directions),
        order: options.order.unwrap_or(order),
        edge_ids: options.edge_ids,
        observer: options.observer,
        ..GraphOptions::new().encoding(options.encoding)
    }
}

fn write(
    edges: &dyn EdgeStream,
    target: &Path,
    kind: TargetKind,
    wanted: &GraphOptions<'_>,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let budget = match &options.budget {
        Some(budget) => budget.clone(),
        None => Budget::new(graphmill_disk::default_budget()),
    };
    let file_system = Arc::new(RealFileSystem);
    let draft = FileDraft::begin(file_system.clone(), target, options.overwrite)?;
    let file = draft.file();
    let (rows, length) = match kind {
        TargetKind::Graph => {
            let (_, report) =
                write_graph_into(&*file_system, file, target, edges, wanted, &budget)?;
            (report.num_edges, report.length)
        }
        TargetKind::GraphZeroGraph => {
            let wanted = one_direction(wanted)?;
            let report = write_graphzero_into(file, target, edges, &wanted, &budget)?;
            (report.num_edges, report.length)
        }
        TargetKind::Csv => {
            let &GraphOptions { weights, times, .. } = wanted;
            let lines = EdgeLines { edges, weights, times };
            let length = write_csv_into(file, &lines, options.csv_header, options.observer)?;
            (edges.edge_count(), length)
        }
        _ => (edges.edge_count(), write_edge_index(file, edges, options)?),
    };
    draft.publish()?;
    Ok(Converted { rows, length, ..Converted::default() })
}

/// GraphZero's layout holds out-lists with 64-bit ids and weights, nothing else.
fn one_direction<'a>(wanted: &GraphOptions<'a>) -> Result<GraphOptions<'a>> {
    if matches!(wanted.directions, Directions::In | Directions::OutAndIn) {
        let problem = "GraphZero files store out-edges alone; ask for out or undirected";
        return Err(crate::Error::request("direction", problem));
    }
    Ok(GraphOptions { edge_ids: false, ..wanted.encoding(Encoding::I64) })
}

/// Writes `int64 [2, E]`: all sources, then all destinations.
fn write_edge_index(
    file: &dyn OutputFile,
    edges: &dyn EdgeStream,
    options: &ConvertOptions<'_>,
) -> Result<u64> {
    let total = edges.edge_count();
    let header = NpyHeader::encode(ElementType::I64, &[2, total])?;
    let start = header.len() as u64;
    let row = total.checked_mul(8).filter(|row| row.checked_mul(2).is_some()).ok_or_else(|| {
        crate::Error::request("npy", format!("{total} edges exceed what a file can hold"))
    })?;
    let mut sources = SectionWriter::unpadded(file, start..start + row);
    let mut destinations = SectionWriter::unpadded(file, start + row..start + 2 * row);
    let (mut source_ids, mut destination_ids) = (Vec::new(), Vec::new());
    let mut stage = Stage::new(options.observer, "writing edges", total);
    let mut first = 0;
    while first < total {
        let length = (total - first).min(EDGES);
        source_ids.resize(length as usize, 0);
        destination_ids.resize(length as usize, 0);
        edges.read(first, &mut source_ids, &mut destination_ids)?;
        sources.write_values(source_ids.iter().map(|id| id.to_le_bytes()))?;
        destinations.write_values(destination_ids.iter().map(|id| id.to_le_bytes()))?;
        stage.advance(length)?;
        first += length;
    }
    sources.finish()?;
    destinations.finish()?;
    file.write_all_at(0, &header)?;
    Ok(start + 2 * row)
}
