//! Reads of many ranges at once where they are delicate: at block boundaries, at the end of the file, without direct
//! reads, from many threads, when the caller panics or calls again, and when the file shrinks meanwhile.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use graphmill_disk::{Backend, Error, Mapped, Pread, ReadAt, Ring, open, open_same};
use graphmill_rounds::rounds;

fn bytes_of(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(next).collect()
}

fn for_every_backend(path: &Path, check: impl Fn(&dyn ReadAt)) {
    Backend::ALL.into_iter().for_each(|backend| check(&*open(path, backend).unwrap()));
}

/// The two that keep many requests in flight, and never end the process when a file shrinks.
fn for_deep_backends(path: &Path, check: impl Fn(&dyn ReadAt)) {
    check(&Pread::open(path).unwrap());
    check(&Ring::open(path).unwrap());
}

fn assert_right(file: &dyn ReadAt, ranges: &[Range<u64>], bytes: &[u8]) {
    let mut seen = vec![false; ranges.len()];
    file.read_each(ranges, &mut |place, found| {
        let range = &ranges[place];
        let expected = &bytes[range.start as usize..range.end as usize];
        assert!(found == expected, "{range:?} through {}", file.backend());
        assert!(!std::mem::replace(&mut seen[place], true), "{range:?} came twice");
    })
    .unwrap();
    assert!(seen.iter().all(|&seen| seen), "through {}", file.backend());
}

/// Ranges around every boundary that a block, a page, a request or the file has.
fn delicate(length: u64) -> Vec<Range<u64>> {
    let lengths = [0, 1, 511, 512, 513, 4095, 4096, 4097, 524_288, 524_289, 1_100_000];
    let starts = [0, 1, 511, 512, 4095, 4096, 8191, 524_287, 524_288, 1_048_575];
    let near_end = (0..=2).chain([511, 512, 513, 4095, 4096, 4097, 524_288, 600_000]);
    let starts = starts.into_iter().chain(near_end.map(|before| length.saturating_sub(before)));
    let within = |start: u64| lengths.map(|count| start.min(length)..(start + count).min(length));
    starts.flat_map(within).filter(|range| range.start <= range.end).collect()
}

#[test]
fn delicate_ranges_are_right_whatever_the_tail_of_the_file() {
    for length in [1, 511, 512, 513, 4095, 4096, 4097, 1_048_576, 1_500_003, 1_500_160] {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes = bytes_of(length);
        std::fs::write(file.path(), &bytes).unwrap();
        let ranges = delicate(length as u64);
        for_every_backend(file.path(), |file| {
            assert_right(file, &ranges, &bytes);
            for range in &ranges {
                assert_right(file, std::slice::from_ref(range), &bytes);
            }
        });
    }
}

#[test]
fn a_range_longer_than_all_buffers_comes_as_one_among_short_ones() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes = bytes_of(21_000_001);
    std::fs::write(file.path(), &bytes).unwrap();
    let mut ranges: Vec<Range<u64>> =
        (0..300).map(|index| index * 7_001..index * 7_001 + 600).collect();
    ranges.insert(100, 3..21_000_001);
    ranges.insert(200, 1_000_000..9_000_000);
    for_every_backend(file.path(), |file| {
        assert_right(file, &ranges, &bytes);
        // What was large for one call is not kept, and the next call works with what is.
        assert_right(file, &ranges[..90], &bytes);
        let (short, long) = (file.read_memory(512), file.read_memory(21_000_001));
        assert!(short <= 8 << 20 && long <= short + 21_000_001 + 8192);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn memory_file_systems_are_read_through_the_page_cache() {
    let Ok(file) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        return; // Not every machine has one.
    };
    let bytes = bytes_of(700_001);
    std::fs::write(file.path(), &bytes).unwrap();
    let ranges = delicate(700_001);
    for_every_backend(file.path(), |file| assert_right(file, &ranges, &bytes));
    let ring = Ring::open(file.path()).unwrap();
    if !ring.is_direct() {
        assert_eq!(ring.backend() == Backend::Ring, ring.denied().is_none());
    }
}

#[test]
fn what_was_written_a_moment_ago_is_read_although_it_may_not_be_on_the_disk() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for round in 0..20u8 {
        std::fs::write(file.path(), vec![round; 100_000]).unwrap();
        let ranges: Vec<Range<u64>> =
            (0..90).map(|index| index * 1_100..index * 1_100 + 900).collect();
        for_every_backend(file.path(), |file| assert_right(file, &ranges, &[round; 100_000]));
    }
}

#[test]
fn eight_threads_read_at_once_through_one_reader() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes = bytes_of(2_000_000);
    std::fs::write(file.path(), &bytes).unwrap();
    for_every_backend(file.path(), |file| {
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let bytes = &bytes;
                scope.spawn(move || {
                    for round in 0..10u64 {
                        let start =
                            |index: u64| (index * 48_271 + thread * 911 + round) % 1_990_000;
                        let ranges: Vec<Range<u64>> =
                            (0..400).map(|index| start(index)..start(index) + index * 7).collect();
                        assert_right(file, &ranges, bytes);
                    }
                });
            }
        });
    });
}

#[test]
fn a_caller_that_panics_or_calls_again_within_does_no_harm() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes = bytes_of(1_000_000);
    std::fs::write(file.path(), &bytes).unwrap();
    let ranges: Vec<Range<u64>> =
        (0..900).map(|index| index * 1_000..index * 1_000 + 700).collect();
    for_every_backend(file.path(), |file| {
        for panics_at in [1, 2, 100, 899] {
            let mut calls = 0;
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                file.read_each(&ranges, &mut |_, _| {
                    calls += 1;
                    if calls == panics_at {
                        std::panic::resume_unwind(Box::new("the caller's"));
                    }
                })
            }));
            assert!(panicked.is_err());
            assert_eq!(calls, panics_at);
            assert_right(file, &ranges, &bytes);
        }
        let mut outer = 0;
        file.read_each(&ranges[..50], &mut |place, found| {
            assert_right(file, &ranges[200..260], &bytes);
            assert_eq!(found, &bytes[place * 1_000..place * 1_000 + 700]);
            outer += 1;
        })
        .unwrap();
        assert_eq!(outer, 50);
    });
}

#[test]
fn all_backends_read_the_file_that_was_opened_after_its_replacement() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let bytes = bytes_of(50_000);
    std::fs::write(&path, &bytes).unwrap();
    let mapped = Arc::new(Mapped::open(&path).unwrap());
    std::fs::write(folder.path().join("y"), vec![0; 60_000]).unwrap();
    std::fs::rename(folder.path().join("y"), &path).unwrap();
    for backend in Backend::ALL {
        let file = open_same(&mapped, backend).unwrap();
        assert_eq!(file.len(), 50_000);
        assert_right(&*file, &[0..50_000, 7..9, 49_999..50_000], &bytes);
    }
}

#[test]
fn truncation_before_or_during_reads_is_a_typed_error_or_right_bytes() {
    let bytes = bytes_of(4_000_000);
    let ranges: Vec<Range<u64>> =
        (0..3_900).rev().map(|index| index * 1_000..index * 1_000 + 900).collect();
    for round in (0..rounds(20) as u64).map(|round| round % 26) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        for_deep_backends(file.path(), |reader| {
            let done = AtomicBool::new(false);
            let outcome = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        // Never the same moment, and sometimes before the reader has begun.
                        (0..round * 500).for_each(|_| std::hint::spin_loop());
                        file.as_file().set_len(round * 150_000 + 77).unwrap();
                    }
                });
                let outcome = reader.read_each(&ranges, &mut |place, found| {
                    let range = &ranges[place];
                    assert_eq!(found, &bytes[range.start as usize..range.end as usize]);
                });
                done.store(true, Ordering::Relaxed);
                outcome
            });
            if let Err(error) = outcome {
                assert!(
                    matches!(error, Error::Truncated { .. } | Error::LengthChanged { .. }),
                    "{error}"
                );
            }
            let again =
                reader.read_each(&ranges, &mut |_, _| panic!("the file is known to be short"));
            assert!(matches!(again, Err(Error::LengthChanged { expected: 4_000_000, .. })));
            std::fs::write(file.path(), &bytes).unwrap();
        });
    }
}
