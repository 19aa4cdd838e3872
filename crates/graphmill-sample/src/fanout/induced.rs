//! All stored edges among the nodes of a sample.
//! The hops decide which nodes there are; then the lists of all of them are read once more, completely, and the edges
//! that lead to another node of the sample are what it holds. Times and excluded edges count here as they do in hops.

use super::Work;
use super::expansion::Expansion;
use super::hop::trees;
use super::rule::Rule;
use crate::labels::Slot;
use crate::room::make_room;
use crate::{Result, Sample, Topology};

impl<T: Topology + ?Sized, S: Slot> Work<'_, T, S> {
    /// Replaces the edges by those that the nodes induce, in the order of the expanded nodes and then of their lists.
    pub(super) fn induce(&mut self) -> Result<()> {
        let rule = Rule::everything(self.options, self.seeds, self.follow);
        let Sample { row, col, edge_ids, edges_per_hop, .. } = &mut self.sample;
        [row, col, edge_ids].into_iter().for_each(Vec::clear);
        edges_per_hop.clear();
        let all = 0..self.sample.nodes.len();
        self.look_up(0, &rule, all.clone())?;
        self.scratch.pickers(1)?;
        let tree = |batch: &[i64], place: usize| batch.get(place).map_or(0, |&tree| tree as u32);
        for place in 0..self.seeds.ids.len() {
            let node = self.sample.nodes[place] as u64;
            // A seed that was given before has its edges there.
            if self.labels.find(tree(&self.sample.batch, place), node) != Some(place as u32) {
                self.scratch.lists[place] = 0..0;
            }
        }
        let mut counts = Vec::new();
        let mut place = 0;
        while place < all.len() {
            counts.clear();
            let picker = &mut self.scratch.pickers[0];
            let Sample { nodes, batch, row, col, edge_ids, .. } = &mut self.sample;
            let expansion = Expansion {
                topology: self.topology,
                rule: &rule,
                nodes,
                trees: trees(batch, all.clone()),
                lists: &self.scratch.lists,
            };
            let next = expansion.pick_block(place, picker, &mut counts)?;
            let start = row.len();
            make_room(row, picker.positions.len(), self.memory)?;
            make_room(col, picker.positions.len(), self.memory)?;
            make_room(edge_ids, picker.positions.len(), self.memory)?;
            picker.read(self.topology, row, edge_ids)?;
            let (mut kept, mut edge) = (start, start);
            for (expanded, &count) in (place..).zip(&counts) {
                let tree = tree(batch, expanded);
                for _ in 0..count {
                    if let Some(label) = self.labels.find(tree, row[edge] as u64) {
                        (row[kept], edge_ids[kept]) = (label.into(), edge_ids[edge]);
                        col.push(expanded as i64);
                        kept += 1;
                    }
                    edge += 1;
                }
            }
            row.truncate(kept);
            edge_ids.truncate(kept);
            place = next;
        }
        self.sample.edges_per_hop.push(self.sample.row.len() as u64);
        Ok(())
    }
}
