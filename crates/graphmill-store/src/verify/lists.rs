//! Checks of neighbour lists: offsets ascend and cover all edges, ids are nodes, lists are in the order that the
//! header promises.

use super::blocks::{BlockReader, Piece};
use super::sums::check_sums;
use super::values::{aligned, check_edge_ids, check_weights};
use super::{Fault, Report};
use crate::Result;
use graphmill_disk::{PageBuffer, Pread, ReadAt};
use graphmill_format::content::NodeId;
use graphmill_format::{DirectionSections, ElementType, GraphLayout, ListOrder, Section, content};
use zerocopy::FromBytes;

/// Offsets that are read at a time while neighbours are walked list by list.
const OFFSETS_AT_ONCE: usize = 1 << 12;

pub(super) fn check_direction(
    reader: &BlockReader,
    layout: &GraphLayout,
    sections: &DirectionSections,
    report: &mut Report,
) -> Result<()> {
    let before = report.faults.len();
    reader.check(&sections.offsets, report, |piece| check_offsets(piece, layout))?;
    let offsets_are_sound = report.faults.len() == before;
    let num_nodes = layout.num_nodes;
    let ordered = offsets_are_sound && layout.order == ListOrder::Id;
    reader.check(&sections.neighbours, report, |piece| {
        let offsets = if ordered { Some(&sections.offsets) } else { None };
        match piece.section.element {
            ElementType::I32 => check_neighbours::<i32>(piece, num_nodes, offsets),
            _ => check_neighbours::<i64>(piece, num_nodes, offsets),
        }
    })?;
    if let Some(section) = &sections.weights {
        reader.check(section, report, check_weights)?;
    }
    if let Some(section) = &sections.cumulative_weights {
        reader.check(section, report, |piece| match &sections.weights {
            Some(weights) if offsets_are_sound => check_sums(piece, sections, weights),
            _ => Ok(None),
        })?;
    }
    if let Some(section) = &sections.edge_ids {
        reader.check(section, report, check_edge_ids)?;
    }
    if let Some(section) = &sections.edge_times {
        let by_time = offsets_are_sound && layout.order == ListOrder::Time;
        reader.check(section, report, |piece| match by_time {
            true => check_times(piece, &sections.offsets),
            false => Ok(None),
        })?;
    }
    Ok(())
}

fn check_offsets(piece: &Piece, layout: &GraphLayout) -> Result<Option<Fault>> {
    let Some(offsets) = aligned::<u64>(piece.bytes) else { return Ok(None) };
    let (first, last) =
        (piece.start == 0, piece.start + piece.bytes.len() as u64 == piece.section.length());
    let previous =
        if first { 0 } else { offset_at(piece.file, piece.section, piece.start / 8 - 1)? };
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
    offsets: Option<&Section>,
) -> Result<Option<Fault>>
where
    T: NodeId + std::fmt::Display + FromBytes + zerocopy::Immutable + zerocopy::KnownLayout,
{
    let Some(ids) = aligned::<T>(piece.bytes) else { return Ok(None) };
    let before = element_before::<T>(piece)?;
    if let Some(offsets) = offsets
        && are_sorted_lists_of_nodes(piece, offsets, before, ids, num_nodes)?
    {
        return Ok(None);
    }
    if let Some(at) = content::first_bad_id(ids, num_nodes) {
        let expected = format!("0 to {}", num_nodes.saturating_sub(1));
        return Ok(Some(
            piece.fault(at, format!("found neighbour {}, expected {expected}", ids[at])),
        ));
    }
    let Some(offsets) = offsets else { return Ok(None) };
    let Some((at, before)) = first_descent(piece, offsets, before, ids)? else { return Ok(None) };
    let problem = format!("found {} after {before} in one list, expected ascending ids", ids[at]);
    Ok(Some(piece.fault(at, problem)))
}

/// Times of lists that are ordered by them: samplers search these, so they must not descend.
fn check_times(piece: &Piece, offsets: &Section) -> Result<Option<Fault>> {
    let Some(times) = aligned::<i64>(piece.bytes) else { return Ok(None) };
    let Some((at, before)) = first_descent(piece, offsets, element_before(piece)?, times)? else {
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
    offsets: &Section,
    before: Option<T>,
    ids: &[T],
    num_nodes: u64,
) -> Result<bool> {
    let Some(all) = content::count_descents(ids, num_nodes) else { return Ok(false) };
    let mut allowed = 0;
    let mut previous = usize::MAX;
    let mut starts_at_zero = false;
    visit_starts(piece, offsets, ids.len(), |starts, first| {
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
    offsets: &Section,
    before: Option<T>,
    ids: &[T],
) -> Result<Option<(usize, T)>> {
    let mut starts = Vec::new();
    visit_starts(piece, offsets, ids.len(), |found, first| {
        starts.extend(found.iter().map(|start| start.wrapping_sub(first) as usize));
    })?;
    let predecessor = |at: usize| if at == 0 { before } else { Some(ids[at - 1]) };
    let descends = |at: usize| predecessor(at).filter(|&before| ids[at] < before);
    let inside = |at: usize| descends(at).filter(|_| starts.binary_search(&at).is_err());
    Ok((0..ids.len()).find_map(|at| inside(at).map(|before| (at, before))))
}

/// Calls `visit` with the offsets of the lists that start in the piece, piece by piece, and its first edge.
pub(super) fn visit_starts(
    piece: &Piece,
    offsets: &Section,
    count: usize,
    mut visit: impl FnMut(&[u64], u64),
) -> Result<()> {
    let first = piece.start / piece.section.element.width();
    let end = first + count as u64;
    let mut index = first_offset_not_below(piece, offsets, first)?;
    let mut bytes = PageBuffer::new(OFFSETS_AT_ONCE * 8);
    while index < offsets.count {
        let wanted = (OFFSETS_AT_ONCE as u64).min(offsets.count - index) as usize * 8;
        let bytes = &mut bytes[..wanted];
        piece.file.read_exact_at(offsets.offset + index * 8, bytes)?;
        let starts = aligned::<u64>(bytes).unwrap_or_default();
        let here = starts.partition_point(|&start| start < end);
        visit(&starts[..here], first);
        if here < starts.len() {
            piece.memory.set(index + here as u64);
            return Ok(());
        }
        index += wanted as u64 / 8;
    }
    Ok(())
}

/// The index of the first offset that is not below an edge: where the piece before ended, or else it is searched for.
fn first_offset_not_below(piece: &Piece, offsets: &Section, edge: u64) -> Result<u64> {
    let file = piece.file;
    let guess = piece.memory.get();
    if (1..offsets.count).contains(&guess)
        && offset_at(file, offsets, guess - 1)? < edge
        && offset_at(file, offsets, guess)? >= edge
    {
        return Ok(guess);
    }
    let (mut low, mut high) = (0, offsets.count);
    while low < high {
        let middle = low + (high - low) / 2;
        if offset_at(file, offsets, middle)? < edge { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

fn offset_at(file: &Pread, offsets: &Section, index: u64) -> Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(offsets.offset + index * 8, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
