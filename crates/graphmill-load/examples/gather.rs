//! Rows gathered in a second: `gather TABLE.gd [auto|mapped|pread|ring] [IDS] [ROUNDS]`, with ids at random.
#![expect(clippy::print_stdout, reason = "a program")]

use graphmill_disk::PageBuffer;
use graphmill_load::{Reading, Rows};
use graphmill_sample::random::{Key, Purpose};
use graphmill_store::Table;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let table = Table::open(arguments.first().ok_or("which table?")?)?;
    let reading: Reading = arguments.get(1).map_or("auto", String::as_str).parse()?;
    let (count, rounds) = (number(2, 124_000)?, number(3, 20)?);
    let mut stream = Key::new(0, Purpose::Shuffle).stream();
    let ids: Vec<i64> = (0..count).map(|_| stream.below(table.shape().rows()) as i64).collect();
    let rows = Rows::open(table, reading)?;
    let mut out = PageBuffer::new(count * rows.row_length() as usize);
    let mut seconds: Vec<f64> = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        rows.gather(&ids, &mut out)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let rate = |seconds: f64| count as f64 / seconds;
    let first = rate(seconds[0]);
    seconds.sort_unstable_by(f64::total_cmp);
    let (best, median) = (rate(seconds[0]), rate(seconds[rounds / 2]));
    println!("{reading}: first {first:.0}, median {median:.0}, best {best:.0} rows/s");
    Ok(())
}
