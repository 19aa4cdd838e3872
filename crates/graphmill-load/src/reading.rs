//! How a user wants rows to be read.
//! Options and handles carry it; [`Rows`](crate::Rows) turns it into the backends of the disk. It changes how fast
//! rows come and never which.

use crate::{Error, Result};
use graphmill_disk::Backend;
use std::fmt;
use std::str::FromStr;

/// A way to read rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reading {
    /// What is in the page cache from there, everything else with deep queues.
    #[default]
    Auto,
    /// From a memory map: best when the data fits into the page cache.
    Mapped,
    /// By positioned reads: works everywhere.
    Pread,
    /// By io_uring, past the page cache; by positioned reads where the system does not allow it.
    Ring,
}

impl Reading {
    /// Every way, so that tests and messages cannot forget one.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Mapped, Self::Pread, Self::Ring];

    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Mapped => "mapped",
            Self::Pread => "pread",
            Self::Ring => "ring",
        }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Reading {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let named = |reading: &Self| reading.name() == name;
        let unknown = || Error::UnknownReading { name: name.to_owned() };
        Self::ALL.into_iter().find(named).ok_or_else(unknown)
    }
}

impl From<Backend> for Reading {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Mapped => Self::Mapped,
            Backend::Pread => Self::Pread,
            _ => Self::Ring,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_others_are_refused() {
        for reading in Reading::ALL {
            assert_eq!(reading.to_string().parse::<Reading>().unwrap(), reading);
        }
        let error = "floppy".parse::<Reading>().unwrap_err().to_string();
        assert!(error.contains("floppy") && error.contains("ring"), "{error}");
    }
}
