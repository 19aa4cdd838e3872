//! Work in a forked child, under a watchdog.

use std::time::{Duration, Instant};

const LEFT_ALONE: Duration = Duration::from_secs(20);

/// Runs `work` in a forked child and returns its exit code, or None if it had to be killed.
pub fn in_child(work: impl FnOnce() -> i32) -> Option<i32> {
    // SAFETY: the child runs only code meant to survive a fork, which is what is tested, and leaves
    // by _exit without running anything of the test harness.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(99);
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(code) };
    }
    let deadline = Instant::now() + LEFT_ALONE;
    loop {
        let mut status = 0;
        // SAFETY: waits for our own child and writes to a local.
        let reaped = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) };
        if reaped == child {
            return libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        }
        if Instant::now() > deadline {
            // SAFETY: our own child, not yet reaped.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &mut status, 0);
            }
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
