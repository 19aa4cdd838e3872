//! Sorted runs of names, merged into one sequence without repetitions.
//! Runs hold the length of each name and its bytes; as many are read at once as memory has buffers
//! for, in several rounds if there are more. It must not know ranks.

use graphmill_disk::PageBuffer;

use super::merge_queue::MergeQueue;
use super::runs::{MergeSizing, Run, RunFile};
use super::scratch_array::{ArrayReader, ArrayWriter};
use crate::Result;

/// Hands all distinct names to `emit`, ascending by their bytes; none is longer than `longest`.
pub(super) fn merge_names(
    runs: &RunFile,
    memory: u64,
    longest: usize,
    mut emit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    // Beside the names of the runs there is the last one that came.
    let sizing = MergeSizing::new(memory.saturating_sub(2 * longest as u64), longest);
    let mut left = runs.take();
    while left.len() > sizing.most {
        let mut merged = Vec::new();
        for group in left.chunks(sizing.most) {
            let bytes = sizing.buffer(group.len());
            let offset = runs.allocate(group.iter().map(|run| run.count).sum());
            let mut buffer = PageBuffer::new(bytes);
            let mut writer = ArrayWriter::<u8>::new(runs.file(), offset, &mut buffer);
            merge_group(runs, group, bytes, |name| {
                writer.extend(&(name.len() as u32).to_le_bytes())?;
                writer.extend(name)
            })?;
            merged.push(Run { offset, count: writer.finish()? });
        }
        left = merged;
    }
    merge_group(runs, &left, sizing.buffer(left.len()), &mut emit)
}

/// A run and the name that it is at.
struct Source<'a> {
    reader: ArrayReader<'a, u8>,
    name: Vec<u8>,
}

impl Source<'_> {
    /// Goes on to the next name; false at the end.
    fn advance(&mut self) -> Result<bool> {
        let mut length = [0; size_of::<u32>()];
        if !self.reader.take(&mut length)? {
            return Ok(false);
        }
        self.name.resize(u32::from_le_bytes(length) as usize, 0);
        self.reader.take(&mut self.name)
    }
}

fn merge_group(
    runs: &RunFile,
    group: &[Run],
    bytes: usize,
    mut emit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut sources = Vec::with_capacity(group.len());
    for run in group {
        let reader = ArrayReader::new(runs.file(), run.offset, run.count, bytes);
        let mut source = Source { reader, name: Vec::new() };
        if source.advance()? {
            sources.push(source);
        }
    }
    let less =
        |sources: &[Source<'_>], one: usize, other: usize| sources[one].name < sources[other].name;
    let mut queue = MergeQueue::new(sources.len(), |one, other| less(&sources, one, other));
    let mut last: Option<Vec<u8>> = None;
    while let Some(first) = queue.first() {
        let name = &sources[first].name;
        if last.as_ref() != Some(name) {
            emit(name)?;
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(name);
        }
        if sources[first].advance()? {
            queue.advanced(|one, other| less(&sources, one, other));
        } else {
            queue.ended(|one, other| less(&sources, one, other));
        }
    }
    Ok(())
}
