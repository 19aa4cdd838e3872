//! Picks edges from lists.
//! Each thread of a hop has one picker, which turns the lists of a block of nodes into positions of edges; what is picked
//! depends on the rule, the tree and the node alone. Labels and results are unknown here.

use super::candidates::Candidates;
use super::options::Strategy;
use super::rule::Rule;
use super::sum_tree::SumTree;
use crate::choose::Chooser;
use crate::room::make_room;
use crate::sweep::Sweep;
use crate::{Result, Topology};
use graphmill_disk::{Budget, Reservation};
use std::ops::Range;

/// How many blocks pass until it is asked again whether lists are on a disk.
const BLOCKS_PER_QUESTION: u32 = 4;

/// Picks; keeps its memory between hops and batches.
#[derive(Debug)]
pub(crate) struct Picker {
    /// The edges picked so far from the lists of a block.
    pub(super) positions: Vec<usize>,
    pub(super) candidates: Candidates,
    pub(super) sums: Vec<f64>,
    pub(super) tree: SumTree,
    pub(super) memory: Reservation,
    chooser: Chooser,
    sweep: Sweep,
    /// Blocks picked so far, and whether the last of them was of lists on a disk.
    blocks: u32,
    is_cold: bool,
}

impl Picker {
    /// A picker whose memory is taken from a budget.
    pub(crate) fn within(budget: &Budget) -> Result<Self> {
        Ok(Picker {
            positions: Vec::new(),
            candidates: Candidates::default(),
            sums: Vec::new(),
            tree: SumTree::default(),
            memory: budget.reserve(0, "the work memory of sampling")?,
            chooser: Chooser::default(),
            sweep: Sweep::default(),
            blocks: 0,
            is_cold: false,
        })
    }

    /// Begins a block without positions; tells whether its lists are on a disk.
    #[inline]
    pub(super) fn begin_block<T: Topology + ?Sized>(&mut self, topology: &T) -> bool {
        self.positions.clear();
        if self.blocks.is_multiple_of(BLOCKS_PER_QUESTION) {
            self.is_cold = topology.is_cold();
        }
        self.blocks = self.blocks.wrapping_add(1);
        self.is_cold
    }

    /// Adds the other ends and the names of the edges picked to two lists that have room for them.
    #[inline]
    pub(super) fn read<T: Topology + ?Sized>(
        &mut self,
        topology: &T,
        neighbours: &mut Vec<i64>,
        edge_ids: &mut Vec<i64>,
    ) -> Result<()> {
        if !self.is_cold {
            return topology.read(&self.positions, neighbours, edge_ids);
        }
        let start = neighbours.len();
        let all = start..start + self.positions.len();
        neighbours.resize(all.end, 0);
        edge_ids.resize(all.end, 0);
        let (neighbours, edge_ids) = (&mut neighbours[all.clone()], &mut edge_ids[all]);
        self.sweep.run(
            self.positions.iter().map(|&position| position as u64),
            &mut self.memory,
            |positions| topology.announce_edges(positions),
            |position, place| {
                neighbours[place] = topology.neighbour(position as usize)? as i64;
                edge_ids[place] = topology.edge_id(position as usize);
                Ok(())
            },
        )
    }

    /// Bytes held now.
    pub(crate) fn bytes(&self) -> u64 {
        let sums = self.sums.capacity() + self.tree.capacity();
        let words = self.positions.capacity() * size_of::<usize>() + sums * size_of::<f64>();
        words as u64 + self.candidates.bytes() + self.chooser.bytes() + self.sweep.bytes()
    }

    /// Gives back what was held for growing.
    pub(crate) fn settle(&mut self) {
        let unused = self.memory.bytes().saturating_sub(self.bytes());
        self.memory.shrink(unused);
    }

    /// Adds the edges picked from the list of `node` to the positions; `tree` is the seed that it is expanded for.
    #[inline]
    pub(super) fn pick<T: Topology + ?Sized>(
        &mut self,
        topology: &T,
        rule: &Rule<'_>,
        (tree, node): (u32, u64),
        list: Range<usize>,
    ) -> Result<()> {
        if list.is_empty() {
            return Ok(());
        }
        if !rule.is_plain {
            return self.pick_some(topology, rule, (tree, node), list);
        }
        match rule.count {
            Some(count) if rule.replace => {
                make_room(&mut self.positions, count, &mut self.memory)?;
                let mut stream = rule.stream(tree, node);
                for _ in 0..count {
                    self.positions.push(list.start + stream.below(list.len() as u64) as usize);
                }
            }
            Some(count) if count < list.len() => {
                make_room(&mut self.positions, count, &mut self.memory)?;
                self.hold_choice(count)?;
                let mut stream = rule.stream(tree, node);
                let Picker { chooser, positions, .. } = self;
                chooser.choose(&mut stream, list.start, list.len(), count, positions);
            }
            _ => {
                make_room(&mut self.positions, list.len(), &mut self.memory)?;
                self.positions.extend(list);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn pick_some<T: Topology + ?Sized>(
        &mut self,
        topology: &T,
        rule: &Rule<'_>,
        (tree, node): (u32, u64),
        list: Range<usize>,
    ) -> Result<()> {
        self.candidates.find(topology, rule, (tree, node), list.clone(), &mut self.memory)?;
        let population = self.candidates.len();
        let count = match rule.count {
            _ if population == 0 => return Ok(()),
            None => population,
            Some(count) if rule.replace => count,
            Some(count) => count.min(population),
        };
        make_room(&mut self.positions, count, &mut self.memory)?;
        let mut stream = rule.stream(tree, node);
        if rule.weighted {
            let replace = rule.replace && rule.count.is_some();
            return self.pick_by_weight(topology, list, count, replace, &mut stream);
        }
        let Picker { positions, candidates, .. } = self;
        match rule.labor {
            _ if rule.replace && rule.count.is_some() => {
                let mut draw = || stream.below(population as u64) as usize;
                positions.extend((0..count).map(|_| candidates.position(draw())));
            }
            _ if count == population => {
                positions.extend((0..population).map(|number| candidates.position(number)));
            }
            Some(key) => {
                make_room(positions, population, &mut self.memory)?;
                for number in 0..population {
                    let position = candidates.position(number);
                    let drawn = rule.labor_number(key, tree, topology.neighbour(position)?);
                    // Kept if the number, a fraction of 2^64, is below count / population.
                    let share = u128::from(drawn) * population as u128;
                    if (share >> 64) < count as u128 {
                        positions.push(position);
                    }
                }
            }
            None if rule.strategy == Strategy::Last => {
                self.pick_last(topology, rule, list, count)?
            }
            None => {
                let before = positions.len();
                self.hold_choice(count)?;
                let Picker { positions, candidates, chooser, .. } = self;
                chooser.choose(&mut stream, 0, population, count, positions);
                for pick in &mut positions[before..] {
                    *pick = candidates.position(*pick);
                }
            }
        }
        Ok(())
    }

    /// The latest candidates, in the order of the list; of equally late ones, those that are later in the list.
    fn pick_last<T: Topology + ?Sized>(
        &mut self,
        topology: &T,
        rule: &Rule<'_>,
        list: Range<usize>,
        count: usize,
    ) -> Result<()> {
        let Picker { positions, candidates, memory, .. } = self;
        let population = candidates.len();
        if count == 0 {
            return Ok(());
        }
        if rule.seeds.node_times.is_none() && topology.order() == graphmill_format::ListOrder::Time
        {
            let latest = population - count..population;
            positions.extend(latest.map(|number| candidates.position(number)));
            return Ok(());
        }
        let before = positions.len();
        make_room(positions, population, memory)?;
        positions.extend((0..population).map(|number| candidates.position(number)));
        let picked = &mut positions[before..];
        let stored = topology.edge_times(list.clone()).unwrap_or_default();
        let time = |position: usize| match rule.seeds.node_times {
            // Candidates have been read before, so their neighbours are nodes.
            Some(node_times) => topology
                .neighbour(position)
                .map_or(i64::MIN, |neighbour| node_times[neighbour as usize]),
            None => stored[position - list.start],
        };
        let first = population - count;
        picked.select_nth_unstable_by_key(first, |&position| (time(position), position));
        picked[first..].sort_unstable();
        positions.drain(before..before + first);
        Ok(())
    }

    /// Asks for what choosing `count` of more may need beside the positions.
    #[inline]
    fn hold_choice(&mut self, count: usize) -> Result<()> {
        let wanted = Chooser::bytes_for(count);
        if wanted > self.chooser.bytes() {
            self.memory.resize(self.bytes().saturating_add(wanted))?;
        }
        Ok(())
    }
}
