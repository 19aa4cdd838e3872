//! Runs of the plainest lines: two numbers of at most eight digits, a delimiter, a line end.
//! Nearly every line of nearly every file is one, so this loop is kept small enough for registers
//! and stops at the first line that is anything else. It must not judge: what it stops at may be
//! a fault or an edge.

use super::digits::short_digits;

/// Lines of one run at most.
const RUN: usize = 256;
/// Bytes of a line that are looked at: two numbers of eight digits and what stands around them.
const WINDOW: usize = 32;

/// Edges of a run, kept close until they are many.
pub(super) struct PlainLines {
    sources: [u64; RUN],
    destinations: [u64; RUN],
}

impl PlainLines {
    pub(super) fn new() -> Self {
        PlainLines { sources: [0; RUN], destinations: [0; RUN] }
    }

    /// Reads lines from `at` on; gives the ids of their ends, and where the next line starts.
    ///
    /// Stops at `end`, after a full run, and at any line that is not plain.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        text: &[u8],
        mut at: usize,
        end: usize,
        delimiter: u8,
    ) -> (&[u64], &[u64], usize) {
        let mut count = 0;
        for (source, destination) in self.sources.iter_mut().zip(&mut self.destinations) {
            if at >= end {
                break;
            }
            let Some(window) = text[at..].first_chunk::<WINDOW>() else { break };
            let Some(length) = line(window, delimiter, source, destination) else { break };
            at += length;
            count += 1;
        }
        (&self.sources[..count], &self.destinations[..count], at)
    }
}

/// Reads one line and gives its length with its end; None, with nothing written, if not plain.
#[inline(always)]
fn line(
    window: &[u8; WINDOW],
    delimiter: u8,
    source: &mut u64,
    destination: &mut u64,
) -> Option<usize> {
    let (first, length) = short_digits(window.first_chunk()?)?;
    if window[length] != delimiter {
        return None;
    }
    let second = length + 1;
    let (last, length) = short_digits(window[second..].first_chunk()?)?;
    if window[second + length] != b'\n' {
        return None;
    }
    *source = first;
    *destination = last;
    Some(second + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_stops_at_the_first_line_that_is_not_plain() {
        for (odd, lines) in [
            ("", 3),
            ("123456789,1\n", 3),
            ("1, 2\n", 3),
            ("1,2\r\n", 3),
            ("1;2\n", 3),
            ("x\n", 3),
            ("\n", 3),
        ] {
            let plain = "1,2\n12345678,00000009\n0,7\n";
            let mut text = format!("{plain}{odd}").into_bytes();
            let end = text.len();
            text.extend([b'7'; 64]);
            let mut run = PlainLines::new();
            let (sources, destinations, at) = run.read(&text, 0, end, b',');
            assert_eq!((sources.len(), at), (lines, plain.len()), "{odd:?}");
            assert_eq!((sources, destinations), (&[1, 12_345_678, 0][..], &[2, 9, 7][..]));
        }
    }
}
