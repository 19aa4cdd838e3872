//! Checks of packed lists: blocks follow each other as the directory says, stand as the encoder writes them, and hold what
//! plain sections would have to hold.

use super::blocks::BlockReader;
use super::edge_sums::AttributeHashes;
use super::list_starts::{ListStarts, Parts};
use super::lists::{Kept, Wanted};
use super::{Fault, Report, values};
use crate::Result;
use graphmill_disk::ReadAt;
use graphmill_format::packed::{
    BLOCK, ENTRY_LENGTH, PackedWindow, TAIL_LENGTH, VALUES_PER_ENTRY, directory_length,
};
use graphmill_format::{GraphLayout, Section, content};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Values that are checked together.
const VALUES: u64 = 64 * VALUES_PER_ENTRY;

/// What is wrong with some values: the place of the culprit among them, and what was found.
type Wrong = Option<(usize, String)>;

/// Checks the offsets of a direction.
pub(super) fn check_offsets(
    reader: &BlockReader,
    layout: &GraphLayout,
    section: &Section,
    report: &mut Report,
) -> Result<()> {
    let (count, num_edges) = (layout.num_nodes + 1, layout.num_edges);
    let nothing = || ();
    check(reader, section, count, report, nothing, |first, offsets, before, ()| {
        let previous = before.unwrap_or(0);
        if let Some(at) = content::first_bad_offset(previous, offsets, num_edges) {
            let before = if at == 0 { previous } else { offsets[at - 1] };
            let problem = format!("found offset {}, expected {before} to {num_edges}", offsets[at]);
            return Ok(Some((at, problem)));
        }
        let last = offsets.len() - 1;
        Ok(if first == 0 && offsets[0] != 0 {
            Some((0, format!("found first offset {}, expected 0", offsets[0])))
        } else if first + offsets.len() as u64 == count && offsets[last] != num_edges {
            Some((last, format!("found last offset {}, expected {num_edges}", offsets[last])))
        } else {
            None
        })
    })
}

/// Checks the neighbours of a direction, that lists ascend if they shall, and adds up their edges.
pub(super) fn check_neighbours(
    reader: &BlockReader,
    layout: &GraphLayout,
    wanted: Wanted<'_>,
    report: &mut Report,
) -> Result<()> {
    let num_nodes = layout.num_nodes;
    let sections = wanted.sections;
    let (section, num_edges) = (&sections.neighbours, layout.num_edges);
    let keep = || Kept {
        starts: ListStarts::new(reader.file, sections, num_nodes),
        hashes: AttributeHashes::new(),
    };
    check(reader, section, num_edges, report, keep, |first, ids, before, kept| {
        if let Some(at) = ids.iter().position(|&id| id >= num_nodes) {
            let expected = format!("0 to {}", num_nodes.saturating_sub(1));
            return Ok(Some((at, format!("found neighbour {}, expected {expected}", ids[at]))));
        }
        let predecessor = |at: usize| if at == 0 { before } else { Some(ids[at - 1]) };
        let descends = |at: usize| predecessor(at).is_some_and(|before| ids[at] < before);
        let looked_at = if wanted.is_ordered { ids.len() } else { 0 };
        let mut descents: Vec<usize> = (0..looked_at).filter(|&at| descends(at)).collect();
        let edges = first..first + ids.len() as u64;
        let Kept { starts, hashes } = kept;
        let mut parts = Parts::of(&edges);
        let mut sum = 0_u64;
        let hashes = match wanted.summing {
            Some((summing, _)) => hashes.read(reader.file, sections, summing, edges.clone())?,
            None => &[],
        };
        let mut add = |node: u64, part: Range<usize>| {
            let (Some((summing, _)), Some(ids)) = (wanted.summing, ids.get(part.clone())) else {
                return;
            };
            let hashes = hashes.get(part).unwrap_or_default();
            sum = sum.wrapping_add(summing.list(node, ids.iter().copied(), hashes));
        };
        if wanted.is_ordered || wanted.summing.is_some() {
            starts.visit(edges, |node, starts| {
                let is_start = |at: &usize| starts.binary_search(&(first + *at as u64)).is_ok();
                descents.retain(|at| !is_start(at));
                parts.until(node, starts, &mut add);
            })?;
            parts.rest(starts.next_node(), add);
        }
        if let Some((_, all)) = wanted.summing {
            all.fetch_add(sum, Ordering::Relaxed);
        }
        Ok(descents.first().map(|&at| {
            let before = predecessor(at).unwrap_or_default();
            let problem =
                format!("found {} after {before} in one list, expected ascending ids", ids[at]);
            (at, problem)
        }))
    })
}

/// What a piece of a sequence was found to be.
struct Found {
    /// The bytes after the directory that it takes; None if that cannot be known.
    blocks: Option<Range<u64>>,
    faults: Vec<Fault>,
}

/// Reads a packed section, its digests first and then its values, which `inside` checks with the number of the first of
/// them, the value before it, and what its thread keeps.
fn check<Kept>(
    reader: &BlockReader,
    section: &Section,
    count: u64,
    report: &mut Report,
    keep: impl Fn() -> Kept + Sync,
    inside: impl Fn(u64, &[u64], Option<u64>, &mut Kept) -> Result<Wrong> + Sync,
) -> Result<()> {
    reader.check(section, report, values::nothing)?;
    let keep = || (PackedWindow::new(), keep());
    let found = reader.in_turns(count.div_ceil(VALUES), keep, |(window, kept), number| {
        let inside = |first, values: &[u64], before| inside(first, values, before, kept);
        check_piece(reader, section, count, number, window, inside)
    })?;
    let mut end = Some(0);
    for (piece, number) in found.into_iter().zip(0..) {
        if let (Some(end), Some(blocks)) = (end, &piece.blocks)
            && blocks.start != end
        {
            let entry = number * (VALUES / VALUES_PER_ENTRY) * ENTRY_LENGTH;
            let problem = format!("found blocks from byte {}, expected {end}", blocks.start);
            let (at, what) = (section.offset + entry, format!("{section} directory"));
            report.add(fault(reader, at..at + ENTRY_LENGTH, what, problem));
        }
        end = piece.blocks.map(|blocks| blocks.end);
        piece.faults.into_iter().for_each(|fault| report.add(fault));
    }
    let Some(end) = end else { return Ok(()) };
    check_tail(reader, section, directory_length(count) + end, report)
}

fn check_piece(
    reader: &BlockReader,
    section: &Section,
    count: u64,
    number: u64,
    window: &mut PackedWindow,
    inside: impl FnOnce(u64, &[u64], Option<u64>) -> Result<Wrong>,
) -> Result<Found> {
    let size = (count, section.length());
    let range = number * VALUES..count.min((number + 1) * VALUES);
    let read = |at: u64, bytes: &mut [u8]| -> Result<()> {
        Ok(reader.file.read_exact_at(section.offset + at, bytes)?)
    };
    let mut before = None;
    if let Some(index) = range.start.checked_sub(1)
        && window.fill(size, index..index + 1, read)?
    {
        window.read(index..index + 1, |value| before = Some(value));
    }
    let mut found = Found { blocks: None, faults: Vec::new() };
    let sequence = if window.fill(size, range.clone(), read)? { window.sequence() } else { None };
    let Some(sequence) = sequence else {
        let at = section.offset + range.start / VALUES_PER_ENTRY * ENTRY_LENGTH;
        let entries = at..at + directory_length(range.end - range.start);
        let (place, problem) = (format!("{section} directory"), "found places of no blocks");
        let problem = format!("{problem}, expected blocks one after the other");
        found.faults.push(fault(reader, entries, place, problem));
        return Ok(found);
    };
    found.blocks = Some(window.blocks());
    // Where a block is in the file.
    let bytes_of = |block: u64| {
        let in_window = directory_length(range.end - range.start);
        let moved = section.offset + directory_length(count) + window.blocks().start;
        let bytes = sequence.block_bytes(block).unwrap_or(0..0);
        let place = |at: usize| (moved + at as u64).saturating_sub(in_window);
        place(bytes.start)..place(bytes.end).max(place(bytes.start) + 1)
    };
    let mut values = Vec::with_capacity((range.end - range.start) as usize);
    let checked = sequence.first_bad_block_of(0..sequence.blocks(), |_, block| {
        values.extend_from_slice(block);
        true
    });
    if let Err(block) = checked {
        let place = format!("{section} element {}", range.start + block * BLOCK);
        let problem = "found a block that no encoder writes, expected one spelling of its values";
        found.faults.push(fault(reader, bytes_of(block), place, problem.to_owned()));
        return Ok(found);
    }
    if let Some((at, problem)) = inside(range.start, &values, before)? {
        let place = format!("{section} element {}", range.start + at as u64);
        found.faults.push(fault(reader, bytes_of(at as u64 / BLOCK), place, problem));
    }
    Ok(found)
}

/// The zeros after the last block, and nothing after them.
fn check_tail(
    reader: &BlockReader,
    section: &Section,
    end: u64,
    report: &mut Report,
) -> Result<()> {
    let place = format!("{section} end");
    if end + TAIL_LENGTH != section.length() {
        let problem = format!("found {} bytes, expected {}", section.length(), end + TAIL_LENGTH);
        report.add(fault(reader, section.range(), place, problem));
        return Ok(());
    }
    let mut tail = [0; TAIL_LENGTH as usize];
    let at = section.offset + end;
    reader.file.read_exact_at(at, &mut tail)?;
    if content::first_nonzero(&tail).is_some() {
        let problem = format!("found {tail:?}, expected zeros");
        report.add(fault(reader, at..at + TAIL_LENGTH, place, problem));
    }
    Ok(())
}

fn fault(reader: &BlockReader, bytes: Range<u64>, place: String, problem: String) -> Fault {
    Fault { path: reader.file.path().to_path_buf(), bytes, place, problem }
}
