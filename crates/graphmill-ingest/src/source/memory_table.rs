//! Tables in memory, as arrays of Python are.
//! Rows of numbers or one column of words, with or without ids, go the way of all sources, in
//! chunks with exact row numbers. It must not know which node a row belongs to.

use std::ops::Range;
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;

use super::array_table::refuse_columns;
use super::cells::{Cells, encode};
use super::chunk::{ReadReport, TableChunk, TableDescription, TextCells};
use super::faults::{Faults, RowFault};
use super::id_array::IdArray;
use super::names::{LONGEST_NAME, NoName};
use super::number_rows::{NumberRows, push_id};
use super::options::{OnBadRow, TableInputOptions};
use super::pieces::{PieceReading, Pieces};
use super::sparse_rows::SparseRows;
use super::text::{Unfit, numbers, trim};
use super::turns::lock;
use crate::npy::ArrayType;
use crate::progress::Observer;
use crate::{Error, Result};

/// Bytes of a piece, beyond which no further row is added.
const PIECE: usize = 512 << 10;
/// Rows of one piece at most.
const MOST_ROWS: usize = 1 << 15;
/// Digits of the largest id.
const LARGEST_DIGITS: u64 = 19;

/// A table in memory.
///
/// ```
/// use graphmill_disk::Budget;
/// use graphmill_format::ElementType;
/// use graphmill_ingest::source::{TableArray, TableInput, TableInputOptions};
///
/// # fn main() -> graphmill_ingest::Result<()> {
/// let table = TableArray::matrix(&[1, 2, 3, 4, 5, 6], ElementType::U8, 2, 3);
/// let input = TableInput::memory(table, &TableInputOptions::new())?;
/// assert_eq!((input.description().rows, input.description().columns), (Some(2), 3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TableArray<'a> {
    content: Content<'a>,
    rows: u64,
    columns: u64,
    is_vector: bool,
    ids: Option<IdArray<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Content<'a> {
    Numbers(&'a [u8], ArrayType),
    Sparse(SparseRows<'a>),
    Words(&'a TextCells),
}

impl<'a> TableArray<'a> {
    /// Rows after rows of little-endian numbers.
    pub fn matrix(
        bytes: &'a [u8],
        numbers: impl Into<ArrayType>,
        rows: u64,
        columns: u64,
    ) -> TableArray<'a> {
        let content = Content::Numbers(bytes, numbers.into());
        TableArray { content, rows, columns, is_vector: false, ids: None }
    }

    /// One little-endian number for each row.
    pub fn vector(bytes: &'a [u8], numbers: impl Into<ArrayType>, rows: u64) -> TableArray<'a> {
        TableArray { is_vector: true, ..Self::matrix(bytes, numbers, rows, 1) }
    }

    /// Rows of numbers of which most are zeros, written out while they are read.
    pub fn sparse(numbers: SparseRows<'a>, columns: u64) -> TableArray<'a> {
        let (content, rows) = (Content::Sparse(numbers), numbers.rows());
        TableArray { content, rows, columns, is_vector: false, ids: None }
    }

    /// One word for each row.
    pub fn texts(cells: &'a TextCells) -> TableArray<'a> {
        let (content, rows) = (Content::Words(cells), cells.len() as u64);
        TableArray { content, rows, columns: 1, is_vector: true, ids: None }
    }

    /// Whose row each is.
    pub fn ids(mut self, ids: impl Into<IdArray<'a>>) -> Self {
        self.ids = Some(ids.into());
        self
    }

    /// Whether the rows are words.
    pub(crate) fn has_words(&self) -> bool {
        matches!(self.content, Content::Words(_))
    }

    /// The ids that say whose row each is.
    pub(crate) fn row_ids(&self) -> Option<IdArray<'a>> {
        self.ids
    }

    /// The type of the numbers; None for words.
    fn numbers(&self) -> Option<ArrayType> {
        match self.content {
            Content::Numbers(_, numbers) => Some(numbers),
            Content::Sparse(rows) => Some(rows.numbers()),
            Content::Words(_) => None,
        }
    }

    fn check(&self) -> Result<()> {
        if let Content::Sparse(rows) = self.content {
            rows.check()?;
        }
        let fault = |found: String, expected: String, remedy| {
            Err(Error::source("table", found, expected, remedy))
        };
        if let Content::Numbers(bytes, numbers) = self.content {
            let length = self.rows.checked_mul(self.columns);
            let length = length.and_then(|cells| cells.checked_mul(numbers.width()));
            if length != Some(bytes.len() as u64) {
                let found = format!("{} bytes", bytes.len());
                let (rows, columns) = (self.rows, self.columns);
                let expected = format!("{rows} rows of {columns} numbers of type {numbers}");
                return fault(found, expected, "give an array of the shape that is named");
            }
        }
        // Rows without bytes may be as many as a shape likes, and each would be a node.
        if self.columns == 0 && self.rows > 0 {
            let found = format!("{} rows without columns", self.rows);
            let remedy = "give at least one column, or leave the table out";
            return fault(found, "rows with numbers in them".to_owned(), remedy);
        }
        if let Some(ids) = self.ids.filter(|ids| ids.len() as u64 != self.rows) {
            let (found, expected) = (format!("{} ids", ids.len()), format!("{} rows", self.rows));
            return fault(found, expected, "give one id for each row");
        }
        Ok(())
    }
}

/// A table in memory and what its rows become.
#[derive(Debug)]
pub(crate) struct MemoryTable<'a> {
    table: TableArray<'a>,
    cells: Cells,
    /// Whether ids that are numbers are handed over as their digits.
    names: bool,
    ordered: bool,
    on_bad_row: OnBadRow,
}

impl<'a> MemoryTable<'a> {
    pub(crate) fn new(table: TableArray<'a>, options: &TableInputOptions) -> Result<Self> {
        table.check()?;
        let cells = match table.numbers() {
            Some(numbers) => {
                refuse_columns(options, "what is given")?;
                let element = options.element.unwrap_or(numbers.table_element());
                Cells::Numbers { element, missing: options.missing }
            }
            None if options.text => Cells::Text,
            None => Cells::Numbers {
                element: options.element.unwrap_or(ElementType::F32),
                missing: options.missing,
            },
        };
        let on_bad_row = options.on_bad_row.of_table(table.ids.is_some());
        let names = options.text_ids && table.ids.is_some_and(|ids| !ids.is_text());
        let ordered = options.ordered;
        Ok(MemoryTable { table, cells, names, ordered, on_bad_row })
    }

    pub(crate) fn description(&self) -> TableDescription {
        let first = match self.table.content {
            Content::Words(cells) => cells.get(0).map(|cell| trim(cell.as_bytes())),
            Content::Numbers(..) | Content::Sparse(_) => None,
        };
        let is_bool = match self.table.numbers() {
            Some(numbers) => numbers == ArrayType::Element(ElementType::Bool),
            None => first.is_some_and(numbers::is_boolean),
        };
        TableDescription {
            columns: self.table.columns,
            is_vector: self.table.is_vector,
            element: self.cells.element(),
            has_ids: self.table.ids.is_some(),
            rows: Some(self.table.rows),
            names: None,
            looks_numeric: first.is_none_or(|text| text.is_empty() || numbers::is_number(text)),
            looks_missing: first.is_some_and(numbers::is_missing),
            looks_boolean: is_bool,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self.table.content {
            Content::Numbers(bytes, _) => bytes.len() as u64,
            Content::Sparse(rows) => rows.bytes(),
            Content::Words(cells) => cells.bytes(),
        }
    }

    pub(crate) fn read(
        &self,
        budget: &Budget,
        consume: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        let element = self.cells.element().map_or(0, ElementType::width) * self.table.columns;
        let (source, written_out, words) = match self.table.content {
            Content::Numbers(_, numbers) => (self.table.columns * numbers.width(), 0, 0),
            Content::Sparse(rows) => {
                let row = self.table.columns * rows.numbers().width();
                (row, row, 0)
            }
            Content::Words(_) => (8, 0, 2 * (PIECE + LONGEST_NAME) as u64),
        };
        let most = (PIECE as u64 / source.max(1)).clamp(1, MOST_ROWS as u64);
        let most = most.min(self.table.rows.max(1));
        let has_words = self.table.ids.is_some_and(|ids| ids.is_text());
        let names = match (has_words, self.names) {
            (true, _) => 2 * (PIECE + LONGEST_NAME) as u64,
            (false, true) => most * (8 + LARGEST_DIGITS),
            (false, false) => 0,
        };
        let reading = PieceReading {
            rows: self.table.rows,
            first_row: 0,
            memory: most * (element + written_out + 16) + words + names,
            what: "rows of an array",
            stage: "reading rows",
            ordered: self.ordered,
            on_bad_row: self.on_bad_row,
            file: None,
            budget,
            observer,
        };
        let pieces = MemoryRows { table: self, most: most as usize, next: Mutex::new(0) };
        let report = reading.run(&pieces, consume)?;
        Ok(ReadReport { bytes: self.bytes(), ..report })
    }
}

struct MemoryRows<'a> {
    table: &'a MemoryTable<'a>,
    most: usize,
    next: Mutex<usize>,
}

impl MemoryRows<'_> {
    /// Adds a row of one word, or says what is wrong with it.
    fn word(
        &self,
        cells: &TextCells,
        at: usize,
        chunk: &mut TableChunk,
    ) -> std::result::Result<(), RowFault> {
        // Blanks around a number say nothing; around a word they are part of it.
        let whole = cells.get(at).unwrap_or_default();
        let text = trim(whole.as_bytes());
        let before = (chunk.bytes.len(), chunk.texts.len());
        if whole.len() > LONGEST_NAME {
            return Err(NoName::TooLong(whole.len()).at(format!("row {at}")));
        }
        match self.table.cells {
            Cells::Text => chunk.texts.push(whole),
            Cells::Numbers { element, missing } => {
                encode(element, missing, text, &mut chunk.bytes).map_err(|why| RowFault {
                    place: format!("row {at}"),
                    found: match why {
                        Unfit::Empty => "an empty cell".to_owned(),
                        _ => format!("{:?}", String::from_utf8_lossy(&text[..text.len().min(60)])),
                    },
                    expected: self.table.cells.wanted().to_owned(),
                    remedy: "correct it or choose another element type (dtype=)",
                })?;
            }
        }
        if let Some(ids) = &self.table.table.ids
            && let Err(fault) = push_id(ids, at, at as u64, chunk)
        {
            chunk.bytes.truncate(before.0);
            chunk.texts.truncate(before.1);
            return Err(fault);
        }
        chunk.rows += 1;
        Ok(())
    }
}

impl Pieces for MemoryRows<'_> {
    type Chunk = TableChunk;
    type Own = ();

    fn own(&self) -> Result<()> {
        Ok(())
    }

    fn take(&self, (): &mut ()) -> Result<Option<Range<u64>>> {
        let TableArray { content, ids, rows, .. } = self.table.table;
        let mut next = lock(&self.next);
        let first = *next;
        let end = first.saturating_add(self.most).min(rows as usize);
        let (mut words, mut names) = (0, 0);
        while *next < end && words <= PIECE && names <= PIECE {
            if let Content::Words(cells) = content {
                words += cells.get(*next).map_or(0, |cell| cell.len().min(LONGEST_NAME));
            }
            names += ids.map_or(0, |ids| ids.word_bytes(*next).min(LONGEST_NAME));
            *next += 1;
        }
        Ok((first < *next).then_some(first as u64..*next as u64))
    }

    fn fill(
        &self,
        (): &mut (),
        rows: Range<u64>,
        chunk: &mut TableChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let table = &self.table.table;
        let range = rows.start as usize..rows.end as usize;
        if let (Some(from), Cells::Numbers { element, missing }) =
            (table.numbers(), self.table.cells)
        {
            let numbers = NumberRows { from, element, missing, columns: table.columns };
            let ids = table.ids.map(|ids| (ids, range.clone()));
            match table.content {
                Content::Sparse(sparse) => {
                    let mut whole = Vec::new();
                    sparse.fill(range, table.columns, &mut whole)?;
                    numbers.fill(&whole, rows.start, ids, chunk, faults)?;
                }
                Content::Numbers(bytes, _) => {
                    let row = numbers.row_bytes() as usize;
                    let bytes = &bytes[range.start * row..range.end * row];
                    numbers.fill(bytes, rows.start, ids, chunk, faults)?;
                }
                Content::Words(_) => unreachable!("words have no type of numbers"),
            }
        } else if let Content::Words(cells) = table.content {
            for at in range {
                if let Err(fault) = self.word(cells, at, chunk) {
                    faults.add(fault)?;
                }
            }
        }
        if self.table.names
            && let Some(ids) = chunk.ids.take()
        {
            let names = chunk.id_names.get_or_insert_default();
            names.reserve(ids.len(), ids.len() * LARGEST_DIGITS as usize);
            ids.iter().for_each(|id| names.push(&id.to_string()));
        }
        Ok(())
    }
}
