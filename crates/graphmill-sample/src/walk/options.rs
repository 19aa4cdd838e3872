//! What kind of walk.

use crate::{Error, Result};

/// Beyond these numbers the product of a bias and a weight could leave the range of its type.
const BIASES: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// How to walk. Without more than a length, walks are uniform, or weighted where the graph has weights.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Steps of each walk.
    pub length: usize,
    /// Return parameter of node2vec: going back to where a step came from is weighed by `1 / p`.
    pub p: f64,
    /// In-out parameter of node2vec: going where no edge leads from where a step came from is weighed by `1 / q`.
    pub q: f64,
    /// Whether edges are taken in proportion to their weights; None for yes where weights are stored.
    pub weighted: Option<bool>,
    /// The probability of going back to the start instead of taking an edge, at each step.
    pub restart: f64,
    /// Whether a walk stays at a dead end to its last column; else what follows is -1.
    pub stay: bool,
    /// The seed of all randomness.
    pub seed: u64,
}

impl WalkOptions {
    /// Walks of so many steps.
    pub fn new(length: usize) -> Self {
        let (p, q, restart) = (1.0, 1.0, 0.0);
        WalkOptions { length, p, q, weighted: None, restart, stay: false, seed: 0 }
    }

    /// Sets both parameters of node2vec.
    pub fn node2vec(self, p: f64, q: f64) -> Self {
        WalkOptions { p, q, ..self }
    }

    /// Says whether weights count; None for yes where there are any.
    pub fn weighted(self, weighted: Option<bool>) -> Self {
        WalkOptions { weighted, ..self }
    }

    /// Sets the probability of going back to the start.
    pub fn restart(self, restart: f64) -> Self {
        WalkOptions { restart, ..self }
    }

    /// Lets walks stay at dead ends.
    pub fn stay(self, stay: bool) -> Self {
        WalkOptions { stay, ..self }
    }

    /// Sets the seed of all randomness.
    pub fn seed(self, seed: u64) -> Self {
        WalkOptions { seed, ..self }
    }

    /// Fails unless the parameters mean something.
    pub(super) fn check(&self) -> Result<()> {
        for (what, found) in [("p", self.p), ("q", self.q)] {
            if !BIASES.contains(&found) {
                let expected = "a number above 0, from 1e-200 to 1e200";
                return Err(Error::Bias { what, found, expected });
            }
        }
        if !(0.0..=1.0).contains(&self.restart) {
            let expected = "a probability, from 0 to 1";
            return Err(Error::Bias { what: "restart", found: self.restart, expected });
        }
        Ok(())
    }
}
