//! Tables as text: one row per node, of numbers or words.
//! Rows become the bytes of the element type that is wanted, in chunks with exact row numbers;
//! cells that do not fit are faults with their place. Without ids every line is a row, blank ones
//! included, because a line that vanished would move all behind it. It must not know which node a
//! row belongs to: ids are handed on as they are.

use std::path::PathBuf;

use graphmill_disk::Budget;
use graphmill_format::ElementType;

use super::cells::{Cells, encode};
use super::chunk::{ReadReport, TableChunk, TableDescription};
use super::names::name;
use super::options::{OnBadRow, TableInputOptions};
use super::text::{
    Delimiter, Dialect, Fault, Fields, Forced, ID_NAMES, Kind, Lines, Parsed, Rule, TextFile,
    TextReading, decimal, digits, is_doubtful_comment, is_skipped, numbers, trim, without_return,
};
use crate::error::Setting;
use crate::progress::Observer;
use crate::{Error, Result};

/// Files of rows as text, one input.
#[derive(Debug)]
pub(crate) struct TextTable {
    files: Vec<TextFile>,
    dialects: Vec<Dialect>,
    lines: Vec<RowLines>,
    description: TableDescription,
    ordered: bool,
}

/// Reads the rows of one file's lines.
#[derive(Clone, Debug)]
struct RowLines {
    delimiter: Delimiter,
    /// Fields of every row.
    fields: usize,
    id: Option<usize>,
    /// Whether ids are words.
    names: bool,
    /// For every field, whether it is a cell; None if all but the id are.
    chosen: Option<Vec<bool>>,
    cells: Cells,
    on_bad_row: OnBadRow,
    /// Whether blank lines are rows too, and comments none; otherwise both are skipped.
    lines_are_rows: bool,
    /// Whether words are handed on exactly as they stand, because they are ids.
    exact: bool,
}

impl TextTable {
    pub(crate) fn open(paths: &[PathBuf], options: &TableInputOptions) -> Result<Self> {
        let rule = match options.list && options.text {
            true => Rule::WordList,
            false => Rule::Table {
                text_ids: options.text_ids,
                id: options.id.as_ref(),
                first_is_id: options.first_is_id,
                cells: options.columns.as_deref().unwrap_or_default(),
            },
        };
        // Only the rows of all files together are known, and only without ids is none left out.
        let by_position = options.id.is_none() && !options.first_is_id && !options.list;
        let rows = options.rows.filter(|_| paths.len() == 1 && by_position);
        let (delimiter, header) = (options.delimiter, options.header);
        let forced = Forced { delimiter, header, rule, rows };
        let budget = options.paying();
        let cells = match options.text {
            true => Cells::Text,
            false => Cells::Numbers {
                element: options.element.unwrap_or(ElementType::F32),
                missing: options.missing,
            },
        };
        let mut files = Vec::new();
        let mut dialects = Vec::new();
        let mut lines: Vec<RowLines> = Vec::new();
        let mut description: Option<TableDescription> = None;
        for path in paths {
            let file = TextFile::open(path)?;
            let mut dialect = Dialect::find(&file, forced, &budget)?;
            if dialect.empty && dialect.has_blanks && by_position {
                // Nothing but blank lines: a column of missing values.
                (dialect.empty, dialect.first) = (false, vec![Kind::Gap]);
            }
            let rows =
                RowLines::of(&dialect, options, cells).map_err(|error| error.in_file(path))?;
            dialect.lines_are_rows = rows.lines_are_rows;
            if !dialect.empty {
                let found = rows.description(&dialect);
                let known = description.get_or_insert_with(|| found.clone());
                if (known.columns, known.has_ids) != (found.columns, found.has_ids) {
                    return Err(disagreement(known, &found).in_file(path));
                }
            }
            files.push(file);
            dialects.push(dialect);
            lines.push(rows);
        }
        let description = description.unwrap_or_else(|| TableDescription {
            columns: 0,
            is_vector: false,
            element: cells.element(),
            has_ids: false,
            rows: Some(0),
            names: None,
            looks_numeric: true,
            looks_missing: false,
            looks_boolean: false,
        });
        Ok(TextTable { files, dialects, lines, description, ordered: options.ordered })
    }

    pub(crate) fn description(&self) -> &TableDescription {
        &self.description
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.file.len()).sum()
    }

    pub(crate) fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let reading = TextReading {
            files: &self.files,
            dialects: &self.dialects,
            budget,
            observer,
            stage: "reading rows",
            ordered: self.ordered,
        };
        reading.run(&AllRows { lines: &self.lines }, consume)
    }
}

fn disagreement(known: &TableDescription, found: &TableDescription) -> Error {
    let says = |table: &TableDescription| {
        let ids = if table.has_ids { "an id" } else { "no id" };
        format!("{ids} and {} columns", table.columns)
    };
    let expected = format!("{}, as in the first file", says(known));
    Error::source("line 1", says(found), expected, "give files of the same columns")
}

struct AllRows<'a> {
    lines: &'a [RowLines],
}

impl Lines for AllRows<'_> {
    type Chunk = TableChunk;

    fn parse(
        &self,
        file: usize,
        text: &[u8],
        end: usize,
        chunk: &mut TableChunk,
        parsed: &mut Parsed,
    ) {
        self.lines[file].parse(text, end, chunk, parsed);
    }

    fn expansion(&self) -> u64 {
        // The shortest cell is a digit and what separates it; a row alone may have an id besides.
        self.lines.first().map_or(8, |lines| {
            let cells = match lines.cells {
                Cells::Numbers { element, .. } => element.width() / 2 + 4,
                Cells::Text => 8,
            };
            // Names may be as long as the text, twice that while they grow.
            cells + 2 * u64::from(lines.names)
        })
    }
}

impl RowLines {
    fn of(dialect: &Dialect, options: &TableInputOptions, cells: Cells) -> Result<Self> {
        let fields = dialect.first.len();
        let unnamed = dialect.names.as_ref().is_some_and(|names| names.get(0) == Some(""));
        if unnamed && options.id.is_none() && options.columns.is_none() && !options.first_is_id {
            let found = "a first column without a name, as an index written by pandas has";
            let remedy = "write with index=False, or say that it holds ids";
            let error = Error::source("header", found, "a name for every column", remedy);
            return Err(error.setting(Setting::IdColumn));
        }
        let named = |name: &&str| {
            let mut names = dialect.names.iter().flat_map(|names| names.iter());
            names.position(|known| known.eq_ignore_ascii_case(name))
        };
        let id = match &options.id {
            Some(column) if !dialect.empty => Some(dialect.place(column)?),
            Some(_) => None,
            None if options.first_is_id => Some(0),
            None if options.positional => None,
            None => ID_NAMES.iter().find_map(named),
        };
        let exists = |place: usize, column: &dyn std::fmt::Debug| {
            if place < fields || dialect.empty {
                return Ok(place);
            }
            let found = format!("{fields} columns");
            let remedy = "columns are counted from 0";
            Err(Error::source("line 1", found, format!("a column {column:?}"), remedy))
        };
        if let Some(id) = id {
            exists(id, &id)?;
        }
        let chosen = match &options.columns {
            Some(columns) if !dialect.empty => {
                let mut chosen = vec![false; fields];
                for column in columns {
                    let place = exists(dialect.place(column)?, column)?;
                    chosen[place] = true;
                }
                Some(chosen)
            }
            _ => None,
        };
        let (delimiter, on_bad_row) =
            (dialect.delimiter, options.on_bad_row.of_table(id.is_some()));
        let names = options.text_ids && id.is_some();
        let lines_are_rows = id.is_none() && !options.list;
        let exact = options.list && options.text;
        Ok(RowLines {
            delimiter,
            fields,
            id,
            names,
            chosen,
            cells,
            on_bad_row,
            lines_are_rows,
            exact,
        })
    }

    fn is_cell(&self, field: usize) -> bool {
        match &self.chosen {
            Some(chosen) => chosen.get(field).copied().unwrap_or(false),
            None => self.id != Some(field),
        }
    }

    fn description(&self, dialect: &Dialect) -> TableDescription {
        let cells = || (0..self.fields).filter(|&field| self.is_cell(field));
        let columns = cells().count() as u64;
        let all = |kinds: &[Kind]| cells().all(|field| kinds.contains(&dialect.first[field]));
        TableDescription {
            columns,
            is_vector: columns == 1,
            element: self.cells.element(),
            has_ids: self.id.is_some(),
            rows: None,
            names: dialect
                .names
                .as_ref()
                .map(|names| cells().map(|field| names.get(field).unwrap_or_default()).collect()),
            looks_numeric: all(&[Kind::Gap, Kind::Number]),
            looks_missing: all(&[Kind::Gap]),
            looks_boolean: columns > 0 && all(&[Kind::Boolean]),
        }
    }

    fn parse(&self, text: &[u8], end: usize, chunk: &mut TableChunk, parsed: &mut Parsed) {
        if self.names {
            chunk.id_names.get_or_insert_default();
        } else if self.id.is_some() {
            chunk.ids.get_or_insert_default();
        }
        // A file of comments alone has rows of no fields, which are no rows.
        let fast = self.fields > 0
            && !self.names
            && self.chosen.is_none()
            && self.id.is_none_or(|id| id == 0);
        let single = fast
            && matches!(self.cells, Cells::Numbers { element: ElementType::F32, missing: None });
        let mut at = 0;
        while at < end {
            if single && let Some(next) = self.fast_line(text, at, end, chunk) {
                chunk.rows += 1;
                parsed.rows += 1;
                parsed.lines += 1;
                at = next;
                continue;
            }
            let length = memchr::memchr(b'\n', &text[at..end]).unwrap_or(end - at);
            let line = without_return(&text[at..at + length]);
            if self.is_row(line) {
                let before = (chunk.bytes.len(), chunk.texts.len());
                match self.row(line, chunk) {
                    Ok(()) => {
                        chunk.rows += 1;
                        parsed.rows += 1;
                    }
                    Err(fault) => {
                        let fault = if self.id.is_some() { fault } else { fault.in_position() };
                        chunk.bytes.truncate(before.0);
                        chunk.texts.truncate(before.1);
                        chunk.ids.iter_mut().for_each(|ids| ids.truncate(chunk.rows));
                        chunk.id_names.iter_mut().for_each(|names| names.truncate(chunk.rows));
                        if parsed.bad_row(fault, self.on_bad_row) {
                            return;
                        }
                    }
                }
            }
            parsed.lines += 1;
            at += length + 1;
        }
    }

    /// Whether a line is a row or a fault, rather than a blank line or a comment.
    fn is_row(&self, line: &[u8]) -> bool {
        // A file of comments and blank lines alone has no rows.
        (self.lines_are_rows && self.fields > 0)
            || !is_skipped(line)
            || (self.exact || self.names || self.id != Some(0))
                && is_doubtful_comment(line)
                && Fields::new(line, self.delimiter).count() == self.fields
    }

    /// A line of plain float32 cells; None, with nothing added, if the careful way must decide.
    fn fast_line(
        &self,
        text: &[u8],
        at: usize,
        end: usize,
        chunk: &mut TableChunk,
    ) -> Option<usize> {
        let delimiter = self.delimiter.byte();
        let bytes = chunk.bytes.len();
        let mut at = at;
        let mut id = 0;
        let mut field = 0;
        if self.id.is_some() {
            let (value, length) = digits(text, at)?;
            if self.fields < 2 || text[at + length] != delimiter {
                return None;
            }
            (id, at, field) = (value, at + length + 1, 1);
        }
        while field < self.fields {
            at += usize::from(text[at] == b' ');
            let (value, length) = match decimal(text, at) {
                Some(plain) => plain,
                None => {
                    let parsed = fast_float2::parse_partial::<f32, _>(&text[at..end]);
                    parsed.unwrap_or((f32::INFINITY, 0))
                }
            };
            at += length;
            field += 1;
            let last = field == self.fields;
            let ends = match text[at] {
                b'\n' => last,
                b'\r' => last && text[at + 1] == b'\n',
                byte => !last && byte == delimiter,
            };
            // Infinity is a word or an overflow: the careful way knows which.
            if !ends || value.is_infinite() {
                chunk.bytes.truncate(bytes);
                return None;
            }
            chunk.bytes.extend_from_slice(&value.to_le_bytes());
            at += 1;
        }
        if let Some(ids) = &mut chunk.ids {
            ids.push(id);
        }
        Some(at + usize::from(text[at - 1] == b'\r'))
    }

    fn row(&self, line: &[u8], chunk: &mut TableChunk) -> std::result::Result<(), Fault> {
        let is_gap = self.fields == 1 && numbers::is_gap(trim(line));
        if is_skipped(line) && !trim(line).is_empty() && !is_gap {
            return Err(Fault::comment(line));
        }
        if trim(line).is_empty() {
            return self.blank_row(chunk);
        }
        let mut count = 0;
        for field in Fields::exact(line, self.delimiter) {
            let field = field.map_err(|_| Fault::bad_quote(count))?;
            let text = trim(&field);
            if self.id == Some(count) && self.names {
                let name = name(&field).map_err(|why| Fault::name(count, why))?;
                chunk.id_names.get_or_insert_default().push(name);
            } else if self.id == Some(count) {
                let id = numbers::id(text).map_err(|why| Fault::id(count, text, why))?;
                chunk.ids.get_or_insert_default().push(id);
            }
            if self.is_cell(count) && count < self.fields {
                self.cell(count, &field, chunk)?;
            }
            count += 1;
        }
        if count != self.fields {
            return Err(Fault::ragged(count, format!("{}, as in the first row", self.fields)));
        }
        Ok(())
    }

    /// Adds a cell, which has its blanks still.
    fn cell(
        &self,
        column: usize,
        field: &[u8],
        chunk: &mut TableChunk,
    ) -> std::result::Result<(), Fault> {
        let text = trim(field);
        match self.cells {
            Cells::Text if !self.exact && numbers::is_gap(text) => chunk.texts.push(""),
            Cells::Text => match std::str::from_utf8(field) {
                Ok(text) => chunk.texts.push(text),
                Err(_) => return Err(Fault::not_utf8(column, text)),
            },
            Cells::Numbers { element, missing } => {
                encode(element, missing, text, &mut chunk.bytes)
                    .map_err(|why| Fault::field(column, text, why, self.cells.wanted()))?;
            }
        }
        Ok(())
    }

    /// A blank line, all of whose cells are empty.
    fn blank_row(&self, chunk: &mut TableChunk) -> std::result::Result<(), Fault> {
        (0..self.fields).filter(|&field| self.is_cell(field)).try_for_each(|field| {
            self.cell(field, b"", chunk).map_err(|fault| Fault {
                column: None,
                found: "a blank line".to_owned(),
                ..fault
            })
        })
    }
}
