//! Checks of neighbour lists: offsets ascend and cover all edges, ids are nodes, lists are in the order that the
//! header promises.

use super::blocks::{BlockReader, Piece};
use super::edge_sums::{AttributeHashes, Summing};
use super::list_starts::{ListStarts, Parts};
use super::sums::check_sums;
use super::values::{aligned, check_edge_ids, check_weights};
use super::{Fault, Report, packed};
use crate::Result;
use graphmill_disk::ReadAt;
use graphmill_format::content::NodeId;
use graphmill_format::{DirectionSections, ElementType, GraphLayout, ListOrder, content};
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::FromBytes;

/// What is kept of one piece of the neighbours for the next that its thread reads.
pub(super) struct Kept<'a> {
    pub(super) starts: ListStarts<'a>,
    pub(super) hashes: AttributeHashes,
}

/// What neighbours have to be, and where they are added up.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) num_nodes: u64,
    pub(super) is_ordered: bool,
    pub(super) sections: &'a DirectionSections,
    pub(super) summing: Option<(Summing, &'a AtomicU64)>,
}

/// Checks the lists of a direction; `source_rows` bounds the ids of edges, if it is known. Returns the sum of their edges,
/// which means something if no fault was found and there is another direction to compare it with.
pub(super) fn check_direction(
    reader: &BlockReader,
    layout: &GraphLayout,
    sections: &DirectionSections,
    source_rows: Option<u64>,
    report: &mut Report,
) -> Result<u64> {
    let before = report.faults.len();
    match sections.is_packed() {
        true => packed::check_offsets(reader, layout, &sections.offsets, report)?,
        false => reader.check(&sections.offsets, report, |piece| check_offsets(piece, layout))?,
    }
    let offsets_are_sound = report.faults.len() == before;
    let sum = AtomicU64::new(0);
    let wanted = Wanted {
        num_nodes: layout.num_nodes,
        is_ordered: offsets_are_sound && layout.order == ListOrder::Id,
        sections,
        summing: Summing::of(layout, sections)
            .filter(|_| offsets_are_sound)
            .map(|summing| (summing, &sum)),
    };
    let keep = || ListStarts::new(reader.file, sections, layout.num_nodes);
    if sections.is_packed() {
        packed::check_neighbours(reader, layout, wanted, report)?;
    } else {
        let keep = || Kept { starts: keep(), hashes: AttributeHashes::new() };
        reader.check_with(&sections.neighbours, report, keep, |piece, kept| {
            match piece.section.element {
                ElementType::I32 => check_neighbours::<i32>(piece, &wanted, kept),
                _ => check_neighbours::<i64>(piece, &wanted, kept),
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
        reader.check(section, report, |piece| check_edge_ids(piece, source_rows))?;
    }
    if let Some(section) = &sections.edge_times {
        let by_time = offsets_are_sound && layout.order == ListOrder::Time;
        reader.check_with(section, report, keep, |piece, starts| match by_time {
            true => check_times(piece, starts),
            false => Ok(None),
        })?;
    }
    Ok(sum.into_inner())
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
    wanted: &Wanted<'_>,
    kept: &mut Kept<'_>,
) -> Result<Option<Fault>>
where
    T: NodeId
        + Into<i64>
        + std::fmt::Display
        + FromBytes
        + zerocopy::Immutable
        + zerocopy::KnownLayout,
{
    let Some(ids) = aligned::<T>(piece.bytes) else { return Ok(None) };
    let num_nodes = wanted.num_nodes;
    let before = element_before::<T>(piece)?;
    let bad_id = || {
        let expected = format!("0 to {}", num_nodes.saturating_sub(1));
        content::first_bad_id(ids, num_nodes)
            .map(|at| piece.fault(at, format!("found neighbour {}, expected {expected}", ids[at])))
    };
    let descents = match wanted.is_ordered {
        true => content::count_descents(ids, num_nodes),
        false => None,
    };
    if descents.is_none()
        && let Some(fault) = bad_id()
    {
        return Ok(Some(fault));
    }
    let mut sum = 0_u64;
    let hashes = match wanted.summing {
        Some((summing, _)) => {
            kept.hashes.read(piece.file, wanted.sections, summing, piece.elements())?
        }
        None => &[],
    };
    let add = |node: u64, part: std::ops::Range<usize>| {
        let (Some((summing, _)), Some(ids)) = (wanted.summing, ids.get(part.clone())) else {
            return;
        };
        let ids = ids.iter().map(|&id| Into::<i64>::into(id) as u64);
        let of_list = summing.list(node, ids, hashes.get(part).unwrap_or_default());
        sum = sum.wrapping_add(of_list);
    };
    let is_sorted = visit_lists(piece, wanted, &mut kept.starts, (before, descents), ids, add)?;
    if let Some((_, all)) = wanted.summing {
        all.fetch_add(sum, Ordering::Relaxed);
    }
    if is_sorted {
        return Ok(None);
    }
    let Some((at, before)) = first_descent(piece, &mut kept.starts, before, ids)? else {
        return Ok(None);
    };
    let problem = format!("found {} after {before} in one list, expected ascending ids", ids[at]);
    Ok(Some(piece.fault(at, problem)))
}

/// Goes through the lists of a piece, whose ids are nodes: `add` gets each, if sums are wanted. Whether every list ascends as far
/// as it has to; `before` is the id before the piece.
///
/// All descents of the piece have been counted at the speed of memory; those at which a list starts are counted here: equal
/// numbers mean that no list descends inside.
fn visit_lists<T: NodeId>(
    piece: &Piece,
    wanted: &Wanted<'_>,
    starts: &mut ListStarts<'_>,
    (before, descents): (Option<T>, Option<usize>),
    ids: &[T],
    mut add: impl FnMut(u64, std::ops::Range<usize>),
) -> Result<bool> {
    let is_summed = wanted.summing.is_some();
    if descents.is_none() && !is_summed {
        return Ok(true);
    }
    let edges = piece.elements();
    let first = edges.start;
    let mut allowed = 0;
    let mut previous = usize::MAX;
    let mut starts_at_zero = false;
    let mut parts = Parts::of(&edges);
    starts.visit(edges, |node, starts| {
        starts_at_zero |= starts.first() == Some(&first);
        if descents.is_some() {
            allowed += descents_at(starts, first, ids, &mut previous);
        }
        if is_summed {
            parts.until(node, starts, &mut add);
        }
    })?;
    if is_summed {
        parts.rest(starts.next_node(), add);
    }
    let goes_on = before.zip(ids.first()).is_none_or(|(before, first)| before <= *first);
    Ok(descents.is_none_or(|all| all == allowed && (goes_on || starts_at_zero)))
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
