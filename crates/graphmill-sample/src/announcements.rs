//! Reads that many walks or pairs will do next, announced together.
//! An announcement waits for its address to be translated, and a processor translates several addresses at once only if
//! the announcements follow each other closely; between the work on two walks they would not. So a round collects them
//! and issues all at its end.

use crate::Topology;

/// What is to be announced; keeps its memory between rounds.
#[derive(Debug, Default)]
pub(crate) struct Announcements {
    nodes: Vec<u64>,
    positions: Vec<usize>,
}

impl Announcements {
    /// The list of a node will be asked for.
    #[inline]
    pub(crate) fn list(&mut self, node: u64) {
        self.nodes.push(node);
    }

    /// The neighbour at a position will be asked for.
    #[inline]
    pub(crate) fn edge(&mut self, position: usize) {
        self.positions.push(position);
    }

    /// Announces everything and forgets it.
    #[inline]
    pub(crate) fn issue<T: Topology + ?Sized>(&mut self, topology: &T) {
        self.positions.iter().for_each(|&position| topology.prefetch_position(position));
        self.nodes.iter().for_each(|&node| topology.prefetch_offsets(node));
        self.positions.clear();
        self.nodes.clear();
    }
}
