//! Ids that leave most numbers unused.
//! A table by node would be mostly holes then, so the build stops and says how to number the nodes
//! instead. How many ids there are is read from the lists that were written, and only if the
//! cheap bounds do not answer. It must not know where edges come from.

use graphmill_disk::{Budget, OutputFile, PageBuffer};
use graphmill_format::{DirectionSections, ElementType, Header};

use crate::edge_sort::EdgeSortReport;
use crate::table_writer::Written;
use crate::{Error, Result};

/// The largest id may be this many times the number of ids, and less.
const MOST: u64 = 4;
/// What to do about scattered ids in a build, and for a file alone, which has no room for a numbering.
const MAP_IDS: &str = "number the nodes with --map-ids (map_ids=True), or say that there are that many with --num-nodes";
const BUILD: &str = "build a dataset instead, with `graphmill build --map-ids` (graphmill.build(..., map_ids=True)), or say that there are that many with --num-nodes";
/// Nodes looked at together, and neighbours read together.
const PIECE: usize = 1 << 16;

/// Refuses ids that must be scattered: every row has two at most.
pub(crate) fn check_rows(needed: u64, rows: u64, covered: u64) -> Result<()> {
    check(needed, rows, covered, MAP_IDS)
}

fn check(needed: u64, rows: u64, covered: u64, remedy: &'static str) -> Result<()> {
    let most = rows.saturating_mul(2);
    if needed <= covered || needed - 1 < MOST.saturating_mul(most) {
        return Ok(());
    }
    Err(scattered(needed, format!("at most {most}"), remedy))
}

/// The same for a file of lists alone, which may have gaps as long as it is small: one wrong id must not fill the disk.
pub(crate) fn check_file(needed: u64, rows: u64, covered: u64) -> Result<()> {
    const SMALL: u64 = 64 << 20;
    if needed <= SMALL / 8 { Ok(()) } else { check(needed, rows, covered, BUILD) }
}

/// Refuses ids that the lists show to be scattered.
///
/// `needed` nodes are demanded by the largest id, `covered` by tables and by the user.
pub(super) fn check_lists(
    file: &dyn OutputFile,
    written: &Written,
    report: &EdgeSortReport,
    (needed, covered): (u64, u64),
    self_loops_added: bool,
    budget: &Budget,
) -> Result<()> {
    // Edges that were left out may have named an id each: self loops, and those that an added one replaced.
    let replaced = if self_loops_added { report.duplicates_dropped } else { 0 };
    let left_out = report.self_loops_dropped.saturating_add(replaced);
    let fine = |distinct: u64| needed - 1 < MOST.saturating_mul(distinct.saturating_add(left_out));
    let listed = report.lists.iter().map(|lists| lists.non_empty).max().unwrap_or(0);
    if needed <= covered || (!self_loops_added && fine(listed)) {
        return Ok(());
    }
    let wrong = |error| Error::format(file.path())(error);
    let header = Header::parse(&written.header, written.length).map_err(wrong)?;
    let layout = header.graph_layout().map_err(wrong)?;
    // Either direction names both ends of every edge.
    let Some(lists) = layout.directions.first() else { return Ok(()) };
    let distinct = distinct_ids(file, lists, needed, u64::from(self_loops_added), budget)?;
    if fine(distinct) { Ok(()) } else { Err(scattered(needed, distinct.to_string(), MAP_IDS)) }
}

fn scattered(needed: u64, distinct: String, remedy: &'static str) -> Error {
    let found = format!("a largest id of {} among {distinct} different ids", needed - 1);
    let expected = format!("a largest id below {MOST} times their number");
    Error::source("ids of the edges", found, expected, remedy)
}

/// Counts the ids below `nodes` that an edge has, in passes over ranges of ids that fit in memory.
///
/// Every list has `own` entries that no edge of the source demanded.
fn distinct_ids(
    file: &dyn OutputFile,
    lists: &DirectionSections,
    nodes: u64,
    own: u64,
    budget: &Budget,
) -> Result<u64> {
    let words = (nodes.div_ceil(64)).min((budget.free() / 16).max(1 << 13)) as usize;
    let _reserved = budget.reserve(words as u64 * 8, "counting the ids")?;
    let mut seen = vec![0_u64; words];
    let range = words as u64 * 64;
    let mut distinct = 0;
    let mut first = 0;
    while first < nodes {
        seen.fill(0);
        let mut mark = |id: u64| {
            let at = id.wrapping_sub(first);
            if at < range {
                seen[(at / 64) as usize] |= 1 << (at % 64);
            }
        };
        walk(file, lists, nodes, |node, length, neighbours| {
            if length > own {
                mark(node);
            }
            // With added self loops, a node that is only its own neighbour is no end of an edge.
            neighbours.iter().filter(|&&id| own == 0 || id != node).for_each(|&id| mark(id));
        })?;
        distinct += seen.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        first += range;
    }
    Ok(distinct)
}

/// Hands over every list of the first `nodes` in pieces: the node, the length of its whole list,
/// and some of its neighbours.
fn walk(
    file: &dyn OutputFile,
    lists: &DirectionSections,
    nodes: u64,
    mut take: impl FnMut(u64, u64, &[u64]),
) -> Result<()> {
    let narrow = lists.neighbours.element == ElementType::I32;
    let width = lists.neighbours.element.width();
    let mut offsets = PageBuffer::new((PIECE + 1) * 8);
    let mut raw = PageBuffer::new(PIECE * 8);
    let mut neighbours = Vec::with_capacity(PIECE);
    let mut first = 0;
    while first < nodes {
        let count = (nodes - first).min(PIECE as u64) as usize;
        let bytes = &mut offsets[..(count + 1) * 8];
        file.read_exact_at(lists.offsets.offset + first * 8, bytes)?;
        let ends = bytes.as_chunks().0;
        let offset = |at: usize| u64::from_le_bytes(ends[at]);
        // The piece of neighbours in `neighbours` starts here.
        let mut start = offset(0);
        neighbours.clear();
        for at in 0..count {
            let (mut from, end) = (offset(at), offset(at + 1));
            let length = end - from;
            loop {
                let ready = start + neighbours.len() as u64;
                let until = end.min(ready);
                let (a, b) = ((from - start) as usize, (until - start) as usize);
                take(first + at as u64, length, &neighbours[a..b]);
                from = until;
                if from == end {
                    break;
                }
                let more = (offset(count) - from).min(PIECE as u64);
                let bytes = &mut raw[..(more * width) as usize];
                file.read_exact_at(lists.neighbours.offset + from * width, bytes)?;
                neighbours.clear();
                if narrow {
                    let ids = bytes.as_chunks().0.iter();
                    neighbours.extend(ids.map(|id| u64::from(u32::from_le_bytes(*id))));
                } else {
                    neighbours.extend(bytes.as_chunks().0.iter().map(|id| u64::from_le_bytes(*id)));
                }
                start = from;
            }
        }
        first += count as u64;
    }
    Ok(())
}
