//! The ids that nodes had before they were numbered, as the writer of the graph reads them.
//! Numbers that the numbering does not know are nodes without edges behind all others, which keep
//! their ids. It must not know how nodes were numbered.

use zerocopy::{FromBytes, IntoBytes};

use super::scratch_array::ScratchArray;
use crate::Result;
use crate::edges::EdgeValues;

/// One original id for every node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OriginalIds<'a> {
    ids: &'a ScratchArray<u64>,
    num_nodes: u64,
}

impl<'a> OriginalIds<'a> {
    pub(super) fn new(ids: &'a ScratchArray<u64>, num_nodes: u64) -> Self {
        OriginalIds { ids, num_nodes }
    }
}

impl EdgeValues<i64> for OriginalIds<'_> {
    fn count(&self) -> u64 {
        self.num_nodes
    }

    fn read(&self, first: u64, values: &mut [i64]) -> Result<()> {
        let known = self.ids.count().saturating_sub(first).min(values.len() as u64) as usize;
        let (known, further) = values.split_at_mut(known);
        let next = first + known.len() as u64;
        let known = <[u64]>::mut_from_bytes(known.as_mut_bytes());
        self.ids.read(first, known.expect("both are words of eight bytes"))?;
        for (value, id) in further.iter_mut().zip(next..) {
            *value = id as i64;
        }
        Ok(())
    }
}
