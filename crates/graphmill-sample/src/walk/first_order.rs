//! Walks whose steps depend on where they are alone: uniform, or by weight.
//! All walks in flight take the same half of a step before any takes the next: first all look up their lists, draw and
//! announce the edges, then all read the edges and announce the next lists. So a line of memory has the time of a whole
//! round to arrive.

use super::Job;
use crate::random::Key;
use crate::{Result, Topology, by_weight};

/// Instead of a position: the walk goes back to its start.
const TO_START: usize = usize::MAX;
/// Instead of a position: the walk has just begun, and its list is on the way.
const NOWHERE: usize = usize::MAX - 1;

#[derive(Clone, Copy)]
struct Walker {
    row: usize,
    step: usize,
    node: u64,
    start: u64,
    key: Key,
    position: usize,
}

fn begin<T: Topology + ?Sized>(job: &mut Job<'_, T>) -> Option<Walker> {
    let (row, start, key) = job.begin()?;
    Some(Walker { row, step: 0, node: start, start, key, position: NOWHERE })
}

/// Walks all rows of a job.
pub(super) fn run<T: Topology + ?Sized>(job: &mut Job<'_, T>) -> Result<()> {
    match (job.plan.weighted, job.plan.restart > 0.0) {
        (false, false) => run_with::<T, false, false>(job),
        (false, true) => run_with::<T, false, true>(job),
        (true, false) => run_with::<T, true, false>(job),
        (true, true) => run_with::<T, true, true>(job),
    }
}

fn run_with<T: Topology + ?Sized, const WEIGHTED: bool, const RESTART: bool>(
    job: &mut Job<'_, T>,
) -> Result<()> {
    let mut walkers: Vec<Walker> = Vec::with_capacity(job.in_flight.min(job.starts.len()));
    while walkers.len() < job.in_flight
        && let Some(walker) = begin(job)
    {
        walkers.push(walker);
    }
    while !walkers.is_empty() {
        if let Some(ahead) = &mut job.ahead {
            walkers.iter().for_each(|walker| ahead.list(walker.node));
            ahead.issue_to_disk(job.topology);
        }
        let mut at = 0;
        while at < walkers.len() {
            let walker = &mut walkers[at];
            match draw::<T, WEIGHTED, RESTART>(job, walker)? {
                Some(position) => {
                    walker.position = position;
                    at += 1;
                }
                None => {
                    job.end(walker.row, walker.step, walker.node);
                    replace(job, &mut walkers, &mut at);
                }
            }
        }
        if let Some(ahead) = &mut job.ahead {
            let drawn = walkers.iter().filter(|walker| walker.position < NOWHERE);
            drawn.for_each(|walker| ahead.edge(walker.position));
            ahead.issue_to_disk(job.topology);
        }
        // All together, for the reason that `announcements` gives; what is no position is announced in vain.
        walkers.iter().for_each(|walker| job.topology.prefetch_position(walker.position));
        at = 0;
        while at < walkers.len() {
            let walker = &mut walkers[at];
            let node = match walker.position {
                NOWHERE => {
                    at += 1;
                    continue;
                }
                TO_START => walker.start,
                position => job.topology.neighbour(position)?,
            };
            job.write(walker.row, walker.step, node);
            walker.node = node;
            walker.step += 1;
            if walker.step < job.plan.length {
                at += 1;
            } else {
                replace(job, &mut walkers, &mut at);
            }
        }
        walkers.iter().for_each(|walker| job.topology.prefetch_offsets(walker.node));
    }
    Ok(())
}

/// Puts the next row in the place of one that has ended.
#[inline]
fn replace<T: Topology + ?Sized>(job: &mut Job<'_, T>, walkers: &mut Vec<Walker>, at: &mut usize) {
    match begin(job) {
        Some(walker) => {
            walkers[*at] = walker;
            *at += 1;
        }
        None => {
            walkers.swap_remove(*at);
        }
    }
}

/// The position of the next edge; None at a dead end.
#[inline]
fn draw<T: Topology + ?Sized, const WEIGHTED: bool, const RESTART: bool>(
    job: &Job<'_, T>,
    walker: &Walker,
) -> Result<Option<usize>> {
    let mut stream = walker.key.with(walker.step as u64).stream();
    if RESTART && stream.unit() < job.plan.restart {
        return Ok(Some(TO_START));
    }
    let list = job.topology.list(walker.node)?;
    if list.is_empty() {
        return Ok(None);
    }
    if WEIGHTED {
        return by_weight::draw(job.topology, list, &mut stream);
    }
    Ok(Some(list.start + stream.below(list.len() as u64) as usize))
}
