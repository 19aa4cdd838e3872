//! What readers hand over: edges and rows in columns, with the number of the first.
//! Buffers stay with the reader unless the receiver takes them, so that reading allocates once per
//! thread. It must not know where rows come from.

use std::path::PathBuf;

use graphmill_format::ElementType;

use super::text::EdgeColumns;

/// Consecutive edges of the source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeChunk {
    /// The number of the first edge among all that were read; rows that are left out have none.
    pub first_row: u64,
    /// Where each edge starts; empty if ids are text.
    pub sources: Vec<u64>,
    /// Where each edge ends; empty if ids are text.
    pub destinations: Vec<u64>,
    /// Where each edge starts, if ids are text.
    pub source_names: TextCells,
    /// Where each edge ends, if ids are text.
    pub destination_names: TextCells,
    /// Its weight, if a column of weights is read.
    pub weights: Option<Vec<f32>>,
    /// Its time, if a column of times is read.
    pub times: Option<Vec<i64>>,
    /// Its row, if the source numbers its edges itself; otherwise they follow each other from
    /// `first_row` on.
    pub rows: Option<Vec<u64>>,
}

impl EdgeChunk {
    /// Number of edges.
    pub fn len(&self) -> usize {
        // One of the two is empty.
        self.sources.len() + self.source_names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets the edges and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.sources.clear();
        self.destinations.clear();
        self.source_names.clear();
        self.destination_names.clear();
        self.weights.iter_mut().for_each(Vec::clear);
        self.times.iter_mut().for_each(Vec::clear);
        self.rows.iter_mut().for_each(Vec::clear);
    }

    /// Makes room for `rows` more edges with the values that the columns name.
    pub(crate) fn reserve(&mut self, rows: usize, columns: &EdgeColumns) {
        self.sources.reserve_exact(rows);
        self.destinations.reserve_exact(rows);
        self.reserve_values(rows, columns);
    }

    /// The same for edges whose ids are text of at most `bytes` together.
    pub(crate) fn reserve_names(&mut self, rows: usize, bytes: usize, columns: &EdgeColumns) {
        self.source_names.reserve(rows, bytes);
        self.destination_names.reserve(rows, bytes);
        self.reserve_values(rows, columns);
    }

    fn reserve_values(&mut self, rows: usize, columns: &EdgeColumns) {
        if columns.weight.is_some() {
            self.weights.get_or_insert_default().reserve_exact(rows);
        }
        if columns.time.is_some() {
            self.times.get_or_insert_default().reserve_exact(rows);
        }
    }
}

/// Consecutive rows of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableChunk {
    /// The number of the first row among all that were read; rows that are left out have none.
    pub first_row: u64,
    /// Number of rows.
    pub rows: usize,
    /// Whose row each is, if the table has a column of ids that are numbers.
    pub ids: Option<Vec<u64>>,
    /// Whose row each is, if the table has a column of ids that are text.
    pub id_names: Option<TextCells>,
    /// The cells, row after row, little-endian; empty for text.
    pub bytes: Vec<u8>,
    /// The cells as text, if that was asked for.
    pub texts: TextCells,
}

impl TableChunk {
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        self.ids.iter_mut().for_each(Vec::clear);
        self.id_names.iter_mut().for_each(TextCells::clear);
        self.bytes.clear();
        self.texts.clear();
    }
}

/// Rows that are filled again and again.
pub(crate) trait Chunk: Default + Send {
    fn clear(&mut self);
    fn rows(&self) -> u64;
    fn set_first_row(&mut self, row: u64);
}

impl Chunk for EdgeChunk {
    fn clear(&mut self) {
        EdgeChunk::clear(self);
    }

    fn rows(&self) -> u64 {
        self.len() as u64
    }

    fn set_first_row(&mut self, row: u64) {
        self.first_row = row;
    }
}

impl Chunk for TableChunk {
    fn clear(&mut self) {
        TableChunk::clear(self);
    }

    fn rows(&self) -> u64 {
        self.rows as u64
    }

    fn set_first_row(&mut self, row: u64) {
        self.first_row = row;
    }
}

/// Cells of text, row after row.
///
/// ```
/// use graphmill_ingest::source::TextCells;
/// let names: TextCells = ["ada", "grace"].into_iter().collect();
/// assert_eq!((names.len(), names.get(1)), (2, Some("grace")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCells {
    text: String,
    ends: Vec<usize>,
}

impl TextCells {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The cell at `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// All cells in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    /// Bytes that the cells take.
    pub fn bytes(&self) -> u64 {
        (self.text.len() + self.ends.len() * size_of::<usize>()) as u64
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Makes room for `cells` more cells of `bytes` together.
    pub(crate) fn reserve(&mut self, cells: usize, bytes: usize) {
        self.text.reserve_exact(bytes);
        self.ends.reserve_exact(cells);
    }

    /// Takes back the cells behind the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

impl<S: AsRef<str>> FromIterator<S> for TextCells {
    fn from_iter<I: IntoIterator<Item = S>>(cells: I) -> Self {
        let mut collected = TextCells::default();
        cells.into_iter().for_each(|cell| collected.push(cell.as_ref()));
        collected
    }
}

/// What the rows of a table are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDescription {
    /// Cells of a row, without the id.
    pub columns: u64,
    /// Whether the source had one dimension.
    pub is_vector: bool,
    /// The type of the cells; None for text.
    pub element: Option<ElementType>,
    /// Whether rows carry ids.
    pub has_ids: bool,
    /// Number of rows, where the source says it beforehand.
    pub rows: Option<u64>,
    /// The names of the columns, where the source has them.
    pub names: Option<TextCells>,
    /// Whether the first row holds only numbers and gaps; true for arrays.
    pub looks_numeric: bool,
    /// Whether the first row holds only gaps, so that it says nothing about the others.
    pub looks_missing: bool,
    /// Whether the first row holds only the words true and false, or the source says that its
    /// cells are booleans.
    pub looks_boolean: bool,
}

/// A row that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// The file it stands in; empty for what is in memory.
    pub file: PathBuf,
    /// Where in the file: "line 17, column 2".
    pub place: String,
    /// What is there.
    pub found: String,
    /// What may be there.
    pub expected: String,
}

impl std::fmt::Display for BadRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BadRow { file, place, found, expected } = self;
        if !file.as_os_str().is_empty() {
            write!(formatter, "`{}`, ", file.display())?;
        }
        write!(formatter, "{place}: found {found}, expected {expected}")
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Rows that were handed over.
    pub rows: u64,
    /// Rows that were left out because they could not be used.
    pub skipped: u64,
    /// The first few of them.
    pub bad_examples: Vec<BadRow>,
    /// Bytes of the files.
    pub bytes: u64,
    /// One more than the largest row, if the source numbers its edges itself.
    pub row_limit: Option<u64>,
}

impl ReadReport {
    /// Adds what was read from a further file.
    pub(crate) fn add(&mut self, other: ReadReport) {
        self.rows += other.rows;
        self.skipped += other.skipped;
        self.bytes += other.bytes;
        self.row_limit = self.row_limit.max(other.row_limit);
        self.bad_examples.extend(other.bad_examples);
    }
}
