//! An error of the disk is an error of the call, and never wrong bytes; whatever passes is read again. Every request of
//! every backend goes wrong once in every way. Alone in its process, because faults are planned for all its reads.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use graphmill_disk::faults::reads::{ReadFault, end_of_plan, plan_read};
use graphmill_disk::{Backend, Error, ReadAt, Result, open};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

const LENGTH: usize = 1_300_007;

/// On a disk, and in memory, where reads go through the page cache and threads take the place of the older queue.
fn folders() -> Vec<PathBuf> {
    let memory = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
    std::iter::once(std::env::temp_dir()).chain(memory).collect()
}

fn stored(folder: &Path) -> (tempfile::NamedTempFile, Vec<u8>) {
    let file = tempfile::NamedTempFile::new_in(folder).unwrap();
    let bytes: Vec<u8> =
        (0..LENGTH as u32).map(|place| (place.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    std::fs::write(file.path(), &bytes).unwrap();
    (file, bytes)
}

/// Short ones, one of several requests, an empty one, and the end of the file.
fn ranges() -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> =
        (0..60).map(|index| index * 20_011..index * 20_011 + 700).collect();
    ranges.extend([5..1_200_000, 9..9, LENGTH as u64 - 3_000..LENGTH as u64]);
    ranges
}

/// Reads all ranges one way or the other; wrong bytes never pass.
fn read(file: &dyn ReadAt, bytes: &[u8], by_ranges: bool) -> Result<()> {
    let ranges = ranges();
    let expected = |place: usize| &bytes[ranges[place].start as usize..ranges[place].end as usize];
    if by_ranges {
        let mut buffers: Vec<Vec<u8>> =
            ranges.iter().map(|range| vec![0; (range.end - range.start) as usize]).collect();
        let mut into: Vec<(u64, &mut [u8])> = ranges
            .iter()
            .map(|range| range.start)
            .zip(buffers.iter_mut().map(Vec::as_mut_slice))
            .collect();
        file.read_ranges(&mut into)?;
        (0..ranges.len()).for_each(|place| assert!(buffers[place] == expected(place)));
        return Ok(());
    }
    let mut came = 0;
    let outcome = file.read_each(&ranges, &mut |place, found| {
        assert!(found == expected(place), "{:?} through {}", ranges[place], file.backend());
        came += 1;
    });
    assert!(outcome.is_err() || came == ranges.len());
    outcome
}

/// `check` is told whether a request that need not wait, past the page cache, may have been hit.
fn at_every_read(fault: ReadFault, check: impl Fn(Result<()>, bool)) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for folder in folders() {
        let (stored, bytes) = stored(&folder);
        for (backend, by_ranges) in [
            (Backend::Pread, false),
            (Backend::Pread, true),
            (Backend::Ring, false),
            (Backend::Ring, true),
        ] {
            plan_read(None);
            read(&*open(stored.path(), backend).unwrap(), &bytes, by_ranges).unwrap();
            let reads = end_of_plan();
            assert!(reads > 60, "{reads} reads are not all that were made");
            for number in 0..reads {
                let file = open(stored.path(), backend).unwrap();
                plan_read(Some((number, fault)));
                let outcome = read(&*file, &bytes, by_ranges);
                end_of_plan();
                check(outcome, backend == Backend::Ring || !by_ranges);
                read(&*file, &bytes, by_ranges).unwrap();
            }
        }
    }
}

#[test]
fn an_error_at_any_read_is_an_error_of_the_call_and_the_next_call_works() {
    at_every_read(ReadFault::Error, |outcome, _| match outcome {
        Err(Error::Io { action: "read", source, .. }) => {
            assert_eq!(source.to_string(), "injected fault")
        }
        other => panic!("{other:?}"),
    });
}

#[test]
fn short_reads_are_completed() {
    at_every_read(ReadFault::Short, |outcome, _| outcome.unwrap());
}

#[test]
fn interrupted_reads_are_repeated() {
    at_every_read(ReadFault::Interrupted, |outcome, _| outcome.unwrap());
}

#[test]
fn requests_that_a_busy_device_put_off_are_repeated() {
    at_every_read(ReadFault::Busy, |outcome, may_be_put_off| {
        // A plain read is never put off, so one that says so has failed.
        assert_eq!(outcome.is_ok(), may_be_put_off, "{outcome:?}");
    });
}

#[test]
fn a_file_system_that_refuses_direct_reads_is_read_through_the_page_cache() {
    at_every_read(ReadFault::Refused, |outcome, may_be_refused| {
        assert_eq!(outcome.is_ok(), may_be_refused, "{outcome:?}");
    });
}
