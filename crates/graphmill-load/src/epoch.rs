//! The order in which an epoch visits its seeds.
//! Loaders ask it for the seeds of a batch by index, so any batch can be made without those before it. It does not know
//! what is done with the seeds.

use crate::{Error, Result};
use graphmill_sample::random::{Key, Purpose};
use std::ops::Range;
use std::sync::Arc;

/// The seeds of one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchSeeds {
    /// Where each seed stands among the seeds given.
    pub positions: Vec<i64>,
    /// The seeds.
    pub ids: Vec<i64>,
}

/// The seeds of an epoch, cut into batches.
///
/// ```
/// use graphmill_load::EpochOrder;
/// let order = EpochOrder::new(vec![10, 20, 30, 40, 50], 2)?;
/// assert_eq!(order.num_batches(), 3);
/// assert_eq!(order.batch(2)?.ids, [50]);
/// assert_eq!(order.drop_last(true).num_batches(), 2);
/// # Ok::<(), graphmill_load::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EpochOrder {
    seeds: Arc<[i64]>,
    batch_size: usize,
    drop_last: bool,
    /// Position of each seed in turn; None visits them as given.
    positions: Option<Vec<u64>>,
}

impl EpochOrder {
    /// Visits the seeds as given, `batch_size` at a time.
    pub fn new(seeds: impl Into<Arc<[i64]>>, batch_size: usize) -> Result<Self> {
        if batch_size == 0 {
            return Err(Error::BatchSize);
        }
        Ok(EpochOrder { seeds: seeds.into(), batch_size, drop_last: false, positions: None })
    }

    /// Leaves out a last batch that is not full.
    pub fn drop_last(self, drop_last: bool) -> Self {
        EpochOrder { drop_last, ..self }
    }

    /// Visits the seeds in the random order that belongs to this seed and epoch.
    pub fn shuffled(self, seed: u64, epoch: u64) -> Self {
        let mut positions: Vec<u64> = (0..self.seeds.len() as u64).collect();
        Key::new(seed, Purpose::Shuffle).with(epoch).stream().shuffle(&mut positions);
        EpochOrder { positions: Some(positions), ..self }
    }

    /// Bytes that a shuffled order of so many seeds takes.
    pub(crate) fn shuffled_bytes(seeds: usize) -> u64 {
        (seeds * size_of::<u64>()) as u64
    }

    /// Number of batches.
    pub fn num_batches(&self) -> u64 {
        let (whole, rest) =
            (self.seeds.len() / self.batch_size, self.seeds.len() % self.batch_size);
        (whole + usize::from(rest > 0 && !self.drop_last)) as u64
    }

    /// Number of seeds in a batch.
    pub fn batch_len(&self, index: u64) -> Result<usize> {
        Ok(self.range(index)?.len())
    }

    /// The seeds of a batch.
    pub fn batch(&self, index: u64) -> Result<BatchSeeds> {
        let range = self.range(index)?;
        let positions: Vec<i64> = match &self.positions {
            Some(positions) => positions[range].iter().map(|&position| position as i64).collect(),
            None => range.map(|position| position as i64).collect(),
        };
        let ids = positions.iter().map(|&position| self.seeds[position as usize]).collect();
        Ok(BatchSeeds { positions, ids })
    }

    fn range(&self, index: u64) -> Result<Range<usize>> {
        let count = self.num_batches();
        if index >= count {
            return Err(Error::BatchOutOfRange { index, count });
        }
        // No overflow: the start of a batch that exists lies among the seeds.
        let start = index as usize * self.batch_size;
        Ok(start..start.saturating_add(self.batch_size).min(self.seeds.len()))
    }
}
