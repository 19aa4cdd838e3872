//! Measures the device that holds a file or folder and prints its profile:
//!
//! ```text
//! cargo run --release -p graphmill-disk --example profile -- PATH
//! ```

use graphmill_disk::profile::USUAL_EFFORT;
use graphmill_disk::{DeviceProfile, Result};

#[expect(clippy::print_stdout, reason = "an example that prints what it measured")]
fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let profile = DeviceProfile::measure(path, USUAL_EFFORT)?;
    for rate in &profile.random {
        let megabytes = rate.per_second * rate.bytes as f64 / 1e6;
        println!(
            "{:7} B depth {:3} {:9.0} reads/s {megabytes:6.0} MB/s",
            rate.bytes, rate.depth, rate.per_second
        );
    }
    println!("sequential {:.0} MB/s", profile.sequential / 1e6);
    println!("break-even gap {} bytes, depth {}", profile.break_even_gap(), profile.best_depth());
    Ok(())
}
