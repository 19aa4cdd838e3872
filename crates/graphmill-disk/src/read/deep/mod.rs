//! Many requests in flight from one thread, through a queue of the kernel.
//! The ring and, where the page cache can be passed, `pread` read many ranges this way; everything but the queue itself is
//! the same for both. It must not know what the bytes mean.

mod aio;
mod arena;
mod queue;
mod workplace;

pub(super) use queue::Kind;
pub(super) use workplace::{DEPTH, Workplace, memory};
