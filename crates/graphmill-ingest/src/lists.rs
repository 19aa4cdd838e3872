//! Neighbour lists in a memory budget.
//! A first pass over the edges counts how many fall on each bucket of nodes; from that the nodes
//! are cut into slabs, and as many slabs as fit into memory are counted, filled and sorted with one
//! or two further passes. Each slab scans whole batches and keeps what is its own, so threads share
//! nothing and the order of the stream is kept. It must not know files.

use std::ops::Range;

use graphmill_disk::Budget;
use graphmill_format::Direction;
use rayon::prelude::*;

use crate::entry::{Entry, ListKey};
use crate::progress::Stage;
use crate::replay::{Batch, Replay};
use crate::{Error, Result};

/// Buckets of the histogram when counting every node is too dear.
const BUCKETS: u64 = 1 << 16;
/// Lists of fewer entries in all are sorted by one thread.
const SORTED_ALONE: usize = 1 << 15;

/// How many edges fall on each bucket of `2^shift` consecutive nodes, for each direction.
pub(crate) struct Histogram {
    shift: u32,
    counts: Vec<Vec<u64>>,
    _reserved: graphmill_disk::Reservation,
}

impl Histogram {
    /// Counts the edges; one node to a bucket if a quarter of the free budget allows it.
    pub(crate) fn count(
        replay: &mut Replay<'_>,
        directions: &[Direction],
        num_nodes: u64,
        budget: &Budget,
        stage: &mut Stage<'_>,
    ) -> Result<Self> {
        let affordable = budget.free() / 4 / 8 / directions.len() as u64;
        let most = if num_nodes <= affordable { num_nodes } else { affordable.min(BUCKETS) };
        let most = most.max(1);
        let mut shift = 0;
        while num_nodes.div_ceil(1 << shift) > most {
            shift += 1;
        }
        let buckets = num_nodes.div_ceil(1 << shift);
        let bytes = buckets * 8 * directions.len() as u64;
        let reserved = budget.reserve(bytes, "the histogram of the nodes")?;
        let mut counts = vec![vec![0_u64; buckets as usize]; directions.len()];
        let pool = graphmill_disk::pool()?;
        let part = (buckets as usize).div_ceil(pool.current_num_threads()).max(1);
        replay.run(false, stage, |batch| {
            pool.install(|| {
                for (&direction, counts) in directions.iter().zip(&mut counts) {
                    counts.par_chunks_mut(part).enumerate().for_each(|(index, counts)| {
                        let first = ((index * part) as u64) << shift;
                        let nodes = first..first + ((counts.len() as u64) << shift);
                        scan(batch, direction, &nodes, |key, _, _| counts[key >> shift] += 1);
                    });
                }
            });
            Ok(())
        })?;
        Ok(Histogram { shift, counts, _reserved: reserved })
    }

    fn is_exact(&self) -> bool {
        self.shift == 0
    }
}

/// Consecutive nodes of one direction whose lists are built together.
#[derive(Clone, Debug)]
pub(crate) struct Slab {
    /// Position among the stored directions.
    pub(crate) direction: usize,
    pub(crate) nodes: Range<u64>,
    edges: u64,
    bytes: u64,
}

fn what(nodes: &Range<u64>) -> String {
    format!("the neighbour lists of nodes {} to {}", nodes.start, nodes.end)
}

/// Which slabs there are, and which of them share a pass over the edges.
pub(crate) struct Plan {
    pub(crate) slabs: Vec<Slab>,
    pub(crate) groups: Vec<Range<usize>>,
}

impl Plan {
    /// Cuts the nodes so that a group of slabs fits the free budget and occupies every thread.
    pub(crate) fn cut<E: Entry>(
        histogram: &Histogram,
        num_nodes: u64,
        budget: &Budget,
        threads: usize,
    ) -> Self {
        let entry = size_of::<E>() as u64;
        let cost = |nodes: u64, edges: u64| {
            nodes.saturating_mul(8).saturating_add(edges.saturating_mul(entry))
        };
        let free = budget.free();
        let total = histogram.counts.iter().fold(0_u64, |total, counts| {
            total.saturating_add(cost(num_nodes, counts.iter().sum()))
        });
        let target = (total.min(free) / threads as u64).max(1);
        let mut slabs: Vec<Slab> = Vec::new();
        for (direction, counts) in histogram.counts.iter().enumerate() {
            let mut slab = Slab { direction, nodes: 0..0, edges: 0, bytes: 0 };
            for (bucket, &edges) in counts.iter().enumerate() {
                let end = ((bucket as u64 + 1) << histogram.shift).min(num_nodes);
                let bytes = cost(end - slab.nodes.start, slab.edges + edges);
                if bytes > target && !slab.nodes.is_empty() {
                    let start = slab.nodes.end;
                    slabs.push(slab);
                    let bytes = cost(end - start, edges);
                    slab = Slab { direction, nodes: start..end, edges, bytes };
                } else {
                    slab.nodes.end = end;
                    slab.edges += edges;
                    slab.bytes = bytes;
                }
            }
            slabs.push(slab);
        }
        let mut groups: Vec<Range<usize>> = Vec::new();
        let mut used = 0_u64;
        for (index, slab) in slabs.iter().enumerate() {
            used = used.saturating_add(slab.bytes);
            match groups.last_mut() {
                Some(group) if used <= free => group.end = index + 1,
                _ => {
                    groups.push(index..index + 1);
                    used = slab.bytes;
                }
            }
        }
        Plan { slabs, groups }
    }

    /// Fails if the lists of one slab alone do not fit the free budget.
    pub(crate) fn check(&self, budget: &Budget) -> Result<()> {
        match self.slabs.iter().max_by_key(|slab| slab.bytes) {
            Some(largest) => Ok(budget.reserve(largest.bytes, &what(&largest.nodes)).map(drop)?),
            None => Ok(()),
        }
    }

    /// Passes over the edges that building all lists takes.
    pub(crate) fn passes(&self, histogram: &Histogram) -> u64 {
        self.groups.len() as u64 * if histogram.is_exact() { 1 } else { 2 }
    }
}

/// The lists of a slab's nodes, one after the other.
pub(crate) struct Lists<E> {
    pub(crate) slab: Slab,
    side: Direction,
    /// Where each node's list ends; while filling, where its next entry goes.
    pub(crate) ends: Vec<u64>,
    pub(crate) entries: Vec<E>,
}

/// What all groups of slabs are built with.
pub(crate) struct ListBuilder<'a> {
    pub(crate) directions: &'a [Direction],
    pub(crate) histogram: &'a Histogram,
    pub(crate) key: ListKey,
    pub(crate) budget: &'a Budget,
}

impl ListBuilder<'_> {
    /// Builds the lists of a group of slabs and hands them to `write`, slab by slab.
    pub(crate) fn build<E: Entry>(
        &self,
        slabs: &[Slab],
        replay: &mut Replay<'_>,
        stage: &mut Stage<'_>,
        mut write: impl FnMut(&Lists<E>) -> Result<()>,
    ) -> Result<()> {
        let &Self { directions, histogram, key, budget } = self;
        let bytes = slabs.iter().fold(0_u64, |bytes, slab| bytes.saturating_add(slab.bytes));
        let nodes = slabs.first().map_or(0..0, |slab| slab.nodes.clone());
        let _reserved = budget.reserve(bytes, &what(&nodes))?;
        let pool = graphmill_disk::pool()?;
        let start = |slab: &Slab| Lists {
            side: directions[slab.direction],
            ends: match histogram.is_exact() {
                true => {
                    let counts = &histogram.counts[slab.direction];
                    counts[slab.nodes.start as usize..slab.nodes.end as usize].to_vec()
                }
                false => vec![0; (slab.nodes.end - slab.nodes.start) as usize],
            },
            entries: Vec::new(),
            slab: slab.clone(),
        };
        let mut lists: Vec<Lists<E>> = slabs.iter().map(start).collect();
        if !histogram.is_exact() {
            replay.run(false, stage, |batch| {
                pool.install(|| lists.par_iter_mut().for_each(|lists| lists.count(batch)));
                Ok(())
            })?;
        }
        lists.iter_mut().try_for_each(Lists::make_room)?;
        replay.run(true, stage, |batch| {
            pool.install(|| lists.par_iter_mut().try_for_each(|lists| lists.fill(batch)))
        })?;
        for mut lists in lists {
            lists.check_full()?;
            pool.install(|| sort_lists(&lists.ends, 0, &mut lists.entries, key));
            write(&lists)?;
        }
        Ok(())
    }
}

impl<E: Entry> Lists<E> {
    fn count(&mut self, batch: &Batch) {
        let Self { slab, side, ends, .. } = self;
        scan(batch, *side, &slab.nodes, |key, _, _| ends[key] += 1);
    }

    /// Turns the counts into the places where lists start.
    fn make_room(&mut self) -> Result<()> {
        let mut total = 0;
        for end in &mut self.ends {
            total += std::mem::replace(end, total);
        }
        if total != self.slab.edges {
            return Err(changed());
        }
        self.entries = vec![E::default(); total as usize];
        Ok(())
    }

    fn fill(&mut self, batch: &Batch) -> Result<()> {
        let Self { slab, side, ends, entries } = self;
        let mut lost = false;
        scan(batch, *side, &slab.nodes, |key, neighbour, position| {
            match entries.get_mut(ends[key] as usize) {
                Some(entry) => *entry = E::new(neighbour, batch, position),
                None => lost = true,
            }
            ends[key] += 1;
        });
        if lost { Err(changed()) } else { Ok(()) }
    }

    /// Notices lists that ran into each other because a source changed between passes.
    fn check_full(&self) -> Result<()> {
        let last = self.ends.last().copied().unwrap_or(0);
        if last == self.slab.edges && self.ends.is_sorted() { Ok(()) } else { Err(changed()) }
    }
}

fn changed() -> Error {
    let remedy = "leave the source alone while it is being read";
    Error::source("edges", "others in a later pass", "the same edges in every pass", remedy)
}

/// Calls `take(key, neighbour, position)` for every stored edge of the batch whose list belongs to
/// one of `nodes`; the key counts from the first of them.
#[inline(always)]
fn scan(
    batch: &Batch,
    direction: Direction,
    nodes: &Range<u64>,
    mut take: impl FnMut(usize, u64, usize),
) {
    let (start, length) = (nodes.start, nodes.end - nodes.start);
    let mut offer = |node: u64, neighbour: u64, position: usize| {
        let key = node.wrapping_sub(start);
        if key < length {
            take(key as usize, neighbour, position);
        }
    };
    let pairs = batch.sources.iter().zip(&batch.destinations).enumerate();
    match direction {
        Direction::Out => pairs.for_each(|(at, (&source, &to))| offer(source, to, at)),
        Direction::In => pairs.for_each(|(at, (&source, &to))| offer(to, source, at)),
        Direction::Both => pairs.for_each(|(at, (&source, &to))| {
            offer(source, to, at);
            offer(to, source, at);
        }),
    }
}

/// Sorts every list; `first` is where the first of them starts, counted like `ends`.
fn sort_lists<E: Entry>(ends: &[u64], first: u64, entries: &mut [E], key: ListKey) {
    if ends.len() > 1 && entries.len() > SORTED_ALONE {
        let (left, right) = ends.split_at(ends.len() / 2);
        let middle = left[left.len() - 1];
        let (low, high) = entries.split_at_mut((middle - first) as usize);
        rayon::join(|| sort_lists(left, first, low, key), || sort_lists(right, middle, high, key));
        return;
    }
    let mut rest = entries;
    let mut start = first;
    for &end in ends {
        let (list, later) = rest.split_at_mut((end - start) as usize);
        E::sort(list, key);
        (rest, start) = (later, end);
    }
}
