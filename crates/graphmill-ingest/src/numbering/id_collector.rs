//! All distinct ids of a source, ascending.
//! Readers push the ids of edges and of id columns from several threads; every thread keeps a set of
//! its own and writes a sorted run when that is full, and the runs are merged in the end. The place
//! of an id in the outcome is its rank. It must not know what ids belong to.

use std::sync::{Mutex, PoisonError};

use graphmill_disk::{PageBuffer, Reservation};

use super::id_set::IdSet;
use super::lanes::Lanes;
use super::runs::{LEAST_MERGE, RunFile};
use super::scratch_array::{ArrayWriter, IO_BYTES, PAGE, ScratchArray};
use super::workspace::Workspace;
use crate::edge_sort::workers::share_out;
use crate::progress::{Observer, Stage};
use crate::{Error, Result};

/// Ids between two reports of progress.
const REPORT: u64 = 1 << 16;
/// Memory for which one more thread pays.
const LEAST_LANE: usize = 2 * IO_BYTES;

/// Collects ids from all sides.
#[derive(Debug)]
pub(crate) struct IdCollector {
    workspace: Workspace,
    runs: RunFile,
    lanes: Lanes<Lane>,
    set_memory: usize,
    reserved: Reservation,
}

#[derive(Debug)]
struct Lane {
    set: IdSet,
    buffer: PageBuffer,
}

/// Distinct ids, ascending, in a scratch file.
#[derive(Debug)]
pub(crate) struct DistinctIds {
    pub(super) keys: ScratchArray<u64>,
}

impl DistinctIds {
    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.keys.count()
    }
}

impl IdCollector {
    /// The least memory that a collector can do with.
    pub(crate) const LEAST_MEMORY: u64 = 2 * LEAST_LANE as u64;

    /// Takes `memory` from the budget, or the least it can do with.
    pub(crate) fn new(workspace: &Workspace, memory: u64) -> Result<Self> {
        const { assert!(Self::LEAST_MEMORY >= LEAST_MERGE + (IO_BYTES + PAGE) as u64) };
        const { assert!(LEAST_LANE >= IO_BYTES + PAGE + IdSet::LEAST_MEMORY * 3 / 2) };
        let threads = graphmill_disk::pool()?.current_num_threads();
        let memory = memory.max(Self::LEAST_MEMORY);
        let reserved = workspace.budget().reserve(memory, "collecting the ids of nodes")?;
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let lanes = (memory / LEAST_LANE).clamp(1, threads);
        let set_memory = memory / lanes - IO_BYTES - PAGE;
        let (workspace, runs) = (workspace.clone(), RunFile::new(workspace, "ids")?);
        Ok(IdCollector { workspace, runs, lanes: Lanes::new(lanes), set_memory, reserved })
    }

    /// Takes ids below 2^63 - 1, as often as they occur.
    pub(crate) fn push(&self, ids: &[u64]) -> Result<()> {
        let mut lane = self
            .lanes
            .take(|| Lane { set: IdSet::new(self.set_memory), buffer: PageBuffer::new(IO_BYTES) });
        let Lane { set, buffer } = &mut *lane;
        let mut left = ids;
        loop {
            left = &left[set.insert_all(left)..];
            if left.is_empty() {
                break;
            }
            self.runs.spill(set.sort(), buffer)?;
            set.clear();
        }
        if let Some(at) = ids.iter().position(|&id| id >= i64::MAX as u64) {
            let (found, expected) = (ids[at] as i64, "an id from 0 to 2^63 - 2");
            return Err(Error::source(format!("id {at}"), found, expected, "correct the id"));
        }
        Ok(())
    }

    /// Sorts what has come.
    pub(crate) fn finish(mut self, observer: Option<Observer<'_>>) -> Result<DistinctIds> {
        let lanes = std::mem::replace(&mut self.lanes, Lanes::new(1)).into_idle();
        let lanes: Vec<_> = lanes.into_iter().map(Mutex::new).collect();
        share_out(
            lanes.len(),
            lanes.len(),
            || (),
            |(), index| {
                let mut lane = lanes[index].lock().unwrap_or_else(PoisonError::into_inner);
                let Lane { set, buffer } = &mut *lane;
                self.runs.spill(set.sort(), buffer)
            },
        )?;
        drop(lanes);
        let total = self.runs.count();
        let mut stage = Stage::new(observer, "sorting ids", total);
        let file = self.workspace.scratch("keys")?;
        let mut buffer = PageBuffer::new(IO_BYTES);
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        let mut reported = 0;
        let memory = self.reserved.bytes() - (IO_BYTES + PAGE) as u64;
        let mut emitted = 0_u64;
        self.runs.merge(memory, |id: u64| {
            writer.push(id)?;
            emitted += 1;
            if emitted.is_multiple_of(REPORT) {
                reported += REPORT;
                stage.advance(REPORT)?;
            }
            Ok(())
        })?;
        let count = writer.finish()?;
        stage.advance(total - reported)?;
        Ok(DistinctIds { keys: ScratchArray::new(file, count) })
    }
}
