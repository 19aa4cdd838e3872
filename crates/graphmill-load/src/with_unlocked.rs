//! Locks that are tried and never waited for.
//! After a fork a lock may stay locked for ever by a thread that the child does not have; what is guarded this way is
//! only ever a shortcut, and whoever does not get it does without.

use std::sync::{Mutex, TryLockError};

/// Does something with what a lock guards, unless another thread has it.
pub(crate) fn with_unlocked<T, R>(lock: &Mutex<T>, deed: impl FnOnce(&mut T) -> R) -> Option<R> {
    match lock.try_lock() {
        Ok(mut guarded) => Some(deed(&mut guarded)),
        // What is guarded is replaced whole, so a thread that panicked cannot have left half of it.
        Err(TryLockError::Poisoned(poisoned)) => Some(deed(&mut poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}
