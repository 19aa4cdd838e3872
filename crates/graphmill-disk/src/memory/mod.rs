//! How much memory there is, and how much of it this process uses.
//! The default budget comes from here, and so do the numbers that reports show beside it. It only
//! reads what the system tells; it must not know what graphmill does with the memory.

#[cfg(any(target_os = "linux", test))]
mod cgroup;

#[cfg(target_os = "linux")]
use std::path::Path;

/// What is assumed where the system cannot be asked.
const FALLBACK: u64 = 8 << 30;

/// Bytes of memory this process may hope for: the smaller of the machine's RAM and the limits of
/// its control groups (v1 and v2, with all their ancestors).
///
/// On systems other than Linux and Unix relatives with `sysconf`, this is 8 GiB, a guess.
pub fn machine_memory() -> u64 {
    let installed = installed_memory().unwrap_or(FALLBACK);
    group_limit().map_or(installed, |limit| limit.min(installed))
}

/// The budget when none is given: a quarter of [`machine_memory`].
pub fn default_budget() -> u64 {
    machine_memory() / 4
}

/// Bytes of anonymous memory this process has resident (`RssAnon`); None where the system does
/// not tell.
pub fn anonymous_memory() -> Option<u64> {
    process_status("RssAnon")
}

/// The most memory of any kind that this process has had resident so far (`VmHWM`); None where the
/// system does not tell.
pub fn peak_memory() -> Option<u64> {
    process_status("VmHWM")
}

/// Bytes of mapped files this process has resident (`RssFile`); None where the system does not
/// tell.
pub fn file_memory() -> Option<u64> {
    process_status("RssFile")
}

/// Bytes of RAM of the machine; None where the system does not tell.
#[cfg(target_os = "linux")]
pub fn installed_memory() -> Option<u64> {
    kibibytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")
}

/// Bytes of RAM of the machine; None where the system does not tell.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn installed_memory() -> Option<u64> {
    // SAFETY: sysconf takes no pointers and has no preconditions.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u64::try_from(pages).ok()?.checked_mul(rustix::param::page_size() as u64)
}

/// Always None: nobody is asked.
#[cfg(not(unix))]
pub fn installed_memory() -> Option<u64> {
    None
}

/// The lowest memory limit of this process' control groups; None if they have none.
#[cfg(target_os = "linux")]
pub fn group_limit() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let mounts = read(Path::new("/proc/self/mountinfo"))?;
    cgroup::lowest_limit(&groups, &mounts, &read)
}

/// Always None: control groups are Linux's.
#[cfg(not(target_os = "linux"))]
pub fn group_limit() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn process_status(field: &str) -> Option<u64> {
    kibibytes(&std::fs::read_to_string("/proc/self/status").ok()?, field)
}

#[cfg(not(target_os = "linux"))]
fn process_status(_field: &str) -> Option<u64> {
    None
}

/// The bytes behind a line such as `MemTotal:  16384 kB` of a proc file.
#[cfg(any(target_os = "linux", test))]
fn kibibytes(text: &str, field: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tpython\nVmRSS:\t  1500 kB\nRssAnon:\t    1000 kB\n\
                          RssFile:\t     500 kB\nRssShmem:\t       0 kB\n";

    #[test]
    fn proc_fields_are_found_by_their_whole_name() {
        assert_eq!(kibibytes(STATUS, "RssAnon"), Some(1000 * 1024));
        assert_eq!(kibibytes(STATUS, "RssFile"), Some(500 * 1024));
        assert_eq!(kibibytes(STATUS, "Rss"), None);
        assert_eq!(kibibytes(STATUS, "Name"), None);
        assert_eq!(kibibytes("MemTotal: 99999999999999999999 kB", "MemTotal"), None);
        assert_eq!(kibibytes("", "MemTotal"), None);
    }

    #[test]
    fn the_budget_is_a_quarter_of_the_machine() {
        assert!(machine_memory() > 1 << 20);
        assert_eq!(default_budget(), machine_memory() / 4);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn allocated_memory_shows_up_as_anonymous() {
        // Other tests allocate and free meanwhile, hence only half of it is demanded, and not every time.
        let grows = || {
            let before = anonymous_memory().unwrap();
            let block = std::hint::black_box(vec![1u8; 64 << 20]);
            anonymous_memory().unwrap() >= before + (block.len() as u64) / 2
        };
        assert!((0..20).any(|_| grows()));
        assert!(file_memory().unwrap() > 0);
    }
}
