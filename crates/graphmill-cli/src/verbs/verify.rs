//! `graphmill verify`: reads every byte and names every fault.
//! The store does the reading; here its report becomes lines or JSON. The exit code is 1 when there are faults.

use super::Outcome;
use crate::counts::counted;
use crate::output;
use crate::progress_bar::Spinner;
use clap::Args;
use graphmill::disk::format_size;
use graphmill::store::verify::{Fault, Report, verify};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const AFTER_HELP: &str = "\
Exit code: 0 when everything is sound, 1 when there are faults or the files cannot be read.

JSON keys: path, sound, files, files_without_digests, bytes, seconds, gigabytes_per_second, faults
(each with path, place, first_byte and last_byte or null, problem), unlisted_faults.

Example:
  graphmill verify papers/";

/// Check every byte of a .gl, a .gd, a GraphZero file or a dataset, and name every fault
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Flags {
    /// The file or dataset folder
    path: PathBuf,
    /// Print one JSON object instead of lines
    #[arg(long)]
    json: bool,
    /// Print faults only
    #[arg(long, short)]
    quiet: bool,
}

pub fn run(flags: &Flags) -> anyhow::Result<Outcome> {
    super::inspect::check_is_dataset_or_file(&flags.path)?;
    let spinner = Spinner::new(flags.quiet, format!("reading {}", flags.path.display()));
    let start = Instant::now();
    let report = verify(&flags.path)?;
    let elapsed = start.elapsed();
    drop(spinner);
    output::print(&if flags.json {
        as_json(flags, &report, elapsed)
    } else {
        as_text(&report, elapsed, flags.quiet)
    })?;
    if report.is_sound() {
        return Ok(Outcome::Fine);
    }
    let faults = counted(report.faults.len() as u64 + report.unlisted, "fault", "faults");
    output::complain(&format!("error: {} has {faults}", flags.path.display()));
    Ok(Outcome::FaultsFound)
}

fn as_text(report: &Report, elapsed: Duration, quiet: bool) -> String {
    let mut text = String::new();
    for fault in &report.faults {
        let _ = writeln!(text, "{fault}");
    }
    if report.unlisted > 0 {
        let _ = writeln!(text, "and {} not listed", counted(report.unlisted, "fault", "faults"));
    }
    if quiet {
        return text;
    }
    if report.without_digests > 0 {
        let _ = writeln!(
            text,
            "note: {} of GraphZero's layout, without digests: only lengths, offsets and ids could be checked",
            counted(report.without_digests, "file", "files"),
        );
    }
    let _ = writeln!(
        text,
        "{}: {}, {} in {:.2} s ({:.2} GB/s), {}",
        if report.is_sound() { "sound" } else { "damaged" },
        counted(report.files, "file", "files"),
        format_size(report.bytes),
        elapsed.as_secs_f64(),
        gigabytes_per_second(report, elapsed),
        counted(report.faults.len() as u64 + report.unlisted, "fault", "faults"),
    );
    text
}

fn as_json(flags: &Flags, report: &Report, elapsed: Duration) -> String {
    let fault = |fault: &Fault| {
        let place = (!fault.bytes.is_empty()).then_some(&fault.bytes);
        json!({
            "path": fault.path.display().to_string(),
            "place": fault.place,
            "first_byte": place.map(|bytes| bytes.start),
            "last_byte": place.map(|bytes| bytes.end - 1),
            "problem": fault.problem,
        })
    };
    let object = json!({
        "path": flags.path.display().to_string(),
        "sound": report.is_sound(),
        "files": report.files,
        "files_without_digests": report.without_digests,
        "bytes": report.bytes,
        "seconds": elapsed.as_secs_f64(),
        "gigabytes_per_second": gigabytes_per_second(report, elapsed),
        "faults": report.faults.iter().map(fault).collect::<Vec<_>>(),
        "unlisted_faults": report.unlisted,
    });
    format!("{object:#}\n")
}

fn gigabytes_per_second(report: &Report, elapsed: Duration) -> f64 {
    // A clock that did not move would make the speed infinite, which JSON cannot say.
    report.bytes as f64 / 1e9 / elapsed.as_secs_f64().max(1e-9)
}
