//! Stored lists with the type of their ids known to the compiler.
//! A call of a sampler looks once which type the file has and goes on with this [`Topology`], so nothing is decided
//! again for every edge. How files come by their types is unknown here.

use crate::{Result, Topology};
use graphmill_disk::prefetch;
use graphmill_format::ListOrder;
use graphmill_format::packed::PackedSequence;
use graphmill_store::{Lists, prefetch_value};
use std::ops::Range;

/// Stored ids, addressed by position.
pub(crate) trait StoredIds: Copy + Sync {
    /// The node at a position that exists; what is no node is a huge number.
    fn node(self, position: usize) -> u64;
    /// Announces that the node at a position is about to be asked for; any number may be given.
    fn prefetch(self, position: usize);
}

impl StoredIds for &[i32] {
    #[inline(always)]
    fn node(self, position: usize) -> u64 {
        self[position] as i64 as u64
    }

    #[inline(always)]
    fn prefetch(self, position: usize) {
        prefetch(self, position);
    }
}

impl StoredIds for &[i64] {
    #[inline(always)]
    fn node(self, position: usize) -> u64 {
        self[position] as u64
    }

    #[inline(always)]
    fn prefetch(self, position: usize) {
        prefetch(self, position);
    }
}

impl StoredIds for PackedSequence<'_> {
    #[inline(always)]
    fn node(self, position: usize) -> u64 {
        self.get(position as u64).unwrap_or(u64::MAX)
    }

    #[inline(always)]
    fn prefetch(self, position: usize) {
        prefetch_value(&self, position as u64);
    }
}

/// Calls a function over a [`Topology`] with stored lists of whatever type they are.
macro_rules! over_lists {
    ($lists:expr, |$typed:ident| $call:expr) => {
        match $lists.neighbours() {
            graphmill_store::Neighbours::I32(ids) => {
                let $typed = &crate::typed_lists::TypedLists::new($lists, ids);
                $call
            }
            graphmill_store::Neighbours::I64(ids) => {
                let $typed = &crate::typed_lists::TypedLists::new($lists, ids);
                $call
            }
            graphmill_store::Neighbours::Packed(ids) => {
                let $typed = &crate::typed_lists::TypedLists::new($lists, ids);
                $call
            }
        }
    };
}
pub(crate) use over_lists;

/// One stored direction of a graph, its neighbours of one type.
pub(crate) struct TypedLists<'a, Ids> {
    lists: &'a Lists<'a>,
    neighbours: Ids,
}

impl<'a, Ids> TypedLists<'a, Ids> {
    /// The lists, whose neighbours these are.
    pub(crate) fn new(lists: &'a Lists<'a>, neighbours: Ids) -> Self {
        TypedLists { lists, neighbours }
    }
}

impl<Ids: StoredIds> Topology for TypedLists<'_, Ids> {
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
        let node = self.neighbours.node(position);
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
        self.neighbours.prefetch(position);
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
