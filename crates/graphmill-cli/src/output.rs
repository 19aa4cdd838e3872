//! The standard streams, written so that a reader that goes away is no failure.
//! Verbs compose whole texts and hand them over here. It must not know what they say.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind, Write};

/// Writes a text to stdout; a closed pipe (`graphmill inspect ... | head -1`) is fine, a full disk is not.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(plain(text).as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr, if anybody is there to read it.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(line));
}

/// The text with everything escaped that a terminal may act upon: names in it come from files, which may be hostile. Escapes are
/// those of JSON, in which texts come too.
fn plain(text: &str) -> Cow<'_, str> {
    let acts = |letter: char| {
        let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (letter.is_control() && !matches!(letter, '\n' | '\t')) || turns
    };
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if acts(letter) {
            let _ =
                fmt::Write::write_fmt(&mut escaped, format_args!("\\u{:04x}", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_get_no_orders_from_files() {
        assert_eq!(
            plain("a\tb\n\u{1b}[2J\u{9b}\u{202e}\r\u{e4}"),
            "a\tb\n\\u001b[2J\\u009b\\u202e\\u000d\u{e4}"
        );
        assert!(matches!(plain("plain\n"), Cow::Borrowed(_)));
    }
}
