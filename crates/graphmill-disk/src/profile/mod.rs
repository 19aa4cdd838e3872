//! What a disk can do: random reads by size and depth, sequential reads, and what follows from them.
//! Gathering asks it which gaps are worth reading over, `estimate` how long some reads will take. It knows how fast a
//! device reads, and must not know what is read.

mod cache;
mod measure;
mod scratch;

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Result;

/// The usual time that [`DeviceProfile::measure`] is given.
pub const USUAL_EFFORT: Duration = Duration::from_millis(2500);

/// One measured point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomRate {
    /// Bytes of each read.
    pub bytes: u64,
    /// Reads in flight, of all threads together.
    pub depth: u32,
    /// Reads that were finished in a second.
    pub per_second: f64,
    /// Seconds of a processor that each of them took.
    pub processor_seconds: f64,
}

/// How fast a device reads.
///
/// ```
/// use graphmill_disk::DeviceProfile;
/// let device = DeviceProfile::assumed();
/// // A thousand reads of a page take longer than one of all their bytes.
/// assert!(device.seconds([(4096, 1000)]) > device.seconds([(4096 * 1000, 1)]));
/// assert!(!device.is_measured);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceProfile {
    /// The device it was measured on; empty if it was not.
    pub device: String,
    /// Whether it was measured, or only assumed.
    pub is_measured: bool,
    /// Whether reads went past the page cache.
    pub is_direct: bool,
    /// When it was measured, in seconds since 1970.
    pub measured_at: u64,
    /// Random reads, by size and then by depth. There is at least one.
    pub random: Vec<RandomRate>,
    /// Bytes per second from front to back in large requests.
    pub sequential: f64,
}

impl DeviceProfile {
    /// Measures the device that holds `path`, a file or a folder, for about as long as `effort`.
    ///
    /// Reads the largest file there, or else a file without a name of up to 1 GiB that it writes first.
    pub fn measure(path: impl AsRef<Path>, effort: Duration) -> Result<Self> {
        measure::measure(path.as_ref(), effort)
    }

    /// What was measured on the device of `path` before, if it was and can be trusted.
    pub fn cached(path: impl AsRef<Path>) -> Option<Self> {
        cache::load(path.as_ref())
    }

    /// What was measured before, or else what is measured now and kept for later.
    pub fn cached_or_measured(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if let Some(known) = cache::load(path) {
            return Ok(known);
        }
        let profile = Self::measure(path, USUAL_EFFORT)?;
        profile.keep(path);
        Ok(profile)
    }

    /// Keeps it for later calls of [`cached`](Self::cached). That nothing can be kept is no failure.
    pub fn keep(&self, path: impl AsRef<Path>) {
        cache::store(path.as_ref(), self);
    }

    /// A modest solid-state disk: what plans are made by where nothing was measured.
    pub fn assumed() -> Self {
        let random = [
            (4 << 10, 60e3),
            (16 << 10, 45e3),
            (32 << 10, 30e3),
            (128 << 10, 10e3),
            (512 << 10, 2.8e3),
        ];
        Self {
            device: String::new(),
            is_measured: false,
            is_direct: true,
            measured_at: 0,
            random: random
                .map(|(bytes, per_second)| {
                    // 15 us, in a number that JSON gives back to the last bit.
                    let processor_seconds = 1.0 / 65536.0;
                    RandomRate { bytes, depth: 64, per_second, processor_seconds }
                })
                .to_vec(),
            sequential: 1.5e9,
        }
    }

    /// The best rate of random reads of 4 KiB.
    pub fn best_small_rate(&self) -> f64 {
        1.0 / self.seconds_per_read(4096)
    }

    /// The smallest depth that comes close to the best rate of 4 KiB reads.
    pub fn best_depth(&self) -> u32 {
        let small = || self.random.iter().filter(|rate| rate.bytes <= 4096);
        let best = small().map(|rate| rate.per_second).fold(0.0, f64::max);
        small()
            .filter(|rate| rate.per_second >= 0.95 * best)
            .map(|rate| rate.depth)
            .min()
            .unwrap_or(1)
    }

    /// Bytes per second in the largest requests.
    pub fn bandwidth(&self) -> f64 {
        let random = self.random.iter().map(|rate| rate.per_second * rate.bytes as f64);
        random.fold(self.sequential, f64::max)
    }

    /// Bytes whose reading takes as long as one more request: gaps below it are worth reading over.
    pub fn break_even_gap(&self) -> u64 {
        // What a small read costs beyond its bytes, in bytes.
        let gap = self.seconds_per_read(4096) * self.bandwidth() - 4096.0;
        gap.clamp(0.0, f64::from(1 << 20)) as u64
    }

    /// Seconds that the device needs for random reads, given as bytes of a read and how many of that length there are.
    pub fn seconds(&self, reads: impl IntoIterator<Item = (u64, u64)>) -> f64 {
        let (mut one_by_one, mut bytes) = (0.0, 0.0);
        for (length, count) in reads {
            one_by_one += self.seconds_per_read(length) * count as f64;
            bytes += length as f64 * count as f64;
        }
        one_by_one.max(bytes / self.bandwidth())
    }

    /// Seconds of a processor that such reads take, whichever of its cores has them.
    pub fn processor_seconds(&self, reads: impl IntoIterator<Item = (u64, u64)>) -> f64 {
        let points = self.fastest_by_size();
        let points: Vec<(u64, f64)> =
            points.iter().map(|(bytes, rate)| (*bytes, rate.processor_seconds)).collect();
        let (last, most) = points.last().map_or((1, 0.0), |&(bytes, seconds)| (bytes, seconds));
        let of = |(length, count)| on_line(&points, length, most / last as f64) * count as f64;
        reads.into_iter().map(of).sum()
    }

    /// Seconds between two finished reads of this length at the best depth.
    ///
    /// A read costs so much for being a read and so much for every byte, so lengths between those measured lie on a line.
    pub fn seconds_per_read(&self, bytes: u64) -> f64 {
        // A longer read never takes less; where it was measured to, that was luck.
        let mut longest = 0.0;
        let points = self.fastest_by_size().into_iter().map(|(bytes, rate)| {
            longest = f64::max(longest, 1.0 / rate.per_second);
            (bytes, longest)
        });
        on_line(&points.collect::<Vec<_>>(), bytes, 1.0 / self.bandwidth())
    }

    /// Sizes in ascending order, each with its rate at its best depth.
    fn fastest_by_size(&self) -> Vec<(u64, RandomRate)> {
        let mut points: Vec<(u64, RandomRate)> = Vec::new();
        for &rate in &self.random {
            match points.iter_mut().find(|(bytes, _)| *bytes == rate.bytes) {
                Some((_, best)) if best.per_second >= rate.per_second => {}
                Some((_, best)) => *best = rate,
                None => points.push((rate.bytes, rate)),
            }
        }
        points.sort_by_key(|(bytes, _)| *bytes);
        points
    }

    /// Whether its numbers can be computed with, which those of a file that anybody may write need not.
    fn is_sound(&self) -> bool {
        let is_rate = |rate: f64| rate.is_finite() && rate > 0.0;
        is_rate(self.sequential)
            && !self.random.is_empty()
            && self.random.iter().all(|rate| is_rate(rate.per_second) && rate.bytes > 0)
            && self.random.iter().all(|rate| (0.0..1e3).contains(&rate.processor_seconds))
    }
}

/// What a read of so many bytes costs, if those of some lengths, ascending, are known, and every byte beyond the last of
/// them costs `per_byte`.
fn on_line(points: &[(u64, f64)], bytes: u64, per_byte: f64) -> f64 {
    let above = points.partition_point(|(size, _)| *size < bytes);
    match (above.checked_sub(1).map(|below| points[below]), points.get(above)) {
        (None, Some((_, cost))) => *cost,
        (Some((size, cost)), None) => cost + (bytes - size) as f64 * per_byte,
        (Some((low, less)), Some((high, more))) => {
            less + (more - less) * (bytes - low) as f64 / (high - low) as f64
        }
        (None, None) => bytes as f64 * per_byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 thousand reads a second, or 2 GB/s.
    fn plain() -> DeviceProfile {
        let random = [1, 64].into_iter().flat_map(|depth| {
            let slower = if depth == 1 { 0.1 } else { 1.0 };
            [4096_u64, 131_072].map(|bytes| {
                let seconds = 8e-6 + bytes as f64 / 2e9;
                let processor_seconds = 5e-6 + bytes as f64 / 1e10;
                RandomRate { bytes, depth, per_second: slower / seconds, processor_seconds }
            })
        });
        let random = random.collect();
        DeviceProfile { random, sequential: 2e9, ..DeviceProfile::assumed() }
    }

    #[test]
    fn a_gap_is_worth_what_a_request_costs_beyond_its_bytes() {
        let gap = plain().break_even_gap();
        assert!((15_900..16_100).contains(&gap), "{gap}");
        assert_eq!(plain().best_depth(), 64);
        assert!((plain().best_small_rate() - 1.0 / 10.048e-6).abs() < 1.0);
    }

    #[test]
    fn lengths_between_and_beyond_those_measured_lie_on_a_line() {
        let device = plain();
        for bytes in [4096, 10_000, 65_536, 131_072, 1 << 20] {
            let expected = 8e-6 + bytes as f64 / 2e9;
            let found = device.seconds_per_read(bytes);
            assert!((found / expected - 1.0).abs() < 1e-9, "{bytes}: {found} {expected}");
        }
        for bytes in [4096, 10_000, 131_072] {
            let expected = 7.0 * (5e-6 + bytes as f64 / 1e10);
            let found = device.processor_seconds([(bytes, 7)]);
            assert!((found / expected - 1.0).abs() < 1e-9, "{bytes}: {found} {expected}");
        }
        // Less than a block costs as much as a block.
        assert_eq!(device.seconds_per_read(1), device.seconds_per_read(4096));
        let both = device.seconds([(4096, 10), (131_072, 5)]);
        let sum = 10.0 * device.seconds_per_read(4096) + 5.0 * device.seconds_per_read(131_072);
        assert!((both - sum).abs() < 1e-12);
        assert_eq!(device.seconds([]), 0.0);
    }

    #[test]
    fn a_lucky_measurement_makes_no_longer_read_cheaper() {
        let mut device = plain();
        let lucky =
            RandomRate { bytes: 262_144, depth: 8, per_second: 1e9, processor_seconds: 0.0 };
        device.random.push(lucky);
        assert!(device.seconds_per_read(262_144) >= device.seconds_per_read(131_072));
    }

    #[test]
    fn nonsense_is_not_sound() {
        assert!(plain().is_sound() && DeviceProfile::assumed().is_sound());
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(!DeviceProfile { sequential: rate, ..plain() }.is_sound());
            let point = RandomRate { bytes: 1, depth: 1, per_second: rate, processor_seconds: 0.0 };
            assert!(!DeviceProfile { random: vec![point], ..plain() }.is_sound());
        }
        for processor_seconds in [-1.0, f64::NAN, f64::INFINITY] {
            let point = RandomRate { bytes: 1, depth: 1, per_second: 1.0, processor_seconds };
            assert!(!DeviceProfile { random: vec![point], ..plain() }.is_sound());
        }
        assert!(!DeviceProfile { random: vec![], ..plain() }.is_sound());
    }
}
