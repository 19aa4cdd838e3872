//! How often nodes occur at the ends of edges.
//! The order by heat asks for one window of ids after the other; every thread counts for itself
//! where memory allows, and else all count in one place. It must not know what follows from counts.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use graphmill_disk::prefer_huge_pages;

use super::edge_log::EdgeLog;
use super::scratch_array::Stored;
use crate::Result;
use crate::edge_sort::{ChunkIds, EdgeChunk};
use crate::progress::Stage;

/// The ends of edges at which nodes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Where edges start: how often a node occurs in lists of in-neighbours.
    Source,
    /// Where edges end: how often a node occurs in lists of out-neighbours.
    Destination,
    /// Both: how often a node occurs in the lists of an undirected graph; a self loop counts twice.
    Both,
}

/// What makes a node hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heat {
    /// The ends that count.
    pub(crate) end: End,
    /// Whether edges from a node to itself count for nothing, because they will be left out.
    pub(crate) skip_self_loops: bool,
}

impl Heat {
    /// Counts every edge at this end.
    #[cfg(test)]
    pub(crate) fn at(end: End) -> Self {
        Heat { end, skip_self_loops: false }
    }
}

/// A count that several threads can raise.
pub(super) trait Counter: Default + Send + Sync {
    type Value: Stored + Default + Into<u64>;

    /// Adds one while others do so too.
    fn raise_shared(&self);
    /// Adds one while nobody else does.
    fn raise_alone(&self);
    fn value(&self) -> Self::Value;
    fn add(&self, other: &Self);
}

macro_rules! counter {
    ($atomic:ty, $value:ty) => {
        impl Counter for $atomic {
            type Value = $value;

            #[inline(always)]
            fn raise_shared(&self) {
                self.fetch_add(1, Ordering::Relaxed);
            }

            #[inline(always)]
            fn raise_alone(&self) {
                self.store(self.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }

            #[inline(always)]
            fn value(&self) -> $value {
                self.load(Ordering::Relaxed)
            }

            #[inline(always)]
            fn add(&self, other: &Self) {
                self.store(self.value() + other.value(), Ordering::Relaxed);
            }
        }
    };
}
counter!(AtomicU32, u32);
counter!(AtomicU64, u64);

/// Counts the ids of a window, with as many `lanes` of counts as memory was reserved for.
pub(super) fn count<C: Counter>(
    log: &EdgeLog,
    heat: Heat,
    window: Range<u64>,
    lanes: usize,
    stage: &Mutex<Stage<'_>>,
) -> Result<Vec<C>> {
    let length = (window.end - window.start) as usize;
    let lane = || -> Vec<C> {
        let mut counts = Vec::with_capacity(length);
        prefer_huge_pages(&mut counts);
        counts.extend(std::iter::repeat_with(C::default).take(length));
        counts
    };
    let mut counts: Vec<Vec<C>> = (0..lanes.max(1)).map(|_| lane()).collect();
    let is_shared = counts.len() < log.workers();
    let next = AtomicUsize::new(0);
    let start = || if is_shared { 0 } else { next.fetch_add(1, Ordering::Relaxed) };
    log.replay_with(stage, start, |&mut lane, chunk| {
        let counts = &counts[lane];
        if is_shared {
            raise(&chunk, heat, counts, window.start, C::raise_shared);
        } else {
            raise(&chunk, heat, counts, window.start, C::raise_alone);
        }
        Ok(())
    })?;
    let total = counts.swap_remove(0);
    for lane in &counts {
        total.iter().zip(lane).for_each(|(count, more)| count.add(more));
    }
    Ok(total)
}

#[inline(always)]
fn raise<C>(chunk: &EdgeChunk<'_>, heat: Heat, counts: &[C], first: u64, one: impl Fn(&C) + Copy) {
    match chunk.ids {
        ChunkIds::Narrow(sources, to) => raise_ids(sources, to, heat, counts, first, one),
        ChunkIds::Wide(sources, to) => raise_ids(sources, to, heat, counts, first, one),
    }
}

#[inline(always)]
fn raise_ids<C, T: Copy + PartialEq + Into<u64>>(
    sources: &[T],
    destinations: &[T],
    heat: Heat,
    counts: &[C],
    first: u64,
    one: impl Fn(&C) + Copy,
) {
    let raise = |id: T| {
        let place = usize::try_from(id.into().wrapping_sub(first)).unwrap_or(usize::MAX);
        if let Some(count) = counts.get(place) {
            one(count);
        }
    };
    let (at_source, at_destination) = (heat.end != End::Destination, heat.end != End::Source);
    if heat.skip_self_loops {
        for (&source, &to) in sources.iter().zip(destinations).filter(|(one, other)| one != other) {
            if at_source {
                raise(source);
            }
            if at_destination {
                raise(to);
            }
        }
        return;
    }
    if at_source {
        sources.iter().for_each(|&id| raise(id));
    }
    if at_destination {
        destinations.iter().for_each(|&id| raise(id));
    }
}
