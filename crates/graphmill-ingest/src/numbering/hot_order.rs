//! Numbers by heat: the node that occurs most often is 0, and of equals the smaller id comes first.
//! Every edge of the log is counted; a histogram of the counts then tells every id its number in one
//! pass from the first id to the last. It must not know what ids were before they were ranks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64};

use graphmill_disk::{PageBuffer, Reservation};

use super::edge_log::EdgeLog;
use super::number_table::{NumberTable, is_narrow};
use super::occurrences::{End, Heat};
use super::scratch_array::{ArrayWriter, IO_BYTES, PAGE, ScratchArray, Stored, values_mut};
use super::tally::{Counter, Tally};
use super::workspace::Workspace;
use crate::progress::{Observer, Stage};
use crate::{Error, Result};

/// Counts below this are found without a search.
const FREQUENT: usize = 1 << 14;
/// Bytes that a count of the others takes in the map.
const ENTRY: u64 = 64;
/// The smallest window of numbers.
const LEAST_WINDOW: u64 = 1 << 13;
/// Ids read at a time.
const PIECE: u64 = 1 << 12;
/// Ids for each edge beyond which they are called scattered, once there are many.
const SCATTERED: u64 = 16;
const MANY: u64 = 1 << 24;

/// Refuses ids so far apart that a table of them would be out of all proportion to the edges.
pub(super) fn check_density(log: &EdgeLog) -> Result<()> {
    let limit = log.id_limit();
    if limit > MANY && limit / SCATTERED > log.rows() {
        let found = format!("an id of {} among {} edges", limit - 1, log.rows());
        let remedy = "map the ids (`--map-ids`)";
        return Err(Error::source("ids of nodes", found, "ids that lie close together", remedy));
    }
    Ok(())
}

/// Numbers all ids below `limit`, which no id of the log reaches, by how often they occur.
pub(super) fn number(
    workspace: &Workspace,
    log: &EdgeLog,
    limit: u64,
    heat: Heat,
    observer: Option<Observer<'_>>,
) -> Result<NumberTable> {
    let counted = log.rows().saturating_mul(if heat.end == End::Both { 2 } else { 1 });
    let order = HotOrder { workspace, log, heat, observer, limit };
    if counted < 1 << 32 { order.run::<AtomicU32>() } else { order.run::<AtomicU64>() }
}

/// Numbers ids by their counts, the largest first.
pub(super) fn by_counts<T: Stored + Into<u64>>(
    workspace: &Workspace,
    counts: &ScratchArray<T>,
) -> Result<NumberTable> {
    let budget = workspace.budget();
    let _buffers =
        budget.reserve(2 * (IO_BYTES + PAGE) as u64, "numbering nodes by their counts")?;
    let mut starts = Starts::new(workspace)?;
    each(counts, |count| starts.add(count.into()))?;
    starts.accumulate();
    let file = workspace.scratch("numbers")?;
    let mut buffer = PageBuffer::new(IO_BYTES);
    if is_narrow(counts.count()) {
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        each(counts, |count| writer.push(starts.next(count.into()) as u32))?;
        let count = writer.finish()?;
        NumberTable::narrow(ScratchArray::new(file, count), budget)
    } else {
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        each(counts, |count| writer.push(starts.next(count.into())))?;
        let count = writer.finish()?;
        NumberTable::wide(ScratchArray::new(file, count), budget)
    }
}

struct HotOrder<'a> {
    workspace: &'a Workspace,
    log: &'a EdgeLog,
    heat: Heat,
    observer: Option<Observer<'a>>,
    limit: u64,
}

impl HotOrder<'_> {
    fn run<C: Counter>(&self) -> Result<NumberTable> {
        let HotOrder { workspace, log, heat, observer, limit } = *self;
        let names = ("counting how often nodes occur", "counting occurrences");
        let tally = Tally::new::<C>(workspace.budget(), log, limit, names, observer)?;
        if !tally.is_whole() || size_of::<C>() > 4 || !is_narrow(limit) {
            let counts = tally.into_file::<C, ()>(
                workspace,
                "counts",
                || (),
                |(), raised, chunk| {
                    heat.count(raised, &chunk);
                    Ok(())
                },
            )?;
            return by_counts(workspace, &counts);
        }
        let mut starts = Starts::new(workspace)?;
        let (counts, reserved) = tally.whole::<C>(|raised, chunk| {
            heat.count(raised, &chunk);
            Ok(())
        })?;
        for count in &counts {
            starts.add(count.value().into())?;
        }
        starts.accumulate();
        // Counts and numbers are equally wide, so the numbers take the place of the counts.
        let number = |count: C| starts.next(count.value().into()) as u32;
        let numbers: Vec<u32> = counts.into_iter().map(number).collect();
        Ok(NumberTable::Narrow { values: numbers, _reserved: reserved })
    }
}

/// Every count in the order of the ids.
fn each<T: Stored>(counts: &ScratchArray<T>, mut take: impl FnMut(T) -> Result<()>) -> Result<()> {
    let mut reader = counts.reader();
    while let Some(count) = reader.next()? {
        take(count)?;
    }
    Ok(())
}

/// How many nodes occur how often; then, the next number of a node that occurs so often.
struct Starts {
    frequent: Vec<u64>,
    /// The hubs: there are few, since every one of them stands for many edges.
    others: BTreeMap<u64, u64>,
    reserved: Reservation,
}

impl Starts {
    fn new(workspace: &Workspace) -> Result<Self> {
        let bytes = (FREQUENT * size_of::<u64>()) as u64;
        let reserved = workspace.budget().reserve(bytes, "the histogram of occurrences")?;
        Ok(Starts { frequent: vec![0; FREQUENT], others: BTreeMap::new(), reserved })
    }

    #[inline]
    fn add(&mut self, count: u64) -> Result<()> {
        match self.frequent.get_mut(count as usize) {
            Some(nodes) => *nodes += 1,
            None => self.add_hub(count)?,
        }
        Ok(())
    }

    fn add_hub(&mut self, count: u64) -> Result<()> {
        if !self.others.contains_key(&count) {
            self.reserved.grow(ENTRY)?;
        }
        *self.others.entry(count).or_insert(0) += 1;
        Ok(())
    }

    /// Turns numbers of nodes into the first number of each count.
    fn accumulate(&mut self) {
        let mut start = 0;
        for nodes in self.others.values_mut().rev().chain(self.frequent.iter_mut().rev()) {
            start += std::mem::replace(nodes, start);
        }
    }

    #[inline]
    fn next(&mut self, count: u64) -> u64 {
        let next = match self.frequent.get_mut(count as usize) {
            Some(next) => next,
            None => self.others.entry(count).or_insert(0),
        };
        let number = *next;
        *next += 1;
        number
    }
}

/// Which id has which number: the ids, or the keys that they are ranks of, in the order of numbers.
pub(super) fn invert(
    workspace: &Workspace,
    numbers: &NumberTable,
    keys: Option<&ScratchArray<u64>>,
    observer: Option<Observer<'_>>,
) -> Result<ScratchArray<u64>> {
    let count = numbers.count();
    let budget = workspace.budget();
    let pieces = PAGE as u64 + 2 * PIECE * 8;
    let affordable = budget.free().saturating_sub(pieces) / 2;
    let window = (affordable / 8).max(LEAST_WINDOW).min(count);
    let _reserved = budget.reserve(pieces + window * 8, "putting nodes in their new order")?;
    let file = workspace.scratch("originals")?;
    let mut ordered = PageBuffer::new(window as usize * 8);
    let (mut piece, mut old) = (vec![0; PIECE as usize], vec![0; PIECE as usize]);
    let total = count.saturating_mul(count.div_ceil(window.max(1)));
    let mut stage = Stage::new(observer, "ordering nodes", total);
    for start in (0..count).step_by(window.max(1) as usize) {
        let length = window.min(count - start) as usize;
        let ordered = &mut ordered[..length * 8];
        let slots = values_mut::<u64>(ordered);
        for first in (0..count).step_by(PIECE as usize) {
            let now = PIECE.min(count - first) as usize;
            let (piece, old) = (&mut piece[..now], &mut old[..now]);
            numbers.read(first, piece)?;
            match keys {
                Some(keys) => keys.read(first, old)?,
                None => old.iter_mut().zip(first..).for_each(|(old, id)| *old = id),
            }
            for (&number, &old) in piece.iter().zip(&*old) {
                let slot = usize::try_from(number.wrapping_sub(start)).unwrap_or(usize::MAX);
                if let Some(slot) = slots.get_mut(slot) {
                    *slot = old;
                }
            }
            stage.advance(now as u64)?;
        }
        file.write_all_at(start * 8, ordered)?;
    }
    Ok(ScratchArray::new(file, count))
}
