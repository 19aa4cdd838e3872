//! Whether the kernel lets this process make rings.
//! Asked before the first file is read through one, by making a small ring and asking what it can do; the answer is kept
//! for the process, without locks, so that it can be asked right after a fork.

use std::sync::atomic::{AtomicU64, Ordering};

use io_uring::{IoUring, Probe, opcode};

use super::RingDenied;

/// The process id in the upper half, and below it one more than the error number: 0 is no answer yet.
static KNOWN: AtomicU64 = AtomicU64::new(0);

pub(super) fn available() -> Result<(), RingDenied> {
    let process = u64::from(std::process::id()) << 32;
    let known = KNOWN.load(Ordering::Relaxed);
    let code = if known >> 32 == process >> 32 && known as u32 > 0 {
        known as u32 - 1
    } else {
        let code = ask();
        KNOWN.store(process | u64::from(code + 1), Ordering::Relaxed);
        code
    };
    match code as i32 {
        0 => Ok(()),
        libc::EPERM | libc::EACCES => Err(RingDenied::Forbidden),
        libc::ENOSYS | libc::EINVAL | libc::EOPNOTSUPP => Err(RingDenied::Missing),
        code => Err(RingDenied::Limits { code }),
    }
}

/// 0, or the error number.
fn ask() -> u32 {
    let outcome = IoUring::builder().dontfork().build(2).and_then(|ring: IoUring| {
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        Ok(probe.is_supported(opcode::Read::CODE))
    });
    let code = match outcome {
        Ok(true) => 0,
        Ok(false) => libc::ENOSYS,
        Err(error) => error.raw_os_error().unwrap_or(libc::EIO),
    };
    // Error numbers are small and positive.
    code.unsigned_abs()
}
