//! Keys from all over some parts, which tell where to cut them.
//! Records in memory are cheap to look at one by one; of those in the scratch file a few neighbours
//! are read at a time. However many parts there are, about as many keys are taken. It must not know
//! what is done with them.

use super::record::{Field, Record};
use super::store::{Part, Store};
use crate::Result;

/// Keys that are enough.
const KEYS: u64 = 1 << 15;
/// Neighbouring records of the scratch file that are looked at together: it is the number of reads
/// that costs.
const PEEKED: usize = 128;

/// Evenly spread keys of one field.
pub(super) struct Sample {
    field: Field,
    step: usize,
    keys: Vec<u64>,
    /// Records to pass over before the next one that is looked at, in the scratch file.
    due_in_scratch: usize,
    due_in_memory: usize,
}

impl Sample {
    /// Of parts that have so many records together.
    pub(super) fn of(records: u64, field: Field) -> Self {
        let step = (records / KEYS).max(1) as usize;
        Sample { field, step, keys: Vec::new(), due_in_scratch: 0, due_in_memory: 0 }
    }

    /// Takes keys of one of the parts.
    pub(super) fn add<R: Record>(&mut self, part: &Part<R>, store: &Store<R>) -> Result<()> {
        let Sample { field, step, keys, due_in_scratch, due_in_memory } = self;
        for &extent in &part.extents {
            while *due_in_scratch < extent.records {
                let take = |records: &[R]| keys.extend(records.iter().map(|one| one.field(*field)));
                store.scratch.peek(extent, *due_in_scratch, PEEKED, take)?;
                *due_in_scratch = due_in_scratch.saturating_add(step.saturating_mul(PEEKED));
            }
            *due_in_scratch -= extent.records;
        }
        for block in &part.blocks {
            while let Some(record) = block.get(*due_in_memory) {
                keys.push(record.field(*field));
                *due_in_memory += *step;
            }
            *due_in_memory -= block.len();
        }
        Ok(())
    }

    pub(super) fn into_keys(self) -> Vec<u64> {
        self.keys
    }
}
