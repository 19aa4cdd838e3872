//! One battery for every read backend: whatever reads the bytes, the behaviour is the same.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphmill_disk::{Advice, Backend, Error, Mapped, ReadAt, open, ring_available};
use graphmill_rounds::rounds;
use proptest::prelude::*;
use tempfile::TempDir;

struct Sample {
    folder: TempDir,
    path: PathBuf,
    bytes: Vec<u8>,
}

/// A file whose bytes differ from their neighbours at every distance that matters.
fn sample(length: usize) -> Sample {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.bin");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let bytes: Vec<u8> = (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    std::fs::write(&path, &bytes).unwrap();
    Sample { folder, path, bytes }
}

fn for_every_backend(path: &Path, check: impl Fn(Arc<dyn ReadAt>)) {
    for backend in Backend::ALL {
        let file = open(path, backend).unwrap();
        if backend != Backend::Ring || ring_available().is_ok() {
            assert_eq!(file.backend(), backend);
        }
        check(file);
    }
}

fn assert_truncated(outcome: graphmill_disk::Result<()>, path: &Path, offset: u64, wanted: u64) {
    match outcome {
        Err(Error::Truncated { path: named, offset: from, wanted: count, .. }) => {
            assert_eq!((named.as_path(), from, count), (path, offset, wanted));
        }
        other => panic!("wanted {wanted} bytes from {offset}, got {other:?}"),
    }
}

#[test]
fn random_ranges_equal_the_file() {
    let sample = sample(300_000);
    let cases = ProptestConfig::with_cases(rounds(10_000) as u32);
    let mut runner = proptest::test_runner::TestRunner::new(cases);
    let files: Vec<_> = Backend::ALL.map(|backend| open(&sample.path, backend).unwrap()).into();
    let ranges = (0..=sample.bytes.len(), 0..20_000usize);
    runner
        .run(&ranges, |(start, length)| {
            let end = (start + length).min(sample.bytes.len());
            for file in &files {
                let mut into = vec![0; end - start];
                file.read_exact_at(start as u64, &mut into).unwrap();
                prop_assert_eq!(&into, &sample.bytes[start..end]);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn many_ranges_at_once_equal_the_file() {
    let sample = sample(100_000);
    for_every_backend(&sample.path, |file| {
        let mut buffers: Vec<Vec<u8>> = (0..500).map(|index| vec![0; index * 7 % 300]).collect();
        let offset = |index: usize| index * 7919 % 99_000;
        let mut ranges: Vec<(u64, &mut [u8])> = buffers
            .iter_mut()
            .enumerate()
            .map(|(index, into)| (offset(index) as u64, into.as_mut_slice()))
            .collect();
        file.read_ranges(&mut ranges).unwrap();
        for (index, into) in buffers.iter().enumerate() {
            assert_eq!(into, &sample.bytes[offset(index)..offset(index) + into.len()]);
        }
        let (mut inside, mut outside) = ([0; 10], [0; 10]);
        let outcome = file.read_ranges(&mut [(0, &mut inside), (99_995, &mut outside)]);
        assert_truncated(outcome, &sample.path, 99_995, 10);
    });
}

/// Reads through `read_each` and puts what came where it belongs.
fn each(file: &dyn ReadAt, ranges: &[Range<u64>]) -> graphmill_disk::Result<Vec<Option<Vec<u8>>>> {
    let mut arrived = vec![None; ranges.len()];
    file.read_each(ranges, &mut |place, bytes| {
        assert!(arrived[place].replace(bytes.to_vec()).is_none(), "range {place} came twice");
    })?;
    Ok(arrived)
}

fn assert_each(file: &dyn ReadAt, ranges: &[Range<u64>], bytes: &[u8]) {
    let arrived = each(file, ranges).unwrap();
    for (range, found) in ranges.iter().zip(arrived) {
        let expected = &bytes[range.start as usize..range.end.max(range.start) as usize];
        assert!(found.as_deref() == Some(expected), "{range:?} through {}", file.backend());
    }
}

#[test]
fn ten_thousand_ranges_of_one_call_arrive_once_each_and_right() {
    let sample = sample(3_000_001);
    let length = sample.bytes.len() as u64;
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        (state >> 33) % below
    };
    let mut ranges: Vec<Range<u64>> = (0..10_000)
        .map(|_| {
            let start = next(length + 1);
            let longest = [0, 1, 512, 5_000, 70_000][next(5) as usize];
            start..(start + next(longest + 1)).min(length)
        })
        .collect();
    for_every_backend(&sample.path, |file| assert_each(&*file, &ranges, &sample.bytes));
    ranges.sort_by_key(|range| (range.start, range.end));
    for_every_backend(&sample.path, |file| assert_each(&*file, &ranges, &sample.bytes));
}

#[test]
fn a_range_outside_is_refused_before_anything_is_read() {
    let sample = sample(5_000);
    for_every_backend(&sample.path, |file| {
        #[expect(clippy::reversed_empty_ranges, reason = "a caller may hand in anything")]
        for outside in [4_999..5_001, 5_001..5_001, 0..u64::MAX, u64::MAX..u64::MAX, u64::MAX..0] {
            let (offset, wanted) = (outside.start, outside.end.saturating_sub(outside.start));
            let outcome = file.read_each(&[0..10, outside], &mut |_, _| panic!("it was read"));
            assert_truncated(outcome, &sample.path, offset, wanted);
        }
        // Nothing at all, nothing at the end, and ranges that end before they start.
        assert_eq!(each(&*file, &[]).unwrap(), []);
        #[expect(clippy::reversed_empty_ranges, reason = "a caller may hand in anything")]
        assert_each(&*file, &[5_000..5_000, 7..3, 0..0], &sample.bytes);
    });
}

#[test]
fn threads_read_the_same_file_at_once() {
    let sample = sample(200_000);
    for_every_backend(&sample.path, |file| {
        std::thread::scope(|scope| {
            for thread in 0..4usize {
                let (file, bytes) = (&file, &sample.bytes);
                scope.spawn(move || {
                    for round in 0..500 {
                        let start = (round * 401 + thread * 50_021) % 190_000;
                        let mut into = vec![0; 9_000];
                        file.read_exact_at(start as u64, &mut into).unwrap();
                        assert_eq!(into, bytes[start..start + 9_000]);
                    }
                });
            }
        });
    });
}

#[test]
fn empty_reads_work_up_to_the_end_and_not_beyond() {
    let sample = sample(5_000);
    for_every_backend(&sample.path, |file| {
        assert_eq!((file.len(), file.is_empty(), file.path()), (5_000, false, &*sample.path));
        file.check_length().unwrap();
        file.read_exact_at(0, &mut []).unwrap();
        file.read_exact_at(5_000, &mut []).unwrap();
        assert_truncated(file.read_exact_at(5_001, &mut []), &sample.path, 5_001, 0);
    });
}

#[test]
fn reads_past_the_end_name_the_file_and_the_place() {
    let sample = sample(5_000);
    for_every_backend(&sample.path, |file| {
        let mut last = [0];
        file.read_exact_at(4_999, &mut last).unwrap();
        assert_eq!(last[0], sample.bytes[4_999]);
        for (offset, wanted) in
            [(4_999, 2), (5_000, 1), (0, 5_001), (u64::MAX, 1), (u64::MAX - 3, 4), (1 << 63, 8)]
        {
            let outcome = file.read_exact_at(offset, &mut vec![0; wanted]);
            assert_truncated(outcome, &sample.path, offset, wanted as u64);
        }
    });
}

#[test]
fn an_empty_file_is_a_file() {
    let sample = sample(0);
    for_every_backend(&sample.path, |file| {
        assert!(file.is_empty());
        file.read_exact_at(0, &mut []).unwrap();
        file.check_length().unwrap();
        assert_truncated(file.read_exact_at(0, &mut [0]), &sample.path, 0, 1);
    });
    let mapped = Mapped::open(&sample.path).unwrap();
    assert!(mapped.bytes().is_empty());
    mapped.advise(Advice::WillNeed, 0..10).unwrap();
}

#[test]
fn what_is_not_a_readable_regular_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut refused = vec![folder.path().to_path_buf(), missing];
    #[cfg(unix)]
    {
        // Opening a pipe must fail at once instead of waiting for a writer.
        let pipe = folder.path().join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: the name is a NUL-terminated text that lives across the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        refused.push(pipe);
    }
    for path in refused {
        for backend in Backend::ALL {
            match open(&path, backend) {
                Err(Error::Io { action: "open", path: named, .. }) => assert_eq!(named, path),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn truncation_under_a_reader_is_a_typed_error_at_the_next_call() {
    for round in 0..rounds(20) as u64 {
        let sample = sample(50_000);
        for_every_backend(&sample.path, |file| {
            let mut into = vec![0; 10_000];
            file.read_exact_at(40_000, &mut into).unwrap();
            let shorter = 49_999 - round * 2_501 % 50_000;
            let writer = std::fs::OpenOptions::new().write(true).open(&sample.path).unwrap();
            writer.set_len(shorter).unwrap();
            match file.read_exact_at(40_000, &mut into) {
                Err(Error::Truncated { length, .. }) => assert_eq!(length, shorter),
                Err(Error::LengthChanged { expected: 50_000, found, .. }) => {
                    assert_eq!(found, shorter);
                }
                other => panic!("{other:?}"),
            }
            assert!(matches!(file.check_length(), Err(Error::LengthChanged { .. })));
            assert!(file.read_ranges(&mut [(40_000, &mut into[..])]).is_err());
            std::fs::write(&sample.path, &sample.bytes).unwrap();
        });
    }
}

#[test]
fn growth_under_a_reader_is_seen_by_the_length_check() {
    let sample = sample(1_000);
    for_every_backend(&sample.path, |file| {
        let mut writer = std::fs::OpenOptions::new().append(true).open(&sample.path).unwrap();
        let before = file.len();
        writer.write_all(b"more").unwrap();
        match file.check_length() {
            Err(Error::LengthChanged { expected, found, .. }) => {
                assert_eq!((expected, found), (before, before + 4));
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn replacement_by_rename_keeps_the_old_bytes_for_those_who_have_them_open() {
    let sample = sample(50_000);
    let files = Backend::ALL.map(|backend| open(&sample.path, backend).unwrap());
    for round in 0..20u8 {
        let aside = sample.folder.path().join("aside");
        std::fs::write(&aside, vec![round; 100]).unwrap();
        std::fs::rename(&aside, &sample.path).unwrap();
        for file in &files {
            let mut into = vec![0; 50_000];
            file.check_length().unwrap();
            file.read_exact_at(0, &mut into).unwrap();
            assert_eq!(into, sample.bytes);
        }
        for_every_backend(&sample.path, |file| {
            let mut into = vec![0; 100];
            file.read_exact_at(0, &mut into).unwrap();
            assert_eq!(into, [round; 100]);
        });
    }
}

#[test]
fn advice_never_changes_the_bytes() {
    let sample = sample(100_000);
    let mapped = Mapped::open(&sample.path).unwrap();
    for advice in [
        Advice::Random,
        Advice::WillNeed,
        Advice::DontNeed,
        Advice::Sequential,
        Advice::DontNeed,
        Advice::Normal,
    ] {
        // Whole, unaligned, empty, partly and wholly outside.
        for range in [0..100_000, 5_001..77_777, 10..10, 90_000..u64::MAX, 200_000..300_000] {
            mapped.advise(advice, range).unwrap();
        }
        assert_eq!(mapped.bytes(), sample.bytes);
    }
    graphmill_disk::drop_page_cache(mapped.file(), 0..100_000).unwrap();
    assert_eq!(mapped.bytes(), sample.bytes);
}

#[cfg(unix)]
#[test]
fn a_storm_of_signals_disturbs_no_read() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    static SEEN: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn count(_signal: libc::c_int) {
        SEEN.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: an all-zero action is valid (no flags, so interrupted calls are not restarted), and
    // the handler only touches an atomic.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()), 0);
    }
    let sample = sample(4 << 20);
    for_every_backend(&sample.path, |file| {
        // SAFETY: no preconditions.
        let reader = unsafe { libc::pthread_self() };
        let done = AtomicBool::new(false);
        let before = SEEN.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // SAFETY: the reading thread outlives this scope.
                    unsafe { libc::pthread_kill(reader, libc::SIGUSR1) };
                    std::thread::yield_now();
                }
            });
            let mut into = vec![0; sample.bytes.len()];
            let mut round = 0;
            while round < rounds(20) || SEEN.load(Ordering::Relaxed) - before < 100 {
                into.fill(0);
                file.read_exact_at(0, &mut into).unwrap();
                assert!(into == sample.bytes);
                let parts: Vec<Range<u64>> =
                    (0..1000).map(|at| at * 4_000..at * 4_000 + 3_000).collect();
                assert_each(&*file, &parts, &sample.bytes);
                round += 1;
            }
            done.store(true, Ordering::Relaxed);
        });
    });
}
