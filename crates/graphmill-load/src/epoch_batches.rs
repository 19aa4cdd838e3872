//! The batches of an epoch in their order, made ahead by threads.
//! Whoever trains takes them from here. Memory that is short costs speed first: fewer batches wait, windows become shorter,
//! and at last everything that was made ahead is given up and a batch is made alone; only one that does not fit by itself is
//! an error. How batches are made is in `stages`.

use crate::stages::{Course, Stages, Taken};
use crate::{Batch, Error, NeighborLoader, Result};
use std::sync::Arc;
use std::time::Duration;

/// The most batches that are made alone before the threads get another chance.
const MOST_ALONE: u64 = 64;

/// Makes the batches of an epoch; see [`NeighborLoader::epoch`].
#[derive(Debug)]
pub struct EpochBatches {
    loader: Arc<NeighborLoader>,
    course: Course,
    stages: Option<Stages>,
    /// Batches still to be made alone.
    alone: u64,
    /// Shortages since the threads last finished a batch.
    shortages: u32,
    has_delivered: bool,
    is_finished: bool,
}

/// What came of waiting for a batch for some time.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "moved once and taken apart")]
pub enum Awaited {
    /// The next batch.
    Batch(Batch),
    /// It takes longer.
    NotYet,
    /// There are no more.
    End,
}

impl Iterator for EpochBatches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        loop {
            match self.await_next(None) {
                Ok(Awaited::Batch(batch)) => return Some(Ok(batch)),
                Ok(Awaited::NotYet) => {}
                Ok(Awaited::End) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Drop for EpochBatches {
    fn drop(&mut self) {
        self.stop();
    }
}

impl EpochBatches {
    pub(crate) fn new(loader: Arc<NeighborLoader>, course: Course) -> Self {
        let is_finished = course.next >= course.end;
        if !is_finished {
            loader.begin_epoch();
        }
        let (stages, has_delivered) = (None, false);
        EpochBatches { loader, course, stages, alone: 0, shortages: 0, has_delivered, is_finished }
    }

    /// Waits for the next batch, as long as it takes or for some time. After an error there are no more.
    ///
    /// A batch that has to be made alone, because memory is short, is made by the caller, however long that takes.
    pub fn await_next(&mut self, patience: Option<Duration>) -> Result<Awaited> {
        if self.is_finished {
            return Ok(Awaited::End);
        }
        let outcome = self.take(patience);
        match &outcome {
            Ok(Awaited::NotYet) => {}
            Ok(Awaited::Batch(_)) => {
                self.loader.sums.count_batch();
                self.has_delivered = true;
                self.course.next = self.course.next.saturating_add(self.course.step);
                if self.course.next >= self.course.end {
                    self.stop();
                }
            }
            Ok(Awaited::End) | Err(_) => self.stop(),
        }
        outcome
    }

    /// Ends the epoch: stops the threads and waits until they have gone.
    pub fn stop(&mut self) {
        self.stages = None;
        if !self.is_finished {
            self.is_finished = true;
            self.loader.end_epoch();
        }
    }

    fn take(&mut self, patience: Option<Duration>) -> Result<Awaited> {
        if self.alone > 0 {
            self.alone -= 1;
            return self.make_alone();
        }
        let stages = match &mut self.stages {
            Some(stages) => stages,
            none => none.insert(Stages::start(self.loader.clone(), self.course)?),
        };
        match stages.take(patience) {
            Taken::NotYet => Ok(Awaited::NotYet),
            Taken::End => Ok(Awaited::End),
            Taken::Batch(Ok(batch)) => {
                self.shortages = 0;
                Ok(Awaited::Batch(batch))
            }
            Taken::Batch(Err(error)) if error.is_budget() => {
                // All that was made ahead goes; after every shortage in a row it is longer before that is tried again.
                self.stages = None;
                self.alone = (1 << self.shortages.min(63)).min(MOST_ALONE) - 1;
                self.shortages += 1;
                self.make_alone()
            }
            Taken::Batch(Err(error)) => Err(error),
        }
    }

    /// Makes the next batch with all memory that the consumer leaves.
    fn make_alone(&self) -> Result<Awaited> {
        let Course { key, next, .. } = self.course;
        let outcome = match self.loader.make(key, next) {
            Err(error) if error.is_budget() => {
                self.loader.forget_hot_rows();
                self.loader.make(key, next)
            }
            outcome => outcome,
        };
        let own = if self.has_delivered { Error::beside_batches_in_use } else { |error| error };
        outcome.map(Awaited::Batch).map_err(own)
    }
}
