//! The real binary, run as a user runs it.

mod bench;
mod build;
mod convert;
mod estimate;
mod generate;
mod inspect;
#[cfg(unix)]
mod interrupt;
#[cfg(unix)]
mod kills;
mod sample;
mod shell;
mod usage;
mod verify;
mod walk;
