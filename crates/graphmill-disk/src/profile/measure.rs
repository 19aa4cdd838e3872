//! Measuring a device by reading from it.
//! Every size and depth gets an equal share of the time, and reads go the way in which gathering reads, so that what a
//! profile promises is what this crate can do on the device. It must not know what the profile is used for.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::cache::device_of;
use super::scratch::file_on_device;
use super::{DeviceProfile, RandomRate};
use crate::advice::drop_page_cache;
use crate::error::Result;
use crate::read::{ReadAt, Ring};

const SIZES: [u64; 5] = [4 << 10, 16 << 10, 32 << 10, 128 << 10, 512 << 10];
const DEPTHS: [u32; 5] = [1, 8, 32, 64, 128];
/// Shares of the time that the sequential rate gets.
const SEQUENTIAL_SHARES: u32 = 4;
/// Bytes of a sequential read.
const SEQUENTIAL_BYTES: u64 = 512 << 10;
/// More threads would measure the processor.
const MOST_THREADS: usize = 4;
/// Bytes that are read between two looks at the clock.
const BYTES_PER_LOOK: u64 = 4 << 20;

pub(super) fn measure(path: &Path, effort: Duration) -> Result<DeviceProfile> {
    let (file, name) = file_on_device(path)?;
    let profile = measure_file(&Ring::over_file(file, &name)?, effort)?;
    Ok(DeviceProfile { device: device_of(path).unwrap_or_default(), ..profile })
}

/// All but the name of the device.
fn measure_file(ring: &Ring, effort: Duration) -> Result<DeviceProfile> {
    if !ring.is_direct() {
        // Where the page cache is in the way, it should at least be empty. A refusal only makes the result rosier.
        let _hint = drop_page_cache(ring.file(), 0..ring.len());
    }
    let shares = (SIZES.len() * DEPTHS.len()) as u32 + SEQUENTIAL_SHARES;
    let share = effort / shares;
    let mut random = Vec::with_capacity(SIZES.len() * DEPTHS.len());
    for bytes in SIZES {
        for depth in DEPTHS {
            let (per_second, processor_seconds) = random_rate(ring, bytes, depth, share)?;
            random.push(RandomRate { bytes, depth, per_second, processor_seconds });
        }
    }
    let sequential = sequential_rate(ring, share * SEQUENTIAL_SHARES)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(DeviceProfile {
        device: String::new(),
        is_measured: true,
        is_direct: ring.is_direct(),
        measured_at: now.as_secs(),
        random,
        sequential,
    })
}

/// Reads in a second, and what each of them takes of a processor.
fn random_rate(ring: &Ring, bytes: u64, depth: u32, time: Duration) -> Result<(f64, f64)> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(MOST_THREADS).min(depth as usize);
    let depth_each = depth / threads as u32;
    let rates = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || rate_of_thread(ring, bytes, depth_each, time, thread))
            })
            .collect();
        let join = |reader: std::thread::ScopedJoinHandle<'_, _>| {
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        readers.into_iter().map(join).collect::<Result<Vec<(f64, f64)>>>()
    })?;
    let per_second: f64 = rates.iter().map(|(rate, _)| rate).sum();
    let busy: f64 = rates.iter().map(|(rate, processor)| rate * processor).sum();
    Ok((per_second, busy / per_second))
}

fn rate_of_thread(
    ring: &Ring,
    bytes: u64,
    depth: u32,
    time: Duration,
    thread: usize,
) -> Result<(f64, f64)> {
    // The first reads are not counted: they make the thread's ring and find the memory.
    let mut state = bytes ^ u64::from(depth) << 40 ^ (thread as u64) << 50;
    ring.read_at_depth(depth, &random_ranges(&mut state, ring.len(), bytes, 1), &mut |_, _| {})?;
    let together = (BYTES_PER_LOOK / bytes).min(u64::from(depth) * 16);
    let (mut count, begun, busy) = (0, Instant::now(), processor_time());
    while count == 0 || begun.elapsed() < time {
        let ranges = random_ranges(&mut state, ring.len(), bytes, together);
        ring.read_at_depth(depth, &ranges, &mut |_, _| count += 1)?;
    }
    let (seconds, busy) = (begun.elapsed().as_secs_f64(), processor_time().saturating_sub(busy));
    Ok((f64::from(count) / seconds, busy.as_secs_f64() / f64::from(count)))
}

/// How long this thread has been at work; nothing where the system does not tell.
fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap_or_default()
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

fn random_ranges(state: &mut u64, length: u64, bytes: u64, count: u64) -> Vec<Range<u64>> {
    let places = (length / bytes).max(1);
    let next = |_| {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let start = (*state >> 24) % places * bytes;
        start..(start + bytes).min(length)
    };
    (0..count).map(next).collect()
}

fn sequential_rate(ring: &Ring, time: Duration) -> Result<f64> {
    let (mut bytes, mut start, begun) = (0, 0, Instant::now());
    while bytes == 0 || begun.elapsed() < time {
        let end = (start + 8 * BYTES_PER_LOOK).min(ring.len());
        let ranges: Vec<Range<u64>> = (start..end)
            .step_by(SEQUENTIAL_BYTES as usize)
            .map(|from| from..(from + SEQUENTIAL_BYTES).min(end))
            .collect();
        ring.read_at_depth(u32::MAX, &ranges, &mut |_, read| bytes += read.len())?;
        start = if end == ring.len() { 0 } else { end };
    }
    Ok(bytes as f64 / begun.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_and_depth_has_a_rate_that_can_be_computed_with() {
        // Shorter than some reads, and not a whole number of blocks.
        for length in [300_001, 5_000_000] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), vec![7; length]).unwrap();
            let ring = Ring::open(file.path()).unwrap();
            let profile = measure_file(&ring, Duration::from_millis(29)).unwrap();
            assert_eq!(profile.random.len(), SIZES.len() * DEPTHS.len());
            assert!(profile.is_measured && profile.is_sound(), "{profile:?}");
            #[cfg(unix)]
            assert!(profile.processor_seconds([(4096, 1)]) > 0.0, "{profile:?}");
            assert!(DEPTHS.contains(&profile.best_depth()));
        }
    }
}
