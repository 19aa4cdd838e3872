//! Small graphs for walks, made up in memory: lists with weights, in an order, of one direction or both.

use graphmill_format::ListOrder;
use graphmill_sample::{Result, Topology};
use std::ops::Range;

/// Lists in plain vectors.
#[derive(Clone, Debug)]
pub struct WalkedLists {
    pub offsets: Vec<usize>,
    pub neighbours: Vec<u64>,
    pub weights: Option<Vec<f32>>,
    pub sums: Option<Vec<f64>>,
    pub order: ListOrder,
    pub is_symmetric: bool,
}

impl WalkedLists {
    /// Lists as they are given, in no order.
    pub fn new(lists: &[Vec<u64>]) -> Self {
        let mut offsets = vec![0];
        for list in lists {
            offsets.push(offsets[offsets.len() - 1] + list.len());
        }
        WalkedLists {
            offsets,
            neighbours: lists.concat(),
            weights: None,
            sums: None,
            order: ListOrder::File,
            is_symmetric: false,
        }
    }

    /// The same with every list sorted.
    pub fn sorted(lists: &[Vec<u64>]) -> Self {
        let mut lists = lists.to_vec();
        lists.iter_mut().for_each(|list| list.sort_unstable());
        WalkedLists { order: ListOrder::Id, ..Self::new(&lists) }
    }

    /// Each edge both ways.
    pub fn both_ways(nodes: usize, edges: &[(u64, u64)]) -> Vec<Vec<u64>> {
        let mut lists = vec![Vec::new(); nodes];
        for &(source, destination) in edges {
            lists[source as usize].push(destination);
            lists[destination as usize].push(source);
        }
        lists
    }

    /// The same with these weights, whose sums are stored or not.
    pub fn weighted(self, weight: impl Fn(usize) -> f32, with_sums: bool) -> Self {
        let weights: Vec<f32> = (0..self.neighbours.len()).map(weight).collect();
        let mut sums = Vec::new();
        for list in self.offsets.windows(2) {
            let mut sum = 0.0;
            for &weight in &weights[list[0]..list[1]] {
                sum += f64::from(weight);
                sums.push(sum);
            }
        }
        WalkedLists { weights: Some(weights), sums: with_sums.then_some(sums), ..self }
    }

    pub fn range(&self, node: u64) -> Range<usize> {
        self.offsets[node as usize]..self.offsets[node as usize + 1]
    }

    pub fn has_edge(&self, source: u64, destination: u64) -> bool {
        self.neighbours[self.range(source)].contains(&destination)
    }
}

impl Topology for WalkedLists {
    fn num_nodes(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }

    fn list(&self, node: u64) -> Result<Range<usize>> {
        Ok(self.range(node))
    }

    fn neighbour(&self, position: usize) -> Result<u64> {
        Ok(self.neighbours[position])
    }

    fn edge_id(&self, position: usize) -> i64 {
        position as i64
    }

    fn weights(&self, list: Range<usize>) -> Option<&[f32]> {
        self.weights.as_ref().map(|weights| &weights[list])
    }

    fn cumulative_weights(&self, list: Range<usize>) -> Option<&[f64]> {
        self.sums.as_ref().map(|sums| &sums[list])
    }

    fn order(&self) -> ListOrder {
        self.order
    }

    fn is_symmetric(&self) -> bool {
        self.is_symmetric
    }
}

/// Fails unless so many outcomes were seen as often as their probabilities say; `law` adds up to 1.
pub fn assert_follows<Outcome: std::fmt::Debug>(
    law: impl IntoIterator<Item = (Outcome, f64)>,
    mut seen: impl FnMut(&Outcome) -> f64,
    draws: f64,
) {
    let (mut chi_square, mut bins, mut rare, mut all) = (0.0, 0.0, (0.0, 0.0), 0.0);
    for (outcome, probability) in law {
        let (expected, count) = (probability * draws, seen(&outcome));
        all += count;
        if expected == 0.0 {
            assert_eq!(count, 0.0, "{outcome:?} cannot happen");
        } else if expected < 8.0 {
            rare = (rare.0 + expected, rare.1 + count);
        } else {
            chi_square += (count - expected).powi(2) / expected;
            bins += 1.0;
        }
    }
    assert_eq!(all, draws, "something happened that cannot");
    if rare.0 > 8.0 {
        chi_square += (rare.1 - rare.0).powi(2) / rare.0;
        bins += 1.0;
    }
    // Exceeded once in a thousand seeds (Wilson and Hilferty's approximation).
    let freedom: f64 = bins - 1.0;
    if freedom > 0.0 {
        let spread = 2.0 / (9.0 * freedom);
        let limit = freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
        assert!(chi_square < limit, "chi square {chi_square:.1} of {bins} bins, limit {limit:.1}");
    }
}
