//! Fan-outs: from seeds to their sampled neighbourhood, hop by hop.
//! Each hop reads the lists of the nodes that the hop before it found, picks edges from each, and gives every node not
//! seen before the next local id; loaders fetch rows for the result. Which rows those are is unknown here.
//!
//! A hop first adds up how many edges it will pick and only then picks them, so the result's memory is known and asked
//! for beforehand, and the place of every pick is fixed whoever makes it.

use crate::random::{Key, Purpose, Stream};
use crate::{Error, Result, Sample, Scratch, Topology};
use graphmill_disk::{Budget, Reservation};
use graphmill_format::Direction;
use std::ops::Range;

/// What to sample. `seed`, `epoch` and `batch` address the random numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FanoutOptions {
    /// Neighbours picked per node in each hop; -1 takes all of them.
    pub fanouts: Vec<i64>,
    /// Whether one edge may be picked several times; then a node with neighbours always gets its full number.
    pub replace: bool,
    /// The seed of all randomness.
    pub seed: u64,
    /// Which pass over the data this is.
    pub epoch: u64,
    /// Which batch of the epoch this is.
    pub batch: u64,
}

impl FanoutOptions {
    /// Picks so many distinct edges per node in each hop; everything else is 0.
    pub fn new(fanouts: impl Into<Vec<i64>>) -> Self {
        FanoutOptions { fanouts: fanouts.into(), ..Self::default() }
    }

    /// Lets an edge be picked several times.
    pub fn replace(self, replace: bool) -> Self {
        FanoutOptions { replace, ..self }
    }

    /// Sets the seed of all randomness.
    pub fn seed(self, seed: u64) -> Self {
        FanoutOptions { seed, ..self }
    }

    /// Sets the epoch.
    pub fn epoch(self, epoch: u64) -> Self {
        FanoutOptions { epoch, ..self }
    }

    /// Sets the batch.
    pub fn batch(self, batch: u64) -> Self {
        FanoutOptions { batch, ..self }
    }
}

/// Fails unless every fan-out is at least -1.
pub fn check_fanouts(fanouts: &[i64]) -> Result<()> {
    match fanouts.iter().position(|&fanout| fanout < -1) {
        Some(hop) => Err(Error::Fanout { hop, found: fanouts[hop] }),
        None => Ok(()),
    }
}

/// Fails unless every seed is a node.
pub fn check_seeds(seeds: &[i64], num_nodes: u64) -> Result<()> {
    // A negative seed is a huge one when its bits are read without a sign.
    match seeds.iter().position(|&seed| seed as u64 >= num_nodes) {
        Some(position) => Err(Error::Seed { position, found: seeds[position], num_nodes }),
        None => Ok(()),
    }
}

/// Samples the neighbourhood of `seeds` along the edges that `topology` lists.
///
/// `follow` says which way the lists point and thereby which end of an edge is its source: following in-edges, the node
/// found is the source (`row`) of the edge and the node expanded its destination (`col`); following out-edges, the
/// other way round.
///
/// The seeds come first in `nodes`, as given; a seed given twice is kept twice and expanded twice, with equal picks, and
/// an edge that leads to it names its first place. Every other node comes once, in the order of first occurrence: by
/// the place of the expanded node, then by pick. A node seen before is not expanded again.
pub fn sample(
    topology: &(impl Topology + ?Sized),
    seeds: &[i64],
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
pub fn sample_within(
    topology: &(impl Topology + ?Sized),
    seeds: &[i64],
    options: &FanoutOptions,
    follow: Direction,
    scratch: &mut Scratch,
    memory: &mut Reservation,
) -> Result<Sample> {
    let mut work = Work { topology, follow, scratch, memory, sample: Sample::default() };
    let outcome = work.run(seeds, options);
    let Work { scratch, memory, sample, .. } = work;
    scratch.settle();
    let held = if outcome.is_ok() { sample.bytes() } else { 0 };
    memory.shrink(memory.bytes().saturating_sub(held));
    outcome.map(|()| sample)
}

/// One call of a sampler.
struct Work<'a, T: ?Sized> {
    topology: &'a T,
    follow: Direction,
    scratch: &'a mut Scratch,
    memory: &'a mut Reservation,
    sample: Sample,
}

impl<T: Topology + ?Sized> Work<'_, T> {
    fn run(&mut self, seeds: &[i64], options: &FanoutOptions) -> Result<()> {
        check_fanouts(&options.fanouts)?;
        check_seeds(seeds, self.topology.num_nodes())?;
        if self.follow == Direction::Both {
            return Err(Error::Direction { found: self.follow });
        }
        let hops = options.fanouts.len();
        self.hold(seeds.len() as u64 + 2 * hops as u64 + 1)?;
        self.sample.nodes_per_hop.reserve_exact(hops + 1);
        self.sample.edges_per_hop.reserve_exact(hops);
        self.sample.nodes.reserve_exact(seeds.len());
        self.scratch.begin(seeds.len())?;
        for (position, &seed) in seeds.iter().enumerate() {
            self.scratch.local(seed as u64, position)?;
            self.sample.nodes.push(seed);
        }
        self.sample.nodes_per_hop.push(seeds.len() as u64);
        let key = Key::new(options.seed, Purpose::Fanout).with(options.epoch).with(options.batch);
        let mut frontier = 0..seeds.len();
        for (hop, &fanout) in options.fanouts.iter().enumerate() {
            let plan = Plan::of(fanout, options.replace);
            self.hop(hop, plan, frontier.clone(), key.with(hop as u64))?;
            frontier = frontier.end..self.sample.nodes.len();
            self.sample.nodes_per_hop.push(frontier.len() as u64);
        }
        Ok(())
    }

    fn hop(&mut self, hop: usize, plan: Plan, frontier: Range<usize>, key: Key) -> Result<()> {
        let (edges, most) = self.count(plan, frontier.clone(), hop)?;
        self.make_room(hop, edges)?;
        self.scratch.begin_picks(if matches!(plan, Plan::Distinct(_)) { most } else { 0 })?;
        for (place, local) in frontier.enumerate() {
            let list = self.scratch.lists[place].clone();
            let stream = &mut key.with(self.sample.nodes[local] as u64).stream();
            self.pick(plan, local, list, stream)?;
        }
        self.sample.edges_per_hop.push(edges as u64);
        Ok(())
    }

    /// Looks up the lists of the frontier; returns how many edges will be picked in all, and the most of one list.
    fn count(&mut self, plan: Plan, frontier: Range<usize>, hop: usize) -> Result<(usize, usize)> {
        self.scratch.begin_lists(frontier.len())?;
        let (mut edges, mut most) = (0_usize, 0);
        for local in frontier {
            let list = self.topology.list(self.sample.nodes[local] as u64)?;
            let picks = plan.picks(list.len());
            most = most.max(picks);
            edges = edges.checked_add(picks).ok_or(Error::TooLarge { hop, edges: u64::MAX })?;
            self.scratch.lists.push(list);
        }
        Ok((edges, most))
    }

    fn pick(
        &mut self,
        plan: Plan,
        local: usize,
        list: Range<usize>,
        stream: &mut Stream,
    ) -> Result<()> {
        match plan {
            Plan::Replace(count) if !list.is_empty() => {
                for _ in 0..count {
                    let drawn = stream.below(list.len() as u64) as usize;
                    self.add(local, list.start + drawn)?;
                }
            }
            Plan::Distinct(count) if count < list.len() => {
                let Scratch { chooser, picks, .. } = &mut *self.scratch;
                chooser.choose(stream, list.len() as u64, count as u64, picks);
                for index in 0..count {
                    self.add(local, list.start + self.scratch.picks[index] as usize)?;
                }
            }
            Plan::All | Plan::Distinct(_) | Plan::Replace(_) => {
                for position in list {
                    self.add(local, position)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the edge at a position, found when expanding the node with local id `expanded`.
    #[inline]
    fn add(&mut self, expanded: usize, position: usize) -> Result<()> {
        let node = self.topology.neighbour(position)?;
        let (found, is_new) = self.scratch.local(node, self.sample.nodes.len())?;
        if is_new {
            if self.sample.nodes.len() == self.sample.nodes.capacity() {
                self.grow_nodes()?;
            }
            self.sample.nodes.push(node as i64);
        }
        let (source, destination) = match self.follow {
            Direction::Out => (expanded as i64, found),
            _ => (found, expanded as i64),
        };
        self.sample.row.push(source);
        self.sample.col.push(destination);
        self.sample.edge_ids.push(self.topology.edge_id(position));
        Ok(())
    }

    fn make_room(&mut self, hop: usize, edges: usize) -> Result<()> {
        self.hold((edges as u64).saturating_mul(3))?;
        let Sample { row, col, edge_ids, .. } = &mut self.sample;
        for ids in [row, col, edge_ids] {
            let too_large = |_| Error::TooLarge { hop, edges: edges as u64 };
            ids.try_reserve_exact(edges).map_err(too_large)?;
        }
        Ok(())
    }

    #[cold]
    fn grow_nodes(&mut self) -> Result<()> {
        let capacity = self.sample.nodes.capacity().max(8) * 2;
        self.hold(capacity as u64)?;
        self.sample.nodes.reserve_exact(capacity - self.sample.nodes.len());
        Ok(())
    }

    /// Holds what there is and `more` numbers of 8 bytes.
    fn hold(&mut self, more: u64) -> Result<()> {
        let bytes = more.saturating_mul(8).saturating_add(self.sample.bytes());
        Ok(self.memory.resize(bytes)?)
    }
}

/// How edges are picked from each list of a hop.
#[derive(Clone, Copy)]
enum Plan {
    All,
    Distinct(usize),
    Replace(usize),
}

impl Plan {
    /// The plan of a fan-out that [`check_fanouts`] has passed.
    fn of(fanout: i64, replace: bool) -> Self {
        if fanout < 0 {
            return Plan::All;
        }
        let count = usize::try_from(fanout).unwrap_or(usize::MAX);
        if replace { Plan::Replace(count) } else { Plan::Distinct(count) }
    }

    fn picks(self, degree: usize) -> usize {
        match self {
            Plan::All => degree,
            Plan::Distinct(count) => count.min(degree),
            Plan::Replace(count) if degree > 0 => count,
            Plan::Replace(_) => 0,
        }
    }
}
