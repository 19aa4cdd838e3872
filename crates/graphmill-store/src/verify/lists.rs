//! Checks of neighbour lists: offsets ascend and cover all edges, ids are nodes, lists are in the order that the
//! header promises.

use super::blocks::{BlockReader, Piece};
use super::sums::check_sums;
use super::values::{aligned, check_edge_ids, check_weights};
use super::{Fault, Report, packed};
use crate::Result;
use crate::stored_offsets::StoredOffsets;
use graphmill_disk::ReadAt;
use graphmill_format::content::NodeId;
use graphmill_format::{DirectionSections, ElementType, GraphLayout, ListOrder, content};
use std::cell::Cell;
use std::ops::Range;
use zerocopy::FromBytes;

/// Offsets that are read at a time while neighbours are walked list by list.
const OFFSETS_AT_ONCE: u64 = 1 << 12;

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
    let lists = Lists { sections, num_nodes };
    if sections.is_packed() {
        packed::check_neighbours(reader, layout, sections, ordered, report)?;
    } else {
        reader.check(&sections.neighbours, report, |piece| {
            let lists = ordered.then_some(lists);
            match piece.section.element {
                ElementType::I32 => check_neighbours::<i32>(piece, num_nodes, lists),
                _ => check_neighbours::<i64>(piece, num_nodes, lists),
            }
        })?;
    }
    if let Some(section) = &sections.weights {
        reader.check(section, report, check_weights)?;
    }
    if let Some(section) = &sections.cumulative_weights {
        reader.check(section, report, |piece| match &sections.weights {
            Some(weights) if offsets_are_sound => check_sums(piece, lists, weights),
            _ => Ok(None),
        })?;
    }
    if let Some(section) = &sections.edge_ids {
        reader.check(section, report, check_edge_ids)?;
    }
    if let Some(section) = &sections.edge_times {
        let by_time = offsets_are_sound && layout.order == ListOrder::Time;
        reader.check(section, report, |piece| match by_time {
            true => check_times(piece, lists),
            false => Ok(None),
        })?;
    }
    Ok(())
}

/// Where the lists of a direction are told to begin.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    sections: &'a DirectionSections,
    num_nodes: u64,
}

impl Lists<'_> {
    /// Calls `visit` with the offsets of the lists that start among the `count` elements of a piece, some at a time, and
    /// the number of its first edge.
    pub(super) fn visit_starts(
        &self,
        piece: &Piece,
        count: usize,
        visit: impl FnMut(&[u64], u64),
    ) -> Result<()> {
        let first = piece.start / piece.section.element.width();
        let mut offsets = StoredOffsets::new(piece.file, self.sections, self.num_nodes);
        visit_starts(&mut offsets, first..first + count as u64, piece.memory, visit)
    }
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
    lists: Option<Lists<'_>>,
) -> Result<Option<Fault>>
where
    T: NodeId + std::fmt::Display + FromBytes + zerocopy::Immutable + zerocopy::KnownLayout,
{
    let Some(ids) = aligned::<T>(piece.bytes) else { return Ok(None) };
    let before = element_before::<T>(piece)?;
    if let Some(lists) = lists
        && are_sorted_lists_of_nodes(piece, lists, before, ids)?
    {
        return Ok(None);
    }
    if let Some(at) = content::first_bad_id(ids, num_nodes) {
        let expected = format!("0 to {}", num_nodes.saturating_sub(1));
        return Ok(Some(
            piece.fault(at, format!("found neighbour {}, expected {expected}", ids[at])),
        ));
    }
    let Some(lists) = lists else { return Ok(None) };
    let Some((at, before)) = first_descent(piece, lists, before, ids)? else { return Ok(None) };
    let problem = format!("found {} after {before} in one list, expected ascending ids", ids[at]);
    Ok(Some(piece.fault(at, problem)))
}

/// Times of lists that are ordered by them: samplers search these, so they must not descend.
fn check_times(piece: &Piece, lists: Lists<'_>) -> Result<Option<Fault>> {
    let Some(times) = aligned::<i64>(piece.bytes) else { return Ok(None) };
    let Some((at, before)) = first_descent(piece, lists, element_before(piece)?, times)? else {
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
    lists: Lists<'_>,
    before: Option<T>,
    ids: &[T],
) -> Result<bool> {
    let Some(all) = content::count_descents(ids, lists.num_nodes) else { return Ok(false) };
    let mut allowed = 0;
    let mut previous = usize::MAX;
    let mut starts_at_zero = false;
    lists.visit_starts(piece, ids.len(), |starts, first| {
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
    lists: Lists<'_>,
    before: Option<T>,
    ids: &[T],
) -> Result<Option<(usize, T)>> {
    let mut starts = Vec::new();
    lists.visit_starts(piece, ids.len(), |found, first| {
        starts.extend(found.iter().map(|start| start.wrapping_sub(first) as usize));
    })?;
    let predecessor = |at: usize| if at == 0 { before } else { Some(ids[at - 1]) };
    let descends = |at: usize| predecessor(at).filter(|&before| ids[at] < before);
    let inside = |at: usize| descends(at).filter(|_| starts.binary_search(&at).is_err());
    Ok((0..ids.len()).find_map(|at| inside(at).map(|before| (at, before))))
}

/// Calls `visit` with the offsets of the lists that start at some edges, a few at a time, and the first edge; `memory` is
/// where the search ended last time.
pub(super) fn visit_starts(
    offsets: &mut StoredOffsets<'_>,
    edges: Range<u64>,
    memory: &Cell<u64>,
    mut visit: impl FnMut(&[u64], u64),
) -> Result<()> {
    let mut index = first_offset_not_below(offsets, edges.start, memory.get())?;
    while index < offsets.count() {
        let some = index..offsets.count().min(index + OFFSETS_AT_ONCE);
        let mut ended = false;
        offsets.read(some.clone(), |starts| {
            let here = starts.partition_point(|&start| start < edges.end);
            if !ended {
                visit(&starts[..here], edges.start);
                index += here as u64;
            }
            ended |= here < starts.len();
        })?;
        if ended {
            memory.set(index);
            return Ok(());
        }
    }
    Ok(())
}

/// The index of the first offset that is not below an edge: where the search before ended, or else it is searched for.
fn first_offset_not_below(offsets: &mut StoredOffsets<'_>, edge: u64, guess: u64) -> Result<u64> {
    if (1..offsets.count()).contains(&guess)
        && offsets.at(guess - 1)? < edge
        && offsets.at(guess)? >= edge
    {
        return Ok(guess);
    }
    let (mut low, mut high) = (0, offsets.count());
    while low < high {
        let middle = low + (high - low) / 2;
        if offsets.at(middle)? < edge { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}
