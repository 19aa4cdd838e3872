//! Fan-outs: from seeds to their sampled neighbourhood, hop by hop.
//! Each hop reads the lists of the nodes that the hop before it found, picks edges from each, and gives every node not
//! seen before the next local id; loaders fetch rows for the result. Which rows those are is unknown here.

mod batches;
mod bidirectional;
mod by_weight;
mod candidates;
mod excluded;
mod expansion;
mod hop;
mod induced;
mod links;
mod options;
mod picker;
mod rule;
mod sum_tree;

use crate::labels::{Labels, Slot};
use crate::room::make_exact_room;
use crate::{Result, Sample, Scratch, Topology};
use graphmill_disk::{Budget, Reservation};
use graphmill_format::Direction;
use rule::Rule;

pub use batches::{Batches, sample_batches};
pub use excluded::ExcludedEdges;
pub use links::{
    Exclude, LinkSample, Links, sample_ends_within, sample_links, sample_links_within,
};
pub use options::{FanoutOptions, Method, Seeds, Strategy, Subgraph, check_fanouts, check_seeds};
pub(crate) use picker::Picker;

/// Samples the neighbourhood of `seeds` along the edges that `topology` lists.
///
/// `follow` says which way the lists point and thereby which end of an edge is its source: following in-edges, the node
/// found is the source (`row`) of the edge and the node expanded its destination (`col`); following out-edges, the
/// other way round.
///
/// The seeds come first in `nodes`, as given; a seed given twice is kept twice and expanded twice, with equal picks, and
/// an edge that leads to it names its first place. Every other node comes once, in the order of first occurrence: by
/// the place of the expanded node, then by pick. A node seen before is not expanded again. With disjoint trees all of
/// this holds within each tree, and seeds never share anything.
pub fn sample<'a>(
    topology: &(impl Topology + ?Sized),
    seeds: impl Into<Seeds<'a>>,
    options: &FanoutOptions,
    follow: Direction,
    scratch: &mut Scratch,
) -> Result<Sample> {
    let mut memory = Budget::unlimited().reserve(0, "a sample")?;
    sample_within(topology, seeds, options, follow, scratch, &mut memory)
}

/// Like [`sample`], with the lists of the result asked from a budget before they grow.
///
/// `memory` is resized as needed; afterwards it holds exactly [`Sample::bytes`]. After a failure it holds nothing.
pub fn sample_within<'a>(
    topology: &(impl Topology + ?Sized),
    seeds: impl Into<Seeds<'a>>,
    options: &FanoutOptions,
    follow: Direction,
    scratch: &mut Scratch,
    memory: &mut Reservation,
) -> Result<Sample> {
    let seeds = seeds.into();
    memory.shrink(memory.bytes());
    seeds.check(topology, options, follow)?;
    let trees = options.disjoint || seeds.times.is_some();
    let sample = scratch.empty_sample(memory);
    let outcome = if trees || topology.num_nodes() > 1 << 32 {
        let labels = std::mem::take(&mut scratch.wide);
        let mut work = Work { topology, options, seeds, follow, scratch, labels, memory, sample };
        let outcome = work.run();
        work.scratch.wide = work.labels;
        outcome.map(|()| work.sample)
    } else {
        let labels = std::mem::take(&mut scratch.narrow);
        let mut work = Work { topology, options, seeds, follow, scratch, labels, memory, sample };
        let outcome = work.run();
        work.scratch.narrow = work.labels;
        outcome.map(|()| work.sample)
    };
    scratch.settle();
    topology.count_edges_read(outcome.as_ref().map_or(0, |sample| sample.row.len() as u64));
    let held = outcome.as_ref().map_or(0, Sample::bytes);
    memory.shrink(memory.bytes().saturating_sub(held));
    outcome
}

/// One call of a sampler.
struct Work<'a, T: ?Sized, S> {
    topology: &'a T,
    options: &'a FanoutOptions,
    seeds: Seeds<'a>,
    follow: Direction,
    scratch: &'a mut Scratch,
    labels: Labels<S>,
    memory: &'a mut Reservation,
    /// Until the end its rows are the nodes found and its columns the nodes expanded, whichever way edges point.
    sample: Sample,
}

impl<T: Topology + ?Sized, S: Slot> Work<'_, T, S> {
    fn run(&mut self) -> Result<()> {
        let (ids, hops) = (self.seeds.ids, self.options.fanouts.len());
        let Sample { nodes, nodes_per_hop, edges_per_hop, .. } = &mut self.sample;
        make_exact_room(nodes_per_hop, hops + 1, self.memory)?;
        make_exact_room(edges_per_hop, hops.max(1), self.memory)?;
        make_exact_room(nodes, ids.len(), self.memory)?;
        nodes.extend_from_slice(ids);
        if self.has_trees() {
            let Sample { batch, .. } = &mut self.sample;
            make_exact_room(batch, ids.len(), self.memory)?;
            batch.extend(0..ids.len() as i64);
        }
        self.labels.clear();
        let Sample { nodes, batch, .. } = &self.sample;
        self.labels.reserve(ids.len() as u64, nodes, batch, &mut self.scratch.memory)?;
        self.sample.nodes_per_hop.push(ids.len() as u64);
        let mut frontier = 0..ids.len();
        for hop in 0..hops {
            let rule = Rule::of(hop, self.options, self.seeds, self.follow);
            let edges = self.sample.row.len();
            self.hop(hop, &rule, frontier.clone())?;
            frontier = frontier.end..self.sample.nodes.len();
            self.sample.nodes_per_hop.push(frontier.len() as u64);
            self.sample.edges_per_hop.push((self.sample.row.len() - edges) as u64);
        }
        if self.options.subgraph == Subgraph::Induced {
            self.induce()?;
        }
        if self.follow == Direction::Out {
            std::mem::swap(&mut self.sample.row, &mut self.sample.col);
        }
        if self.options.subgraph == Subgraph::Bidirectional {
            self.reverse_too()?;
        }
        Ok(())
    }

    fn has_trees(&self) -> bool {
        self.options.disjoint || self.seeds.times.is_some()
    }
}
