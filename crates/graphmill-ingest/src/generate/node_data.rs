//! Features, labels and splits of nodes whose class is planted in the edges.
//! A row is the direction of its class, weak, plus noise of unit variance: one row alone tells its
//! class only now and then, the mean over neighbours of the same class tells it well. The class
//! itself comes from the generator of the edges; communities and ids are unknown here.

use super::counter::{Chance, Purpose, Words};
use super::error::{self, GenerateError, MAX_FEATURES};

/// Which part of the nodes a node is trained, tuned or judged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Used for training.
    Train,
    /// Used for choosing between models.
    Valid,
    /// Used for the final figure.
    Test,
}

/// Rows that can be produced again, in any order, any number of times.
pub trait NodeData: Send + Sync {
    /// Number of nodes; every `node` below is smaller.
    fn num_nodes(&self) -> u64;
    /// Number of values in a feature row.
    fn num_features(&self) -> usize;
    /// Number of classes; every label is smaller.
    fn num_classes(&self) -> u32;
    /// The class of `node`.
    fn label(&self, node: u64) -> u32;
    /// Writes the features of `node`; `row` has `num_features` values.
    fn features(&self, node: u64, row: &mut [f32]);
    /// The split `node` belongs to, if any.
    fn split(&self, node: u64) -> Option<Split>;
}

/// Parameters of the node data, shared by the generators that plant classes.
#[derive(Clone, Debug)]
pub(super) struct PlantedParameters {
    pub(super) features: usize,
    pub(super) signal: f32,
    pub(super) train: f64,
    pub(super) valid: f64,
    pub(super) test: f64,
}

impl Default for PlantedParameters {
    fn default() -> Self {
        // At this signal, with 16 classes on a papers graph, a perceptron learns about 47% of the
        // test nodes from their rows alone, two layers of mean aggregation about 78%.
        Self { features: 128, signal: 1.75, train: 0.10, valid: 0.05, test: 0.05 }
    }
}

/// The data of nodes whose classes are known.
#[derive(Clone, Debug)]
pub(super) struct Planted {
    features: usize,
    /// Size of every coordinate of a class direction.
    coordinate: f32,
    /// Ends of the splits along one random number a node.
    ends: [Chance; 3],
    centroids: Words,
    noise: Words,
    splits: Words,
}

impl Planted {
    pub(super) fn new(parameters: &PlantedParameters, seed: u64) -> Result<Self, GenerateError> {
        let &PlantedParameters { features, signal, train, valid, test } = parameters;
        if features > MAX_FEATURES {
            return Err(GenerateError::Features { features });
        }
        if !(signal.is_finite() && signal >= 0.0) {
            return Err(GenerateError::Signal { signal });
        }
        error::shares(
            "the shares of train, valid and test",
            [("the train share", train), ("the valid share", valid), ("the test share", test)],
        )?;
        Ok(Self {
            features,
            // The direction of a class is as long as the signal whatever the number of features,
            // so that accuracy does not depend on that number.
            coordinate: signal / (features.max(1) as f32).sqrt(),
            ends: [train, train + valid, train + valid + test].map(Chance::of),
            centroids: Words::new(seed, Purpose::Centroids),
            noise: Words::new(seed, Purpose::Noise),
            splits: Words::new(seed, Purpose::Splits),
        })
    }

    pub(super) fn num_features(&self) -> usize {
        self.features
    }

    pub(super) fn split(&self, node: u64) -> Option<Split> {
        let word = self.splits.at(node);
        let [train, valid, test] = self.ends;
        if train.hits(word) {
            Some(Split::Train)
        } else if valid.hits(word) {
            Some(Split::Valid)
        } else if test.hits(word) {
            Some(Split::Test)
        } else {
            None
        }
    }

    pub(super) fn row(&self, node: u64, class: u32, row: &mut [f32]) {
        let first_value = node.wrapping_mul(self.features as u64);
        let first_signs = u64::from(class) * (MAX_FEATURES / 64) as u64;
        for (block, values) in row.chunks_mut(64).enumerate() {
            let mut signs = self.centroids.at(first_signs + block as u64);
            let first_value = first_value.wrapping_add(64 * block as u64);
            for (offset, value) in values.iter_mut().enumerate() {
                let centre = if signs & 1 == 1 { self.coordinate } else { -self.coordinate };
                signs >>= 1;
                *value = centre + noise(self.noise.at(first_value.wrapping_add(offset as u64)));
            }
        }
    }
}

/// Nearly normal, mean 0 and variance 1: the sum of the four 16-bit quarters of `word`.
#[inline(always)]
fn noise(word: u64) -> f32 {
    /// One over the standard deviation of the sum, `sqrt((2^32 - 1) / 3)`.
    const SCALE: f32 = 2.642_899_8e-5;
    const MEAN: i32 = 2 * 0xFFFF;
    let pairs = (word & 0x0000_FFFF_0000_FFFF) + (word >> 16 & 0x0000_FFFF_0000_FFFF);
    let sum = (pairs as u32 + (pairs >> 32) as u32) as i32;
    (sum - MEAN) as f32 * SCALE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_mean_zero_variance_one_and_normal_tails() {
        let words = Words::new(9, Purpose::Noise);
        let count = 200_000;
        let values: Vec<f64> = (0..count).map(|i| f64::from(noise(words.at(i)))).collect();
        let moment = |power| values.iter().map(|v| v.powi(power)).sum::<f64>() / count as f64;
        assert!(moment(1).abs() < 0.01);
        assert!((moment(2) - 1.0).abs() < 0.01);
        // The sum of four uniforms has a fourth moment of 2.7, the normal law 3.
        assert!((moment(4) - 2.7).abs() < 0.1);
        let beyond_two = values.iter().filter(|v| v.abs() > 2.0).count() as f64 / count as f64;
        assert!((0.035..0.055).contains(&beyond_two), "{beyond_two}");
    }

    #[test]
    fn rows_scatter_around_a_direction_as_long_as_the_signal() {
        for features in [16, 100, 128] {
            let parameters = PlantedParameters { features, signal: 3.0, ..Default::default() };
            let planted = Planted::new(&parameters, 4).unwrap();
            let count = 20_000;
            let mut mean = vec![0.0; features];
            let mut row = vec![0.0; features];
            for node in 0..count {
                planted.row(node, 5, &mut row);
                mean.iter_mut().zip(&row).for_each(|(m, &v)| *m += f64::from(v) / count as f64);
            }
            let length = mean.iter().map(|m| m * m).sum::<f64>().sqrt();
            assert!((length - 3.0).abs() < 0.05, "{features} features: {length}");
        }
    }

    #[test]
    fn splits_take_their_shares() {
        let parameters =
            PlantedParameters { train: 0.5, valid: 0.3, test: 0.2, ..Default::default() };
        let planted = Planted::new(&parameters, 4).unwrap();
        let count = |wanted| (0..100_000).filter(|&n| planted.split(n) == wanted).count();
        assert!(count(Some(Split::Train)).abs_diff(50_000) < 1000);
        assert!(count(Some(Split::Valid)).abs_diff(30_000) < 1000);
        assert!(count(Some(Split::Test)).abs_diff(20_000) < 1000);
    }
}
