//! The command `graphmill`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(graphmill_cli::run_as_process(std::env::args_os()))
}
