//! Sorted stretches of a scratch file, merged into one sequence without repetitions.
//! Collectors write a run whenever their memory is full; merging reads as many runs at once as its
//! memory has buffers for, in several rounds if there are more. It must not know what is sorted.

use std::sync::{Mutex, PoisonError};

use graphmill_disk::{OutputFile, PageBuffer, Reservation};

use super::merge_queue::MergeQueue;
use super::scratch_array::{ArrayReader, ArrayWriter, PAGE, Stored};
use super::workspace::Workspace;
use crate::Result;

/// The smallest buffer of a run that is read.
const LEAST_BUFFER: usize = 16 << 10;
const LARGEST_BUFFER: usize = 1 << 20;
/// The least memory that merging can do with: three buffers.
pub(super) const LEAST_MERGE: u64 = 3 * (LEAST_BUFFER + PAGE) as u64;

/// Where a run lies: its first byte, and how many values it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) offset: u64,
    pub(super) count: u64,
}

/// Runs of one scratch file.
#[derive(Debug)]
pub(super) struct RunFile {
    file: Box<dyn OutputFile>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    end: u64,
    runs: Vec<Run>,
    reserved: Reservation,
}

impl RunFile {
    pub(super) fn new(workspace: &Workspace, kind: &'static str) -> Result<Self> {
        let reserved = workspace.budget().reserve(0, "the directory of sorted runs")?;
        let state = State { end: 0, runs: Vec::new(), reserved };
        Ok(RunFile { file: workspace.scratch(kind)?, state: Mutex::new(state) })
    }

    pub(super) fn file(&self) -> &dyn OutputFile {
        &*self.file
    }

    /// Finds a place for so many bytes.
    pub(super) fn allocate(&self, bytes: u64) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = state.end;
        state.end += bytes.next_multiple_of(PAGE as u64);
        offset
    }

    /// Adds a run that has been written.
    pub(super) fn add(&self, run: Run) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Twice, because the vector doubles.
        state.reserved.grow(2 * size_of::<Run>() as u64)?;
        state.runs.push(run);
        Ok(())
    }

    /// Writes values, sorted and distinct, as a run.
    pub(super) fn spill<T: Stored>(&self, sorted: &[T], buffer: &mut PageBuffer) -> Result<()> {
        let offset = self.allocate(size_of_val(sorted) as u64);
        let mut writer = ArrayWriter::new(self.file(), offset, buffer);
        writer.extend(sorted)?;
        let count = writer.finish()?;
        self.add(Run { offset, count })
    }

    /// Takes out all runs.
    pub(super) fn take(&self) -> Vec<Run> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.runs)
    }

    /// Values in all runs.
    pub(super) fn count(&self) -> u64 {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.runs.iter().map(|run| run.count).sum()
    }

    /// Hands all distinct values to `emit`, ascending.
    pub(super) fn merge<T: Stored + Ord>(
        &self,
        memory: u64,
        mut emit: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let sizing = MergeSizing::new(memory, 0);
        let mut runs = self.take();
        while runs.len() > sizing.most {
            let mut merged = Vec::new();
            for group in runs.chunks(sizing.most) {
                let count = group.iter().map(|run| run.count).sum::<u64>();
                let offset = self.allocate(count * size_of::<T>() as u64);
                let bytes = sizing.buffer(group.len());
                let mut buffer = PageBuffer::new(bytes);
                let mut writer = ArrayWriter::new(self.file(), offset, &mut buffer);
                self.merge_group(group, bytes, |value: T| writer.push(value))?;
                merged.push(Run { offset, count: writer.finish()? });
            }
            runs = merged;
        }
        self.merge_group(&runs, sizing.buffer(runs.len()), &mut emit)
    }

    fn merge_group<T: Stored + Ord>(
        &self,
        group: &[Run],
        bytes: usize,
        mut emit: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let mut readers = Vec::with_capacity(group.len());
        let mut heads = Vec::with_capacity(group.len());
        for run in group {
            let mut reader = ArrayReader::<T>::new(self.file(), run.offset, run.count, bytes);
            if let Some(head) = reader.next()? {
                readers.push(reader);
                heads.push(head);
            }
        }
        let mut queue = MergeQueue::new(heads.len(), |one, other| heads[one] < heads[other]);
        let mut last = None;
        while let Some(source) = queue.first() {
            let value = heads[source];
            if last != Some(value) {
                emit(value)?;
                last = Some(value);
            }
            match readers[source].next()? {
                Some(head) => {
                    heads[source] = head;
                    queue.advanced(|one, other| heads[one] < heads[other]);
                }
                None => queue.ended(|one, other| heads[one] < heads[other]),
            }
        }
        Ok(())
    }
}

/// How the memory of a merge is divided into buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergeSizing {
    memory: usize,
    /// Bytes of each run that are not in its buffer.
    beside: usize,
    /// Runs that can be merged at once.
    pub(super) most: usize,
}

impl MergeSizing {
    pub(super) fn new(memory: u64, beside: usize) -> Self {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX / 2);
        let most = (memory / (LEAST_BUFFER + PAGE + beside)).saturating_sub(1).max(2);
        MergeSizing { memory, beside, most }
    }

    /// Bytes of each buffer when so many runs are read and one is written.
    pub(super) fn buffer(&self, runs: usize) -> usize {
        let share = self.memory / (runs + 1);
        let bytes = share.saturating_sub(PAGE + self.beside);
        bytes.clamp(LEAST_BUFFER, LARGEST_BUFFER) / PAGE * PAGE
    }
}
