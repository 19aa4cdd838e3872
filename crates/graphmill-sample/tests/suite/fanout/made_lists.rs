//! Neighbour lists made up in memory: what a sampler sees of a graph, without a file.

use graphmill_format::ListOrder;
use graphmill_sample::{Result, Topology};
use std::ops::Range;

/// Lists in plain vectors; an edge is called by its position.
#[derive(Clone, Debug)]
pub struct MadeLists {
    offsets: Vec<usize>,
    neighbours: Vec<u64>,
    order: ListOrder,
    weights: Option<Vec<f32>>,
    sums: Option<Vec<f64>>,
    times: Option<Vec<i64>>,
}

impl MadeLists {
    pub fn new(lists: &[Vec<u64>]) -> Self {
        let mut offsets = vec![0];
        for list in lists {
            offsets.push(offsets[offsets.len() - 1] + list.len());
        }
        let (order, neighbours) = (ListOrder::File, lists.concat());
        MadeLists { offsets, neighbours, order, weights: None, sums: None, times: None }
    }

    pub fn order(mut self, order: ListOrder) -> Self {
        self.order = order;
        self
    }

    /// One weight for every edge.
    pub fn weights(mut self, weights: Vec<f32>) -> Self {
        assert_eq!(weights.len(), self.neighbours.len());
        self.weights = Some(weights);
        self
    }

    /// Stores the running sums of the weights too.
    pub fn with_sums(mut self) -> Self {
        let weights = self.weights.as_ref().expect("weights come first");
        let mut sums = Vec::new();
        for list in self.offsets.windows(2) {
            let mut sum = 0.0;
            for &weight in &weights[list[0]..list[1]] {
                sum += f64::from(weight);
                sums.push(sum);
            }
        }
        self.sums = Some(sums);
        self
    }

    /// One time for every edge.
    pub fn times(mut self, times: Vec<i64>) -> Self {
        assert_eq!(times.len(), self.neighbours.len());
        self.times = Some(times);
        self
    }

    pub fn num_edges(&self) -> usize {
        self.neighbours.len()
    }
}

impl Topology for MadeLists {
    fn num_nodes(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }

    fn list(&self, node: u64) -> Result<Range<usize>> {
        Ok(self.offsets[node as usize]..self.offsets[node as usize + 1])
    }

    fn neighbour(&self, position: usize) -> Result<u64> {
        Ok(self.neighbours[position])
    }

    fn edge_id(&self, position: usize) -> i64 {
        position as i64
    }

    fn order(&self) -> ListOrder {
        self.order
    }

    fn weights(&self, list: Range<usize>) -> Option<&[f32]> {
        self.weights.as_ref().map(|weights| &weights[list])
    }

    fn cumulative_weights(&self, list: Range<usize>) -> Option<&[f64]> {
        self.sums.as_ref().map(|sums| &sums[list])
    }

    fn edge_times(&self, list: Range<usize>) -> Option<&[i64]> {
        self.times.as_ref().map(|times| &times[list])
    }
}
