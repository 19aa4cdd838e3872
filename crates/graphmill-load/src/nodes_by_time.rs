//! Nodes in the order of their times, from which the negatives of temporal loaders are drawn.
//! The nodes that are not later than a link are the first of that order, so a binary search finds how many there are, and
//! a negative is a uniform draw among them. The order takes 8 bytes per node of the budget.

use crate::{Error, Result};
use graphmill_disk::{Budget, Reservation};

/// All nodes, earliest first.
#[derive(Debug)]
pub(crate) struct NodesByTime {
    order: Vec<i64>,
    _memory: Reservation,
}

impl NodesByTime {
    /// Orders the nodes that have these times.
    pub(crate) fn new(times: &[i64], budget: &Budget) -> Result<Self> {
        let memory =
            budget.reserve(8 * times.len() as u64, "the nodes in the order of their times")?;
        let mut order: Vec<i64> = (0..times.len() as i64).collect();
        // Nodes of the same time by id, so that the order is one.
        order.sort_unstable_by_key(|&node| (times[node as usize], node));
        Ok(NodesByTime { order, _memory: memory })
    }

    /// The nodes.
    pub(crate) fn order(&self) -> &[i64] {
        &self.order
    }

    /// How many of the nodes are not later than each of `limits`, the times of links; none at all is an error.
    pub(crate) fn counts(&self, times: &[i64], limits: &[i64]) -> Result<Vec<usize>> {
        let count = |&limit: &i64| match self
            .order
            .partition_point(|&node| times[node as usize] <= limit)
        {
            0 => Err(Error::NoNodeSoEarly {
                link: limit,
                earliest: self.order.first().map(|&node| times[node as usize]),
            }),
            count => Ok(count),
        };
        limits.iter().map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_nodes_are_those_that_are_early_enough(
            times in prop::collection::vec(-5_i64..5, 1..40),
            limits in prop::collection::vec(-7_i64..7, 0..10),
        ) {
            let nodes = NodesByTime::new(&times, &Budget::unlimited()).unwrap();
            let least = *times.iter().min().unwrap();
            let counts = nodes.counts(&times, &limits);
            prop_assert_eq!(counts.is_err(), limits.iter().any(|&limit| limit < least));
            for (limit, count) in limits.iter().zip(counts.unwrap_or_default()) {
                let mut found = nodes.order()[..count].to_vec();
                found.sort_unstable();
                let early = (0..times.len()).filter(|&node| times[node] <= *limit);
                prop_assert_eq!(found, early.map(|node| node as i64).collect::<Vec<_>>());
            }
        }
    }
}
