//! All distinct names of a source, ascending by their bytes.
//! Readers push names and get hashes, which stand for the names in the log of edges until every name
//! has its rank: its place in the outcome. Hashes come with their ranks, so that edges can be looked
//! up as scattered ids are. It must not know what names belong to.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use graphmill_disk::{OutputFile, PageBuffer, Reservation};

use super::lanes::Lanes;
use super::name_merge::merge_names;
use super::name_set::{Inserted, LEAST_SET, LONGEST_NAME, NameHash, NameSet};
use super::number_table::is_narrow;
use super::runs::{LEAST_MERGE, RunFile};
use super::scratch_array::{ArrayWriter, IO_BYTES, PAGE, ScratchArray, Stored};
use super::workspace::Workspace;
use crate::edge_sort::workers::share_out;
use crate::progress::{Observer, Stage};
use crate::source::TextCells;
use crate::{Error, Result};

/// Names between two reports of progress.
const REPORT: u64 = 1 << 14;
/// A buffer for a scratch file.
const BUFFER: u64 = (IO_BYTES + PAGE) as u64;

/// Two names have the same hash: all has to be read again with another seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HashCollision;

/// Collects names from all sides.
#[derive(Debug)]
pub(crate) struct NameCollector {
    workspace: Workspace,
    hash: NameHash,
    runs: RunFile,
    lanes: Lanes<NameSet>,
    set_memory: usize,
    longest: AtomicUsize,
    collided: AtomicBool,
    reserved: Reservation,
}

/// Distinct names, ascending, in scratch files, and which hash belongs to which of them.
#[derive(Debug)]
pub(crate) struct DistinctNames {
    pub(super) hash: NameHash,
    /// All names, one after the other.
    pub(super) text: ScratchArray<u8>,
    /// Where each of them ends.
    pub(super) ends: ScratchArray<u64>,
    /// The hashes, ascending.
    pub(super) hashes: ScratchArray<u64>,
    /// The rank of the name of each hash.
    pub(super) ranks: Ranks,
}

/// Ranks in the width that they need.
#[derive(Debug)]
pub(super) enum Ranks {
    Narrow(ScratchArray<u32>),
    Wide(ScratchArray<u64>),
}

impl DistinctNames {
    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.ends.count()
    }
}

impl NameCollector {
    /// The least memory that a collector can do with.
    pub(crate) const LEAST_MEMORY: u64 = 832 << 10;

    /// Takes `memory` from the budget, or the least it can do with.
    pub(crate) fn new(workspace: &Workspace, seed: u64, memory: u64) -> Result<Self> {
        Self::with_hash(workspace, NameHash::new(seed), memory)
    }

    pub(super) fn with_hash(workspace: &Workspace, hash: NameHash, memory: u64) -> Result<Self> {
        // Two runs can always be merged into one, beside pairs and what is written.
        const {
            let merging = Self::LEAST_MEMORY - Self::LEAST_MEMORY / 4 - 3 * BUFFER;
            assert!(merging >= LEAST_MERGE + 5 * LONGEST_NAME as u64);
        };
        let threads = graphmill_disk::pool()?.current_num_threads();
        let memory = memory.max(Self::LEAST_MEMORY);
        let reserved = workspace.budget().reserve(memory, "collecting the names of nodes")?;
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let lanes = (memory / LEAST_SET).clamp(1, threads);
        Ok(NameCollector {
            workspace: workspace.clone(),
            hash,
            runs: RunFile::new(workspace, "names")?,
            lanes: Lanes::new(lanes),
            set_memory: memory / lanes,
            longest: AtomicUsize::new(0),
            collided: AtomicBool::new(false),
            reserved,
        })
    }

    /// Takes names of at most 64 KiB, as often as they occur, and appends the hash of each.
    pub(crate) fn push(&self, names: &TextCells, hashes: &mut Vec<u64>) -> Result<()> {
        let mut set = self.lanes.take(|| NameSet::new(self.set_memory));
        let mut longest = 0;
        for (place, name) in names.iter().map(str::as_bytes).enumerate() {
            if name.len() > LONGEST_NAME {
                let found = format!("{} bytes", name.len());
                let expected = format!("at most {LONGEST_NAME}");
                let remedy = "shorten the name";
                return Err(Error::source(format!("name {place}"), found, expected, remedy));
            }
            longest = longest.max(name.len());
            let hash = self.hash.of(name);
            hashes.push(hash);
            loop {
                match set.insert(hash, name) {
                    Inserted::Held => break,
                    Inserted::Full => set.spill(&self.runs)?,
                    Inserted::Collided => {
                        self.collided.store(true, Ordering::Relaxed);
                        break;
                    }
                }
            }
        }
        self.longest.fetch_max(longest, Ordering::Relaxed);
        Ok(())
    }

    /// Sorts what has come.
    pub(crate) fn finish(
        mut self,
        observer: Option<Observer<'_>>,
    ) -> Result<std::result::Result<DistinctNames, HashCollision>> {
        if self.collided.load(Ordering::Relaxed) {
            return Ok(Err(HashCollision));
        }
        let lanes = std::mem::replace(&mut self.lanes, Lanes::new(1)).into_idle();
        let lanes: Vec<_> = lanes.into_iter().map(Mutex::new).collect();
        share_out(
            lanes.len(),
            lanes.len(),
            || (),
            |(), index| {
                lanes[index].lock().unwrap_or_else(PoisonError::into_inner).spill(&self.runs)
            },
        )?;
        drop(lanes);
        let pairs = RunFile::new(&self.workspace, "hashes")?;
        let (text, ends) = self.merge(&pairs, observer)?;
        let count = ends.count();
        let hashes = self.workspace.scratch("hashes")?;
        let file = self.workspace.scratch("ranks")?;
        let merged = if is_narrow(count) {
            self.sort_hashes(&pairs, &*hashes, &*file, |rank| rank as u32)?
        } else {
            self.sort_hashes(&pairs, &*hashes, &*file, |rank| rank)?
        };
        if merged < count {
            return Ok(Err(HashCollision));
        }
        let ranks = if is_narrow(count) {
            Ranks::Narrow(ScratchArray::new(file, count))
        } else {
            Ranks::Wide(ScratchArray::new(file, count))
        };
        let hashes = ScratchArray::new(hashes, count);
        Ok(Ok(DistinctNames { hash: self.hash, text, ends, hashes, ranks }))
    }

    /// Writes the names and where they end; pairs of hash and rank become sorted runs.
    fn merge(
        &self,
        pairs: &RunFile,
        observer: Option<Observer<'_>>,
    ) -> Result<(ScratchArray<u8>, ScratchArray<u64>)> {
        let total = self.runs.count();
        let mut stage = Stage::new(observer, "sorting names", total);
        let (text_file, ends_file) =
            (self.workspace.scratch("text")?, self.workspace.scratch("ends")?);
        let (mut text_buffer, mut ends_buffer, mut pair_buffer) =
            (PageBuffer::new(IO_BYTES), PageBuffer::new(IO_BYTES), PageBuffer::new(IO_BYTES));
        let mut text = ArrayWriter::<u8>::new(&*text_file, 0, &mut text_buffer);
        let mut ends = ArrayWriter::<u64>::new(&*ends_file, 0, &mut ends_buffer);
        let memory = self.reserved.bytes();
        // Every name has its length in front of it, so there are no more than this.
        let names = total / size_of::<u32>() as u64 + 1;
        let most = (memory / 4 / size_of::<[u64; 2]>() as u64).min(names) as usize;
        let mut loose: Vec<[u64; 2]> = Vec::with_capacity(most);
        let (mut end, mut rank, mut reported) = (0, 0, 0);
        let merge_memory = memory - memory / 4 - 3 * BUFFER;
        merge_names(&self.runs, merge_memory, self.longest.load(Ordering::Relaxed), |name| {
            text.extend(name)?;
            end += name.len() as u64;
            ends.push(end)?;
            if loose.len() == most {
                loose.sort_unstable();
                pairs.spill(&loose, &mut pair_buffer)?;
                loose.clear();
            }
            loose.push([self.hash.of(name), rank]);
            rank += 1;
            if rank % REPORT == 0 {
                let done = (end + rank * size_of::<u32>() as u64).min(total);
                stage.advance(done - reported)?;
                reported = done;
            }
            Ok(())
        })?;
        loose.sort_unstable();
        pairs.spill(&loose, &mut pair_buffer)?;
        let (bytes, count) = (text.finish()?, ends.finish()?);
        stage.advance(total - reported)?;
        Ok((ScratchArray::new(text_file, bytes), ScratchArray::new(ends_file, count)))
    }

    /// Writes hashes and ranks in the order of hashes; gives the number of distinct hashes.
    fn sort_hashes<T: Stored>(
        &self,
        pairs: &RunFile,
        hashes: &dyn OutputFile,
        ranks: &dyn OutputFile,
        narrow: impl Fn(u64) -> T,
    ) -> Result<u64> {
        let (mut hash_buffer, mut rank_buffer) =
            (PageBuffer::new(IO_BYTES), PageBuffer::new(IO_BYTES));
        let mut hashes = ArrayWriter::<u64>::new(hashes, 0, &mut hash_buffer);
        let mut ranks = ArrayWriter::<T>::new(ranks, 0, &mut rank_buffer);
        let mut last = None;
        let memory = self.reserved.bytes() - 2 * BUFFER;
        pairs.merge(memory, |[hash, rank]: [u64; 2]| {
            if last == Some(hash) {
                return Ok(());
            }
            last = Some(hash);
            hashes.push(hash)?;
            ranks.push(narrow(rank))
        })?;
        ranks.finish()?;
        hashes.finish()
    }
}
