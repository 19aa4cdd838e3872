//! Edges that are read once, from text and its kin, into a `.gl`.
//! The reader's threads push what they parse into the sorter, which shares the budget with them. It must not know what
//! files look like inside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphmill_disk::{FileDraft, OutputFile, RealFileSystem};

use super::graph::GraphSource;
use super::{ConvertOptions, Converted, TargetKind, graph};
use crate::Result;
use crate::build::scattered;
use crate::edge_reading::{borrowed, reading_share, refuse_empty};
use crate::edge_sort::{EdgeSortOptions, EdgeSorter};
use crate::graph_options::Directions;
use crate::pack::write_packed;
use crate::source::{self, EdgeInput};
use graphmill_format::{Encoding, ListOrder};

/// Edges and bytes written, and the rows of the sources that were left out.
pub(super) fn convert(
    paths: &[PathBuf],
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    match kind {
        TargetKind::GraphZeroGraph => by_our_own(paths, target, options),
        _ => to_lists(paths, target, options),
    }
}

/// GraphZero's layout needs all lists before it can be written: ours is made first, beside it.
fn by_our_own(paths: &[PathBuf], target: &Path, options: &ConvertOptions<'_>) -> Result<Converted> {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".lists");
    let lists = Removed(target.with_file_name(name));
    let mut wanted = options.clone().overwrite(true);
    wanted.order = Some(wanted.order.unwrap_or(ListOrder::File));
    wanted.encoding = Encoding::Auto;
    let sorted = to_lists(paths, &lists.0, &wanted)?;
    let (kind, source) = (TargetKind::GraphZeroGraph, GraphSource::open(&lists.0)?);
    let mut written = graph::from_graph(&source, target, kind, options)?;
    // Weights and times brought ids with them that the source does not have.
    written.left_out.retain(|what| options.edge_ids || what != "edge ids");
    Ok(Converted { skipped: sorted.skipped, ..written })
}

/// A file that goes with whoever made it.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        // It is hidden and overwritten by the next one; nobody is left to tell.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn to_lists(paths: &[PathBuf], target: &Path, options: &ConvertOptions<'_>) -> Result<Converted> {
    let file_system = Arc::new(RealFileSystem);
    let scratch = target.with_file_name(".edges.scratch");
    let budget = options.memory();
    let input = options.input.clone().scratch(file_system.clone(), scratch).budget(&budget);
    let input = EdgeInput::open(paths, &input)?;
    let draft = FileDraft::begin(file_system.clone(), target, options.overwrite)?;
    let free = budget.free();
    let wanted = sort_options(&input, options).memory(free - reading_share(free));
    let sorter = EdgeSorter::new(wanted, &budget, file_system.clone(), target)?;
    let push = |chunk: &mut source::EdgeChunk| sorter.push(&borrowed(chunk));
    let read = input.read(&budget, &push, options.observer)?;
    refuse_empty(&input, &read, options.num_nodes, &paths[0])?;
    scattered::check_file(sorter.num_nodes(), read.rows, options.num_nodes.unwrap_or(0))
        .map_err(|error| error.in_file(&paths[0]))?;
    let (written, report) = match wanted.packed {
        Some(true) => {
            let write_plain = |plain: &dyn OutputFile| sorter.finish(plain, target, None);
            let (file, observer) = (draft.file(), options.observer);
            write_packed(&*file_system, file, target, &budget, observer, write_plain)?
        }
        _ => sorter.finish(draft.file(), target, None)?,
    };
    draft.publish()?;
    let rows = report.graph.num_edges;
    let (length, skipped) = (written.length, read.skipped);
    Ok(Converted { rows, length, skipped, ..Converted::default() })
}

fn sort_options<'a>(input: &EdgeInput, options: &ConvertOptions<'a>) -> EdgeSortOptions<'a> {
    let wanted = EdgeSortOptions::new()
        .encoding(options.encoding)
        .num_nodes(options.num_nodes.unwrap_or(0))
        .directions(options.directions.unwrap_or(Directions::Out))
        .order(options.order.unwrap_or_default())
        .edge_ids(options.edge_ids)
        .weights(input.has_weights())
        .times(input.has_times())
        .dedup(options.dedup)
        .drop_self_loops(options.drop_self_loops)
        .add_self_loops(options.add_self_loops);
    match options.observer {
        Some(observer) => wanted.observer(observer),
        None => wanted,
    }
}
