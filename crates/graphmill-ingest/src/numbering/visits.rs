//! Numbers by visits: the node that sampling is expected to meet most often is 0.
//! A node that stands in many lists is met often only if the lists' owners are met themselves, and is
//! one of many in a long list. So every node starts with the same expectation and passes it on, hop by
//! hop, as a sampler would: to all neighbours of a short list, to some of a long one. It must not know
//! what ids were before they were ranks.

use std::sync::atomic::{AtomicU32, AtomicU64};

use graphmill_disk::{OutputFile, PageBuffer, Reservation};

use super::batches::Batches;
use super::edge_log::EdgeLog;
use super::hot_order;
use super::number_table::NumberTable;
use super::occurrences::{End, Heat};
use super::scratch_array::{ArrayWriter, IO_BYTES, PAGE, ScratchArray, Stored};
use super::tally::{Counter, Raised, Tally};
use super::workspace::Workspace;
use crate::Result;
use crate::edge_sort::{ChunkIds, EdgeChunk};
use crate::progress::Observer;

/// How far from its seeds a batch reaches. Of a generated citation graph, the first tenth of all nodes
/// served 53% of the rows of batches by occurrences, 54% with one hop, 65% with two, 69% with three and
/// 68% with four.
const HOPS: usize = 3;
/// Neighbours that are picked from a long list; between 5 and 15 it hardly matters.
const PICKED: f64 = 10.0;
/// Binary digits of an expectation behind the point.
const DIGITS: u32 = 20;
/// Bits by which what all nodes have grows at most in all hops together.
const GROWTH: u32 = 11;
/// Edges whose expectations are looked up together in a file, at most.
const PIECE: usize = 1 << 14;

/// Numbers all ids below `limit`, which no id of the log reaches; of those that are met equally often,
/// but for a few thousandths, the smaller id comes first.
pub(super) fn number(
    workspace: &Workspace,
    log: &EdgeLog,
    limit: u64,
    heat: Heat,
    observer: Option<Observer<'_>>,
) -> Result<NumberTable> {
    let visits = Visits { workspace, log, heat, limit, observer };
    let listed = log.rows().saturating_mul(if heat.end == End::Both { 2 } else { 1 });
    let expected = if listed < 1 << 32 {
        visits.expected(&visits.lengths::<AtomicU32>()?)?
    } else {
        visits.expected(&visits.lengths::<AtomicU64>()?)?
    };
    hot_order::by_counts(workspace, &expected)
}

/// What every node starts with. Expectations are added up as whole numbers, so that no order of threads
/// changes a sum; and no sum exceeds what all nodes have together, which is less than 2^63.
pub(super) fn unit(limit: u64) -> f64 {
    let bits = u64::BITS - limit.leading_zeros();
    (1_u64 << (63 - GROWTH).saturating_sub(bits).min(DIGITS)) as f64
}

/// What a node passes on to each neighbour in a list of some length.
pub(super) fn share(own: f64, length: u64) -> f32 {
    (own * (PICKED / length.max(1) as f64).min(1.0)) as f32
}

/// Rounds to a small number that rises with the logarithm: its whole part, and 8 bits of what follows.
pub(super) fn rounded(sum: u64) -> u32 {
    let bits = u64::BITS - sum.leading_zeros();
    let leading = if bits > 9 { sum >> (bits - 9) } else { sum << (9 - bits) };
    bits << 8 | (leading & 0xff) as u32
}

struct Visits<'a> {
    workspace: &'a Workspace,
    log: &'a EdgeLog,
    heat: Heat,
    limit: u64,
    observer: Option<Observer<'a>>,
}

impl Visits<'_> {
    /// The lengths of all lists: how often nodes occur where those who own lists stand.
    fn lengths<C: Counter>(&self) -> Result<ScratchArray<C::Value>> {
        let end = match self.heat.end {
            End::Source => End::Destination,
            End::Destination => End::Source,
            End::Both => End::Both,
        };
        let owners = Heat { end, ..self.heat };
        let names = ("the lengths of lists", "measuring lists");
        let budget = self.workspace.budget();
        let tally = Tally::new::<C>(budget, self.log, self.limit, names, self.observer)?;
        let count = |(): &mut (), raised: &Raised<'_, C>, chunk: EdgeChunk<'_>| {
            owners.count(raised, &chunk);
            Ok(())
        };
        tally.into_file(self.workspace, "lengths", || (), count)
    }

    /// How often every node is met in all hops together, rounded. Not in the last hop alone: where
    /// lists lead one way only, as citations do, it may meet nobody.
    fn expected<T: Stored + Into<u64>>(
        &self,
        lengths: &ScratchArray<T>,
    ) -> Result<ScratchArray<u32>> {
        let mut hops: Vec<ScratchArray<u64>> = Vec::with_capacity(HOPS);
        for _ in 0..HOPS {
            let shares = self.shares(lengths, hops.last())?;
            let shares = NumberTable::narrow(shares, self.workspace.budget())?;
            hops.push(self.pass_on(&shares)?);
        }
        let (_buffers, file) = self.buffers(HOPS, "expected")?;
        let mut readers: Vec<_> = hops.iter().map(ScratchArray::reader).collect();
        let mut buffer = PageBuffer::new(IO_BYTES);
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        for _ in 0..self.limit {
            let mut sum = 0;
            for reader in &mut readers {
                sum += reader.next()?.unwrap_or(0);
            }
            writer.push(rounded(sum))?;
        }
        let count = writer.finish()?;
        Ok(ScratchArray::new(file, count))
    }

    /// What each node passes on to each of its neighbours, as the bits of a float.
    fn shares<T: Stored + Into<u64>>(
        &self,
        lengths: &ScratchArray<T>,
        met: Option<&ScratchArray<u64>>,
    ) -> Result<ScratchArray<u32>> {
        let (_buffers, file) = self.buffers(2, "shares")?;
        let (mut lengths, mut met) = (lengths.reader(), met.map(ScratchArray::reader));
        let mut buffer = PageBuffer::new(IO_BYTES);
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        let unit = unit(self.limit);
        while let Some(length) = lengths.next()? {
            let own = match &mut met {
                Some(met) => met.next()?.unwrap_or(0) as f64,
                None => unit,
            };
            writer.push(share(own, length.into()).to_bits())?;
        }
        let count = writer.finish()?;
        Ok(ScratchArray::new(file, count))
    }

    /// A file to write to, and memory for its buffer and those of some readers.
    fn buffers(&self, readers: usize, kind: &str) -> Result<(Reservation, Box<dyn OutputFile>)> {
        let bytes = ((readers + 1) * (IO_BYTES + PAGE)) as u64;
        let reserved = self.workspace.budget().reserve(bytes, "what nodes pass on")?;
        Ok((reserved, self.workspace.scratch(kind)?))
    }

    /// Sums up for every node what the owners of lists pass on to it.
    fn pass_on(&self, shares: &NumberTable) -> Result<ScratchArray<u64>> {
        let budget = self.workspace.budget();
        let batches = shares.needs_batches().then(|| Batches::new(budget)).transpose()?;
        let piece = batches.as_ref().map_or(0, |batches| batches.questions().min(PIECE));
        let bytes = 2 * size_of::<u64>() * piece * self.log.workers();
        let _pieces = budget.reserve(bytes as u64, "looking up what nodes pass on")?;
        let names = ("what nodes are passed on", "following edges");
        let tally = Tally::new::<AtomicU64>(budget, self.log, self.limit, names, self.observer)?;
        let hop = Hop { heat: self.heat, shares, batches: batches.as_ref(), piece };
        let start = || (Vec::with_capacity(piece), Vec::with_capacity(piece));
        tally.into_file(self.workspace, "visits", start, |asked, sums, chunk| {
            hop.follow(asked, sums, &chunk)
        })
    }
}

/// Owners of lists, and neighbours in them.
type Asked = (Vec<u64>, Vec<u64>);
type Sums<'a> = Raised<'a, AtomicU64>;

/// One step from the owners of lists to their neighbours.
struct Hop<'a> {
    heat: Heat,
    /// What each node passes on.
    shares: &'a NumberTable,
    batches: Option<&'a Batches>,
    /// Edges that are looked up together.
    piece: usize,
}

impl Hop<'_> {
    fn follow(&self, asked: &mut Asked, sums: &Sums<'_>, chunk: &EdgeChunk<'_>) -> Result<()> {
        match chunk.ids {
            ChunkIds::Narrow(sources, to) => self.follow_ids(asked, sums, sources, to),
            ChunkIds::Wide(sources, to) => self.follow_ids(asked, sums, sources, to),
        }
    }

    fn follow_ids<T: Copy + Into<u64>>(
        &self,
        asked: &mut Asked,
        sums: &Sums<'_>,
        sources: &[T],
        destinations: &[T],
    ) -> Result<()> {
        if self.heat.end != End::Destination {
            self.pass_to(asked, sums, destinations, sources)?;
        }
        if self.heat.end != End::Source {
            self.pass_to(asked, sums, sources, destinations)?;
        }
        Ok(())
    }

    /// Whoever comes back to a node meets nobody new, so self loops pass nothing on.
    fn pass_to<T: Copy + Into<u64>>(
        &self,
        asked: &mut Asked,
        sums: &Sums<'_>,
        owners: &[T],
        neighbours: &[T],
    ) -> Result<()> {
        let edges = owners.iter().zip(neighbours);
        let edges = edges.map(|(&owner, &neighbour)| (owner.into(), neighbour.into()));
        let edges = edges.filter(|(owner, neighbour)| owner != neighbour);
        if let Some(shares) = self.shares.as_narrow() {
            edges.for_each(|(owner, neighbour)| pass(sums, neighbour, shares[owner as usize]));
            return Ok(());
        }
        for (owner, neighbour) in edges.filter(|&(_, neighbour)| sums.has(neighbour)) {
            asked.0.push(owner);
            asked.1.push(neighbour);
            if asked.0.len() == self.piece {
                self.look_up(asked, sums)?;
            }
        }
        self.look_up(asked, sums)
    }

    fn look_up(&self, (owners, neighbours): &mut Asked, sums: &Sums<'_>) -> Result<()> {
        self.shares.look_up(owners, self.batches)?;
        for (share, neighbour) in owners.drain(..).zip(neighbours.drain(..)) {
            pass(sums, neighbour, share as u32);
        }
        Ok(())
    }
}

/// Passes on a share, given as the bits of a float.
#[inline(always)]
fn pass(sums: &Sums<'_>, neighbour: u64, share: u32) {
    sums.raise(neighbour, f32::from_bits(share) as u64);
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

    #[test]
    fn no_sum_can_exceed_its_type() {
        // All that all nodes have, times what three hops make of it, in one place.
        for limit in [1, 2, 1000, u64::from(u32::MAX), 1 << 32, 1 << 33, 1 << 40, 1 << 51] {
            let most = limit as f64 * unit(limit) * (PICKED + PICKED.powi(2) + PICKED.powi(3));
            assert!(most < 2.0_f64.powi(63), "{limit}");
            assert!(unit(limit) >= 1.0);
        }
        assert_eq!(unit(1 << 31), 2.0_f64.powi(DIGITS as i32));
    }
}
