//! Neighbour lists made up in memory: what a sampler sees of a graph, without a file.

use graphmill_sample::{Result, Topology};
use std::ops::Range;

/// Lists in plain vectors; an edge is called by its position.
#[derive(Clone, Debug)]
pub struct MadeLists {
    offsets: Vec<usize>,
    neighbours: Vec<u64>,
}

impl MadeLists {
    pub fn new(lists: &[Vec<u64>]) -> Self {
        let mut offsets = vec![0];
        for list in lists {
            offsets.push(offsets[offsets.len() - 1] + list.len());
        }
        MadeLists { offsets, neighbours: lists.concat() }
    }
}

impl Topology for MadeLists {
    fn num_nodes(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }

    fn list(&self, node: u64) -> Result<Range<usize>> {
        Ok(self.offsets[node as usize]..self.offsets[node as usize + 1])
    }

    fn neighbour(&self, position: usize) -> Result<u64> {
        Ok(self.neighbours[position])
    }

    fn edge_id(&self, position: usize) -> i64 {
        position as i64
    }
}
