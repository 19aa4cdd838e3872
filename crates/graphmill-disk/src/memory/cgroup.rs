//! The memory limit of Linux control groups, version 1 and 2.
//! Containers and batch systems limit a process far below the machine's RAM, and the limit that
//! bites may belong to any ancestor of its group. These are pure functions of the texts that the
//! kernel shows, with the reading of limit files handed in.

use std::path::{Path, PathBuf};

/// Limits at or above this are the kernel's way of saying "none" (version 1 rounds the largest
/// number down to a page).
const ABSURD: u64 = 1 << 60;

/// The smallest limit on the way from the process's own groups up to the mounted roots.
///
/// `groups` is `/proc/self/cgroup`, `mounts` is `/proc/self/mountinfo`, and `read` gives the
/// content of a file if it exists.
pub(super) fn lowest_limit(
    groups: &str,
    mounts: &str,
    read: &dyn Fn(&Path) -> Option<String>,
) -> Option<u64> {
    let mounts: Vec<Mount> = mounts.lines().filter_map(parse_mount).collect();
    let mut lowest = None;
    for mount in &mounts {
        let Some(group) = groups.lines().find_map(|line| mount.group_of(line)) else { continue };
        for folder in mount.folders_up_from(group) {
            let limit = read(&folder.join(mount.version.limit_file()));
            lowest = lowest.into_iter().chain(limit.as_deref().and_then(parse_limit)).min();
        }
    }
    lowest
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    fn limit_file(self) -> &'static str {
        match self {
            Self::One => "memory.limit_in_bytes",
            Self::Two => "memory.max",
        }
    }
}

/// A mounted hierarchy that can limit memory.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// The group that appears at the mount point; inside containers often not the root.
    root: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// The group of the process in this hierarchy, from a line `number:controllers:path`.
    fn group_of<'line>(&self, line: &'line str) -> Option<&'line Path> {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let matches = match self.version {
            Version::One => controllers.split(',').any(|name| name == "memory"),
            Version::Two => number == "0" && controllers.is_empty(),
        };
        matches.then(|| Path::new(path))
    }

    /// Every folder between the group and the mount point, both included.
    fn folders_up_from(&self, group: &Path) -> impl Iterator<Item = PathBuf> {
        // A group outside of what is mounted (another namespace) still has the mounted part above.
        let below = group.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let plain = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let below = if plain { below } else { Path::new("") };
        below.ancestors().map(|part| self.point.join(part)).collect::<Vec<_>>().into_iter()
    }
}

/// A line of mountinfo: `id parent device root point options [fields] - type source options`.
fn parse_mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, point) = (unescape(before.next()?), unescape(before.next()?));
    let mut after = after.split(' ');
    let version = match after.next()? {
        "cgroup2" => Version::Two,
        "cgroup" if after.nth(1)?.split(',').any(|option| option == "memory") => Version::One,
        _ => return None,
    };
    Some(Mount { version, root: root.into(), point: point.into() })
}

/// mountinfo writes spaces, tabs, newlines and backslashes as three octal digits.
fn unescape(text: &str) -> String {
    let plain = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    plain.iter().fold(text.to_owned(), |text, (code, meant)| text.replace(code, meant))
}

fn parse_limit(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok().filter(|limit| *limit < ABSURD)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n\
                       36 31 0:50 / /proc rw - proc proc rw\n";
    const ONE: &str = "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                       35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";

    fn limit(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<u64> {
        lowest_limit(groups, mounts, &|path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path)?;
            Some(found.1.to_owned())
        })
    }

    #[test]
    fn version_two_takes_the_lowest_of_all_ancestors() {
        let files = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/memory.max", "2147483648\n"),
            ("/sys/fs/cgroup/memory.max", "4294967296\n"),
            ("/sys/fs/cgroup/other/memory.max", "5\n"),
        ];
        assert_eq!(limit("0::/a/b\n", TWO, &files), Some(2 << 30));
    }

    #[test]
    fn version_one_looks_below_the_part_that_is_mounted() {
        let files = [
            ("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        let groups = "4:cpuacct,cpu:/docker/abc\n3:pids,memory:/docker/abc/job\n0::/\n";
        assert_eq!(limit(groups, ONE, &files), Some(1 << 30));
    }

    #[test]
    fn both_versions_at_once_give_the_smaller() {
        let both = format!("{ONE}{TWO}");
        let files = [
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n"),
            ("/sys/fs/cgroup/memory.max", "2000\n"),
        ];
        assert_eq!(limit("3:memory:/docker/abc\n0::/\n", &both, &files), Some(2000));
    }

    #[test]
    fn no_limit_and_nonsense_count_as_none() {
        for text in ["max\n", "9223372036854771712\n", "18446744073709551615\n", "-1\n", "", "x"] {
            assert_eq!(
                limit("0::/\n", TWO, &[("/sys/fs/cgroup/memory.max", text)]),
                None,
                "{text:?}"
            );
        }
        assert_eq!(limit("", TWO, &[("/sys/fs/cgroup/memory.max", "5")]), None);
        assert_eq!(limit("0::/\n", "", &[]), None);
        assert_eq!(limit("garbage\n:::\n0:\n", "garbage\n - \n1 2 3 - cgroup\n", &[]), None);
    }

    #[test]
    fn a_group_outside_the_mount_never_climbs_out_of_it() {
        let files = [("/sys/fs/cgroup/memory.max", "7000\n"), ("/sys/fs/memory.max", "1\n")];
        assert_eq!(limit("0::/../../other\n", TWO, &files), Some(7000));
    }

    #[test]
    fn escaped_mount_points_are_understood() {
        let mount = parse_mount("1 2 0:3 / /mnt/my\\040groups rw - cgroup2 none rw").unwrap();
        assert_eq!(mount.point, Path::new("/mnt/my groups"));
    }
}
