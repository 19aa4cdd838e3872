//! Vectors that ask a budget before they grow.

use crate::{Error, Result};
use graphmill_disk::Reservation;

/// Makes room for `more` entries, at least doubling what there is; `memory` then holds the new capacity instead of the
/// old one.
#[inline]
pub(crate) fn make_room<V>(
    vector: &mut Vec<V>,
    more: usize,
    memory: &mut Reservation,
) -> Result<()> {
    if vector.capacity() - vector.len() >= more {
        return Ok(());
    }
    grow(vector, more, memory)
}

/// The same, without a place more than is asked for.
pub(crate) fn make_exact_room<V>(
    vector: &mut Vec<V>,
    more: usize,
    memory: &mut Reservation,
) -> Result<()> {
    if vector.capacity() - vector.len() >= more {
        return Ok(());
    }
    resize(vector, vector.len().saturating_add(more), memory)
}

#[cold]
fn grow<V>(vector: &mut Vec<V>, more: usize, memory: &mut Reservation) -> Result<()> {
    resize(vector, vector.len().saturating_add(more).max(2 * vector.capacity()), memory)
}

fn resize<V>(vector: &mut Vec<V>, wanted: usize, memory: &mut Reservation) -> Result<()> {
    let bytes = |entries: usize| (entries as u64).saturating_mul(size_of::<V>() as u64);
    let old = vector.capacity();
    if bytes(wanted) > isize::MAX as u64 {
        return Err(Error::NoMemory { bytes: bytes(wanted) });
    }
    // Both exist for a moment.
    memory.grow(bytes(wanted))?;
    if vector.try_reserve_exact(wanted - vector.len()).is_err() {
        memory.shrink(bytes(wanted));
        return Err(Error::NoMemory { bytes: bytes(wanted) });
    }
    memory.shrink(bytes(old));
    Ok(())
}
