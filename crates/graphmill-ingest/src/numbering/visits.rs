//! How often sampling will meet each node, as far as edges can tell.
//! A node that stands in many lists is met often only if the lists' owners are met themselves, and is
//! one of many in a long list. So every node starts with the same expectation, and passes it on a few
//! times, as a sampler would: to all neighbours of a short list, to a few of a long one. What follows
//! from the expectations is decided elsewhere.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use graphmill_disk::{PageBuffer, prefer_huge_pages};

use super::batches::Batches;
use super::edge_log::EdgeLog;
use super::number_table::NumberTable;
use super::occurrences::{Counter, End, Heat, count};
use super::scratch_array::{ArrayWriter, IO_BYTES, ScratchArray, Stored};
use super::workspace::Workspace;
use crate::Result;
use crate::edge_sort::{ChunkIds, EdgeChunk};
use crate::progress::{Observer, Stage};

/// How far from its seeds a batch reaches. With three hops, hot rows of a generated citation graph
/// served 68% of all rows, with two 65%, with one, which is a count of occurrences, 53%.
const HOPS: u64 = 3;
/// Neighbours that are picked from a long list; between 5 and 15 it hardly matters.
const PICKED: f64 = 10.0;
/// Expectations are added up as whole numbers of this, so that no order of threads changes a sum.
const UNIT: f64 = (1 << 20) as f64;
/// Edges whose expectations are looked up together in a file.
const PIECE: usize = 1 << 12;
/// The smallest window of sums.
const LEAST_WINDOW: u64 = 1 << 13;

/// A number for every id below `limit`: the larger, the more often it is met. Numbers are small, and
/// ids that differ by less than a few thousandths may have the same.
pub(super) fn expected<C: Counter>(
    workspace: &Workspace,
    log: &EdgeLog,
    limit: u64,
    heat: Heat,
    observer: Option<Observer<'_>>,
) -> Result<ScratchArray<u32>> {
    Visits { workspace, log, heat, limit, observer }.run::<C>()
}

/// Rounds to a number that rises with the logarithm: its whole part, and 8 bits of what follows.
pub(super) fn rounded(sum: u64) -> u32 {
    let bits = sum.checked_ilog2().map_or(0, |bits| bits + 1);
    let below = if bits > 9 { sum >> (bits - 9) } else { sum << (9 - bits) };
    bits << 8 | (below & 0xff) as u32
}

struct Visits<'a> {
    workspace: &'a Workspace,
    log: &'a EdgeLog,
    heat: Heat,
    limit: u64,
    observer: Option<Observer<'a>>,
}

impl Visits<'_> {
    fn run<C: Counter>(&self) -> Result<ScratchArray<u32>> {
        let lengths = self.lengths::<C>()?;
        let mut hops: Vec<ScratchArray<u64>> = Vec::new();
        for _ in 0..HOPS {
            let shares = self.shares(&lengths, hops.last())?;
            let shares = NumberTable::narrow(shares, self.workspace.budget())?;
            hops.push(self.pass_on(&shares)?);
        }
        // What is met in any hop: where lists lead away from their owners, the last ones may meet nobody.
        let mut hops: Vec<_> = hops.iter().map(ScratchArray::reader).collect();
        self.write(|| {
            let mut sum: Option<u64> = None;
            for hop in &mut hops {
                if let Some(met) = hop.next()? {
                    sum = Some(sum.unwrap_or(0).saturating_add(met));
                }
            }
            Ok(sum.map(rounded))
        })
    }

    /// The lengths of all lists.
    fn lengths<C: Counter>(&self) -> Result<ScratchArray<C::Value>> {
        let end = match self.heat.end {
            End::Source => End::Destination,
            End::Destination => End::Source,
            End::Both => End::Both,
        };
        let owners = Heat { end, ..self.heat };
        let budget = self.workspace.budget();
        let window = (budget.free() / 2 / size_of::<C>() as u64).max(LEAST_WINDOW).min(self.limit);
        let bytes = window * size_of::<C>() as u64 + IO_BYTES as u64;
        let _reserved = budget.reserve(bytes, "the lengths of lists")?;
        let total = self.log.rows().saturating_mul(self.limit.div_ceil(window.max(1)));
        let stage = Mutex::new(Stage::new(self.observer, "measuring lists", total));
        let file = self.workspace.scratch("lengths")?;
        let mut buffer = PageBuffer::new(IO_BYTES);
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        for window in windows(self.limit, window) {
            let counts: Vec<C> = count(self.log, owners, window, 1, &stage)?;
            counts.iter().try_for_each(|count| writer.push(count.value()))?;
        }
        let count = writer.finish()?;
        Ok(ScratchArray::new(file, count))
    }

    /// What each node passes on to each of its neighbours, as the bits of a float.
    fn shares<T: Stored + Into<u64>>(
        &self,
        lengths: &ScratchArray<T>,
        sums: Option<&ScratchArray<u64>>,
    ) -> Result<ScratchArray<u32>> {
        let mut lengths = lengths.reader();
        let mut sums = sums.map(ScratchArray::reader);
        self.write(|| {
            let Some(length) = lengths.next()? else { return Ok(None) };
            let own = match &mut sums {
                Some(sums) => sums.next()?.unwrap_or(0) as f64,
                None => UNIT,
            };
            let picked = (PICKED / (length.into() as f64).max(1.0)).min(1.0);
            Ok(Some(((own * picked) as f32).to_bits()))
        })
    }

    /// Sums for every node what the owners of lists pass on to it.
    fn pass_on(&self, shares: &NumberTable) -> Result<ScratchArray<u64>> {
        let budget = self.workspace.budget();
        let batches = shares.needs_batches().then(|| Batches::new(budget)).transpose()?;
        let workers = self.log.workers();
        let granted = budget.free() / 2;
        let all = self.limit.saturating_mul(8);
        let lanes = if all.saturating_mul(workers as u64) <= granted { workers } else { 1 };
        let window = (granted / 8).max(LEAST_WINDOW).min(self.limit);
        let bytes = window * 8 * lanes as u64 + (PIECE * 8 * workers + IO_BYTES) as u64;
        let _reserved = budget.reserve(bytes, "what nodes pass on")?;
        let total = self.log.rows().saturating_mul(self.limit.div_ceil(window.max(1)));
        let stage = Mutex::new(Stage::new(self.observer, "following edges", total));
        let file = self.workspace.scratch("visits")?;
        let mut buffer = PageBuffer::new(IO_BYTES);
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        for window in windows(self.limit, window) {
            let sums = self.sums_of(window, shares, batches.as_ref(), lanes, &stage)?;
            sums.iter().try_for_each(|sum| writer.push(sum.load(Ordering::Relaxed)))?;
        }
        let count = writer.finish()?;
        Ok(ScratchArray::new(file, count))
    }

    fn sums_of(
        &self,
        window: Range<u64>,
        shares: &NumberTable,
        batches: Option<&Batches>,
        lanes: usize,
        stage: &Mutex<Stage<'_>>,
    ) -> Result<Vec<AtomicU64>> {
        let length = (window.end - window.start) as usize;
        let lane = || -> Vec<AtomicU64> {
            let mut sums = Vec::with_capacity(length);
            prefer_huge_pages(&mut sums);
            sums.extend(std::iter::repeat_with(AtomicU64::default).take(length));
            sums
        };
        let mut sums: Vec<Vec<AtomicU64>> = (0..lanes).map(|_| lane()).collect();
        let is_shared = lanes < self.log.workers();
        let next = AtomicUsize::new(0);
        let start = || {
            let lane = if is_shared { 0 } else { next.fetch_add(1, Ordering::Relaxed) };
            (lane, Vec::with_capacity(PIECE))
        };
        self.log.replay_with(stage, start, |(lane, looked_up), chunk| {
            let adding = Adding { sums: &sums[*lane], first: window.start, is_shared };
            self.follow(&chunk, &adding, shares, batches, looked_up)
        })?;
        let total = sums.swap_remove(0);
        for lane in &sums {
            for (sum, more) in total.iter().zip(lane) {
                sum.fetch_add(more.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        Ok(total)
    }

    /// Passes on what the owners of the lists of a chunk have.
    fn follow(
        &self,
        chunk: &EdgeChunk<'_>,
        adding: &Adding<'_>,
        shares: &NumberTable,
        batches: Option<&Batches>,
        piece: &mut Vec<u64>,
    ) -> Result<()> {
        match chunk.ids {
            ChunkIds::Narrow(sources, to) => {
                self.follow_ids(sources, to, adding, shares, batches, piece)
            }
            ChunkIds::Wide(sources, to) => {
                self.follow_ids(sources, to, adding, shares, batches, piece)
            }
        }
    }

    fn follow_ids<T: Copy + Into<u64>>(
        &self,
        sources: &[T],
        destinations: &[T],
        adding: &Adding<'_>,
        shares: &NumberTable,
        batches: Option<&Batches>,
        piece: &mut Vec<u64>,
    ) -> Result<()> {
        // Whoever comes back to a node meets nobody new, so self loops pass nothing on.
        let (owners, others) = match self.heat.end {
            End::Source => (destinations, sources),
            End::Destination | End::Both => (sources, destinations),
        };
        if let Some(shares) = shares.as_narrow() {
            for (&owner, &other) in owners.iter().zip(others) {
                let (owner, other): (u64, u64) = (owner.into(), other.into());
                if owner != other {
                    adding.add(other, shares[owner as usize]);
                }
            }
            return Ok(());
        }
        for (owners, others) in owners.chunks(PIECE).zip(others.chunks(PIECE)) {
            piece.clear();
            piece.extend(owners.iter().map(|&owner| owner.into()));
            shares.look_up(piece, batches)?;
            for ((&share, &owner), &other) in piece.iter().zip(owners).zip(others) {
                let (owner, other): (u64, u64) = (owner.into(), other.into());
                if owner != other {
                    adding.add(other, share as u32);
                }
            }
        }
        Ok(())
    }

    /// Writes values until there are no more.
    fn write(&self, mut next: impl FnMut() -> Result<Option<u32>>) -> Result<ScratchArray<u32>> {
        let file = self.workspace.scratch("shares")?;
        let mut buffer = PageBuffer::new(IO_BYTES);
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        while let Some(value) = next()? {
            writer.push(value)?;
        }
        let count = writer.finish()?;
        Ok(ScratchArray::new(file, count))
    }
}

/// Sums of a window of ids.
struct Adding<'a> {
    sums: &'a [AtomicU64],
    first: u64,
    /// Whether other threads add to them too.
    is_shared: bool,
}

impl Adding<'_> {
    /// Adds a share, given as the bits of a float, to the sum of an id if it is in the window.
    #[inline(always)]
    fn add(&self, id: u64, share: u32) {
        let place = usize::try_from(id.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        let Some(sum) = self.sums.get(place) else { return };
        let more = f32::from_bits(share) as u64;
        if self.is_shared {
            sum.fetch_add(more, Ordering::Relaxed);
        } else {
            sum.store(sum.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        }
    }
}

fn windows(limit: u64, window: u64) -> impl Iterator<Item = Range<u64>> {
    (0..limit).step_by(window.max(1) as usize).map(move |start| start..limit.min(start + window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_order_and_a_few_thousandths() {
        let mut before = (0, rounded(0));
        for step in 0..6000_u32 {
            let sum = 1.0073_f64.powf(step.into()) as u64;
            let now = (sum, rounded(sum));
            assert!(now.1 >= before.1 && now.1 < 1 << 14, "{before:?} {now:?}");
            assert!(now.1 > before.1 || (now.0 as f64) < before.0 as f64 * 1.008, "{now:?}");
            if now.1 > before.1 {
                before = now;
            }
        }
        assert_eq!(rounded(u64::MAX) >> 8, 64);
    }
}
