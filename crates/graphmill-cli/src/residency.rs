//! The flag `--residency`, as every verb that samples has it.

use clap::ValueEnum;
use graphmill::store::Placement;

/// Where the topology is read from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ResidencyName {
    Auto,
    Mapped,
    Ram,
}

impl From<ResidencyName> for Placement {
    fn from(name: ResidencyName) -> Self {
        match name {
            ResidencyName::Auto => Placement::Auto,
            ResidencyName::Mapped => Placement::Mapped,
            ResidencyName::Ram => Placement::Ram,
        }
    }
}
