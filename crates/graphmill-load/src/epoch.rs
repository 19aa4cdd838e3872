//! The order in which an epoch visits its seeds.
//! Loaders ask it for the seeds of a batch by index, so any batch can be made without those before it. It counts
//! positions and does not know what stands there.

use crate::{Error, Result};
use graphmill_sample::random::{Key, Purpose};
use std::ops::Range;

/// What determines the batches of an epoch beside the options: the seed, the number of the epoch, and which of several
/// processes that share its seeds this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochKey {
    /// The seed of all randomness.
    pub seed: u64,
    /// The number of the epoch.
    pub epoch: u64,
    /// Which of the processes that share the seeds this is.
    pub rank: u64,
    /// How many processes share the seeds.
    pub world_size: u64,
}

/// The positions of an epoch's seeds, cut into batches.
///
/// ```
/// use graphmill_load::EpochOrder;
/// let order = EpochOrder::new(5, 2)?;
/// assert_eq!(order.num_batches(), 3);
/// assert_eq!(order.batch(2)?, [4]);
/// assert_eq!(order.drop_last(true).num_batches(), 2);
/// # Ok::<(), graphmill_load::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EpochOrder {
    count: usize,
    batch_size: usize,
    drop_last: bool,
    rank: u64,
    world_size: u64,
    /// Position of each seed in turn; None visits them as given.
    positions: Option<Vec<u64>>,
}

impl EpochOrder {
    /// Visits `count` seeds as given, `batch_size` at a time.
    pub fn new(count: usize, batch_size: usize) -> Result<Self> {
        if batch_size == 0 {
            return Err(Error::BatchSize);
        }
        let (drop_last, rank, world_size) = (false, 0, 1);
        Ok(EpochOrder { count, batch_size, drop_last, rank, world_size, positions: None })
    }

    /// Leaves out a last batch that is not full, and seeds that do not divide evenly among several processes.
    pub fn drop_last(self, drop_last: bool) -> Self {
        EpochOrder { drop_last, ..self }
    }

    /// Visits the seeds in the random order that belongs to this seed and epoch.
    pub fn shuffled(self, seed: u64, epoch: u64) -> Self {
        let mut positions: Vec<u64> = (0..self.count as u64).collect();
        Key::new(seed, Purpose::Shuffle).with(epoch).stream().shuffle(&mut positions);
        EpochOrder { positions: Some(positions), ..self }
    }

    /// Visits the share of process `rank` among `world_size`: every `world_size`-th seed of the order.
    ///
    /// All shares are equally long: the first seeds come once more at the end, or with
    /// [`drop_last`](Self::drop_last) the last are left out. That is how PyTorch's `DistributedSampler` divides them.
    pub fn share(self, rank: u64, world_size: u64) -> Result<Self> {
        if rank >= world_size {
            return Err(Error::Rank { rank, world_size });
        }
        Ok(EpochOrder { rank, world_size, ..self })
    }

    /// Bytes that a shuffled order of so many seeds takes.
    pub(crate) fn shuffled_bytes(seeds: usize) -> u64 {
        (seeds * size_of::<u64>()) as u64
    }

    /// Number of seeds that are visited.
    pub fn len(&self) -> usize {
        let (count, world_size) = (self.count as u64, self.world_size);
        let share = if self.drop_last { count / world_size } else { count.div_ceil(world_size) };
        share as usize
    }

    /// Whether no seed is visited.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of batches.
    pub fn num_batches(&self) -> u64 {
        let (whole, rest) = (self.len() / self.batch_size, self.len() % self.batch_size);
        (whole + usize::from(rest > 0 && !self.drop_last)) as u64
    }

    /// Number of seeds in a batch.
    pub fn batch_len(&self, index: u64) -> Result<usize> {
        Ok(self.range(index)?.len())
    }

    /// Where the seeds of a batch stand among the seeds given.
    pub fn batch(&self, index: u64) -> Result<Vec<i64>> {
        let position = |turn: usize| {
            // The end wraps around to the beginning, so that all shares are equally long.
            let turn = (turn as u64 * self.world_size + self.rank) as usize % self.count;
            self.positions.as_ref().map_or(turn as i64, |positions| positions[turn] as i64)
        };
        Ok(self.range(index)?.map(position).collect())
    }

    fn range(&self, index: u64) -> Result<Range<usize>> {
        let count = self.num_batches();
        if index >= count {
            return Err(Error::BatchOutOfRange { index, count });
        }
        // No overflow: the start of a batch that exists lies among the seeds.
        let start = index as usize * self.batch_size;
        Ok(start..start.saturating_add(self.batch_size).min(self.len()))
    }
}
