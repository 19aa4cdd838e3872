//! Reads that many walks or pairs will do next, announced together.
//! An announcement waits for its address to be translated, and a processor translates several addresses at once only if
//! the announcements follow each other closely; between the work on two walks they would not. So a round collects them
//! and issues all at its end: to the caches, or to the disk if lists are not in memory, where it pays to have thousands
//! under way. Where walks go is unknown here.

use crate::Topology;

/// What is to be announced; keeps its memory between rounds.
#[derive(Debug, Default)]
pub(crate) struct Announcements {
    nodes: Vec<u64>,
    positions: Vec<u64>,
}

impl Announcements {
    /// The list of a node will be asked for.
    #[inline]
    pub(crate) fn list(&mut self, node: u64) {
        self.nodes.push(node);
    }

    /// The neighbour at a position will be asked for; any number may be given.
    #[inline]
    pub(crate) fn edge(&mut self, position: usize) {
        self.positions.push(position as u64);
    }

    /// Announces everything to the caches and forgets it.
    #[inline]
    pub(crate) fn issue<T: Topology + ?Sized>(&mut self, topology: &T) {
        self.positions.iter().for_each(|&position| topology.prefetch_position(position as usize));
        self.nodes.iter().for_each(|&node| topology.prefetch_offsets(node));
        self.positions.clear();
        self.nodes.clear();
    }

    /// Announces everything to the disk and forgets it.
    pub(crate) fn issue_to_disk<T: Topology + ?Sized>(&mut self, topology: &T) {
        let Announcements { nodes, positions } = self;
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
