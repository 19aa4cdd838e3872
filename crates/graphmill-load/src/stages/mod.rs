//! How an epoch is made ahead of whoever trains on it: three threads, and what passes between them.
//!
//! ```text
//! sampling --sampled--> reading --ready--> assembly --finished--> the consumer
//! ```
//!
//! Batches are sampled while the rows of a window are read, while the batches of the window before are put together. What a
//! batch holds was decided by its number, so nothing here changes a result; it changes when memory is taken. Whoever is
//! short of memory waits as long as somebody further down may give some back, and only then passes the shortage on.

mod assembly;
mod sampling;
mod window_reading;

pub(crate) use assembly::FINISHED_SHARE;

use crate::epoch::EpochKey;
use crate::sampled_batch::SampledBatch;
use crate::window::{KeptRows, Window};
use crate::{Batch, Error, NeighborLoader, Result};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often whoever is short of memory looks whether there is some: nobody tells when a batch is let go.
const LOOKING: Duration = Duration::from_millis(2);
/// Batches that may be sampled ahead before the first window tells how long windows are.
const FIRST_AHEAD: usize = 4;
/// Enough for sampling and planning, whose memory is on the heap.
const STACK_BYTES: usize = 1 << 20;

/// Which batches of an epoch are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub(crate) key: EpochKey,
    /// The next batch.
    pub(crate) next: u64,
    /// From one batch to the next.
    pub(crate) step: u64,
    /// The batch after the last.
    pub(crate) end: u64,
}

/// The rows that are read together, of nodes and of edges; None if they are not.
#[derive(Debug, Default)]
struct Windows {
    nodes: Option<Window>,
    edges: Option<Window>,
}

impl Windows {
    /// Keeps all rows, even those that are released meanwhile.
    fn keep(&self) -> KeptWindows {
        let keep = |window: &Window| Arc::new(window.keep());
        KeptWindows { nodes: self.nodes.as_ref().map(keep), edges: self.edges.as_ref().map(keep) }
    }

    /// Forgets the rows that no batch after the one at `place` wants.
    fn release(&self, place: usize) {
        [&self.nodes, &self.edges].into_iter().flatten().for_each(|window| window.release(place));
    }
}

/// Rows of the window that was read last, which the next may want too.
#[derive(Debug)]
struct KeptWindows {
    nodes: Option<Arc<KeptRows>>,
    edges: Option<Arc<KeptRows>>,
}

/// A batch whose rows are in a window, or are to be read by itself.
#[derive(Debug)]
struct ReadyBatch {
    sampled: SampledBatch,
    windows: Arc<Windows>,
    /// Its place in the windows.
    place: usize,
}

/// What waits between the threads.
#[derive(Debug)]
struct State {
    /// Nobody wants further batches.
    stopped: bool,
    /// The consumer is waiting for a batch at this moment.
    wanted: bool,
    sampled: VecDeque<Result<SampledBatch>>,
    all_sampled: bool,
    /// How many may wait to be read.
    ahead: usize,
    /// Whether they will be read together, for which they had better be narrow.
    narrow: bool,
    ready: VecDeque<Result<ReadyBatch>>,
    all_ready: bool,
    finished: VecDeque<Result<Batch>>,
    all_finished: bool,
    /// Batches that were sampled and not yet handed to the consumer.
    under_way: usize,
    /// What is kept of the latest window until somebody is short of memory.
    kept: Option<KeptWindows>,
    /// Threads that are waiting for memory.
    short: usize,
}

/// What the threads of an epoch share.
#[derive(Debug)]
pub(crate) struct Shared {
    loader: Arc<NeighborLoader>,
    course: Course,
    state: Mutex<State>,
    changed: Condvar,
}

/// What a consumer gets who does not wait for ever.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "moved once and taken apart")]
pub(crate) enum Taken {
    Batch(Result<Batch>),
    NotYet,
    End,
}

impl Shared {
    fn new(loader: Arc<NeighborLoader>, course: Course) -> Self {
        let state = State {
            stopped: false,
            wanted: false,
            sampled: VecDeque::new(),
            all_sampled: false,
            ahead: FIRST_AHEAD,
            narrow: false,
            ready: VecDeque::new(),
            all_ready: false,
            finished: VecDeque::new(),
            all_finished: false,
            under_way: 0,
            kept: None,
            short: 0,
        };
        Shared { loader, course, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A queue is whole even if a thread panicked: what it holds is moved in and out by one step each.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what others wait for.
    fn change<T>(&self, deed: impl FnOnce(&mut State) -> T) -> T {
        let outcome = deed(&mut self.lock());
        self.changed.notify_all();
        outcome
    }

    /// Waits until `look` finds something, and says so to the others; None if everything is to stop.
    fn wait<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return None;
            }
            if let Some(found) = look(&mut state) {
                drop(state);
                self.changed.notify_all();
                return Some(found);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether anything is to be made now: without prefetching, only while the consumer waits for it.
    fn is_time(&self, state: &State) -> bool {
        state.wanted || self.loader.options().prefetch > 0
    }

    /// Waits for memory: true when there is more than before; false when `is_last` and the consumer waits, so that nobody
    /// will give any back; None if everything is to stop.
    fn wait_for_memory(&self, is_last: impl Fn(&State) -> bool) -> Option<bool> {
        let budget = self.loader.dataset().budget();
        let available = || budget.free().saturating_add(self.loader.buffers.idle());
        let kept = self.lock().kept.take();
        if kept.is_some() {
            return Some(true);
        }
        let before = available();
        self.change(|state| state.short += 1);
        let mut state = self.lock();
        let outcome = loop {
            if state.stopped {
                break None;
            }
            if available() > before {
                break Some(true);
            }
            if state.wanted && is_last(&state) {
                break Some(false);
            }
            let waited = self.changed.wait_timeout(state, LOOKING);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        state.short -= 1;
        outcome
    }

    /// Sees to it that so many bytes are free, if nobody needs them now: rows that are kept for the next window go first, idle
    /// buffers second.
    fn make_room(&self, bytes: u64) {
        let budget = self.loader.dataset().budget();
        if budget.free() < bytes {
            let kept = self.lock().kept.take();
            drop(kept);
            self.loader.buffers.make_room(bytes);
        }
    }

    /// Runs the work of a thread; if it panics, the consumer is told.
    fn guarded(&self, what: &'static str, work: impl FnOnce(&Shared)) {
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(self))) else { return };
        let error = Error::Panicked { what, message: message_of(&*panic) };
        self.change(|state| {
            state.finished.push_back(Err(error));
            (state.all_finished, state.stopped) = (true, true);
        });
    }

    /// The next finished batch. Waits for it as long as it takes, or for some time only.
    fn take(&self, patience: Option<Duration>) -> Taken {
        let began = Instant::now();
        let mut has_waited = false;
        let mut state = self.lock();
        let taken = loop {
            if let Some(batch) = state.finished.pop_front() {
                state.under_way = state.under_way.saturating_sub(1);
                break Taken::Batch(batch);
            }
            if state.all_finished {
                break Taken::End;
            }
            let left = patience.map(|patience| patience.saturating_sub(began.elapsed()));
            if left == Some(Duration::ZERO) {
                // It stays wanted: whoever has no patience asks again.
                drop(state);
                self.loader.sums.starved(began.elapsed());
                return Taken::NotYet;
            }
            if !state.wanted {
                state.wanted = true;
                self.changed.notify_all();
            }
            has_waited = true;
            state = match left {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        };
        state.wanted = false;
        drop(state);
        self.changed.notify_all();
        if has_waited {
            self.loader.sums.starved(began.elapsed());
        }
        taken
    }
}

/// The text that a panic came with.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Threads at work on an epoch. Dropping it stops and joins them.
#[derive(Debug)]
pub(crate) struct Stages {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// The process that has the threads.
    process: u32,
}

impl Stages {
    /// Starts making the batches of a course.
    pub(crate) fn start(loader: Arc<NeighborLoader>, course: Course) -> Result<Self> {
        let shared = Arc::new(Shared::new(loader, course));
        let process = std::process::id();
        let mut stages = Stages { shared, threads: Vec::with_capacity(3), process };
        type Work = fn(&Shared);
        let works: [(&str, Work); 3] = [
            ("sampling", sampling::run),
            ("reading", window_reading::run),
            ("assembly", assembly::run),
        ];
        for (what, work) in works {
            let shared = stages.shared.clone();
            let thread = std::thread::Builder::new()
                .name(format!("graphmill-{what}"))
                .stack_size(STACK_BYTES)
                .spawn(move || shared.guarded(what, work))
                .map_err(|error| graphmill_disk::Error::Threads {
                    wanted: 3,
                    reason: error.to_string(),
                })?;
            stages.threads.push(thread);
        }
        Ok(stages)
    }

    /// The next batch, waited for as long as it takes, or for some time only.
    pub(crate) fn take(&self, patience: Option<Duration>) -> Taken {
        if self.process != std::process::id() {
            return Taken::Batch(Err(Error::Forked));
        }
        self.shared.take(patience)
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        let threads = std::mem::take(&mut self.threads);
        if self.process != std::process::id() {
            // They are the parent's, and so is whoever holds the lock.
            threads.into_iter().for_each(std::mem::forget);
            return;
        }
        self.shared.change(|state| state.stopped = true);
        for thread in threads {
            // Its panic was told to the consumer.
            let _told = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LoaderOptions;
    use graphmill_disk::Budget;
    use graphmill_ingest::{DatasetWriter, GraphOptions, MemoryEdges};
    use graphmill_store::Dataset;

    fn loader(folder: &tempfile::TempDir) -> Arc<NeighborLoader> {
        let path = folder.path().join("made");
        let mut writer = DatasetWriter::begin(&path, false).unwrap();
        let edges = MemoryEdges::new(&[0, 1], &[1, 0], None).unwrap();
        writer.graph(&edges, &GraphOptions::new(), &Budget::new(1 << 20)).unwrap();
        writer.publish().unwrap();
        let dataset = Dataset::open(&path, Budget::new(1 << 20)).unwrap();
        Arc::new(NeighborLoader::new(dataset, vec![0, 1], LoaderOptions::new([1])).unwrap())
    }

    #[test]
    fn a_panic_is_told_once_and_stops_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let loader = loader(&folder);
        let course = Course { key: loader.key(0), next: 0, step: 1, end: 1 };
        let shared = Shared::new(loader, course);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                shared.guarded("waiting", |shared| {
                    assert!(shared.wait(|_| None::<()>).is_none());
                })
            });
            scope.spawn(|| shared.guarded("testing", |_| panic!("number {}", 7)));
        });
        let Taken::Batch(Err(error)) = shared.take(None) else { panic!("no error") };
        let text = error.to_string();
        assert!(text.contains("testing") && text.contains("number 7"), "{text}");
        assert!(matches!(shared.take(None), Taken::End));
    }

    #[test]
    fn a_process_that_is_not_theirs_lets_threads_be() {
        let folder = tempfile::tempdir().unwrap();
        let loader = loader(&folder);
        let course = Course { key: loader.key(0), next: 0, step: 1, end: 1 };
        let mut stages = Stages::start(loader, course).unwrap();
        stages.process += 1;
        assert!(matches!(stages.take(None), Taken::Batch(Err(Error::Forked))));
        let shared = stages.shared.clone();
        drop(stages);
        // Nobody was told to stop.
        assert!(matches!(shared.take(None), Taken::Batch(Ok(_))));
        shared.change(|state| state.stopped = true);
    }
}
