//! Checks of neighbour lists: offsets ascend and cover all edges, ids are nodes, lists are in the order that the
//! header promises.

use super::blocks::{BlockReader, Piece};
use super::list_starts::ListStarts;
use super::sums::check_sums;
use super::values::{aligned, check_edge_ids, check_weights};
use super::{Fault, Report, packed};
use crate::Result;
use graphmill_disk::ReadAt;
use graphmill_format::content::NodeId;
use graphmill_format::{DirectionSections, ElementType, GraphLayout, ListOrder, content};
use zerocopy::FromBytes;

pub(super) fn check_direction(
    reader: &BlockReader,
    layout: &GraphLayout,
    sections: &DirectionSections,
    report: &mut Report,
) -> Result<()> {
    let before = report.faults.len();
    match sections.is_packed() {
        true => packed::check_offsets(reader, layout, &sections.offsets, report)?,
        false => reader.check(&sections.offsets, report, |piece| check_offsets(piece, layout))?,
    }
    let offsets_are_sound = report.faults.len() == before;
    let num_nodes = layout.num_nodes;
    let ordered = offsets_are_sound && layout.order == ListOrder::Id;
    let keep = || ListStarts::new(reader.file, sections, num_nodes);
    if sections.is_packed() {
        packed::check_neighbours(reader, layout, sections, ordered, report)?;
    } else {
        reader.check_with(&sections.neighbours, report, keep, |piece, starts| {
            let starts = ordered.then_some(starts);
            match piece.section.element {
                ElementType::I32 => check_neighbours::<i32>(piece, num_nodes, starts),
                _ => check_neighbours::<i64>(piece, num_nodes, starts),
            }
        })?;
    }
    if let Some(section) = &sections.weights {
        reader.check(section, report, check_weights)?;
    }
    if let Some(section) = &sections.cumulative_weights {
        reader.check_with(section, report, keep, |piece, starts| match &sections.weights {
            Some(weights) if offsets_are_sound => check_sums(piece, starts, weights),
            _ => Ok(None),
        })?;
    }
    if let Some(section) = &sections.edge_ids {
        reader.check(section, report, check_edge_ids)?;
    }
    if let Some(section) = &sections.edge_times {
        let by_time = offsets_are_sound && layout.order == ListOrder::Time;
        reader.check_with(section, report, keep, |piece, starts| match by_time {
            true => check_times(piece, starts),
            false => Ok(None),
        })?;
    }
    Ok(())
}

fn check_offsets(piece: &Piece, layout: &GraphLayout) -> Result<Option<Fault>> {
    let Some(offsets) = aligned::<u64>(piece.bytes) else { return Ok(None) };
    let (first, last) =
        (piece.start == 0, piece.start + piece.bytes.len() as u64 == piece.section.length());
    let previous = if first { 0 } else { element_before::<u64>(piece)?.unwrap_or_default() };
    if let Some(at) = content::first_bad_offset(previous, offsets, layout.num_edges) {
        let before = if at == 0 { previous } else { offsets[at - 1] };
        let expected = format!("{before} to {}", layout.num_edges);
        return Ok(Some(
            piece.fault(at, format!("found offset {}, expected {expected}", offsets[at])),
        ));
    }
    if first && offsets[0] != 0 {
        return Ok(Some(piece.fault(0, format!("found first offset {}, expected 0", offsets[0]))));
    }
    let end = offsets.len() - 1;
    if last && offsets[end] != layout.num_edges {
        let problem = format!("found last offset {}, expected {}", offsets[end], layout.num_edges);
        return Ok(Some(piece.fault(end, problem)));
    }
    Ok(None)
}

fn check_neighbours<T>(
    piece: &Piece,
    num_nodes: u64,
    starts: Option<&mut ListStarts<'_>>,
) -> Result<Option<Fault>>
where
    T: NodeId + std::fmt::Display + FromBytes + zerocopy::Immutable + zerocopy::KnownLayout,
{
    let Some(ids) = aligned::<T>(piece.bytes) else { return Ok(None) };
    let before = element_before::<T>(piece)?;
    let bad_id = || {
        let expected = format!("0 to {}", num_nodes.saturating_sub(1));
        content::first_bad_id(ids, num_nodes)
            .map(|at| piece.fault(at, format!("found neighbour {}, expected {expected}", ids[at])))
    };
    let Some(starts) = starts else { return Ok(bad_id()) };
    if are_sorted_lists_of_nodes(piece, num_nodes, starts, before, ids)? {
        return Ok(None);
    }
    if let Some(fault) = bad_id() {
        return Ok(Some(fault));
    }
    let Some((at, before)) = first_descent(piece, starts, before, ids)? else { return Ok(None) };
    let problem = format!("found {} after {before} in one list, expected ascending ids", ids[at]);
    Ok(Some(piece.fault(at, problem)))
}

/// Times of lists that are ordered by them: samplers search these, so they must not descend.
fn check_times(piece: &Piece, starts: &mut ListStarts<'_>) -> Result<Option<Fault>> {
    let Some(times) = aligned::<i64>(piece.bytes) else { return Ok(None) };
    let Some((at, before)) = first_descent(piece, starts, element_before(piece)?, times)? else {
        return Ok(None);
    };
    let found = times[at];
    let problem =
        format!("found time {found} after {before} in one list, expected ascending times");
    Ok(Some(piece.fault(at, problem)))
}

/// The last element before this piece.
fn element_before<T: FromBytes>(piece: &Piece) -> Result<Option<T>> {
    if piece.start == 0 {
        return Ok(None);
    }
    let mut bytes = vec![0; size_of::<T>()];
    let at = piece.section.offset + piece.start - bytes.len() as u64;
    piece.file.read_exact_at(at, &mut bytes)?;
    Ok(T::read_from_bytes(&bytes).ok())
}

/// Whether every list of the piece ascends and holds nodes only; `before` is the id before the piece.
///
/// All descents of the piece are counted at the speed of memory, then those at which a list starts: equal numbers mean
/// that no list descends inside.
fn are_sorted_lists_of_nodes<T: NodeId>(
    piece: &Piece,
    num_nodes: u64,
    starts: &mut ListStarts<'_>,
    before: Option<T>,
    ids: &[T],
) -> Result<bool> {
    let Some(all) = content::count_descents(ids, num_nodes) else { return Ok(false) };
    let edges = piece.elements();
    let first = edges.start;
    let mut allowed = 0;
    let mut previous = usize::MAX;
    let mut starts_at_zero = false;
    starts.visit(edges, |starts| {
        starts_at_zero |= starts.first() == Some(&first);
        allowed += descents_at(starts, first, ids, &mut previous);
    })?;
    let goes_on = before.zip(ids.first()).is_none_or(|(before, first)| before <= *first);
    Ok(all == allowed && (goes_on || starts_at_zero))
}

/// How many of the lists that start here begin below the end of the list before them.
///
/// An empty list starts where the next one does, and counts once; `previous` is where the last one started.
fn descents_at<T: NodeId>(starts: &[u64], first: u64, ids: &[T], previous: &mut usize) -> usize {
    let (mut descents, mut last) = (0, *previous);
    for &start in starts {
        let at = start.wrapping_sub(first) as usize;
        // In range if the offsets are what they were when they were found sound; the file may have changed since.
        if at > 0 && at < ids.len() {
            descents += usize::from((at != last) & (ids[at] < ids[at - 1]));
        }
        last = at;
    }
    *previous = last;
    descents
}

/// The first id that is below its predecessor in the same list, and that predecessor.
fn first_descent<T: NodeId>(
    piece: &Piece,
    starts: &mut ListStarts<'_>,
    before: Option<T>,
    ids: &[T],
) -> Result<Option<(usize, T)>> {
    let starts = starts.places(piece.elements())?;
    let predecessor = |at: usize| if at == 0 { before } else { Some(ids[at - 1]) };
    let descends = |at: usize| predecessor(at).filter(|&before| ids[at] < before);
    let inside = |at: usize| descends(at).filter(|_| starts.binary_search(&at).is_err());
    Ok((0..ids.len()).find_map(|at| inside(at).map(|before| (at, before))))
}
