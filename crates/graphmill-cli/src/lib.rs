//! The command `graphmill`, as a library.
//!
//! Arguments come in, texts go to the standard streams and an exit code comes out: 0 when all went well, 1 when
//! something failed (a message on stderr says what), 2 when the command line was wrong. The binary and the script that
//! `pip` installs both end up here; nothing in here ends the process, and all real work is done by the crates below.
#![forbid(unsafe_code)]

mod columns;
mod counts;
mod drawn_nodes;
mod failure;
mod follow;
mod interruption;
mod output;
mod progress_bar;
mod residency;
mod source_flags;
mod storage_flags;
mod topology_flags;
mod verbs;
mod walked_steps;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use interruption::Interruption;
use std::ffi::OsString;
use verbs::{Outcome, Verb};

const FAILED: u8 = 1;

/// Train graph neural networks on graphs that do not fit in memory.
#[derive(Debug, Parser)]
#[command(
    name = "graphmill",
    bin_name = "graphmill",
    version,
    max_term_width = 100,
    after_help = "Example:\n  graphmill generate papers papers/ --nodes 1M && graphmill inspect papers/"
)]
struct CommandLine {
    #[command(subcommand)]
    verb: Verb,
}

/// Runs the command with these arguments, the program's name first, and gives its exit code.
///
/// Installs no signal handlers, so that a host program keeps its own.
///
/// ```
/// assert_eq!(graphmill_cli::run(["graphmill", "--version"].map(Into::into)), 0);
/// assert_eq!(graphmill_cli::run(["graphmill", "mill"].map(Into::into)), 2);
/// ```
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    run_until(arguments, &Interruption::never())
}

/// The same for a process that exists to run this command alone.
///
/// From here on SIGINT (Ctrl-C) and SIGTERM cancel what is being written, which leaves nothing behind; a second one
/// ends the process where it stands, as does the first when nothing is being written.
pub fn run_as_process(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    match Interruption::by_signals() {
        Ok(interruption) => run_until(arguments, &interruption),
        Err(error) => {
            output::complain(&format!("error: cannot listen for Ctrl-C: {error}"));
            FAILED
        }
    }
}

fn run_until(arguments: impl IntoIterator<Item = OsString>, interruption: &Interruption) -> u8 {
    let outcome = CommandLine::try_parse_from(arguments)
        .map_err(|error| anyhow::Error::from(with_swallowed_target(error)))
        .and_then(|line| line.verb.run(interruption));
    match outcome {
        Ok(Outcome::Fine) => 0,
        Ok(Outcome::FaultsFound) => FAILED,
        Err(error) => report(&error),
    }
}

/// Adds where the target of a build has gone: a flag that takes several files takes all names behind it.
fn with_swallowed_target(mut error: clap::Error) -> clap::Error {
    let is_build = |usage: &ContextValue| usage.to_string().contains("graphmill build");
    let has_out = |names: &ContextValue| matches!(names, ContextValue::Strings(names) if names.contains(&"<OUT>".to_owned()));
    let missing = error.kind() == ErrorKind::MissingRequiredArgument
        && error.get(ContextKind::Usage).is_some_and(is_build)
        && error.get(ContextKind::InvalidArg).is_some_and(has_out);
    if missing {
        let tip =
            "write OUT before flags that take several files, which take every name behind them";
        let tips = ContextValue::StyledStrs(vec![tip.to_owned().into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}

/// Tells what went wrong, or shows the help that was asked for, and gives the exit code.
fn report(error: &anyhow::Error) -> u8 {
    let Some(usage) = error.downcast_ref::<clap::Error>() else {
        output::complain(&failure::message(error));
        return FAILED;
    };
    // A reader that has gone away needs neither help nor a complaint.
    let _ = usage.print();
    u8::try_from(usage.exit_code()).unwrap_or(FAILED)
}
