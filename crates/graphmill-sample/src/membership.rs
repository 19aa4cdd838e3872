//! Whether a node is in a list.
//! node2vec asks it of nearly every step and negative edges of every pair. In lists ordered by id a [`Search`] halves
//! what is left with each look and can announce the next, so that many searches wait for memory together; in other lists
//! somebody has to look at every neighbour.

use crate::announcements::Announcements;
use crate::{Result, Topology, check_seeds};
use graphmill_format::ListOrder;
use std::ops::Range;

/// So many neighbours are looked at together: one or two cache lines.
const TOGETHER: usize = 16;

/// A search for the first place in a sorted list whose neighbour is not less than a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Search {
    start: usize,
    length: usize,
    node: u64,
}

impl Search {
    /// Starts.
    #[inline]
    pub(crate) fn new(list: &Range<usize>, node: u64) -> Self {
        Search { start: list.start, length: list.len(), node }
    }

    /// Looks once; gives the place when it is found.
    #[inline]
    pub(crate) fn look<T: Topology + ?Sized>(&mut self, topology: &T) -> Result<Option<usize>> {
        if self.length > TOGETHER {
            let half = self.length / 2;
            if topology.neighbour(self.start + half - 1)? < self.node {
                self.start += half;
            }
            // When the length is odd one place too many is kept, which is cheaper than a branch.
            self.length -= half;
            return Ok(None);
        }
        for position in self.start..self.start + self.length {
            if topology.neighbour(position)? >= self.node {
                return Ok(Some(position));
            }
        }
        Ok(Some(self.start + self.length))
    }

    /// The positions that decide which memory the next look reads.
    #[inline]
    pub(crate) fn next_looks(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, last) = if self.length > TOGETHER {
            let middle = self.start + self.length / 2 - 1;
            (middle, middle)
        } else {
            (self.start, (self.start + self.length).saturating_sub(1))
        };
        [first, last].into_iter()
    }

    /// Announces the next look.
    #[inline]
    pub(crate) fn announce(&self, announcements: &mut Announcements) {
        if self.length > TOGETHER {
            announcements.edge(self.start + self.length / 2 - 1);
        } else {
            announcements.edge(self.start);
            announcements.edge((self.start + self.length).saturating_sub(1));
        }
    }
}

/// Whether the neighbour at a place that a search of `list` gave is `node`.
#[inline]
pub(crate) fn is_at<T: Topology + ?Sized>(
    topology: &T,
    list: &Range<usize>,
    place: usize,
    node: u64,
) -> Result<bool> {
    Ok(place < list.end && topology.neighbour(place)? == node)
}

/// Tells of each pair of a node and a neighbour whether the neighbour is in the node's list.
///
/// A binary search for each pair where lists are ordered by id, else a scan of the list.
pub fn are_neighbours<T: Topology + ?Sized>(
    topology: &T,
    nodes: &[i64],
    neighbours: &[i64],
) -> Result<Vec<bool>> {
    check_seeds(nodes, topology.num_nodes())?;
    check_seeds(neighbours, topology.num_nodes())?;
    let is_neighbour = |(&node, &neighbour): (&i64, &i64)| {
        let (list, neighbour) = (topology.list(node as u64)?, neighbour as u64);
        if topology.order() != ListOrder::Id {
            return scan(topology, list, neighbour);
        }
        let mut search = Search::new(&list, neighbour);
        loop {
            if let Some(place) = search.look(topology)? {
                return is_at(topology, &list, place, neighbour);
            }
        }
    };
    nodes.iter().zip(neighbours).map(is_neighbour).collect()
}

/// Whether a node is in a list of any order: looks at all of it.
pub(crate) fn scan<T: Topology + ?Sized>(
    topology: &T,
    list: Range<usize>,
    node: u64,
) -> Result<bool> {
    for position in list {
        if topology.neighbour(position)? == node {
            return Ok(true);
        }
    }
    Ok(false)
}
