//! Numbers of all ids that grow with every edge of a log: counts and sums.
//! They grow whole if memory allows, and else window after window, each with a replay of its own;
//! every thread has a lane of them for itself if there is room for that too. It must not know what is
//! counted, nor what follows from it.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use graphmill_disk::{Budget, PageBuffer, Reservation, prefer_huge_pages};

use super::edge_log::EdgeLog;
use super::scratch_array::{ArrayWriter, IO_BYTES, PAGE, ScratchArray, Stored};
use super::workspace::Workspace;
use crate::Result;
use crate::edge_sort::EdgeChunk;
use crate::progress::{Observer, Stage};

/// The smallest window.
const LEAST_WINDOW: u64 = 1 << 13;

/// A number that several threads can raise.
pub(super) trait Counter: Default + Send + Sync {
    type Value: Stored + Default + From<u8> + Into<u64>;

    /// Adds to it while others do so too.
    fn raise_shared(&self, by: Self::Value);
    /// Adds to it while nobody else does.
    fn raise_alone(&self, by: Self::Value);
    fn value(&self) -> Self::Value;
}

macro_rules! counter {
    ($atomic:ty, $value:ty) => {
        impl Counter for $atomic {
            type Value = $value;

            #[inline(always)]
            fn raise_shared(&self, by: $value) {
                self.fetch_add(by, Ordering::Relaxed);
            }

            #[inline(always)]
            fn raise_alone(&self, by: $value) {
                self.store(self.load(Ordering::Relaxed) + by, Ordering::Relaxed);
            }

            #[inline(always)]
            fn value(&self) -> $value {
                self.load(Ordering::Relaxed)
            }
        }
    };
}
counter!(AtomicU32, u32);
counter!(AtomicU64, u64);

/// The numbers of a window of ids, as one thread raises them.
pub(super) struct Raised<'a, C> {
    counters: &'a [C],
    first: u64,
    /// Whether other threads raise them too.
    is_shared: bool,
}

impl<C: Counter> Raised<'_, C> {
    /// Whether an id is in the window.
    #[inline(always)]
    pub(super) fn has(&self, id: u64) -> bool {
        id.wrapping_sub(self.first) < self.counters.len() as u64
    }

    /// Raises the number of an id if it is in the window.
    #[inline(always)]
    pub(super) fn raise(&self, id: u64, by: C::Value) {
        let place = usize::try_from(id.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        let Some(counter) = self.counters.get(place) else { return };
        if self.is_shared {
            counter.raise_shared(by);
        } else {
            counter.raise_alone(by);
        }
    }
}

/// How numbers of all ids below a limit grow in the memory there is.
pub(super) struct Tally<'a> {
    log: &'a EdgeLog,
    limit: u64,
    window: u64,
    lanes: usize,
    stage: Mutex<Stage<'a>>,
    reserved: Reservation,
}

impl<'a> Tally<'a> {
    /// Takes up to half of what is free for counters of type `C`; `what` names them in messages, and
    /// `stage` what is done.
    pub(super) fn new<C: Counter>(
        budget: &Budget,
        log: &'a EdgeLog,
        limit: u64,
        (what, stage): (&'static str, &'static str),
        observer: Option<Observer<'a>>,
    ) -> Result<Self> {
        let (granted, width) = (budget.free() / 2, size_of::<C>() as u64);
        let all = limit.saturating_mul(width);
        let workers = log.workers();
        let lanes = if all.saturating_mul(workers as u64) <= granted { workers } else { 1 };
        let window = if all <= granted { limit } else { (granted / width).max(LEAST_WINDOW) };
        let window = window.min(limit);
        let reserved = budget.reserve(window * width * lanes as u64, what)?;
        let total = log.rows().saturating_mul(limit.div_ceil(window.max(1)));
        let stage = Mutex::new(Stage::new(observer, stage, total));
        Ok(Tally { log, limit, window, lanes, stage, reserved })
    }

    /// Whether one window is enough for all ids.
    pub(super) fn is_whole(&self) -> bool {
        self.window == self.limit
    }

    /// The numbers of the one window there is, and memory for one lane of them.
    pub(super) fn whole<C: Counter>(
        mut self,
        each: impl Fn(&Raised<'_, C>, EdgeChunk<'_>) -> Result<()> + Sync,
    ) -> Result<(Vec<C>, Reservation)> {
        debug_assert!(self.is_whole());
        let counters =
            self.window(0..self.limit, || (), |(), raised, chunk| each(raised, chunk))?;
        self.reserved.resize(self.limit * size_of::<C>() as u64)?;
        Ok((counters, self.reserved))
    }

    /// Writes the numbers of all ids to a file. Every thread has something of its own, which `start`
    /// makes.
    pub(super) fn into_file<C: Counter, S>(
        mut self,
        workspace: &Workspace,
        kind: &str,
        start: impl Fn() -> S + Sync,
        each: impl Fn(&mut S, &Raised<'_, C>, EdgeChunk<'_>) -> Result<()> + Sync,
    ) -> Result<ScratchArray<C::Value>> {
        self.reserved.grow((IO_BYTES + PAGE) as u64)?;
        let file = workspace.scratch(kind)?;
        let mut buffer = PageBuffer::new(IO_BYTES);
        let mut writer = ArrayWriter::new(&*file, 0, &mut buffer);
        for first in (0..self.limit).step_by(self.window.max(1) as usize) {
            let window = first..self.limit.min(first + self.window);
            let counters: Vec<C> = self.window(window, &start, &each)?;
            counters.iter().try_for_each(|counter| writer.push(counter.value()))?;
        }
        let count = writer.finish()?;
        Ok(ScratchArray::new(file, count))
    }

    fn window<C: Counter, S>(
        &self,
        window: Range<u64>,
        start: impl Fn() -> S + Sync,
        each: impl Fn(&mut S, &Raised<'_, C>, EdgeChunk<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<C>> {
        let length = (window.end - window.start) as usize;
        let lane = || -> Vec<C> {
            let mut counters = Vec::with_capacity(length);
            prefer_huge_pages(&mut counters);
            counters.extend(std::iter::repeat_with(C::default).take(length));
            counters
        };
        let mut lanes: Vec<Vec<C>> = (0..self.lanes).map(|_| lane()).collect();
        let is_shared = self.lanes < self.log.workers();
        let next = AtomicUsize::new(0);
        let start = || {
            let lane = if is_shared { 0 } else { next.fetch_add(1, Ordering::Relaxed) };
            let raised = Raised { counters: &lanes[lane], first: window.start, is_shared };
            (start(), raised)
        };
        self.log
            .replay_with(&self.stage, start, |(own, raised), chunk| each(own, raised, chunk))?;
        let total = lanes.swap_remove(0);
        for lane in &lanes {
            total.iter().zip(lane).for_each(|(one, more)| one.raise_alone(more.value()));
        }
        Ok(total)
    }
}
