//! Do two sets of lists hold the same edges?
//!
//! In-lists must hold the edges of the out-lists, and lists that serve both directions every edge at both its ends. Every
//! edge, with its id, weight and time, is hashed as the pair of source and destination, whichever of the two its list
//! belongs to, and the hashes are added up: equal edges in any order have equal sums, and other edges have another sum but
//! for one case in 2^64. So one pass over the file is enough, which the checks of lists make anyway. Only where sums differ
//! the file is read again, a few times, to find a node whose edges differ: sums are then kept apart by the source.

use super::blocks::BlockReader;
use super::list_starts::ListStarts;
use super::{Fault, Report};
use crate::Result;
use graphmill_disk::{Pread, ReadAt};
use graphmill_format::packed::PackedWindow;
use graphmill_format::{Direction, DirectionSections, ElementType, GraphLayout, Section};
use std::ops::Range;
use std::sync::Mutex;

/// Sums that are kept apart when a difference is looked for.
const BUCKETS: u64 = 1 << 12;
/// Edges that are read together then.
const EDGES: u64 = 1 << 15;

const SOURCE: u64 = 0x9e37_79b9_7f4a_7c15;
const DESTINATION: u64 = 0xd6e8_feb8_6659_fd93;
const MULTIPLIER: u64 = 0xa076_1d64_78bd_642f;

/// What the node is that a list belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Source,
    Destination,
    /// Both in turn: what is added as one is subtracted as the other.
    Either,
}

impl Owner {
    fn of(direction: Direction) -> Self {
        match direction {
            Direction::Out => Owner::Source,
            Direction::In => Owner::Destination,
            Direction::Both => Owner::Either,
        }
    }
}

/// The parts of an edge beside its nodes that all directions of a file have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    edge_ids: bool,
    weights: bool,
    times: bool,
}

/// What is added up about the lists of one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summing {
    owner: Owner,
    attributes: Attributes,
}

impl Summing {
    /// How the lists of a direction are added up; None if there is nothing to compare them with.
    pub(super) fn of(layout: &GraphLayout, sections: &DirectionSections) -> Option<Self> {
        let owner = Owner::of(sections.direction);
        if owner != Owner::Either && layout.directions.len() < 2 {
            return None;
        }
        let all = |has: fn(&DirectionSections) -> bool| layout.directions.iter().all(has);
        let attributes = Attributes {
            edge_ids: all(|lists| lists.edge_ids.is_some()),
            weights: all(|lists| lists.weights.is_some()),
            times: all(|lists| lists.edge_times.is_some()),
        };
        Some(Summing { owner, attributes })
    }

    /// The sum of a part of one list; `hashes` are those of the attributes of its edges, or none.
    #[inline]
    pub(super) fn list(
        self,
        owner: u64,
        ids: impl ExactSizeIterator<Item = u64>,
        hashes: &[u64],
    ) -> u64 {
        let mut sum = 0_u64;
        // Spread once for the whole list, where it is the source.
        let spread_owner = spread(owner);
        let (from_owner, to_owner) =
            (|id: u64| edge(spread_owner, id), |id: u64| edge(spread(id), owner));
        if hashes.is_empty() {
            for id in ids {
                sum = sum.wrapping_add(match self.owner {
                    Owner::Source => from_owner(id),
                    Owner::Destination => to_owner(id),
                    Owner::Either => from_owner(id).wrapping_sub(to_owner(id)),
                });
            }
            return sum;
        }
        for (id, &hash) in ids.zip(hashes) {
            let with = |edge: u64| folded(edge ^ hash, MULTIPLIER);
            sum = sum.wrapping_add(match self.owner {
                Owner::Source => with(from_owner(id)),
                Owner::Destination => with(to_owner(id)),
                Owner::Either => with(from_owner(id)).wrapping_sub(with(to_owner(id))),
            });
        }
        sum
    }
}

fn spread(node: u64) -> u64 {
    node.wrapping_mul(MULTIPLIER) ^ SOURCE
}

/// The hash of an edge, which is another one for the reverse; `source` is spread.
fn edge(source: u64, destination: u64) -> u64 {
    folded(source, destination ^ DESTINATION)
}

fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// Hashes of what edges have beside their nodes, read for some edges at a time.
pub(super) struct AttributeHashes {
    hashes: Vec<u64>,
    bytes: Vec<u8>,
}

impl AttributeHashes {
    pub(super) fn new() -> Self {
        AttributeHashes { hashes: Vec::new(), bytes: Vec::new() }
    }

    /// One hash for each of some edges, or none at all if there are no attributes.
    pub(super) fn read(
        &mut self,
        file: &Pread,
        sections: &DirectionSections,
        summing: Summing,
        edges: Range<u64>,
    ) -> Result<&[u64]> {
        let Attributes { edge_ids, weights, times } = summing.attributes;
        self.hashes.clear();
        let stored = [
            sections.edge_ids.filter(|_| edge_ids),
            sections.weights.filter(|_| weights),
            sections.edge_times.filter(|_| times),
        ];
        for section in stored.iter().flatten() {
            self.hashes.resize((edges.end - edges.start) as usize, 0);
            self.add(file, section, edges.clone())?;
        }
        Ok(&self.hashes)
    }

    fn add(&mut self, file: &Pread, section: &Section, edges: Range<u64>) -> Result<()> {
        let width = section.element.width();
        self.bytes.resize(((edges.end - edges.start) * width) as usize, 0);
        file.read_exact_at(section.offset + edges.start * width, &mut self.bytes)?;
        let values = self
            .bytes
            .chunks_exact(width as usize)
            .map(|bytes| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)));
        for (hash, value) in self.hashes.iter_mut().zip(values) {
            *hash = folded(*hash ^ value ^ DESTINATION, MULTIPLIER);
        }
        Ok(())
    }
}

/// Compares the sums of all directions, and names a node where they differ.
pub(super) fn compare(
    reader: &BlockReader,
    layout: &GraphLayout,
    sums: &[u64],
    report: &mut Report,
) -> Result<()> {
    let [first, others @ ..] = &layout.directions[..] else { return Ok(()) };
    let (is_equal, problem) = match others {
        [] if first.direction == Direction::Both => {
            (sums == [0], "the lists of an undirected graph hold every edge at both its ends")
        }
        [] => return Ok(()),
        _ => (
            sums.windows(2).all(|pair| pair[0] == pair[1]),
            "the in-lists hold the edges of the out-lists",
        ),
    };
    if is_equal {
        return Ok(());
    }
    let node = differing_source(reader, layout)?;
    let node = node.map_or(String::new(), |node| format!(" of node {node}"));
    let has_more = first.edge_ids.or(first.weights).or(first.edge_times).is_some();
    let what = if has_more { ", with the same ids, weights and times" } else { "" };
    report.add(Fault {
        path: reader.file.path().to_path_buf(),
        bytes: 0..0,
        place: format!("{}", first.neighbours),
        problem: format!(
            "found other edges{node} in one than in the other, expected that {problem}{what}"
        ),
    });
    Ok(())
}

/// The first node from which lists of one kind know other edges than those of the other.
fn differing_source(reader: &BlockReader, layout: &GraphLayout) -> Result<Option<u64>> {
    let mut nodes = 0..layout.num_nodes;
    while nodes.end - nodes.start > 1 {
        let width = (nodes.end - nodes.start).div_ceil(BUCKETS);
        let mut sums = vec![0_u64; BUCKETS as usize];
        for sections in &layout.directions {
            let Some(summing) = Summing::of(layout, sections) else { return Ok(None) };
            for owner in [Owner::Source, Owner::Destination] {
                // Lists of both directions are looked at either way.
                if ![owner, Owner::Either].contains(&summing.owner) {
                    continue;
                }
                let summing = Summing { owner, ..summing };
                let found = sums_by_source(reader, layout, sections, summing, &nodes, width)?;
                for (sum, found) in sums.iter_mut().zip(found) {
                    *sum = match owner {
                        Owner::Source => sum.wrapping_add(found),
                        _ => sum.wrapping_sub(found),
                    };
                }
            }
        }
        // The file was changed meanwhile, or two differences cancel each other.
        let Some(bucket) = sums.iter().position(|&sum| sum != 0) else { return Ok(None) };
        let start = nodes.start + bucket as u64 * width;
        nodes = start..nodes.end.min(start + width);
    }
    Ok(Some(nodes.start))
}

/// The sums of the edges from some nodes, for every `width` of these apart.
fn sums_by_source(
    reader: &BlockReader,
    layout: &GraphLayout,
    sections: &DirectionSections,
    summing: Summing,
    nodes: &Range<u64>,
    width: u64,
) -> Result<Vec<u64>> {
    let all = Mutex::new(vec![0_u64; BUCKETS as usize]);
    let keep = || {
        let starts = ListStarts::new(reader.file, sections, layout.num_nodes);
        (starts, AttributeHashes::new(), PackedWindow::new())
    };
    reader.in_turns(layout.num_edges.div_ceil(EDGES), keep, |(starts, hashes, window), turn| {
        let edges = turn * EDGES..layout.num_edges.min((turn + 1) * EDGES);
        let ids = read_ids(reader.file, sections, layout.num_edges, edges.clone(), window)?;
        let hashes = hashes.read(reader.file, sections, summing, edges.clone())?;
        let mut sums = Vec::new();
        starts.lists(edges, |owner, part| {
            for at in part {
                let Some(&id) = ids.get(at) else { break };
                let source = if summing.owner == Owner::Source { owner } else { id };
                if nodes.contains(&source) {
                    let hashes = hashes.get(at..at + 1).unwrap_or_default();
                    let sum = summing.list(owner, std::iter::once(id), hashes);
                    sums.push(((source - nodes.start) / width, sum));
                }
            }
        })?;
        let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (bucket, sum) in sums {
            all[bucket as usize] = all[bucket as usize].wrapping_add(sum);
        }
        Ok(())
    })?;
    Ok(all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

fn read_ids(
    file: &Pread,
    sections: &DirectionSections,
    count: u64,
    edges: Range<u64>,
    window: &mut PackedWindow,
) -> Result<Vec<u64>> {
    let section = &sections.neighbours;
    let mut ids = Vec::with_capacity((edges.end - edges.start) as usize);
    if sections.is_packed() {
        let size = (count, section.length());
        window.fill(size, edges.clone(), |at, bytes| {
            file.read_exact_at(section.offset + at, bytes)
        })?;
        window.read(edges, |id| ids.push(id));
        return Ok(ids);
    }
    let width = section.element.width();
    let mut bytes = vec![0; ((edges.end - edges.start) * width) as usize];
    file.read_exact_at(section.offset + edges.start * width, &mut bytes)?;
    if section.element == ElementType::I32 {
        ids.extend(bytes.as_chunks().0.iter().map(|id| i32::from_le_bytes(*id) as u64));
    } else {
        ids.extend(bytes.as_chunks().0.iter().map(|id| u64::from_le_bytes(*id)));
    }
    Ok(ids)
}
