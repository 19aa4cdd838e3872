//! Stored lists with the type of their ids known to the compiler.
//! A call of a sampler looks once which type the file has and goes on with this [`Topology`], so nothing is decided
//! again for every edge. How files come by their types is unknown here.

use crate::{Result, Topology};
use graphmill_disk::prefetch;
use graphmill_format::ListOrder;
use graphmill_store::Lists;
use std::ops::Range;

/// A stored id.
pub(crate) trait StoredId: Copy + Sync {
    /// The id as a node; a negative one, which no node has, is a huge number.
    fn node(self) -> u64;
}

impl StoredId for i32 {
    #[inline(always)]
    fn node(self) -> u64 {
        self as i64 as u64
    }
}

impl StoredId for i64 {
    #[inline(always)]
    fn node(self) -> u64 {
        self as u64
    }
}

/// One stored direction of a graph, its neighbours of one type.
pub(crate) struct TypedLists<'a, Id> {
    lists: &'a Lists<'a>,
    neighbours: &'a [Id],
}

impl<'a, Id> TypedLists<'a, Id> {
    /// The lists, whose neighbours these are.
    pub(crate) fn new(lists: &'a Lists<'a>, neighbours: &'a [Id]) -> Self {
        TypedLists { lists, neighbours }
    }
}

impl<Id: StoredId> Topology for TypedLists<'_, Id> {
    #[inline]
    fn num_nodes(&self) -> u64 {
        self.lists.num_nodes()
    }

    #[inline]
    fn list(&self, node: u64) -> Result<Range<usize>> {
        Ok(self.lists.range(node)?)
    }

    #[inline]
    fn neighbour(&self, position: usize) -> Result<u64> {
        let node = self.neighbours[position].node();
        if node < self.lists.num_nodes() {
            return Ok(node);
        }
        // The other way reads it again and finds the words for it.
        Ok(self.lists.neighbour(position)?)
    }

    #[inline]
    fn edge_id(&self, position: usize) -> i64 {
        self.lists.edge_id(position)
    }

    #[inline]
    fn prefetch_offsets(&self, node: u64) {
        self.lists.prefetch_offsets(node);
    }

    #[inline]
    fn prefetch_position(&self, position: usize) {
        prefetch(self.neighbours, position);
    }

    #[inline]
    fn weights(&self, list: Range<usize>) -> Option<&[f32]> {
        Topology::weights(self.lists, list)
    }

    #[inline]
    fn cumulative_weights(&self, list: Range<usize>) -> Option<&[f64]> {
        Topology::cumulative_weights(self.lists, list)
    }

    #[inline]
    fn order(&self) -> ListOrder {
        self.lists.order()
    }

    #[inline]
    fn is_symmetric(&self) -> bool {
        self.lists.is_symmetric()
    }

    #[inline]
    fn is_cold(&self) -> bool {
        self.lists.is_cold()
    }

    fn announce_lists(&self, nodes: &[u64]) {
        self.lists.announce_lists(nodes);
    }

    fn announce_edges(&self, positions: &[u64]) {
        self.lists.announce_edges(positions);
    }

    fn announce_contents(&self, lists: &[Range<usize>]) {
        self.lists.announce_contents(lists);
    }
}
