//! What the statistics say is what the operating system counts. One test, alone in its
//! process, so that nothing else reads meanwhile.
#![cfg(target_os = "linux")]

use graphmill_disk::{ReadAt, cached_pages, drop_page_cache};
use graphmill_format::{ElementType, TableShape};
use graphmill_ingest::write_table;
use graphmill_load::{Reading, Rows};
use graphmill_store::Table;

const ROWS: u64 = 1 << 17;

/// Bytes that this process had fetched from disks.
fn bytes_from_disk() -> u64 {
    let counts = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = counts.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap();
    line.parse().unwrap()
}

#[test]
fn no_byte_is_read_that_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let shape = TableShape::matrix(ROWS, 128, ElementType::F32).unwrap();
    let piece: Vec<u8> = (0..shape.length() / 64).map(|at| ((at * 7) >> 3) as u8).collect();
    write_table(&path, shape, (0..64).map(|_| Ok(&piece)), false).unwrap();
    let table = Table::open(&path).unwrap();
    table.mapped().file().sync_all().unwrap();
    // Scattered rows, dense rows, repeated rows.
    let ids: Vec<i64> = (0..6000_u64)
        .map(|at| match at % 3 {
            0 => at.wrapping_mul(0x9E37_79B9_7F4A_7C15) % ROWS,
            1 => 5000 + at,
            _ => at % 40 * 900,
        })
        .map(|row| row as i64)
        .collect();
    let mut out = vec![0; ids.len() * 512];
    for reading in [Reading::Ring, Reading::Pread, Reading::Auto] {
        for round in 0..2 {
            // Anew, and with small gaps: a file that was read as often as it is long would be brought into the page cache.
            let rows = Rows::open(table.clone(), reading).unwrap().break_even_gap(8 << 10);
            drop_page_cache(table.mapped().file(), 0..table.mapped().len()).unwrap();
            // Some stay while the system still writes them.
            let kept = cached_pages(table.mapped().file(), 0..table.mapped().len());
            let kept = kept.map_or(0, |pages| pages * 4096);
            let before = bytes_from_disk();
            let stats = rows.gather(&ids, &mut out).unwrap();
            let read = bytes_from_disk() - before;
            if read == 0 {
                // A file system in memory keeps its pages and reads no disk.
                assert!(
                    kept >= table.mapped().len(),
                    "{reading}: nothing of {} was read",
                    path.display()
                );
                return;
            }
            assert_eq!(stats.bytes_announced, 0);
            assert!(stats.requests < stats.from_disk && stats.bytes_read > stats.bytes_used);
            // The first round may load code of this program.
            if round == 1 {
                let stated = stats.bytes_read;
                assert!(
                    read.abs_diff(stated) <= (64 << 10) + kept,
                    "{reading}: {read}, stated {stated}"
                );
            }
        }
        for (row, &id) in out.chunks_exact(512).zip(&ids) {
            let start = id as usize * 512 % piece.len();
            assert!(row == &piece[start..start + 512], "row {id}");
        }
    }
}
