//! Reads that go wrong at a chosen moment.
//! Tests read through every backend once for each request that it makes: the request fails, is interrupted or comes short,
//! whether a ring, a reading thread or the caller made it. It counts all reads of the process, so a test that plans has
//! the process to itself.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What happens to a read that went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFault {
    /// The device failed.
    Error,
    /// A signal came first.
    Interrupted,
    /// The device was busy.
    Busy,
    /// The file system refuses such reads after all.
    Refused,
    /// Some bytes came, at least one, and the rest of the buffer holds rubbish.
    Short,
}

#[derive(Debug)]
struct Plan {
    performed: usize,
    fault: Option<(usize, ReadFault)>,
}

static PLAN: Mutex<Option<Plan>> = Mutex::new(None);
/// Whether there is a plan: without one, threads that read should not wait for each other.
static IS_PLANNED: AtomicBool = AtomicBool::new(false);

/// Counts reads from now on, and lets the one with this number fail, counted from 0.
pub fn plan_read(fault: Option<(usize, ReadFault)>) {
    *lock() = Some(Plan { performed: 0, fault });
    IS_PLANNED.store(true, Ordering::SeqCst);
}

/// Ends the plan; how many reads there were.
pub fn end_of_plan() -> usize {
    IS_PLANNED.store(false, Ordering::SeqCst);
    lock().take().map_or(0, |plan| plan.performed)
}

fn lock() -> MutexGuard<'static, Option<Plan>> {
    PLAN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a read is reported to have done, given what it did.
pub(crate) fn judge(outcome: io::Result<usize>, into: &mut [u8]) -> io::Result<usize> {
    if !IS_PLANNED.load(Ordering::SeqCst) {
        return outcome;
    }
    let mut plan = lock();
    let Some(plan) = plan.as_mut() else { return outcome };
    let number = plan.performed;
    plan.performed += 1;
    let Some((_, fault)) = plan.fault.filter(|(planned, _)| *planned == number) else {
        return outcome;
    };
    let came = outcome?;
    let kept = if fault == ReadFault::Short { came.div_ceil(2) } else { 0 };
    into[kept..came].fill(0xa5);
    match fault {
        ReadFault::Error => Err(io::Error::other("injected fault")),
        ReadFault::Interrupted => Err(io::ErrorKind::Interrupted.into()),
        ReadFault::Busy => Err(io::ErrorKind::WouldBlock.into()),
        ReadFault::Refused => Err(io::ErrorKind::InvalidInput.into()),
        ReadFault::Short => Ok(kept),
    }
}
