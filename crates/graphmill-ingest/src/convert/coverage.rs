//! Which nodes an export names: those without edges are in no row, and may be lost by it.
//! Nodes with consecutive ids come back by the largest id, so that only those behind it are lost; of
//! others every node without edges is. It must not know what is exported.

use graphmill_disk::{Budget, Reservation};

use crate::Result;
use crate::edge_rows::EdgeRows;
use crate::node_naming::NodeNaming;

/// Nodes whose ids are looked at together.
const NODES: u64 = 1 << 13;

/// The nodes that rows have named so far.
pub(super) struct Coverage<'a> {
    num_nodes: u64,
    naming: &'a NodeNaming,
    /// A bit for every node, where ids have gaps or are names.
    seen: Option<(Vec<u64>, Reservation)>,
    /// One more than the largest number or id of a node that was named.
    limit: u64,
}

impl<'a> Coverage<'a> {
    pub(super) fn new(num_nodes: u64, naming: &'a NodeNaming, budget: &Budget) -> Result<Self> {
        let mut coverage = Coverage { num_nodes, naming, seen: None, limit: 0 };
        if coverage.has_gaps()? {
            let words = num_nodes.div_ceil(64);
            let reserved = budget.reserve(words * 8, "nodes that have edges")?;
            coverage.seen = Some((vec![0; words as usize], reserved));
        }
        Ok(coverage)
    }

    /// Whether ids are anything but the numbers from 0 on.
    fn has_gaps(&self) -> Result<bool> {
        let NodeNaming::Ids(_) = self.naming else { return Ok(self.naming.has_names()) };
        let mut nodes = Vec::new();
        for first in (0..self.num_nodes).step_by(NODES as usize) {
            nodes.clear();
            nodes.extend(first..self.num_nodes.min(first + NODES));
            self.naming.replace(&mut nodes)?;
            if nodes.iter().any(|&id| id >= self.num_nodes) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes note of rows, whose nodes are numbers still.
    pub(super) fn add(&mut self, rows: &EdgeRows) -> Result<()> {
        let nodes = rows.sources.iter().chain(&rows.destinations);
        match (&mut self.seen, self.naming) {
            (Some((seen, _)), _) => {
                nodes.for_each(|&node| seen[(node / 64) as usize] |= 1 << (node % 64));
            }
            (None, NodeNaming::Ids(ids)) => {
                let mut named: Vec<u64> = nodes.copied().collect();
                ids.replace(&mut named)?;
                self.limit = named.iter().fold(self.limit, |limit, &id| limit.max(id + 1));
            }
            (None, _) => {
                self.limit = nodes.fold(self.limit, |limit, &node| limit.max(node + 1));
            }
        }
        Ok(())
    }

    /// What the rows have lost, if anything.
    pub(super) fn left_out(&self) -> Option<String> {
        let lost = match &self.seen {
            Some((seen, _)) => {
                self.num_nodes - seen.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()
            }
            None => self.num_nodes - self.limit,
        };
        (lost > 0).then(|| format!("{lost} nodes without edges"))
    }
}
