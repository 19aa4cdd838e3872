//! What the device under a path can do: measured, shown, and kept for whoever plans reads.
//! The names of the fields are keys of `inspect --disk --json`. What is read from the device is unknown here.

use crate::columns::{Row, columns, row};
use crate::counts::grouped;
use graphmill::disk::profile::USUAL_EFFORT;
use graphmill::disk::{DeviceProfile, RandomRate, format_size};
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize)]
pub struct DiskFacts {
    /// Reads of 4 KiB in a second, at random and with deep queues.
    pub random_4k_per_second: f64,
    /// Reads in flight that this takes.
    pub best_depth: u32,
    /// Bytes of a gap that take as long as one more request.
    pub break_even_gap: u64,
    /// Bytes in a second, in large requests.
    pub bytes_per_second: f64,
    #[serde(flatten)]
    profile: DeviceProfile,
}

/// Measures the device and keeps the result for later.
pub fn measure(path: &Path) -> anyhow::Result<DiskFacts> {
    let profile = DeviceProfile::measure(path, USUAL_EFFORT)?;
    profile.keep(path);
    Ok(DiskFacts {
        random_4k_per_second: profile.best_small_rate(),
        best_depth: profile.best_depth(),
        break_even_gap: profile.break_even_gap(),
        bytes_per_second: profile.bandwidth(),
        profile,
    })
}

/// The whole text, each line ended.
pub fn describe(facts: &DiskFacts) -> String {
    let DiskFacts { profile, .. } = facts;
    let past = if profile.is_direct { "past the page cache" } else { "through the page cache" };
    let mut lines = vec![format!("disk {}, read {past}", profile.device)];
    lines.extend(columns(vec![
        row(["random 4 KiB", &format!("{} reads/s", grouped(facts.random_4k_per_second as u64))]),
        row(["in flight for that", &facts.best_depth.to_string()]),
        row(["sequential", &format!("{}/s", format_size(profile.sequential as u64))]),
        row(["large requests", &format!("{}/s", format_size(facts.bytes_per_second as u64))]),
        row(["gaps worth reading", &format!("up to {}", format_size(facts.break_even_gap))]),
    ]));
    lines.extend(columns(rates(profile)));
    lines.join("\n") + "\n"
}

/// Reads per second, a line for each size and a column for each depth.
fn rates(profile: &DeviceProfile) -> Vec<Row> {
    let mut sizes: Vec<u64> = profile.random.iter().map(|rate| rate.bytes).collect();
    let mut depths: Vec<u32> = profile.random.iter().map(|rate| rate.depth).collect();
    sizes.dedup();
    depths.sort_unstable();
    depths.dedup();
    let heads = depths.iter().map(|depth| format!("{depth} in flight"));
    let mut rows = vec![std::iter::once("random reads/s".to_owned()).chain(heads).collect()];
    for size in sizes {
        let rate = |depth: &u32| {
            let is_it = |rate: &&RandomRate| rate.bytes == size && rate.depth == *depth;
            let found = profile.random.iter().find(is_it);
            found.map_or(String::new(), |rate| grouped(rate.per_second as u64))
        };
        rows.push(std::iter::once(format_size(size)).chain(depths.iter().map(rate)).collect());
    }
    rows
}
