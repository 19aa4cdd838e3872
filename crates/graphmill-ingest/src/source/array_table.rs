//! Tables in NumPy arrays, compiled tables and raw files of numbers.
//! What is not packed is read at any position by all threads, in Fortran's order column by column;
//! packed members are unpacked by one thread at a time while the others convert. Rows become the
//! element type that is wanted. It must not know which node a row belongs to.

use std::ops::Range;

use graphmill_disk::{Budget, PageBuffer};
use graphmill_format::ElementType;

use super::array::ArrayFile;
use super::chunk::{ReadReport, TableChunk, TableDescription};
use super::compressed::UNPACKING;
use super::faults::Faults;
use super::number_rows::NumberRows;
use super::options::{OnBadRow, TableInputOptions};
use super::pieces::{PieceReading, Pieces, RowCounter};
use super::positions::Positions;
use super::shared_stream::SharedStream;
use crate::npy::ArrayType;
use crate::placement::TableFile;
use crate::progress::Observer;
use crate::{Error, Result};

/// Bytes of rows read at a time.
const LARGEST_PIECE: u64 = 1 << 20;
/// The same in a tight budget.
const SMALLEST_PIECE: u64 = 64 << 10;

/// Rows in one array.
#[derive(Debug)]
pub(crate) struct ArrayTable {
    array: ArrayFile,
    rows: u64,
    numbers: NumberRows,
    ordered: bool,
    on_bad_row: OnBadRow,
}

impl ArrayTable {
    pub(crate) fn new(array: ArrayFile, options: &TableInputOptions) -> Result<Self> {
        let path = array.file.path();
        let header = array.header();
        refuse_columns(options, &format!("`{}`", path.display()))?;
        let fault = |place: &str, found: String, expected: &str, remedy: &'static str| {
            Err(Error::source(place, found, expected, remedy).in_file(path))
        };
        let (rows, columns) = match header.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                let found = format!("an array of shape {:?}", header.shape);
                let remedy = "reshape it to one row per node";
                return fault("shape", found, "[rows] or [rows, columns]", remedy);
            }
        };
        // Rows without bytes may be as many as the header likes, and each would be a node.
        if columns == 0 && rows > 0 {
            let found = format!("{rows} rows without columns");
            let remedy = "give at least one column, or leave the table out";
            return fault("shape", found, "rows with numbers in them", remedy);
        }
        if array.is_fortran() && columns > 1 && rows > 1 && array.stored_at().is_none() {
            let remedy = "save numpy.ascontiguousarray(array)";
            return fault("order", "Fortran order, compressed".to_owned(), "C order", remedy);
        }
        let from = header.numbers;
        let element = options.element.unwrap_or(from.table_element());
        let numbers = NumberRows { from, element, missing: options.missing, columns };
        let (ordered, on_bad_row) = (options.ordered, options.on_bad_row.of_table(false));
        Ok(ArrayTable { rows, numbers, ordered, on_bad_row, array })
    }

    pub(crate) fn description(&self) -> TableDescription {
        TableDescription {
            columns: self.numbers.columns,
            is_vector: self.array.header().shape.len() == 1,
            element: Some(self.numbers.element),
            has_ids: false,
            rows: Some(self.rows),
            names: None,
            looks_numeric: true,
            looks_missing: false,
            looks_boolean: self.numbers.from == ArrayType::Element(ElementType::Bool),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.array.bytes()
    }

    /// The rows as they lie in the file, if they are stored as they shall be.
    pub(crate) fn plain_rows(&self) -> Result<Option<TableFile>> {
        let NumberRows { from, element, missing, .. } = self.numbers;
        match missing {
            None if from == ArrayType::Element(element) => TableFile::of(&self.array),
            _ => Ok(None),
        }
    }

    /// Bytes from one row of the file to the next.
    fn stride(&self) -> u64 {
        self.array.stride().unwrap_or(self.numbers.row_bytes())
    }

    /// Whether rows have to be gathered from their columns.
    fn gathers(&self) -> bool {
        self.array.is_fortran() && self.numbers.columns > 1 && self.rows > 1
    }

    /// Reads all rows, the first as row `first_row`.
    pub(crate) fn read(
        &self,
        first_row: u64,
        budget: &Budget,
        consume: &(dyn Fn(&mut TableChunk) -> Result<()> + Sync),
        observer: Option<Observer<'_>>,
    ) -> Result<ReadReport> {
        // Gathering takes the rows twice: by column and by row.
        let per_row = self.stride() * if self.gathers() { 2 } else { 1 };
        let per_row = per_row + self.numbers.stored_bytes();
        let rows_in = |bytes: u64| (bytes / self.stride().max(1)).clamp(1, self.rows.max(1));
        let mut piece = LARGEST_PIECE;
        while piece > SMALLEST_PIECE && rows_in(piece) * per_row > budget.free() / 2 {
            piece /= 2;
        }
        let step = rows_in(piece);
        let reading = PieceReading {
            rows: self.rows,
            first_row,
            memory: step * per_row + 2 * 4096,
            what: "rows of an array",
            stage: "reading rows",
            ordered: self.ordered,
            on_bad_row: self.on_bad_row,
            file: Some(self.array.file.path()),
            budget,
            observer,
        };
        let per_piece = if self.gathers() { self.numbers.columns } else { 1 };
        let reads = self.rows.div_ceil(step).saturating_mul(per_piece);
        let report = match Positions::new(&self.array, reads, budget)? {
            Some(positions) => {
                let rows = RowCounter::new(self.rows, step);
                let pieces = StoredRows { table: self, positions, rows, step };
                let report = reading.run(&pieces, consume)?;
                pieces.positions.confirm()?;
                report
            }
            None => {
                let _reserved = budget.reserve(UNPACKING, "unpacking an array")?;
                let row = self.numbers.row_bytes();
                let stream = SharedStream::new(self.array.stream()?, self.rows, step, row);
                reading.run(&PackedRows { table: self, stream, step }, consume)?
            }
        };
        Ok(ReadReport { bytes: self.bytes(), ..report })
    }
}

/// Arrays have no columns that could be chosen.
pub(super) fn refuse_columns(options: &TableInputOptions, what: &str) -> Result<()> {
    let TableInputOptions { text, id, first_is_id, columns, .. } = options;
    if !text && id.is_none() && !first_is_id && columns.is_none() {
        return Ok(());
    }
    let problem = format!(
        "{what} is an array: rows are positional and all numbers; \
         leave out columns of ids and words"
    );
    Err(Error::request("table", problem))
}

/// Rows that are read at any position.
struct StoredRows<'a> {
    table: &'a ArrayTable,
    positions: Positions<'a>,
    rows: RowCounter,
    step: u64,
}

impl StoredRows<'_> {
    /// Reads some rows of an array that is stored column by column.
    fn gather(&self, rows: &Range<u64>, by_column: &mut [u8], raw: &mut [u8]) -> Result<()> {
        let NumberRows { from, columns, .. } = self.table.numbers;
        let width = from.width();
        let length = ((rows.end - rows.start) * width) as usize;
        for column in 0..columns {
            let at = (column * self.table.rows + rows.start) * width;
            self.positions.read(at, &mut by_column[column as usize * length..][..length])?;
        }
        let width = width as usize;
        let cells = raw.chunks_exact_mut(width);
        for (cell, into) in cells.enumerate() {
            let (row, column) = (cell / columns as usize, cell % columns as usize);
            into.copy_from_slice(&by_column[column * length + row * width..][..width]);
        }
        Ok(())
    }
}

impl Pieces for StoredRows<'_> {
    type Chunk = TableChunk;
    type Own = (PageBuffer, PageBuffer);

    fn own(&self) -> Result<Self::Own> {
        let length = (self.step * self.table.stride()) as usize;
        let by_column = if self.table.gathers() { length } else { 0 };
        Ok((PageBuffer::new(length), PageBuffer::new(by_column)))
    }

    fn take(&self, _: &mut Self::Own) -> Result<Option<Range<u64>>> {
        Ok(self.rows.take())
    }

    fn fill(
        &self,
        (raw, by_column): &mut Self::Own,
        rows: Range<u64>,
        chunk: &mut TableChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let (stride, row) = (self.table.stride(), self.table.numbers.row_bytes() as usize);
        let count = (rows.end - rows.start) as usize;
        let raw = &mut raw[..count * stride as usize];
        if self.table.gathers() {
            self.gather(&rows, by_column, raw)?;
        } else {
            self.positions.read(rows.start * stride, raw)?;
        }
        if row != stride as usize {
            for at in 1..count {
                let from = at * stride as usize;
                raw.copy_within(from..from + row, at * row);
            }
        }
        self.table.numbers.fill(&raw[..count * row], rows.start, None, chunk, faults)
    }
}

/// Rows that are unpacked front to back.
struct PackedRows<'a> {
    table: &'a ArrayTable,
    stream: SharedStream,
    step: u64,
}

impl Pieces for PackedRows<'_> {
    type Chunk = TableChunk;
    type Own = PageBuffer;

    fn own(&self) -> Result<PageBuffer> {
        Ok(PageBuffer::new((self.step * self.table.numbers.row_bytes()) as usize))
    }

    fn take(&self, raw: &mut PageBuffer) -> Result<Option<Range<u64>>> {
        self.stream.take(raw)
    }

    fn fill(
        &self,
        raw: &mut PageBuffer,
        rows: Range<u64>,
        chunk: &mut TableChunk,
        faults: &mut Faults<'_>,
    ) -> Result<()> {
        let length = (rows.end - rows.start) * self.table.numbers.row_bytes();
        self.table.numbers.fill(&raw[..length as usize], rows.start, None, chunk, faults)
    }
}
