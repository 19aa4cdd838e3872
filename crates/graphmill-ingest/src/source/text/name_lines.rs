//! Lines into edges whose ids are words.
//! Every line takes the careful way: its ids are unquoted and otherwise kept exactly, and must be
//! text of a reasonable length. The lines of numbers share the rules for weights, times and faults
//! with these. It must not know files.

use super::edge_lines::{Edge, EdgeLines, Parsed};
use super::fault::Fault;
use super::fields::{Fields, is_skipped, trim, without_return};
use crate::source::chunk::EdgeChunk;
use crate::source::names::name;

impl EdgeLines {
    /// Adds the edges of the lines in `text[..end]` to the chunk, as names.
    pub(super) fn parse_names(
        &self,
        text: &[u8],
        end: usize,
        chunk: &mut EdgeChunk,
        parsed: &mut Parsed,
    ) {
        let lines = memchr::memchr_iter(b'\n', &text[..end]).count();
        chunk.reserve_names(lines, end, &self.columns);
        let mut at = 0;
        while at < end {
            let length = memchr::memchr(b'\n', &text[at..end]).unwrap_or(end - at);
            let line = without_return(&text[at..at + length]);
            if !is_skipped(line) {
                let before = chunk.destination_names.len();
                match self.named_edge(line, chunk) {
                    Ok(edge) => {
                        self.push_values(&edge, chunk);
                        parsed.rows += 1;
                    }
                    Err(fault) => {
                        chunk.source_names.truncate(before);
                        chunk.destination_names.truncate(before);
                        if parsed.bad_row(fault, self.on_bad_row) {
                            return;
                        }
                    }
                }
            } else if self.may_hide_a_row(line)
                && parsed.bad_row(Fault::comment(line), self.on_bad_row)
            {
                return;
            }
            parsed.lines += 1;
            at += length + 1;
        }
    }

    /// Adds the names of one line's edge and gives its values.
    fn named_edge(&self, line: &[u8], chunk: &mut EdgeChunk) -> Result<Edge, Fault> {
        let columns = &self.columns;
        let mut edge = Edge::default();
        let mut count = 0;
        for field in Fields::exact(line, self.delimiter) {
            let field = field.map_err(|_| Fault::bad_quote(count))?;
            let ends = [
                (columns.source, &mut chunk.source_names),
                (columns.destination, &mut chunk.destination_names),
            ];
            for (column, names) in ends {
                if column == count {
                    names.push(name(&field).map_err(|why| Fault::name(count, why))?);
                }
            }
            let text = trim(&field);
            self.value(count, text, &mut edge)
                .map_err(|(why, wanted)| Fault::field(count, text, why, wanted))?;
            count += 1;
        }
        if count < columns.needed() {
            return Err(Fault::ragged(count, format!("at least {}", columns.needed())));
        }
        Ok(edge)
    }
}
