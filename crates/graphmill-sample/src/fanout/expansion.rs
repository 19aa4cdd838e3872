//! From a piece of the frontier to the edges picked from its lists.
//! A hop, or each thread of a large one, goes through its nodes in blocks: positions are picked and their cache lines
//! announced, and only when the block is full are they read, so that memory is waited for once and not once per edge.

use super::picker::Picker;
use super::rule::Rule;
use crate::room::make_room;
use crate::{Result, Topology};
use std::ops::Range;

/// A block ends with this many nodes ...
const BLOCK_NODES: usize = 64;
/// ... or edges: more would push each other out of the nearest cache.
const BLOCK_EDGES: usize = 512;
/// Blocks of lists on a disk are as large as memory allows, since each is read in the order of the file ...
const COLD_BLOCK_NODES: usize = 1 << 16;
const COLD_BLOCK_EDGES: usize = 1 << 18;
/// ... but where picking itself reads the lists, all of those must stay in memory that long.
const COLD_BLOCK_LISTS: usize = 512;

/// Nodes to be expanded, and their lists.
pub(super) struct Expansion<'a, T: ?Sized> {
    pub(super) topology: &'a T,
    pub(super) rule: &'a Rule<'a>,
    pub(super) nodes: &'a [i64],
    /// The tree of each node; empty if there is one only.
    pub(super) trees: &'a [i64],
    pub(super) lists: &'a [Range<usize>],
}

/// The edges picked from a piece of the frontier.
#[derive(Default)]
pub(super) struct Found {
    /// How many edges each node got.
    pub(super) counts: Vec<usize>,
    pub(super) neighbours: Vec<i64>,
    pub(super) edge_ids: Vec<i64>,
}

impl<T: Topology + ?Sized> Expansion<'_, T> {
    /// Replaces the picker's positions by those of the next block, which begins with the node at `from`; adds to
    /// `counts` how many each node got. Gives where the block after it begins.
    #[inline]
    pub(super) fn pick_block(
        &self,
        from: usize,
        picker: &mut Picker,
        counts: &mut Vec<usize>,
    ) -> Result<usize> {
        let (nodes, edges) = match picker.begin_block(self.topology) {
            false => (BLOCK_NODES, BLOCK_EDGES),
            true if self.rule.is_plain => (COLD_BLOCK_NODES, COLD_BLOCK_EDGES),
            true => {
                let end = self.lists.len().min(from + COLD_BLOCK_LISTS);
                self.topology.announce_contents(&self.lists[from..end]);
                (COLD_BLOCK_LISTS, COLD_BLOCK_EDGES)
            }
        };
        let end = self.nodes.len().min(from + nodes);
        for place in from..end {
            let before = picker.positions.len();
            let tree = self.trees.get(place).map_or(0, |&tree| tree as u32);
            let node = (tree, self.nodes[place] as u64);
            picker.pick(self.topology, self.rule, node, self.lists[place].clone())?;
            self.topology.prefetch_edges(&picker.positions[before..]);
            counts.push(picker.positions.len() - before);
            if picker.positions.len() >= edges {
                return Ok(place + 1);
            }
        }
        Ok(end)
    }

    /// Picks and reads the edges of all nodes. The picker's memory holds what is found too.
    pub(super) fn run(&self, picker: &mut Picker) -> Result<Found> {
        let mut found = Found::default();
        make_room(&mut found.counts, self.nodes.len(), &mut picker.memory)?;
        let mut place = 0;
        while place < self.nodes.len() {
            place = self.pick_block(place, picker, &mut found.counts)?;
            let Picker { positions, memory, .. } = &mut *picker;
            make_room(&mut found.neighbours, positions.len(), memory)?;
            make_room(&mut found.edge_ids, positions.len(), memory)?;
            picker.read(self.topology, &mut found.neighbours, &mut found.edge_ids)?;
        }
        Ok(found)
    }
}
