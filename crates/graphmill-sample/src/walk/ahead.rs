//! What walks wait for when lists are on a disk.
//! Thousands of walks are under way then; before they go on, the lists and edges that they will read are collected here
//! and announced together. Where walks go is unknown here.

use crate::Topology;

/// Lists and edges that are about to be read.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    nodes: Vec<u64>,
    positions: Vec<u64>,
}

impl Ahead {
    /// The list of a node is about to be looked up.
    #[inline]
    pub(super) fn list(&mut self, node: u64) {
        self.nodes.push(node);
    }

    /// An edge is about to be read; any number may be given.
    #[inline]
    pub(super) fn edge(&mut self, position: usize) {
        self.positions.push(position as u64);
    }

    /// Announces all that was collected, and forgets it.
    pub(super) fn announce<T: Topology + ?Sized>(&mut self, topology: &T) {
        let Ahead { nodes, positions } = self;
        for keys in [&mut *nodes, &mut *positions] {
            keys.sort_unstable();
            keys.dedup();
        }
        if !nodes.is_empty() {
            topology.announce_lists(nodes);
        }
        if !positions.is_empty() {
            topology.announce_edges(positions);
        }
        nodes.clear();
        positions.clear();
    }
}
