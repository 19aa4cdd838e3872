//! Lines into edges.
//! Most lines are two plain numbers and take the fast way; whatever is not certain there is read
//! again by the careful way, so that both give the same edges and the same faults. It must not
//! know files or which line of a file the block starts with.

use super::digits::digits;
use super::fault::Fault;
use super::fields::{Delimiter, Fields, is_doubtful_comment, is_skipped, without_return};
use super::number::{self, Unfit};
use super::plain_lines::PlainLines;
use crate::source::chunk::EdgeChunk;
use crate::source::options::OnBadRow;

/// Faults of one block that are kept.
pub(crate) const KEPT_FAULTS: usize = 10;

/// Which columns hold what, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EdgeColumns {
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) weight: Option<usize>,
    pub(crate) time: Option<usize>,
}

impl EdgeColumns {
    /// Fields that a row must have at least.
    pub(crate) fn needed(&self) -> usize {
        let ends = [self.source, self.destination];
        let values = [self.weight, self.time];
        ends.into_iter().chain(values.into_iter().flatten()).max().unwrap_or(0) + 1
    }

    fn are_first(&self) -> bool {
        (self.source, self.destination) == (0, 1)
            && self.weight.is_none_or(|column| column > 1)
            && self.time.is_none_or(|column| column > 1)
    }

    fn no_values(&self) -> bool {
        self.weight.is_none() && self.time.is_none()
    }
}

/// What a block of lines came to, beside its rows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parsed {
    /// Rows that were added to the chunk.
    pub(crate) rows: u64,
    /// Lines of the block, of every kind.
    pub(crate) lines: u64,
    /// Rows that were left out.
    pub(crate) skipped: u64,
    /// The first few of them, or the one that ended the reading.
    pub(crate) faults: Vec<Fault>,
    /// Whether the block ended at a fault.
    pub(crate) stopped: bool,
}

impl Parsed {
    /// Notes a bad row; true if the reading ends with it.
    pub(crate) fn bad_row(&mut self, fault: Fault, on_bad_row: OnBadRow) -> bool {
        self.stopped = on_bad_row == OnBadRow::Stop;
        self.skipped += 1;
        if self.faults.len() < KEPT_FAULTS {
            self.faults.push(Fault { line: self.lines, ..fault });
        }
        self.stopped
    }
}

/// Reads the edges of one file's lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeLines {
    pub(crate) delimiter: Delimiter,
    pub(crate) columns: EdgeColumns,
    pub(crate) on_bad_row: OnBadRow,
    /// Whether the fast way may be taken; only tests forbid it.
    pub(crate) fast: bool,
    /// Whether ids are words.
    pub(crate) names: bool,
}

/// An edge and its values, 0 where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Edge {
    source: u64,
    destination: u64,
    weight: f32,
    time: i64,
}

impl EdgeLines {
    /// Adds the edges of the lines in `text[..end]` to the chunk.
    ///
    /// The last line has its line end, and at least 32 bytes of anything follow it in `text`.
    pub(crate) fn parse(
        &self,
        text: &[u8],
        end: usize,
        chunk: &mut EdgeChunk,
        parsed: &mut Parsed,
    ) {
        if self.names {
            return self.parse_names(text, end, chunk, parsed);
        }
        let lines = memchr::memchr_iter(b'\n', &text[..end]).count();
        chunk.reserve(lines, &self.columns);
        let before = chunk.sources.len();
        if !self.fast || !self.columns.are_first() {
            self.parse_carefully(text, end, chunk, parsed);
        } else if self.columns.no_values() {
            self.parse_fast::<false>(text, end, chunk, parsed);
        } else {
            self.parse_fast::<true>(text, end, chunk, parsed);
        }
        parsed.rows += (chunk.sources.len() - before) as u64;
    }

    fn parse_carefully(&self, text: &[u8], end: usize, chunk: &mut EdgeChunk, parsed: &mut Parsed) {
        let mut at = 0;
        while at < end {
            match self.careful_line(text, at, end, chunk, parsed) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    fn parse_fast<const VALUES: bool>(
        &self,
        text: &[u8],
        end: usize,
        chunk: &mut EdgeChunk,
        parsed: &mut Parsed,
    ) {
        let delimiter = self.delimiter.byte();
        let mut run = PlainLines::new();
        let mut at = 0;
        while at < end {
            if !VALUES {
                let (sources, destinations, next) = run.read(text, at, end, delimiter);
                chunk.sources.extend_from_slice(sources);
                chunk.destinations.extend_from_slice(destinations);
                parsed.lines += sources.len() as u64;
                if next > at {
                    at = next;
                    continue;
                }
            }
            if let Some((source, destination, stop)) = two_numbers(text, at, delimiter) {
                let behind = if VALUES {
                    self.values(text, stop, chunk)
                } else {
                    line_end(text, stop, delimiter)
                };
                if let Some(next) = behind {
                    chunk.sources.push(source);
                    chunk.destinations.push(destination);
                    parsed.lines += 1;
                    at = next;
                    continue;
                }
            }
            match self.careful_line(text, at, end, chunk, parsed) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// Reads values that directly follow the two ids, as plain numbers; otherwise as `values`.
    #[inline(always)]
    fn quick_values(&self, text: &[u8], stop: usize, chunk: &mut EdgeChunk) -> Option<usize> {
        let delimiter = self.delimiter.byte();
        let mut edge = Edge::default();
        let mut at = stop;
        for column in 2..self.columns.needed() {
            if *text.get(at)? != delimiter {
                return None;
            }
            at += 1 + usize::from(text.get(at + 1) == Some(&b' '));
            let length = match (self.columns.weight, self.columns.time) {
                (Some(weight), time) if weight == column && time != Some(column) => {
                    let parsed = fast_float2::parse_partial::<f32, _>(text.get(at..)?);
                    let (value, length) = parsed.ok()?;
                    if !(value >= 0.0 && value.is_finite()) {
                        return None;
                    }
                    edge.weight = value + 0.0;
                    length
                }
                (weight, Some(time)) if time == column && weight != Some(column) => {
                    let (value, length) = digits(text, at)?;
                    edge.time = value as i64;
                    length
                }
                _ => return None,
            };
            at += length;
        }
        let next = line_end(text, at, delimiter)?;
        self.push_values(&edge, chunk);
        Some(next)
    }

    /// Reads the values of a line whose second number ended at `stop`; gives where the next line
    /// starts, or None, having added nothing, if the careful way must decide.
    fn values(&self, text: &[u8], stop: usize, chunk: &mut EdgeChunk) -> Option<usize> {
        if let Some(next) = self.quick_values(text, stop, chunk) {
            return Some(next);
        }
        let separated = match text[stop] {
            b'\t' => matches!(self.delimiter, Delimiter::Tab | Delimiter::Blanks),
            byte => byte == self.delimiter.byte(),
        };
        if !separated {
            return None;
        }
        let end = stop + memchr::memchr2(b'\n', b'"', &text[stop..])?;
        if text[end] == b'"' {
            return None;
        }
        let mut edge = Edge::default();
        let mut column = 2;
        for field in Fields::new(without_return(&text[stop + 1..end]), self.delimiter) {
            self.value(column, &field.ok()?, &mut edge).ok()?;
            column += 1;
        }
        if column < self.columns.needed() {
            return None;
        }
        self.push_values(&edge, chunk);
        Some(end + 1)
    }

    /// Reads one line by the careful way; gives where the next one starts, or None to stop.
    fn careful_line(
        &self,
        text: &[u8],
        at: usize,
        end: usize,
        chunk: &mut EdgeChunk,
        parsed: &mut Parsed,
    ) -> Option<usize> {
        let length = memchr::memchr(b'\n', &text[at..end]).unwrap_or(end - at);
        let line = without_return(&text[at..at + length]);
        if !is_skipped(line) {
            match self.edge(line) {
                Ok(edge) => {
                    chunk.sources.push(edge.source);
                    chunk.destinations.push(edge.destination);
                    self.push_values(&edge, chunk);
                }
                Err(fault) => {
                    if parsed.bad_row(fault, self.on_bad_row) {
                        return None;
                    }
                }
            }
        } else if self.may_hide_a_row(line) && parsed.bad_row(Fault::comment(line), self.on_bad_row)
        {
            return None;
        }
        parsed.lines += 1;
        Some(at + length + 1)
    }

    /// Whether a line that looks like a comment may be an edge: its first field may be a word, and
    /// it has the fields of an edge.
    #[cold]
    pub(super) fn may_hide_a_row(&self, line: &[u8]) -> bool {
        let EdgeColumns { source, destination, weight, time } = self.columns;
        let is_number = source == 0 || destination == 0 || weight == Some(0) || time == Some(0);
        (self.names || !is_number)
            && is_doubtful_comment(line)
            && Fields::new(line, self.delimiter).nth(self.columns.needed() - 1).is_some()
    }

    fn edge(&self, line: &[u8]) -> Result<Edge, Fault> {
        let columns = &self.columns;
        let mut edge = Edge::default();
        let mut count = 0;
        for field in Fields::new(line, self.delimiter) {
            let field = field.map_err(|_| Fault::bad_quote(count))?;
            let text = super::fields::trim(&field);
            let id = || number::id(text).map_err(|why| Fault::id(count, text, why));
            if count == columns.source {
                edge.source = id()?;
            }
            if count == columns.destination {
                edge.destination = id()?;
            }
            self.value(count, text, &mut edge)
                .map_err(|(why, wanted)| Fault::field(count, text, why, wanted))?;
            count += 1;
        }
        if count < columns.needed() {
            return Err(Fault::ragged(count, format!("at least {}", columns.needed())));
        }
        Ok(edge)
    }

    /// Takes a field as weight or time, if its column is one of these.
    pub(super) fn value(
        &self,
        column: usize,
        text: &[u8],
        edge: &mut Edge,
    ) -> Result<(), (Unfit, &'static str)> {
        if self.columns.weight == Some(column) {
            edge.weight = number::weight(text)
                .map_err(|why| (why, "a weight: a finite number of at least 0"))?;
        }
        if self.columns.time == Some(column) {
            edge.time = number::signed(text)
                .map_err(|why| (why, "a time: a whole number from -2^63 to 2^63 - 1"))?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn push_values(&self, edge: &Edge, chunk: &mut EdgeChunk) {
        if self.columns.weight.is_some()
            && let Some(weights) = &mut chunk.weights
        {
            weights.push(edge.weight);
        }
        if self.columns.time.is_some()
            && let Some(times) = &mut chunk.times
        {
            times.push(edge.time);
        }
    }
}

/// Two plain numbers with the delimiter and at most one space between, and where the second ends.
#[inline(always)]
fn two_numbers(text: &[u8], at: usize, delimiter: u8) -> Option<(u64, u64, usize)> {
    let (source, length) = digits(text, at)?;
    let between = at + length;
    if *text.get(between)? != delimiter {
        return None;
    }
    let second = between + 1 + usize::from(text.get(between + 1) == Some(&b' '));
    let (destination, length) = digits(text, second)?;
    Some((source, destination, second + length))
}

/// Where the next line starts if nothing but ignored columns lies before it.
#[inline(always)]
fn line_end(text: &[u8], stop: usize, delimiter: u8) -> Option<usize> {
    match *text.get(stop)? {
        b'\n' => Some(stop + 1),
        b'\r' if text.get(stop + 1) == Some(&b'\n') => Some(stop + 2),
        byte if byte == delimiter => ignored(text, stop),
        _ => None,
    }
}

/// The same behind a delimiter; a quote could hide a line end, so the careful way looks at those.
#[inline(never)]
fn ignored(text: &[u8], stop: usize) -> Option<usize> {
    let end = stop + memchr::memchr2(b'\n', b'"', &text[stop..])?;
    (text[end] == b'\n').then_some(end + 1)
}

#[cfg(test)]
mod tests;
