//! How busy the device under a file is, as the system counts it.
//! Whoever reads much looks before and after, and can tell whether the device was the limit. The device may serve others
//! at the same time, who are counted too; nothing here knows what is read.

use std::fs::File;
use std::time::Duration;

/// What a device has done since the system started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceActivity {
    /// Time with at least one request under way.
    pub busy: Duration,
    /// Time that requests took, added up: so many times `busy` as there were requests under way on average.
    pub queued: Duration,
}

impl DeviceActivity {
    /// Asks the system; None where it does not tell, as on systems without `/sys` and for file systems without a device.
    pub fn of(file: &File) -> Option<Self> {
        parse(&statistics(file)?)
    }

    /// What was done between an earlier look and this one.
    pub fn since(self, before: Self) -> Self {
        DeviceActivity {
            busy: self.busy.saturating_sub(before.busy),
            queued: self.queued.saturating_sub(before.queued),
        }
    }
}

#[cfg(target_os = "linux")]
fn statistics(file: &File) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let device = file.metadata().ok()?.dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()
}

#[cfg(not(target_os = "linux"))]
fn statistics(_file: &File) -> Option<String> {
    None
}

/// The tenth number is the time that the device was busy, the eleventh that of all requests, both in milliseconds.
fn parse(statistics: &str) -> Option<DeviceActivity> {
    let mut numbers = statistics.split_ascii_whitespace().skip(9);
    let mut milliseconds = || Some(Duration::from_millis(numbers.next()?.parse().ok()?));
    Some(DeviceActivity { busy: milliseconds()?, queued: milliseconds()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_numbers_are_taken_and_nonsense_is_nothing() {
        let text = "  1 2 3 4 5 6 7 8 9 1500 64000 12 13 14 15 16 17\n";
        let found = parse(text).unwrap();
        assert_eq!((found.busy.as_millis(), found.queued.as_millis()), (1500, 64000));
        let later = parse("1 2 3 4 5 6 7 8 9 1700 64100").unwrap();
        let between = later.since(found);
        assert_eq!((between.busy.as_millis(), between.queued.as_millis()), (200, 100));
        assert_eq!(found.since(later), DeviceActivity::default());
        for text in ["", "1 2 3", "1 2 3 4 5 6 7 8 9 ten 11", "1 2 3 4 5 6 7 8 9 10"] {
            assert_eq!(parse(text), None);
        }
    }
}
