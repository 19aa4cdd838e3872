//! Many batches, made by several threads, delivered in order.
//! Each job makes one batch with a scratch of its own, and the caller's thread hands finished batches on; a few more
//! than there are threads are under way, so that nobody waits for the slowest. What a batch holds depends on its number
//! alone.

use super::options::MOST_THREADS;
use super::{FanoutOptions, sample_within};
use crate::{Result, Sample, Scratch, Topology};
use graphmill_disk::{Budget, Reservation};
use graphmill_format::Direction;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// Seeds that are cut into batches, and what may be used to sample them.
#[derive(Clone, Debug)]
pub struct Batches<'a> {
    seeds: &'a [i64],
    batch_size: usize,
    threads: usize,
    budget: Budget,
}

impl<'a> Batches<'a> {
    /// Batches of so many seeds, the last one perhaps smaller, on one thread and without a limit of memory.
    pub fn new(seeds: &'a [i64], batch_size: usize) -> Self {
        let batch_size = batch_size.max(1);
        Batches { seeds, batch_size, threads: 1, budget: Budget::unlimited() }
    }

    /// Works on so many threads, at most 256, beside the calling one, or on the calling one alone if that is 1.
    pub fn threads(self, threads: usize) -> Self {
        Batches { threads: threads.clamp(1, MOST_THREADS), ..self }
    }

    /// Takes all memory from a budget, that of batches until they have been delivered.
    pub fn budget(self, budget: &Budget) -> Self {
        Batches { budget: budget.clone(), ..self }
    }
}

/// A batch and the memory it takes.
type Made = Result<(Sample, Reservation)>;

/// Samples batches and delivers them in order, the first with the number that `options` has, the next with the next.
///
/// At most two batches per thread are under way or wait. Stops at the first error, of sampling or of `deliver`.
///
/// ```
/// # use graphmill_format::Direction;
/// # use graphmill_sample::{Batches, Error, FanoutOptions, Topology, sample_batches};
/// # use std::ops::Range;
/// # struct Ring(u64);
/// # impl Topology for Ring {
/// #     fn num_nodes(&self) -> u64 { self.0 }
/// #     fn list(&self, node: u64) -> graphmill_sample::Result<Range<usize>> { Ok(node as usize..node as usize + 1) }
/// #     fn neighbour(&self, position: usize) -> graphmill_sample::Result<u64> { Ok((position as u64 + 1) % self.0) }
/// #     fn edge_id(&self, position: usize) -> i64 { position as i64 }
/// # }
/// # let ring = Ring(10);
/// let batches = Batches::new(&[3, 8, 5], 2).threads(2);
/// let mut found = Vec::new();
/// sample_batches(&ring, &batches, &FanoutOptions::new([1]), Direction::In, |number, sample| {
///     found.push((number, sample.nodes));
///     Ok::<(), Error>(())
/// })?;
/// assert_eq!(found, [(0, vec![3, 8, 4, 9]), (1, vec![5, 6])]);
/// # Ok::<(), Error>(())
/// ```
pub fn sample_batches<E: From<crate::Error>>(
    topology: &(impl Topology + ?Sized),
    batches: &Batches<'_>,
    options: &FanoutOptions,
    follow: Direction,
    mut deliver: impl FnMut(u64, Sample) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let Batches { seeds, batch_size, threads, ref budget } = *batches;
    let number_of = |batch: usize| options.batch.wrapping_add(batch as u64);
    let seeds: Vec<&[i64]> = seeds.chunks(batch_size).collect();
    let make = |batch: usize, threads: usize, scratch: &mut Scratch| -> Made {
        let mut memory = budget.reserve(0, "a batch of samples")?;
        let options = options.clone().batch(number_of(batch)).threads(threads);
        let made = sample_within(topology, seeds[batch], &options, follow, scratch, &mut memory)?;
        Ok((made, memory))
    };
    let mut first = 0;
    if threads > 1 && seeds.len() > 1 {
        first = side_by_side(seeds.len(), threads, budget, make, |batch, sample| {
            deliver(number_of(batch), sample)
        })?;
    }
    if first < seeds.len() {
        let mut scratch = Scratch::within(budget)?;
        for batch in first..seeds.len() {
            let (sample, _memory) = make(batch, threads.max(options.threads), &mut scratch)?;
            deliver(number_of(batch), sample)?;
        }
    }
    Ok(())
}

/// Makes batches on many threads at once and delivers them in order. Gives how many were delivered: not all if the budget
/// has no room for several under way, in which case all memory has been given back.
fn side_by_side<E: From<crate::Error>>(
    batches: usize,
    threads: usize,
    budget: &Budget,
    make: impl Fn(usize, usize, &mut Scratch) -> Made + Sync,
    mut deliver: impl FnMut(usize, Sample) -> std::result::Result<(), E>,
) -> std::result::Result<usize, E> {
    let pool = graphmill_disk::with_threads(Some(threads)).map_err(crate::Error::from)?;
    let idle: Mutex<Vec<Scratch>> = Mutex::default();
    let with_scratch = |batch: usize| -> Made {
        let waiting = lock(&idle).pop();
        let mut scratch = waiting.map_or_else(|| Scratch::within(budget), Ok)?;
        let made = make(batch, 1, &mut scratch);
        lock(&idle).push(scratch);
        made
    };
    let (finished, arrivals) = channel();
    pool.in_place_scope(|scope| {
        let start = |batch: usize| {
            if batch < batches {
                let (finished, with_scratch) = (finished.clone(), &with_scratch);
                // Nobody listens after an error.
                scope.spawn(move |_| drop(finished.send((batch, with_scratch(batch)))));
            }
        };
        let under_way = 2 * threads;
        (0..under_way).for_each(start);
        let mut early: BTreeMap<usize, Made> = BTreeMap::new();
        for batch in 0..batches {
            let made = loop {
                if let Some(made) = early.remove(&batch) {
                    break made;
                }
                let (batch, made) = next(&arrivals, pool);
                early.insert(batch, made);
            };
            let (sample, _memory) = match made {
                Err(crate::Error::Memory(graphmill_disk::Error::Budget { .. })) => {
                    return Ok(batch);
                }
                made => made?,
            };
            start(batch + under_way);
            deliver(batch, sample)?;
        }
        Ok(batches)
    })
}

/// The next batch to be finished. A thread of the pool itself works while it waits, since it may be the only one.
fn next<V>(arrivals: &Receiver<V>, pool: &rayon::ThreadPool) -> V {
    const WHY: &str = "the caller holds a sender, and every batch that was started is sent";
    loop {
        match arrivals.try_recv() {
            Ok(arrived) => return arrived,
            Err(TryRecvError::Disconnected) => unreachable!("{WHY}"),
            Err(TryRecvError::Empty) => {}
        }
        if pool.yield_now() != Some(rayon::Yield::Executed) {
            return arrivals.recv().expect(WHY);
        }
    }
}

/// What is guarded is whole even if a thread panicked while it had it.
fn lock(idle: &Mutex<Vec<Scratch>>) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
    idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
