//! Random walks: from a start along edges, step by step.
//! Rows of the result are handed out to all threads, and every thread keeps many walks in flight, since each step waits
//! for memory; [`first_order`] and [`second_order`] do the steps. What becomes of the walks is unknown here.

mod bias;
mod exact;
mod first_order;
mod options;
mod second_order;

pub use options::WalkOptions;

use crate::announcements::Announcements;
use crate::random::{Key, Purpose};
use crate::rows::{check_room, fill_rows};
use crate::typed_lists::over_lists;
use crate::{Error, Result, Topology};
use bias::Bias;
use graphmill_disk::Budget;
use graphmill_store::Lists;

/// Walks that one thread has under way at once. A step waits for two lines of memory; a core fetches some twenty at a
/// time.
const IN_FLIGHT: usize = 48;

/// The same when lists are on a disk: a step waits for two pages, and a disk fetches hundreds at a time.
const IN_FLIGHT_COLD: usize = 4096;

/// Steps that are handed to a thread at once: enough to make the handing out cheap and the start of a job short.
const STEPS_PER_JOB: usize = 1 << 15;

/// Walks from every start along the edges of stored lists; see [`walk_over`].
pub fn walk(
    lists: &Lists<'_>,
    starts: &[i64],
    options: &WalkOptions,
    budget: &Budget,
    walks: &mut [i64],
) -> Result<()> {
    lists.count_edges_read(walks.len() as u64);
    over_lists!(lists, |lists| walk_over(lists, starts, options, budget, walks))
}

/// Walks from every start along the edges that `topology` lists.
///
/// `walks` gets one row of `length + 1` nodes for each start, the start first. After a node without edges (or without
/// weight, in a weighted walk) the rest of a row is -1, or that node again if the options say so. A row depends on the
/// seed, its number and its start, not on the other starts or on threads.
///
/// Memory of its own is taken from `budget`; it is needed only by node2vec in lists that are not ordered by id.
pub fn walk_over<T: Topology + ?Sized>(
    topology: &T,
    starts: &[i64],
    options: &WalkOptions,
    budget: &Budget,
    walks: &mut [i64],
) -> Result<()> {
    options.check()?;
    let num_nodes = topology.num_nodes();
    if let Some(position) = starts.iter().position(|&start| start as u64 >= num_nodes) {
        return Err(Error::Start { position, found: starts[position], num_nodes });
    }
    let width = options.length.saturating_add(1);
    check_room("walks", walks.len(), starts.len(), width)?;
    let plan = Plan::new(topology, options)?;
    let in_flight = |is_cold| if is_cold { IN_FLIGHT_COLD } else { IN_FLIGHT };
    let rows_per_job = (STEPS_PER_JOB / width).clamp(in_flight(topology.is_cold()), STEPS_PER_JOB);
    fill_rows(walks, width, rows_per_job, |first, rows| {
        let starts = &starts[first..first + rows.len() / width];
        let is_cold = topology.is_cold();
        let (ahead, in_flight) = (is_cold.then(Announcements::default), in_flight(is_cold));
        let mut job = Job { topology, plan, first, starts, rows, begun: 0, in_flight, ahead };
        if options.length == 0 {
            job.rows.copy_from_slice(starts);
            return Ok(());
        }
        match plan.bias {
            Some(bias) => second_order::run(&mut job, bias, budget),
            None => first_order::run(&mut job),
        }
    })
}

/// Options, made ready for the steps.
#[derive(Clone, Copy, Debug)]
struct Plan {
    length: usize,
    weighted: bool,
    restart: f64,
    stay: bool,
    bias: Option<Bias>,
    key: Key,
}

impl Plan {
    fn new<T: Topology + ?Sized>(topology: &T, options: &WalkOptions) -> Result<Self> {
        let has_weights = topology.weights(0..0).is_some();
        let weighted = options.weighted.unwrap_or(has_weights);
        if weighted && !has_weights {
            let remedy = "build it with a weight column, or walk with weighted=False";
            return Err(Error::NotStored { what: "weights", remedy });
        }
        Ok(Plan {
            length: options.length,
            weighted,
            restart: options.restart,
            stay: options.stay,
            bias: Bias::of(options.p, options.q),
            key: Key::new(options.seed, Purpose::Walk),
        })
    }
}

/// Some rows of one call.
struct Job<'a, T: ?Sized> {
    topology: &'a T,
    plan: Plan,
    /// The number of the first row, in the call.
    first: usize,
    starts: &'a [i64],
    rows: &'a mut [i64],
    /// How many rows have been begun.
    begun: usize,
    /// How many rows are under way at once.
    in_flight: usize,
    /// What these wait for, if lists are on a disk.
    ahead: Option<Announcements>,
}

impl<T: Topology + ?Sized> Job<'_, T> {
    /// Begins the next row: its place among the rows here, its start, whose list is not announced yet, and its key.
    #[inline]
    fn begin(&mut self) -> Option<(usize, u64, Key)> {
        let row = self.begun;
        let start = *self.starts.get(row)?;
        self.begun += 1;
        self.rows[row * (self.plan.length + 1)] = start;
        Some((row, start as u64, self.plan.key.with((self.first + row) as u64)))
    }

    /// Writes the node that the step `step` of a row led to.
    #[inline]
    fn write(&mut self, row: usize, step: usize, node: u64) {
        self.rows[row * (self.plan.length + 1) + step + 1] = node as i64;
    }

    /// Ends a row at a node that the step `step` found no way out of.
    #[inline]
    fn end(&mut self, row: usize, step: usize, node: u64) {
        let width = self.plan.length + 1;
        let rest = if self.plan.stay { node as i64 } else { -1 };
        self.rows[row * width + step + 1..(row + 1) * width].fill(rest);
    }
}
