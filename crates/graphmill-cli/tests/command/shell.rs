//! A folder to run the command in, and snapshots of what it says.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// An empty folder in which commands run.
pub struct Shell {
    folder: TempDir,
}

/// What a command left on its streams, with its exit code in front: what snapshots hold.
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Shell {
    pub fn new() -> Self {
        Shell { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The command with its arguments written as in a shell, without quotes.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_graphmill"));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        // Help is wrapped to the terminal's width, and there is none here.
        command.env_remove("COLUMNS").env("NO_COLOR", "1");
        command
    }

    pub fn run(&self, arguments: &str) -> Said {
        let output = self.command(arguments).output().unwrap();
        Said {
            code: output.status.code().expect("not killed"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs what a test needs and does not itself test.
    pub fn prepare(&self, arguments: &str) {
        let said = self.run(arguments);
        assert_eq!(said.code, 0, "{arguments}: {said}");
    }

    /// Every file and folder below, hidden ones included.
    pub fn everything(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.clone());
                if path.is_dir() {
                    walk(&path, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.folder.path(), &mut found);
        found.sort();
        found
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(formatter, "exit code {}", self.code)?;
        for (stream, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(formatter, "--- {stream}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// Compares with the snapshot of this name; what differs from run to run and machine to machine is masked.
pub fn check(name: &str, said: &Said) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"\b\d+\.\d+ s\b", "[time] s");
    settings.add_filter(r"\(\d+\.\d+ GB/s\)", "([speed] GB/s)");
    settings.add_filter(
        r#""(seconds|(gigabytes|steps|walks)_per_second)": [0-9.e+-]+"#,
        "\"$1\": [measured]",
    );
    settings.add_filter(r"\b[\d,]+ (steps|walks)/s", "[speed] $1/s");
    settings.add_filter(r#""cached": ([0-9.]+|null)"#, "\"cached\": [share]");
    settings.add_filter(r"in page cache +(\d+%|unknown)", "in page cache  [share]");
    settings.add_filter(r"(\d+%|unknown) cached", "[share] cached");
    settings.add_filter(r"at most \d+(\.\d+)? [KMGT]?i?B of", "at most [peak] of");
    settings.add_filter(
        r"\d+(\.\d+)? [KMGT]?i?B resident at most, \d+(\.\d+)? [KMGT]?i?B of",
        "[peak] resident at most, [peak] of",
    );
    settings.add_filter(r"(in \[time\] s): .*", "$1: [stages]");
    settings.add_filter(r"graphmill \d+\.\d+\.\d+", "graphmill [version]");
    // The words of the operating system.
    settings.add_filter(r"[^:`]+ \(os error \d+\)", " [reason]");
    settings.bind(|| insta::assert_snapshot!(name, said.to_string()));
}
