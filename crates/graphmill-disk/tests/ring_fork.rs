//! Rings and reading threads belong to one process: a forked child has its own, whatever its parent was doing, and one whose
//! sandbox forbids rings reads another way and says so. Alone in its process, because it forks.

#![cfg(target_os = "linux")]

mod in_child;

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use graphmill_disk::{Backend, ReadAt, Ring, RingDenied, open, ring_available};
use graphmill_rounds::rounds;
use in_child::in_child;

fn stored() -> (tempfile::NamedTempFile, Vec<u8>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes: Vec<u8> =
        (0..3_000_000u32).map(|place| (place.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    std::fs::write(file.path(), &bytes).unwrap();
    (file, bytes)
}

fn is_right(file: &dyn ReadAt, bytes: &[u8]) -> bool {
    let ranges: Vec<Range<u64>> =
        (0..700u64).map(|index| index * 4_001..index * 4_001 + 900).collect();
    let mut right = 0;
    let outcome = file.read_each(&ranges, &mut |place, found| {
        right +=
            usize::from(found == &bytes[ranges[place].start as usize..ranges[place].end as usize]);
    });
    outcome.is_ok() && right == ranges.len()
}

fn both_are_right(path: &Path, ring: &dyn ReadAt, pread: &dyn ReadAt, bytes: &[u8]) -> bool {
    let opened_here = open(path, Backend::Ring).unwrap();
    is_right(ring, bytes) && is_right(pread, bytes) && is_right(&*opened_here, bytes)
}

#[test]
fn children_of_a_parent_in_the_midst_of_reading_read_right_and_so_do_grandchildren() {
    let (stored, bytes) = stored();
    let path = stored.path();
    let (ring, pread) = (open(path, Backend::Ring).unwrap(), open(path, Backend::Pread).unwrap());
    assert!(both_are_right(path, &*ring, &*pread, &bytes));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    assert!(both_are_right(path, &*ring, &*pread, &bytes));
                }
            });
        }
        let failed = (0..rounds(12)).find_map(|_| {
            let outcome = in_child(|| {
                let own = both_are_right(path, &*ring, &*pread, &bytes);
                let below = in_child(|| i32::from(!both_are_right(path, &*ring, &*pread, &bytes)));
                i32::from(!own) + 2 * i32::from(below != Some(0))
            });
            // The ring that the forking thread keeps is as good as before.
            assert!(both_are_right(path, &*ring, &*pread, &bytes));
            (outcome != Some(0)).then_some(outcome)
        });
        done.store(true, Ordering::Relaxed);
        assert_eq!(failed, None, "Some(None) is a child that hung");
    });
}

/// Lets every later call with this number fail with `error` in this process, as sandboxes do.
fn forbid(call: libc::c_long, error: i32) {
    let load_number = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let is_equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let step =
        |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut steps = [
        step(load_number, 0, 0, 0),
        step(is_equal, 0, 1, call as u32),
        step(answer, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32),
        step(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the program lives across the call and describes its steps.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}

#[test]
fn where_rings_are_forbidden_the_others_read_and_say_so() {
    if ring_available().is_err() {
        return; // Then every other test is this one.
    }
    let (stored, bytes) = stored();
    let kept = Ring::open(stored.path()).unwrap();
    assert!(is_right(&kept, &bytes));
    let reasons = [
        (libc::EPERM, RingDenied::Forbidden),
        (libc::EACCES, RingDenied::Forbidden),
        (libc::ENOSYS, RingDenied::Missing),
        (libc::ENOMEM, RingDenied::Limits { code: libc::ENOMEM }),
    ];
    for (error, reason) in reasons {
        let outcome = in_child(|| {
            forbid(libc::SYS_io_uring_setup, error);
            let ring = Ring::open(stored.path()).unwrap();
            let says_so = ring.backend() == Backend::Pread
                && ring.denied() == Some(reason)
                && ring_available() == Err(reason)
                && open(stored.path(), Backend::Ring).unwrap().backend() == Backend::Pread;
            // One that the parent opened while it had rings finds another way as well.
            let by_queue = is_right(&ring, &bytes) && is_right(&kept, &bytes);
            let below = in_child(|| {
                forbid(libc::SYS_io_setup, libc::EPERM);
                i32::from(!is_right(&ring, &bytes) || !is_right(&kept, &bytes))
            });
            i32::from(!says_so) + 2 * i32::from(!by_queue) + 4 * i32::from(below != Some(0))
        });
        assert_eq!(outcome, Some(0), "{reason}");
    }
    assert_eq!(ring_available(), Ok(()));
}
