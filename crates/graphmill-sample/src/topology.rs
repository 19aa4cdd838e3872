//! What a sampler must know of a graph.
//! Samplers walk any [`Topology`]: the mapped lists of a store, or lists that a test makes up. A topology answers for
//! its answers: a position or node that it returns is one it can be asked about.

use crate::Result;
use graphmill_disk::prefetch;
use graphmill_format::ListOrder;
use graphmill_store::Lists;
use std::ops::Range;

/// Neighbour lists of one direction, addressed by node and by position among all stored edges.
pub trait Topology: Sync {
    /// Number of nodes.
    fn num_nodes(&self) -> u64;
    /// The positions of a node's edges; every one may be asked for below.
    fn list(&self, node: u64) -> Result<Range<usize>>;
    /// The other end of the edge at a position, below [`num_nodes`](Self::num_nodes).
    fn neighbour(&self, position: usize) -> Result<u64>;
    /// What the edge at a position is called.
    fn edge_id(&self, position: usize) -> i64;

    /// The order within lists.
    fn order(&self) -> ListOrder {
        ListOrder::File
    }

    /// The weights of a list that [`list`](Self::list) gave, if there are any.
    fn weights(&self, _list: Range<usize>) -> Option<&[f32]> {
        None
    }

    /// The running sums of the weights of a list, if they are stored.
    fn cumulative_weights(&self, _list: Range<usize>) -> Option<&[f64]> {
        None
    }

    /// The times of the edges of a list, if there are any.
    fn edge_times(&self, _list: Range<usize>) -> Option<&[i64]> {
        None
    }

    /// Whether every edge is listed at both its ends.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// Adds the other ends and the names of edges to two lists; what was added before an error means nothing.
    fn read(
        &self,
        positions: &[usize],
        neighbours: &mut Vec<i64>,
        edge_ids: &mut Vec<i64>,
    ) -> Result<()> {
        for &position in positions {
            neighbours.push(self.neighbour(position)? as i64);
            edge_ids.push(self.edge_id(position));
        }
        Ok(())
    }

    /// Adds what [`list`](Self::list) tells of many nodes.
    fn lists(&self, nodes: &[i64], into: &mut Vec<Range<usize>>) -> Result<()> {
        for &node in nodes {
            into.push(self.list(node as u64)?);
        }
        Ok(())
    }

    /// Announces that edges are about to be read.
    #[inline]
    fn prefetch_edges(&self, _positions: &[usize]) {}

    /// Announces that the list of a node is about to be asked for; any number may be given.
    #[inline]
    fn prefetch_offsets(&self, _node: u64) {}

    /// Announces that the neighbour at a position is about to be asked for; any number may be given.
    #[inline]
    fn prefetch_position(&self, _position: usize) {}

    /// Whether lists come from a disk, so that many of them should be announced before the first is read.
    #[inline]
    fn is_cold(&self) -> bool {
        false
    }

    /// Announces to the disk that the lists of these nodes are about to be asked for.
    fn announce_lists(&self, _nodes: &[u64]) {}

    /// Announces to the disk that edges are about to be read.
    fn announce_edges(&self, _positions: &[u64]) {}

    /// Announces to the disk that all that is stored about the edges of lists is about to be read.
    fn announce_contents(&self, _lists: &[Range<usize>]) {}

    /// Tells how many edges a call has read, so that a topology can decide where to be read from next time.
    fn count_edges_read(&self, _edges: u64) {}
}

/// The edge's source row where edge ids are stored, else its position.
impl Topology for Lists<'_> {
    fn num_nodes(&self) -> u64 {
        Lists::num_nodes(self)
    }

    #[inline]
    fn list(&self, node: u64) -> Result<Range<usize>> {
        Ok(self.range(node)?)
    }

    #[inline]
    fn neighbour(&self, position: usize) -> Result<u64> {
        Ok(Lists::neighbour(self, position)?)
    }

    #[inline]
    fn edge_id(&self, position: usize) -> i64 {
        match self.edge_ids() {
            Some(edge_ids) => edge_ids[position],
            None => position as i64,
        }
    }

    fn order(&self) -> ListOrder {
        Lists::order(self)
    }

    fn weights(&self, list: Range<usize>) -> Option<&[f32]> {
        Lists::weights(self).map(|weights| &weights[list])
    }

    fn cumulative_weights(&self, list: Range<usize>) -> Option<&[f64]> {
        Lists::cumulative_weights(self).map(|sums| &sums[list])
    }

    fn edge_times(&self, list: Range<usize>) -> Option<&[i64]> {
        Lists::edge_times(self).map(|times| &times[list])
    }

    fn is_symmetric(&self) -> bool {
        Lists::is_symmetric(self)
    }

    /// Looks at the stored type once, not for every edge.
    fn read(
        &self,
        positions: &[usize],
        neighbours: &mut Vec<i64>,
        edge_ids: &mut Vec<i64>,
    ) -> Result<()> {
        self.neighbours().read(positions, neighbours);
        let read = &neighbours[neighbours.len() - positions.len()..];
        // A negative id is a huge one when its bits are read without a sign.
        if let Some(at) = read.iter().position(|&id| id as u64 >= self.num_nodes()) {
            Lists::neighbour(self, positions[at])?;
        }
        match self.edge_ids() {
            Some(ids) => edge_ids.extend(positions.iter().map(|&position| ids[position])),
            None => edge_ids.extend(positions.iter().map(|&position| position as i64)),
        }
        Ok(())
    }

    fn lists(&self, nodes: &[i64], into: &mut Vec<Range<usize>>) -> Result<()> {
        Ok(self.ranges(nodes, into)?)
    }

    #[inline]
    fn prefetch_edges(&self, positions: &[usize]) {
        self.neighbours().prefetch(positions);
        if let Some(ids) = self.edge_ids() {
            positions.iter().for_each(|&at| prefetch(ids, at));
        }
    }

    #[inline]
    fn prefetch_offsets(&self, node: u64) {
        Lists::prefetch_offsets(self, node);
    }

    #[inline]
    fn prefetch_position(&self, position: usize) {
        Lists::prefetch_position(self, position);
    }

    #[inline]
    fn is_cold(&self) -> bool {
        Lists::is_cold(self)
    }

    fn announce_lists(&self, nodes: &[u64]) {
        Lists::announce_lists(self, nodes);
    }

    fn announce_edges(&self, positions: &[u64]) {
        Lists::announce_edges(self, positions);
    }

    fn announce_contents(&self, lists: &[Range<usize>]) {
        Lists::announce_contents(self, lists);
    }

    fn count_edges_read(&self, edges: u64) {
        Lists::count_edges_read(self, edges);
    }
}
