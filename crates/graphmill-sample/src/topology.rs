//! What a sampler must know of a graph.
//! Samplers walk any [`Topology`]: the mapped lists of a store, or lists that a test makes up. A topology answers for
//! its answers: a position or node that it returns is one it can be asked about.

use crate::Result;
use graphmill_format::ListOrder;
use graphmill_store::Lists;
use std::ops::Range;

/// Neighbour lists of one direction, addressed by node and by position among all stored edges.
pub trait Topology {
    /// Number of nodes.
    fn num_nodes(&self) -> u64;
    /// The positions of a node's edges; every one may be asked for below.
    fn list(&self, node: u64) -> Result<Range<usize>>;
    /// The other end of the edge at a position, below [`num_nodes`](Self::num_nodes).
    fn neighbour(&self, position: usize) -> Result<u64>;
    /// What the edge at a position is called.
    fn edge_id(&self, position: usize) -> i64;

    /// The weights of the edges of a list, if they are stored.
    #[inline]
    fn weights(&self, _list: Range<usize>) -> Option<&[f32]> {
        None
    }

    /// The sums of the weights of a list up to each of its edges, if they are stored.
    #[inline]
    fn cumulative_weights(&self, _list: Range<usize>) -> Option<&[f64]> {
        None
    }

    /// The order of the neighbours within a list.
    #[inline]
    fn order(&self) -> ListOrder {
        ListOrder::File
    }

    /// Whether every edge is listed at both its ends.
    #[inline]
    fn is_symmetric(&self) -> bool {
        false
    }

    /// Announces that the list of a node is about to be asked for; any number may be given.
    #[inline]
    fn prefetch_offsets(&self, _node: u64) {}

    /// Announces that the neighbour at a position is about to be asked for; any number may be given.
    #[inline]
    fn prefetch_position(&self, _position: usize) {}
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

    #[inline]
    fn weights(&self, list: Range<usize>) -> Option<&[f32]> {
        Lists::weights(self).map(|weights| &weights[list])
    }

    #[inline]
    fn order(&self) -> ListOrder {
        Lists::order(self)
    }

    #[inline]
    fn is_symmetric(&self) -> bool {
        Lists::is_symmetric(self)
    }

    #[inline]
    fn prefetch_offsets(&self, node: u64) {
        Lists::prefetch_offsets(self, node);
    }

    #[inline]
    fn prefetch_position(&self, position: usize) {
        Lists::prefetch_position(self, position);
    }
}
