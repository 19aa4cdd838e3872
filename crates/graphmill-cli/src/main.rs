//! The command `graphmill`.

use std::process::ExitCode;

// What a budget gets back, the machine gets back.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: graphmill::disk::LargeBlocks = graphmill::disk::LargeBlocks;

fn main() -> ExitCode {
    ExitCode::from(graphmill_cli::run_as_process(std::env::args_os()))
}
