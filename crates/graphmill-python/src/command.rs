//! The command line, for the script that `pip` installs.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `graphmill` with these arguments, the program's name first, and returns its exit code.
///
/// Takes over SIGINT and SIGTERM: only for a process that exists to run the command.
#[pyfunction]
pub fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| graphmill_cli::run_as_process(arguments))
}
