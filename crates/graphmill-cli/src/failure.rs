//! What is said when something failed: the error's own words, and the flag that would help.
//! The crates below name remedies without knowing the command line; here they get the flag's name. It must not know
//! which verb failed.

use anyhow::Error;
use graphmill::ingest::Setting;
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
    if let Some(ingest::Error::Source { setting: Some(setting), .. }) = error.downcast_ref() {
        return flag(*setting);
    }
    match disk_error(error)? {
        disk::Error::Exists { .. } => Some("--overwrite replaces it"),
        disk::Error::Budget { .. } => Some("--memory SIZE sets the budget, as in --memory 4GiB"),
        _ => None,
    }
}

/// The flag of an option of a source.
fn flag(setting: Setting) -> Option<&'static str> {
    match setting {
        Setting::Header => Some(
            "--header says that the first line names the columns, --no-header that it is a row",
        ),
        Setting::TextIds => Some(
            "`graphmill build --string-ids` reads ids as words; \
             --header and --no-header say what the first line is",
        ),
        Setting::Endpoints => Some(
            "--src-column and --dst-column name the columns of sources and destinations, \
             by name or by number from 0",
        ),
        Setting::IdColumn => {
            Some("--id-column names the column of ids, by name or by number from 0")
        }
        Setting::BadRows => Some("--on-bad-row skip leaves such rows out and counts them"),
        _ => None,
    }
}

fn disk_error(error: &Error) -> Option<&disk::Error> {
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(ingest::Error::Disk(error)), _) | (_, Some(store::Error::Disk(error))) => Some(error),
        _ => error.downcast_ref(),
    }
}
