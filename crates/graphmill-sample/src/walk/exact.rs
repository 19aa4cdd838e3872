//! A second-order step by its law, neighbour by neighbour.
//! A step that has rejected too often comes here: every neighbour is weighed, and one is drawn in proportion. It takes
//! the time of reading both lists, whatever p and q are, so no walk hangs.

use super::bias::Bias;
use crate::membership::Search;
use crate::random::Stream;
use crate::room::make_exact_room;
use crate::{Result, Topology, by_weight};
use graphmill_disk::Reservation;
use graphmill_format::ListOrder;
use std::ops::Range;

/// Where a walk is and came from.
#[derive(Clone, Debug)]
pub(super) struct Crossing {
    /// The list of the node that the walk is at.
    pub(super) list: Range<usize>,
    /// The node it came from.
    pub(super) previous: u64,
    /// The list of that node.
    pub(super) previous_list: Range<usize>,
}

/// Draws the position of the next edge; None if no edge has weight.
///
/// `sorted` is memory for the neighbours of the node before, where lists are not ordered by id.
pub(super) fn draw<T: Topology + ?Sized>(
    topology: &T,
    crossing: &Crossing,
    bias: Bias,
    weighted: bool,
    stream: &mut Stream,
    sorted: &mut SortedList,
) -> Result<Option<usize>> {
    let is_sorted = topology.order() == ListOrder::Id;
    if !is_sorted {
        sorted.fill(topology, crossing.previous_list.clone())?;
    }
    if weighted {
        // Looks at every weight, so none needs to be checked below.
        by_weight::sum(topology, crossing.list.clone())?;
    }
    let weights = if weighted { topology.weights(crossing.list.clone()) } else { None };
    let walk_through = |visit: &mut dyn FnMut(usize, f64) -> bool| -> Result<()> {
        let mut common = crossing.previous_list.clone();
        for position in crossing.list.clone() {
            let node = topology.neighbour(position)?;
            let factor = if node == crossing.previous {
                bias.back
            } else if is_sorted {
                advance(topology, &mut common, node)?;
                bias.onward(!common.is_empty() && topology.neighbour(common.start)? == node)
            } else {
                bias.onward(sorted.nodes.binary_search(&node).is_ok())
            };
            let weight =
                weights.map_or(1.0, |weights| weights[position - crossing.list.start].into());
            if visit(position, factor * weight) {
                break;
            }
        }
        Ok(())
    };
    let (mut total, mut last) = (0.0, None);
    walk_through(&mut |position, share| {
        total += share;
        last = if share > 0.0 { Some(position) } else { last };
        false
    })?;
    let target = stream.unit() * total;
    let (mut sum, mut drawn) = (0.0, last);
    walk_through(&mut |position, share| {
        sum += share;
        if sum > target {
            drawn = Some(position);
        }
        sum > target
    })?;
    Ok(drawn)
}

/// Moves the start of a sorted list to its first neighbour that is not less than `node`; doubles its strides first, so a
/// short list is not compared with all of a long one.
fn advance<T: Topology + ?Sized>(topology: &T, list: &mut Range<usize>, node: u64) -> Result<()> {
    let mut stride = 1;
    while stride < list.len() && topology.neighbour(list.start + stride - 1)? < node {
        list.start += stride;
        stride *= 2;
    }
    let mut search = Search::new(topology, &(list.start..list.end.min(list.start + stride)), node);
    loop {
        if let Some(place) = search.look(topology)? {
            list.start = place;
            return Ok(());
        }
    }
}

/// A list in ascending order; keeps its memory.
pub(super) struct SortedList {
    nodes: Vec<u64>,
    memory: Reservation,
}

impl SortedList {
    /// An empty one, whose memory will be taken from what `memory` can get.
    pub(super) fn within(memory: Reservation) -> Self {
        SortedList { nodes: Vec::new(), memory }
    }

    fn fill<T: Topology + ?Sized>(&mut self, topology: &T, list: Range<usize>) -> Result<()> {
        self.nodes.clear();
        make_exact_room(&mut self.nodes, list.len(), &mut self.memory)?;
        for position in list {
            self.nodes.push(topology.neighbour(position)?);
        }
        self.nodes.sort_unstable();
        Ok(())
    }
}
