//! The verbs of the command, one file each.
//! A verb's file holds its flags, which clap fills, and what is done with them; flags that need more than a look become
//! settings first. Verbs know nothing of each other.

mod bench;
mod build;
mod convert;
mod estimate;
mod generate;
mod inspect;
mod reorder;
mod sample;
mod verify;
mod walk;

use crate::interruption::Interruption;
use anyhow::bail;
use clap::error::ErrorKind;
use clap::{CommandFactory, Subcommand};
use graphmill::disk::Budget;
use graphmill::format::manifest;
use graphmill::store::{Dataset, Graph};
use std::path::Path;

/// What the command can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    Build(build::Flags),
    Inspect(inspect::Flags),
    Estimate(estimate::Flags),
    Verify(verify::Flags),
    Generate(generate::Flags),
    Convert(convert::Flags),
    Reorder(reorder::Flags),
    Sample(sample::Flags),
    Walk(walk::Flags),
    Bench(bench::Flags),
}

/// How a verb ended that did what it was asked to.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Fine,
    /// The work was done, and what it found is not well.
    FaultsFound,
}

impl Verb {
    /// Does it.
    pub fn run(self, interruption: &Interruption) -> anyhow::Result<Outcome> {
        match self {
            Verb::Build(flags) => build::run(&flags, interruption),
            Verb::Inspect(flags) => inspect::run(&flags),
            Verb::Estimate(flags) => estimate::run(&flags),
            Verb::Verify(flags) => verify::run(&flags),
            Verb::Generate(flags) => generate::run(&flags, interruption),
            Verb::Convert(flags) => convert::run(&flags, interruption),
            Verb::Reorder(flags) => reorder::run(&flags, interruption),
            Verb::Sample(flags) => sample::run(&flags),
            Verb::Walk(flags) => walk::run(&flags),
            Verb::Bench(flags) => bench::run(&flags, interruption),
        }
    }
}

/// Refuses a file in a folder that is not there, before any work is done.
fn check_folder_of(target: &Path) -> anyhow::Result<()> {
    match target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if !folder.is_dir() => bail!(
            "cannot write `{}`: `{}` is not a folder; create it first or choose another place",
            target.display(),
            folder.display()
        ),
        _ => Ok(()),
    }
}

/// Opens the topology of a dataset, or a lone one.
fn open_graph(path: &Path, budget: &Budget) -> anyhow::Result<Graph> {
    if !path.exists() {
        bail!("`{}` does not exist: give a .gl or a dataset folder", path.display());
    }
    if !path.is_dir() {
        return Ok(Graph::open(path)?);
    }
    if !path.join(manifest::FILE_NAME).exists() {
        bail!(
            "`{}` is a folder without {}, so it is no dataset: give the dataset's own folder, or a .gl",
            path.display(),
            manifest::FILE_NAME
        );
    }
    Ok(Dataset::open(path, budget.clone())?.graph().clone())
}

/// A mistake in the command line that clap cannot see by itself.
fn usage(verb: &str, problem: impl std::fmt::Display) -> clap::Error {
    let mut command = super::CommandLine::command();
    command.build();
    let command = command.find_subcommand_mut(verb).expect("verbs name themselves");
    command.error(ErrorKind::ValueValidation, problem)
}
