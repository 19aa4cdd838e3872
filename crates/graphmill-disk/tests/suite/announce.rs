//! Announcing reads never fails, whatever is announced, and brings the pages in.

use graphmill_disk::{Advice, Mapped, ReadAt, drop_page_cache, residency};
use std::ops::Range;
use std::time::{Duration, Instant};

const LENGTH: u64 = 40 * 4096 + 123;

fn stored() -> (tempfile::NamedTempFile, Mapped) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![3; LENGTH as usize]).unwrap();
    // Only what has been written out can be dropped.
    file.as_file().sync_all().unwrap();
    let mapped = Mapped::open(file.path()).unwrap();
    mapped.advise(Advice::Random, 0..LENGTH).unwrap();
    (file, mapped)
}

#[test]
fn ranges_at_and_beyond_the_edges_are_cut_to_the_file() {
    let (_file, mapped) = stored();
    let cases: [&[Range<u64>]; 7] = [
        &[],
        &[0..1, LENGTH - 1..LENGTH],
        &[LENGTH - 1..u64::MAX, 7..8],
        &[LENGTH..LENGTH + 1, u64::MAX - 1..u64::MAX],
        &[9000..9000, 5..5],
        #[expect(clippy::reversed_empty_ranges, reason = "nonsense must do no harm")]
        &[9000..3, u64::MAX..0],
        &[20_000..20_001, 0..LENGTH, 4095..4097],
    ];
    for ranges in cases {
        mapped.announce(&mut ranges.to_vec());
    }
    let mut many: Vec<Range<u64>> = (0..5000).map(|at| (at * 7919) % LENGTH..LENGTH).collect();
    mapped.announce(&mut many);
    assert!(mapped.bytes().iter().all(|&byte| byte == 3));
    let empty = tempfile::NamedTempFile::new().unwrap();
    Mapped::open(empty.path()).unwrap().announce(&mut [0..1, 5..6]);
}

#[test]
fn a_file_that_shrank_is_announced_without_harm() {
    let (file, mapped) = stored();
    file.as_file().set_len(10).unwrap();
    mapped.announce(&mut [0..1, 30 * 4096..LENGTH]);
    assert!(mapped.check_length().is_err());
}

#[test]
fn what_is_announced_comes_into_memory_and_the_rest_stays_out() {
    let (_file, mapped) = stored();
    drop_page_cache(mapped.file(), 0..LENGTH).unwrap();
    let cached = || residency(mapped.file(), LENGTH).map(|seen| seen.cached_pages);
    // Elsewhere pages cannot be dropped or counted, as in memory file systems.
    if cached() != Some(0) {
        return;
    }
    mapped.announce(&mut [4096 * 20..4096 * 20 + 1, 5..6, LENGTH - 1..LENGTH]);
    let begun = Instant::now();
    while cached() < Some(3) && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(cached(), Some(3));
}
