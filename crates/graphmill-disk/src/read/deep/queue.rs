//! The kernel's two queues for reads: `io_uring`, and the older `io_submit`, which containers allow more often.
//! A workplace pushes requests and takes back numbers; this hides which of the two it uses. It must not know what the
//! requests are for, nor who keeps their memory.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use io_uring::{IoUring, opcode, types};

use super::aio::Aio;
use crate::read::piece::Request;

/// Which of the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::read) enum Kind {
    Ring,
    Aio,
}

pub(super) enum Queue {
    Ring(IoUring),
    Aio(Aio),
}

impl Queue {
    /// A queue for up to `depth` requests in flight.
    pub(super) fn new(kind: Kind, depth: u32) -> io::Result<Self> {
        match kind {
            Kind::Ring => new_ring(depth).map(Self::Ring),
            Kind::Aio => Aio::new(depth).map(Self::Aio),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Ring(_) => Kind::Ring,
            Self::Aio(_) => Kind::Aio,
        }
    }

    /// Adds a request that comes back under `name`; the kernel sees it with the next [`wait`](Self::wait).
    ///
    /// # Safety
    /// `into` must be valid for writes of the request's length, and nothing else may touch it, until the request has
    /// come back. No more requests than the depth may be in flight.
    pub(super) unsafe fn push(&mut self, file: &File, request: &Request, into: *mut u8, name: u64) {
        match self {
            Self::Ring(ring) => {
                let file = types::Fd(file.as_raw_fd());
                let entry = opcode::Read::new(file, into, request.length as u32)
                    .offset(request.offset)
                    .build()
                    .user_data(name);
                // SAFETY: the caller answers for the memory; the kernel holds the file itself once it has the request.
                let pushed = unsafe { ring.submission().push(&entry) };
                pushed.expect("the queue has as many entries as requests may be in flight");
            }
            Self::Aio(aio) => aio.push(file.as_raw_fd(), request, into, name),
        }
    }

    /// Submits what was pushed, waits until one of the `in_flight` requests is back, unless a signal comes or the kernel is
    /// busy, and adds the names and results of all that are.
    pub(super) fn wait(&mut self, in_flight: u32, arrived: &mut Vec<(u64, i32)>) -> io::Result<()> {
        match self {
            Self::Ring(ring) => {
                match ring.submit_and_wait(1) {
                    // What was not submitted stays in the queue and is submitted by the next call.
                    Err(error) if is_passing(&error) => {}
                    outcome => _ = outcome?,
                }
                arrived.extend(ring.completion().map(|entry| (entry.user_data(), entry.result())));
                Ok(())
            }
            Self::Aio(aio) => aio.wait(in_flight, arrived),
        }
    }

    /// Ends a queue that a parent process made, in its forked child.
    pub(super) fn abandon(self) {
        if let Self::Ring(ring) = self {
            // The maps of the ring are not in the child, and something else may lie there by now: only the
            // descriptor is ours.
            let ring = ManuallyDrop::new(ring);
            // SAFETY: the ring that owns the descriptor is never used or dropped again.
            drop(unsafe { OwnedFd::from_raw_fd(ring.as_raw_fd()) });
        }
    }
}

/// With what the kernel knows to make rings of one thread cheaper; older kernels refuse what they do not know.
fn new_ring(depth: u32) -> io::Result<IoUring> {
    let refused = |error: &io::Error| error.raw_os_error() == Some(libc::EINVAL);
    let newest =
        IoUring::builder().dontfork().setup_single_issuer().setup_defer_taskrun().build(depth);
    match newest {
        Err(error) if refused(&error) => {}
        outcome => return outcome,
    }
    match IoUring::builder().dontfork().setup_coop_taskrun().build(depth) {
        Err(error) if refused(&error) => IoUring::builder().dontfork().build(depth),
        outcome => outcome,
    }
}

/// A signal came, or the kernel is short of memory for a moment.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY))
}
