//! What figures were taken on.
//! Linux tells most of it in files; what a system does not tell is left out and never guessed. It must not know what is
//! measured.

use graphmill::disk::{self, DeviceProfile};
use serde::Serialize;
use std::num::NonZero;
use std::path::Path;

#[derive(Debug, Serialize)]
pub struct Machine {
    pub processor: Option<String>,
    /// Cores that this process may use.
    pub cores: usize,
    pub memory_bytes: Option<u64>,
    pub cgroup_limit_bytes: Option<u64>,
    pub system: &'static str,
    pub kernel: Option<String>,
    /// Of the folder with the inputs.
    pub file_system: Option<String>,
}

/// What the disk under the inputs can do.
#[derive(Debug, Serialize)]
pub struct DiskRates {
    /// Reads of 4 KiB in a second, at random and with deep queues.
    pub random_4k_per_second: f64,
    /// Bytes in a second from front to back.
    pub sequential_bytes_per_second: f64,
    /// Bytes in a second, in the best requests.
    pub bytes_per_second: f64,
}

impl DiskRates {
    pub fn of(profile: &DeviceProfile) -> Self {
        DiskRates {
            random_4k_per_second: profile.best_small_rate(),
            sequential_bytes_per_second: profile.sequential,
            bytes_per_second: profile.bandwidth(),
        }
    }
}

impl Machine {
    /// This machine, with the file system of a folder.
    pub fn of(folder: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let mounts = || Some((read("/proc/self/mountinfo")?, folder.canonicalize().ok()?));
        Machine {
            processor: read("/proc/cpuinfo").and_then(|text| processor(&text)),
            cores: std::thread::available_parallelism().map_or(1, NonZero::get),
            memory_bytes: disk::installed_memory(),
            cgroup_limit_bytes: disk::group_limit(),
            system: std::env::consts::OS,
            kernel: read("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()),
            file_system: mounts().and_then(|(text, folder)| file_system(&text, &folder)),
        }
    }
}

/// The model in the text of `/proc/cpuinfo`, which not every architecture has there.
fn processor(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The type of the file system that a folder is on, by the text of `/proc/self/mountinfo`.
fn file_system(mounts: &str, folder: &Path) -> Option<String> {
    let mount = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let point = place.split(' ').nth(4)?.to_owned();
        Some((point, kind.split(' ').next()?.to_owned()))
    };
    let around = mounts.lines().filter_map(mount).filter(|(point, _)| folder.starts_with(point));
    // Of several on the same place, the last is on top.
    around.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_above_a_folder_counts() {
        let mounts = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
                      23 22 0:5 / /data rw - xfs /dev/sdb rw\n\
                      24 22 0:6 / /data rw,nosuid - tmpfs none rw\n\
                      a line that is none\n";
        let of = |folder: &str| file_system(mounts, Path::new(folder));
        assert_eq!(of("/data/bench").as_deref(), Some("tmpfs"));
        assert_eq!(of("/database").as_deref(), Some("ext4"));
        assert_eq!(file_system("", Path::new("/")), None);
    }

    #[test]
    fn a_processor_without_a_model_is_none() {
        assert_eq!(processor("model\t: 7\nmodel name\t: Fast 9\n").as_deref(), Some("Fast 9"));
        assert_eq!(processor("BogoMIPS : 50\n"), None);
    }
}
