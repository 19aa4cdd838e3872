//! The edges of a batch that waits for its rows, in half the memory.
//! Delivered lists have 64 bits a number, as everybody expects. While many batches wait to be read together, their lists
//! take more memory than their rows, and windows would be shorter for it; local ids never need more than 32 bits, and edge
//! ids rarely do. Batches that are delivered at once never come here.

use crate::Result;
use graphmill_disk::Reservation;
use graphmill_sample::Sample;

/// The lists of a sample that were made narrow; the sample's own are empty meanwhile.
#[derive(Debug, Default)]
pub(crate) struct NarrowEdges {
    row: Vec<u32>,
    col: Vec<u32>,
    edge_ids: Vec<u32>,
}

impl NarrowEdges {
    /// Takes the lists of edges out of a sample, the edge ids only if they are not `wanted` and fit. `memory` pays for the
    /// sample, and for less of it afterwards. Leaves everything as it is if there is not even memory for doing so.
    pub(crate) fn take(sample: &mut Sample, memory: &mut Reservation, wanted: bool) -> Self {
        let fits = |ids: &[i64]| ids.iter().all(|&id| u32::try_from(id).is_ok());
        let has_ids = !wanted && fits(&sample.edge_ids);
        let edge_ids = if has_ids { sample.edge_ids.len() } else { 0 };
        // All or nothing, with the old lists still there.
        if memory.grow(4 * (sample.row.len() + sample.col.len() + edge_ids) as u64).is_err() {
            return NarrowEdges::default();
        }
        NarrowEdges {
            row: narrowed(&mut sample.row, memory),
            col: narrowed(&mut sample.col, memory),
            edge_ids: if has_ids { narrowed(&mut sample.edge_ids, memory) } else { Vec::new() },
        }
    }

    /// Gives the lists back. After an error, for lack of memory, some are and the others can be once more.
    pub(crate) fn give_back(
        &mut self,
        sample: &mut Sample,
        memory: &mut Reservation,
    ) -> Result<()> {
        widened(&mut self.row, &mut sample.row, memory)?;
        widened(&mut self.col, &mut sample.col, memory)?;
        widened(&mut self.edge_ids, &mut sample.edge_ids, memory)
    }

    /// Number of edges that are here.
    pub(crate) fn len(&self) -> usize {
        self.row.len()
    }

    /// Bytes that a batch takes more once it has its lists back.
    pub(crate) fn bytes_saved(&self) -> u64 {
        4 * (self.row.len() + self.col.len() + self.edge_ids.len()) as u64
    }
}

/// The numbers of a list, which all fit, and are paid for. Gives back what the list was paid for.
fn narrowed(wide: &mut Vec<i64>, memory: &mut Reservation) -> Vec<u32> {
    let narrow = wide.iter().map(|&number| number as u32).collect();
    memory.shrink(8 * wide.capacity() as u64);
    *wide = Vec::new();
    narrow
}

/// Moves numbers back, unless there are none.
fn widened(narrow: &mut Vec<u32>, wide: &mut Vec<i64>, memory: &mut Reservation) -> Result<()> {
    if narrow.is_empty() {
        return Ok(());
    }
    memory.grow(8 * narrow.len() as u64)?;
    *wide = narrow.iter().map(|&number| i64::from(number)).collect();
    memory.shrink(4 * narrow.len() as u64);
    *narrow = Vec::new();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::Budget;

    fn sample(edge_ids: Vec<i64>) -> Sample {
        Sample {
            nodes: vec![5, 6, 7],
            row: vec![1, 2, 2],
            col: vec![0, 0, 1],
            edge_ids,
            ..Sample::default()
        }
    }

    #[test]
    fn lists_come_back_as_they_were_and_take_half_the_memory_meanwhile() {
        for (edge_ids, wanted, saved) in [
            (vec![9, 0, i64::from(u32::MAX)], false, 36),
            (vec![9, 0, i64::from(u32::MAX)], true, 24),
            (vec![9, 0, 1 << 32], false, 24),
        ] {
            let budget = Budget::new(1000);
            let (original, mut changed) = (sample(edge_ids.clone()), sample(edge_ids));
            let mut memory = budget.reserve(changed.bytes(), "a sample").unwrap();
            let before = budget.used();
            let mut narrow = NarrowEdges::take(&mut changed, &mut memory, wanted);
            assert_eq!((narrow.len(), narrow.bytes_saved()), (3, saved));
            assert_eq!(budget.used(), before - saved);
            assert_eq!(changed.edge_ids.is_empty(), saved == 36);
            narrow.give_back(&mut changed, &mut memory).unwrap();
            assert_eq!((changed, budget.used(), narrow.len()), (original, before, 0));
        }
    }

    #[test]
    fn who_has_no_memory_for_it_keeps_the_lists_and_can_try_again() {
        let budget = Budget::new(100);
        let mut changed = sample(vec![1, 2, 3]);
        let mut memory = budget.reserve(96, "a sample").unwrap();
        let narrow = NarrowEdges::take(&mut changed, &mut memory, false);
        assert_eq!((narrow.len(), changed), (0, sample(vec![1, 2, 3])));

        let budget = Budget::new(132);
        let mut changed = sample(vec![1, 2, 3]);
        let mut memory = budget.reserve(96, "a sample").unwrap();
        let mut narrow = NarrowEdges::take(&mut changed, &mut memory, false);
        let other = budget.reserve(budget.free() - 20, "another").unwrap();
        assert!(narrow.give_back(&mut changed, &mut memory).unwrap_err().is_budget());
        drop(other);
        narrow.give_back(&mut changed, &mut memory).unwrap();
        assert_eq!((changed, budget.used()), (sample(vec![1, 2, 3]), 96));
    }
}
