//! Rows per second of `gather`, from memory and from the disk: how the constants of planning and copying were chosen.
//!
//! `cargo run --release -p graphmill-load --example gather_speed -- FOLDER [GIBIBYTES [cold|warm]]` writes a table of
//! rows of 512 bytes to FOLDER unless it is there; the warm figures need as much free memory.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use graphmill_disk::{ReadAt, drop_page_cache};
use graphmill_format::{ElementType, TableShape};
use graphmill_ingest::write_table;
use graphmill_load::{ReadStats, Reading, Rows};
use graphmill_sample::random::{Key, Purpose};
use graphmill_store::Table;
use std::path::PathBuf;
use std::time::Instant;

const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let gibibytes: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let only = arguments.next();
    let rows = gibibytes << 21;
    let path = folder.join(format!("rows-{gibibytes}.gd"));
    if !path.exists() {
        let shape = TableShape::matrix(rows, 128, ElementType::F32)?;
        let piece: Vec<u8> = (0..64_u64 << 20).map(|at| ((at * 7) >> 5) as u8).collect();
        write_table(&path, shape, (0..gibibytes * 16).map(|_| Ok(&piece)), false)?;
    }
    let table = Table::open(&path)?;
    table.mapped().file().sync_all()?;
    let mut stream = Key::new(1, Purpose::Shuffle).stream();

    let cold = if only.as_deref() == Some("warm") {
        [].as_slice()
    } else {
        &[100_000, rows / 20, rows / 4]
    };
    for &count in cold {
        let ids: Vec<i64> = (0..count).map(|_| stream.below(rows) as i64).collect();
        let mut out = vec![0; ids.len() * 512];
        for reading in [Reading::Ring, Reading::Auto, Reading::Pread] {
            let rows = Rows::open(table.clone(), reading)?;
            drop_page_cache(table.mapped().file(), 0..table.mapped().len())?;
            let (seconds, stats) = time(&rows, &ids, &mut out)?;
            show("cold", reading, seconds, &stats);
        }
    }
    if only.as_deref() == Some("cold") {
        return Ok(());
    }
    for start in (0..table.mapped().len()).step_by(4096) {
        let _touched = std::hint::black_box(table.mapped().bytes()[start as usize]);
    }
    for count in [100, 1000, 124_000] {
        let ids: Vec<i64> = (0..count).map(|_| stream.below(rows) as i64).collect();
        let mut out = vec![0; ids.len() * 512];
        for reading in [Reading::Mapped, Reading::Auto] {
            let rows = Rows::open(table.clone(), reading)?;
            let mut best = f64::INFINITY;
            let mut stats = ReadStats::default();
            for _ in 0..ROUNDS * (200_000 / count) {
                let (seconds, read) = time(&rows, &ids, &mut out)?;
                (best, stats) = (best.min(seconds), read);
            }
            show("warm", reading, best, &stats);
        }
    }
    Ok(())
}

fn time(rows: &Rows, ids: &[i64], out: &mut [u8]) -> graphmill_load::Result<(f64, ReadStats)> {
    let began = Instant::now();
    let stats = rows.gather(ids, out)?;
    Ok((began.elapsed().as_secs_f64(), stats))
}

fn show(state: &str, reading: Reading, seconds: f64, stats: &ReadStats) {
    println!(
        "{state} {reading:>6}: {:>8} rows in {:>8.2} ms, {:>9.0} rows/s; {} requests, {:.1} MB read, {:.1} MB used, \
         {} from the page cache",
        stats.rows,
        seconds * 1e3,
        stats.rows as f64 / seconds,
        stats.requests,
        stats.bytes_read as f64 / 1e6,
        stats.bytes_used as f64 / 1e6,
        stats.from_page_cache,
    );
}
