//! Gathers rows of a mapped table: `gather_rows TABLE.gd BATCHES` prints how many, as one line of JSON.
//!
//! What a program does that asks for rows, on one thread and nothing else, so that its instructions can be counted. It
//! does not know who counts them; how long rows take is told by `gather_speed`.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use graphmill_disk::with_threads;
use graphmill_load::{Reading, Rows};
use graphmill_store::Table;
use std::hint::black_box;

/// Rows of a batch.
const BATCH: u64 = 4096;
/// From one row to the next: odd, so that as many rows as a power of two all have their turn.
const STRIDE: u64 = 40_503;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which table?")?;
    let batches: u64 = arguments.next().ok_or("how many batches?")?.parse()?;
    let table = Table::open(path)?;
    let count = table.shape().rows();
    let rows = Rows::open(table, Reading::Mapped)?;
    let mut out = vec![0; (BATCH * rows.row_length()) as usize];
    let mut ids = vec![0; BATCH as usize];
    let mut gathered = 0;
    for batch in 0..batches {
        for (place, id) in ids.iter_mut().enumerate() {
            *id = ((batch * BATCH + place as u64) * STRIDE % count) as i64;
        }
        let stats = with_threads(Some(1))?.install(|| rows.gather(&ids, &mut out))?;
        black_box(&out);
        gathered += stats.rows;
    }
    println!("{{\"rows\": {gathered}}}");
    Ok(())
}
