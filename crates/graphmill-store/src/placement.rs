//! Where users want a topology to be read from.

use std::fmt;
use std::str::FromStr;

/// Where a topology is read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The mapped file, and a copy of a direction in memory once so much of it has been read that the copy pays.
    #[default]
    Auto,
    /// The mapped file; nothing is ever copied.
    Mapped,
    /// A copy in memory, on huge pages.
    Ram,
}

impl Placement {
    /// All of them.
    pub const ALL: [Placement; 3] = [Placement::Auto, Placement::Mapped, Placement::Ram];

    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Auto => "auto",
            Placement::Mapped => "mapped",
            Placement::Ram => "ram",
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|placement| placement.name() == name).ok_or_else(|| {
            format!("residency is {name:?}, expected \"auto\", \"mapped\" or \"ram\"")
        })
    }
}
