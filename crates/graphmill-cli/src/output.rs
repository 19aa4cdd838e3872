//! The standard streams, written so that a reader that goes away is no failure.
//! Verbs compose whole texts and hand them over here. It must not know what they say.

use std::io::{self, ErrorKind, Write};

/// Writes a text to stdout; a closed pipe (`graphmill inspect ... | head -1`) is fine, a full disk is not.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr, if anybody is there to read it.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
