//! Whether a first line names its columns.
//! Names that are known or asked for make a header, and so does a word above numbers; a value that
//! occurs again below makes a row. What is left is doubtful, because a wrong guess makes a row of a
//! header or loses a row. The dialect of a file asks here unless the user has said it. It must not
//! know delimiters but to split lines.

use super::fields::{Delimiter, Fields, trim};
use super::number::{is_boolean, is_gap, is_number};
use crate::source::chunk::TextCells;
use crate::source::endpoints::{endpoints, is_name_of_ids, name_both};
use crate::source::options::Column;

/// Names that make a column of a table the one of ids.
pub(crate) const ID_NAMES: [&str; 2] = ["id", "node_id"];
/// Names under which words that stand alone are classes.
const CLASS_NAMES: [&str; 8] =
    ["label", "labels", "class", "classes", "category", "kind", "type", "y"];
/// Words that stand for a missing value somewhere, and are no names of columns.
const NO_NAMES: [&str; 6] = ["none", "nil", "nat", "missing", "unknown", "."];
/// Columns that are compared with the lines below.
const COMPARED: usize = 64;

/// What the first line of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstLine {
    Header,
    Row,
    Doubtful,
}

/// What the lines of a file are, so far as it decides about headers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule<'a> {
    /// Edges, whose endpoints and other columns are these where the caller names them.
    Edges { text_ids: bool, ends: [Option<&'a Column>; 2], others: [Option<&'a Column>; 2] },
    /// Rows of a table: the columns that the caller names, of ids and of cells.
    Table {
        text_ids: bool,
        id: Option<&'a Column>,
        /// The first column is the id, whatever it is called.
        first_is_id: bool,
        cells: &'a [Column],
    },
    /// A column of words that are ids of nodes.
    WordList,
}

impl Rule<'_> {
    /// Whether rows may have one column, and words in it.
    pub(super) fn is_table(&self) -> bool {
        !matches!(self, Rule::Edges { .. })
    }

    /// Whether lines begin with words as well as with numbers.
    pub(super) fn has_text_ids(&self) -> bool {
        match self {
            Rule::Edges { text_ids, .. } | Rule::Table { text_ids, .. } => *text_ids,
            Rule::WordList => false,
        }
    }

    /// The names that the caller expects in a header.
    fn asked(&self) -> impl Iterator<Item = &str> {
        let (columns, cells): (Vec<Option<&Column>>, &[Column]) = match self {
            Rule::Edges { ends, others, .. } => ([*ends, *others].concat(), &[]),
            Rule::Table { id, cells, .. } => (vec![*id], cells),
            Rule::WordList => (Vec::new(), &[]),
        };
        columns.into_iter().flatten().chain(cells).filter_map(|column| match column {
            Column::Name(name) => Some(&name[..]),
            Column::Index(_) => None,
        })
    }
}

/// The first line and those below it.
pub(super) struct Sample<'a> {
    first: &'a TextCells,
    below: &'a [(u64, &'a [u8])],
    delimiter: Delimiter,
    columns: Vec<Below>,
}

/// What lies below a field of the first line.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    values: bool,
    words: bool,
    /// Whether the field itself occurs again.
    recurs: bool,
}

impl<'a> Sample<'a> {
    pub(super) fn new(
        first: &'a TextCells,
        below: &'a [(u64, &'a [u8])],
        delimiter: Delimiter,
    ) -> Self {
        let mut columns = vec![Below::default(); first.len().min(COMPARED)];
        for (_, line) in below {
            let fields = Fields::new(line, delimiter);
            for (at, (below, field)) in columns.iter_mut().zip(fields).enumerate() {
                let Ok(field) = field else { break };
                let text = trim(&field);
                let value = is_value(text);
                below.values |= value;
                below.words |= !value && !is_gap(text);
                below.recurs |= first.get(at).is_some_and(|first| first.as_bytes() == text);
            }
        }
        Sample { first, below, delimiter, columns }
    }

    fn has_rows(&self) -> bool {
        !self.below.is_empty()
    }

    fn field(&self, column: usize) -> &'a str {
        self.first.get(column).unwrap_or("")
    }

    fn below(&self, column: usize) -> Below {
        self.columns.get(column).copied().unwrap_or_default()
    }

    fn is_value(&self, column: usize) -> bool {
        is_value(self.field(column).as_bytes())
    }

    /// Whether a field may be the name of a column.
    fn may_name(&self, column: usize) -> bool {
        let field = self.field(column);
        let is_none = NO_NAMES.iter().any(|none| field.eq_ignore_ascii_case(none));
        !is_value(field.as_bytes()) && !is_gap(field.as_bytes()) && !is_none
    }

    /// Whether a column has a word above, and below nothing but numbers.
    fn is_word_over_values(&self, column: usize) -> bool {
        let below = self.below(column);
        self.may_name(column) && below.values && !below.words
    }

    fn calls_any<'n>(&self, names: impl Iterator<Item = &'n str>) -> bool {
        let mut names = names.peekable();
        if names.peek().is_none() {
            return false;
        }
        let names: Vec<&str> = names.collect();
        self.first.iter().any(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name)))
    }

    /// Decides.
    pub(super) fn first_line(&self, rule: &Rule<'_>) -> FirstLine {
        if self.first.is_empty() {
            return FirstLine::Row;
        }
        if self.calls_any(rule.asked()) {
            return FirstLine::Header;
        }
        let found = match rule {
            Rule::Edges { text_ids, ends, others } => self.of_edges(*text_ids, ends, others),
            Rule::Table { text_ids: true, id: Some(id), .. } => self.of_text_ids(id),
            Rule::Table { text_ids: true, first_is_id: true, .. } => {
                self.of_text_ids(&Column::Index(0))
            }
            Rule::Table { first_is_id, .. } => self.of_table(*first_is_id),
            Rule::WordList => match is_name_of_ids(self.field(0)) {
                true => FirstLine::Header,
                false => FirstLine::Row,
            },
        };
        // Without a header the columns that were asked for could not be found either, and the error
        // about them shows the line.
        let asks = rule.asked().next().is_some();
        if found == FirstLine::Doubtful && asks { FirstLine::Header } else { found }
    }

    fn of_edges(
        &self,
        text_ids: bool,
        ends: &[Option<&Column>; 2],
        others: &[Option<&Column>; 2],
    ) -> FirstLine {
        if name_both(self.first) {
            return FirstLine::Header;
        }
        let index = |column: &Option<&Column>| match column {
            Some(Column::Index(index)) => Some(*index),
            _ => None,
        };
        let taken: Vec<usize> = others.iter().filter_map(index).collect();
        let fields = self.first.len();
        let chosen = endpoints(fields, None, index(&ends[0]), index(&ends[1]), &taken);
        // A choice that is refused is refused whatever the first line is.
        let Ok((source, destination)) = chosen else { return FirstLine::Row };
        let ends = [source, destination];
        if ends.iter().any(|end| *end >= fields || self.is_value(*end)) {
            return FirstLine::Row;
        }
        if !ends.iter().any(|end| self.may_name(*end)) {
            return FirstLine::Row;
        }
        let are_known = ends.iter().all(|end| is_name_of_ids(self.field(*end)));
        if !text_ids {
            // One line of words may be a header without rows, or an edge of ids that are words.
            return match self.has_rows() || are_known {
                true => FirstLine::Header,
                false => FirstLine::Doubtful,
            };
        }
        let mut values = (0..fields.min(COMPARED)).filter(|column| !ends.contains(column));
        if are_known || values.clone().any(|column| self.is_word_over_values(column)) {
            return FirstLine::Header;
        }
        if self.recur_as_ends(ends) || values.any(|column| self.is_value(column)) {
            return FirstLine::Row;
        }
        FirstLine::Doubtful
    }

    /// Whether an endpoint of the first line is one of a line below too, as no name of a column is.
    fn recur_as_ends(&self, ends: [usize; 2]) -> bool {
        let first = ends.map(|end| self.field(end).as_bytes());
        self.below.iter().any(|(_, line)| {
            let mut fields = Fields::new(line, self.delimiter).enumerate();
            fields.any(|(at, field)| {
                ends.contains(&at) && field.is_ok_and(|field| first.contains(&trim(&field)))
            })
        })
    }

    /// Tables whose ids are words.
    fn of_text_ids(&self, id: &Column) -> FirstLine {
        let Column::Index(id) = id else { return FirstLine::Doubtful };
        if is_name_of_ids(self.field(*id)) {
            return FirstLine::Header;
        }
        let mut cells = (0..self.columns.len()).filter(|column| column != id);
        if self.is_value(*id) {
            return FirstLine::Row;
        }
        if cells.clone().any(|column| self.is_word_over_values(column)) {
            return FirstLine::Header;
        }
        let is_row = |column| self.is_value(column) || self.below(column).recurs;
        if cells.any(is_row) || !self.may_name(*id) {
            return FirstLine::Row;
        }
        FirstLine::Doubtful
    }

    fn of_table(&self, first_is_id: bool) -> FirstLine {
        let fields = self.first.len();
        // Data frames number their columns, and leave the name of their index empty.
        if first_is_id && (self.field(0).is_empty() || is_name_of_ids(self.field(0))) {
            return FirstLine::Header;
        }
        if fields == 1 {
            return self.of_column();
        }
        if self.is_value(0) || self.is_value(1) {
            return FirstLine::Row;
        }
        let mut named = (0..self.columns.len()).filter(|column| self.may_name(*column));
        let over_values = named.clone().any(|column| self.is_word_over_values(column));
        if over_values || self.calls_any(ID_NAMES.into_iter()) {
            return FirstLine::Header;
        }
        if named.clone().next().is_none() || named.clone().any(|column| self.below(column).recurs) {
            return FirstLine::Row;
        }
        let are_classes = named.any(|column| is_class_name(self.field(column)));
        match are_classes || !self.has_rows() {
            true => FirstLine::Header,
            false => FirstLine::Doubtful,
        }
    }

    /// A table of one column.
    fn of_column(&self) -> FirstLine {
        if !self.may_name(0) {
            return FirstLine::Row;
        }
        let below = self.below(0);
        if below.recurs {
            return FirstLine::Row;
        }
        let is_known = is_class_name(self.field(0)) || is_name_of_ids(self.field(0));
        if is_known || self.is_word_over_values(0) {
            return FirstLine::Header;
        }
        FirstLine::Doubtful
    }
}

/// Whether a text is a number or a boolean, as no name of a column is.
fn is_value(text: &[u8]) -> bool {
    is_number(text) || is_boolean(text)
}

fn is_class_name(name: &str) -> bool {
    CLASS_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests;
