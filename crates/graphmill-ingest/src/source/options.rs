//! What a reader of sources may be told.
//! The command line and the bindings fill these in; everything has the meaning that users are
//! promised, so that an empty set of options reads what most files are. It must not know how
//! files are read.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use graphmill_disk::{Budget, FileSystem};
use graphmill_format::ElementType;

use super::detect::SourceFormat;
use super::kept_half::ScratchPlace;
use super::text::Delimiter;
use crate::{Error, Result};

/// A column of a table, by its place or by its name in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Counted from 0.
    Index(usize),
    /// As the header spells it, in upper or lower case.
    Name(String),
}

impl FromStr for Column {
    type Err = Error;

    /// Digits are a place, counted from 0; everything else is a name.
    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::request("column", "an empty name; give a name or a number from 0"));
        }
        Ok(text.parse().map_or_else(|_| Column::Name(text.to_owned()), Column::Index))
    }
}

/// What happens to a row that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadRow {
    /// It ends the reading with an error.
    #[default]
    Stop,
    /// It is counted, the first few are kept for the report, and the reading goes on. In a table without ids it ends
    /// the reading all the same.
    Skip,
}

impl OnBadRow {
    /// The same for a table: without ids, the rows behind one that is left out would be those of other nodes.
    pub(crate) fn of_table(self, has_ids: bool) -> Self {
        if has_ids { self } else { OnBadRow::Stop }
    }
}

impl FromStr for OnBadRow {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "stop" => Ok(OnBadRow::Stop),
            "skip" => Ok(OnBadRow::Skip),
            _ => Err(Error::request("bad rows", format!("{text:?} is neither stop nor skip"))),
        }
    }
}

/// How edges are read.
#[derive(Clone, Debug, Default)]
pub struct EdgeInputOptions {
    pub(crate) format: Option<SourceFormat>,
    pub(crate) header: Option<bool>,
    pub(crate) delimiter: Option<Delimiter>,
    pub(crate) source: Option<Column>,
    pub(crate) destination: Option<Column>,
    pub(crate) weight: Option<Column>,
    pub(crate) time: Option<Column>,
    pub(crate) third_is_weight: bool,
    pub(crate) on_bad_row: OnBadRow,
    pub(crate) member: Option<String>,
    pub(crate) text_ids: bool,
    pub(crate) scratch: Option<ScratchPlace>,
    pub(crate) budget: Option<Budget>,
}

impl EdgeInputOptions {
    /// Everything is found from the files; weights and times are not read.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the files are, instead of what they look like.
    pub fn format(mut self, format: SourceFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Whether the first line of a text names its columns.
    pub fn header(mut self, header: bool) -> Self {
        self.header = Some(header);
        self
    }

    /// What separates the fields of a text.
    pub fn delimiter(mut self, delimiter: Delimiter) -> Self {
        self.delimiter = Some(delimiter);
        self
    }

    /// The column of sources; by default the one that the header calls `src`, `source`, `from` or
    /// the like, else the first that nothing else is read from.
    pub fn source_column(mut self, column: Column) -> Self {
        self.source = Some(column);
        self
    }

    /// The column of destinations; by default the one that the header calls `dst`, `target`, `to` or
    /// the like, else the next that nothing else is read from.
    pub fn destination_column(mut self, column: Column) -> Self {
        self.destination = Some(column);
        self
    }

    /// The column of weights.
    pub fn weight_column(mut self, column: Column) -> Self {
        self.weight = Some(column);
        self
    }

    /// The column of times.
    pub fn time_column(mut self, column: Column) -> Self {
        self.time = Some(column);
        self
    }

    /// As GraphZero does: a third column, where the first row has one, is the weight.
    pub fn third_column_is_weight(mut self, weight: bool) -> Self {
        self.third_is_weight = weight;
        self
    }

    /// What happens to rows that cannot be used.
    pub fn on_bad_row(mut self, on_bad_row: OnBadRow) -> Self {
        self.on_bad_row = on_bad_row;
        self
    }

    /// The array of an `.npz`; `edge_index`, or its only array, by default.
    pub fn member(mut self, name: impl Into<String>) -> Self {
        self.member = Some(name.into());
        self
    }

    /// Ids are words: text of up to 64 KiB, exactly as it stands, without the quotes around it.
    ///
    /// Chunks then carry names instead of numbers. Words cannot tell a header by not being
    /// numbers, so the first line of a text is one if it is said to be
    /// ([`header`](Self::header)), if the fields of both endpoints have the usual names of columns
    /// (src, source, from, dst, target, to, id, node_id and the like, in any case) or the names
    /// that were asked for, or if another column has a word above numbers. It is a row if an
    /// endpoint occurs again below or a field is a number, and otherwise an error. A line that
    /// begins with `#` or `%` and a blank is a comment, one like `#rust,java` an error: put quotes
    /// around an id that starts so.
    pub fn text_ids(mut self, text: bool) -> Self {
        self.text_ids = text;
        self
    }

    /// Where a file without a name may be made for what does not fit into memory: an archive that
    /// holds all sources before all destinations needs four or eight bytes for each edge.
    ///
    /// `path` is a name that nobody else uses, such as a hidden one beside the target. By default
    /// the system's folder of temporary files is used.
    pub fn scratch(mut self, file_system: Arc<dyn FileSystem>, path: impl Into<PathBuf>) -> Self {
        self.scratch = Some((file_system, path.into()));
        self
    }
}

impl EdgeInputOptions {
    /// Pays for what is looked at before anything is read; by default a quarter of what the machine
    /// allows.
    pub fn budget(mut self, budget: &Budget) -> Self {
        self.budget = Some(budget.clone());
        self
    }

    pub(crate) fn paying(&self) -> Budget {
        paying(&self.budget)
    }
}

fn paying(budget: &Option<Budget>) -> Budget {
    budget.clone().unwrap_or_else(|| Budget::new(graphmill_disk::default_budget()))
}

/// How a table is read.
#[derive(Clone, Debug, Default)]
pub struct TableInputOptions {
    pub(crate) format: Option<SourceFormat>,
    pub(crate) header: Option<bool>,
    pub(crate) delimiter: Option<Delimiter>,
    pub(crate) id: Option<Column>,
    pub(crate) first_is_id: bool,
    pub(crate) positional: bool,
    pub(crate) element: Option<ElementType>,
    pub(crate) text: bool,
    pub(crate) ids_only: bool,
    pub(crate) missing: Option<i64>,
    pub(crate) ordered: bool,
    pub(crate) on_bad_row: OnBadRow,
    pub(crate) member: Option<String>,
    pub(crate) text_ids: bool,
    pub(crate) columns: Option<Vec<Column>>,
    pub(crate) raw: Option<(ElementType, u64)>,
    pub(crate) list: bool,
    pub(crate) rows: Option<u64>,
    pub(crate) budget: Option<Budget>,
}

impl TableInputOptions {
    /// Everything is found from the files; text becomes float32.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the files are, instead of what they look like.
    pub fn format(mut self, format: SourceFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Whether the first line of a text names its columns.
    pub fn header(mut self, header: bool) -> Self {
        self.header = Some(header);
        self
    }

    /// What separates the fields of a text.
    pub fn delimiter(mut self, delimiter: Delimiter) -> Self {
        self.delimiter = Some(delimiter);
        self
    }

    /// The column that says whose row it is; otherwise one named `id` or `node_id`, if any.
    pub fn id_column(mut self, column: Column) -> Self {
        self.id = Some(column);
        self
    }

    /// As GraphZero does: the first column is the id.
    pub fn first_column_is_id(mut self, id: bool) -> Self {
        self.first_is_id = id;
        self
    }

    /// Row after row, whatever the columns are called.
    pub fn positional(mut self, positional: bool) -> Self {
        self.positional = positional;
        self
    }

    /// Rows are ids of nodes, in any order: blank lines and comments of a text are no rows, as in
    /// edges. Every line of a table without ids is a row otherwise.
    pub fn list(mut self, list: bool) -> Self {
        self.list = list;
        self
    }

    /// How many rows there are, where that is known: it settles whether a first line of words in a
    /// table without ids is a header.
    pub fn rows(mut self, rows: u64) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Pays for what is looked at before anything is read; by default a quarter of what the machine
    /// allows.
    pub fn budget(mut self, budget: &Budget) -> Self {
        self.budget = Some(budget.clone());
        self
    }

    pub(crate) fn paying(&self) -> Budget {
        paying(&self.budget)
    }

    /// Ids are words, as for edges ([`EdgeInputOptions::text_ids`]).
    ///
    /// The first line of a text is a header if it is said to be, if the column of ids is called
    /// `id` or `node_id` or as was asked for, or if a cell is a word above numbers; doubt is an
    /// error.
    pub fn text_ids(mut self, text: bool) -> Self {
        self.text_ids = text;
        self
    }

    /// The type of the cells; float32 by default for text, as stored for arrays.
    ///
    /// Unsigned arrays become the next wider signed type: uint16 int32, uint32 and uint64 int64,
    /// the latter only with numbers below 2^63. `Bool` takes the words true and false in any case,
    /// 0 and 1.
    pub fn element(mut self, element: ElementType) -> Self {
        self.element = Some(element);
        self
    }

    /// Cells are handed over as text, for classes and names.
    pub fn text(mut self, text: bool) -> Self {
        self.text = text;
        self
    }

    /// Cells may be left unread and of any type: the ids of the rows are wanted alone.
    pub(crate) fn ids_only(mut self, ids: bool) -> Self {
        self.ids_only = ids;
        self
    }

    /// What an empty or NaN cell becomes, for labels; otherwise an empty cell is an error.
    pub fn missing(mut self, value: i64) -> Self {
        self.missing = Some(value);
        self
    }

    /// Chunks come one after the other in the order of the rows, rather than as they are ready.
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = ordered;
        self
    }

    /// What happens to rows that cannot be used.
    pub fn on_bad_row(mut self, on_bad_row: OnBadRow) -> Self {
        self.on_bad_row = on_bad_row;
        self
    }

    /// The array of an `.npz`; its only array by default.
    pub fn member(mut self, name: impl Into<String>) -> Self {
        self.member = Some(name.into());
        self
    }

    /// The columns that make up a row; all but the id by default.
    pub fn columns(mut self, columns: Vec<Column>) -> Self {
        self.columns = Some(columns);
        self
    }

    /// The files are rows of this many numbers of this type and nothing else.
    pub fn raw(mut self, element: ElementType, columns: u64) -> Self {
        self.raw = Some((element, columns));
        self
    }
}
