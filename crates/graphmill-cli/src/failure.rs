//! What is said when something failed: the error's own words, and the flag that would help.
//! The crates below name remedies without knowing the command line; here they get the flag's name. It must not know
//! which verb failed.

use anyhow::Error;
use graphmill::{disk, ingest, store};

/// The text for stderr, without a line end.
pub fn message(error: &Error) -> String {
    // Messages of the crates below contain those of their sources, so the chain would only repeat itself.
    match remedy(error) {
        Some(remedy) => format!("error: {error}\n  tip: {remedy}"),
        None => format!("error: {error}"),
    }
}

fn remedy(error: &Error) -> Option<&'static str> {
    match disk_error(error)? {
        disk::Error::Exists { .. } => Some("--overwrite replaces it"),
        disk::Error::Budget { .. } => Some("--memory SIZE sets the budget, as in --memory 4GiB"),
        _ => None,
    }
}

fn disk_error(error: &Error) -> Option<&disk::Error> {
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(ingest::Error::Disk(error)), _) | (_, Some(store::Error::Disk(error))) => Some(error),
        _ => error.downcast_ref(),
    }
}
