//! What a table shall be, and where the pieces of its rows go.
//! Whoever places rows says here once what they are; every chunk is checked against it before any of
//! its bytes are used. It must not know how rows get to the file.

use std::ops::Range;
use std::path::Path;

use graphmill_format::{ElementType, TableShape, graphzero};

use crate::{Error, Result};

/// A table before its rows have come.
#[derive(Clone, Debug)]
pub(crate) struct TablePlan {
    pub(crate) element: ElementType,
    /// Columns of all parts together.
    pub(crate) columns: u64,
    /// Whether the table has one dimension.
    pub(crate) is_vector: bool,
    /// Whether rows start on multiples of 512 bytes.
    pub(crate) align_rows: bool,
    /// The columns of each part; the parts of a row lie side by side.
    pub(crate) parts: Vec<u64>,
    pub(crate) layout: Layout,
    pub(crate) fill: Fill,
    pub(crate) duplicates: Duplicates,
    /// Whether rows are mapped once all have come, so that none can be written before.
    pub(crate) recoded: bool,
}

/// Whose `.gd` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Graphmill,
    GraphZero,
}

/// What takes the place of rows that never came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    Zero,
    /// -1 in every signed integer type, for labels.
    MinusOne,
}

impl Fill {
    /// What every byte of such a row is.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Fill::Zero => 0,
            Fill::MinusOne => 0xFF,
        }
    }
}

/// What becomes of rows that came twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// They are an error, which names both rows of the source.
    Refuse,
    /// The one with the smaller source row stays.
    KeepFirst,
    /// The one with the larger source row stays.
    KeepLast,
}

/// The rows of the file that the rows of a chunk are for.
#[derive(Clone, Debug)]
pub(crate) enum Targets<'t> {
    /// These, in this order.
    Range(Range<u64>),
    /// One for each row of the chunk.
    Each(&'t [u64]),
}

/// What was not as it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlacementReport {
    /// Rows of which a part or all never came.
    pub(crate) filled: u64,
    /// Rows of parts that came again, whichever was kept.
    pub(crate) duplicates: u64,
}

impl TablePlan {
    /// A matrix in one part, zeros for what is missing, no row twice.
    pub(crate) fn matrix(columns: u64, element: ElementType) -> Self {
        TablePlan {
            element,
            columns,
            is_vector: false,
            align_rows: false,
            parts: vec![columns],
            layout: Layout::Graphmill,
            fill: Fill::Zero,
            duplicates: Duplicates::Refuse,
            recoded: false,
        }
    }

    /// The shape with as many rows, which a file with this path shall have.
    pub(crate) fn shape(&self, rows: u64, path: &Path) -> Result<TableShape> {
        let plain = match self.is_vector {
            true => TableShape::vector(rows, self.element),
            false => TableShape::matrix(rows, self.columns, self.element),
        };
        let aligned = self.align_rows && self.layout == Layout::Graphmill;
        let shape = if aligned { plain.and_then(TableShape::with_aligned_rows) } else { plain };
        shape.map_err(Error::format(path))
    }
}

/// A plan that can be carried out, in bytes.
pub(super) struct PlannedRows {
    pub(super) plan: TablePlan,
    /// Bytes from one row of the file to the next.
    pub(super) stride: usize,
    /// Bytes of a row without padding.
    pub(super) length: usize,
    /// Where each part lies in a row.
    pub(super) parts: Vec<Range<usize>>,
    /// More rows than this no file can hold.
    most: u64,
}

/// A chunk that was checked.
pub(super) struct Put<'p> {
    pub(super) part: usize,
    pub(super) first_source_row: u64,
    pub(super) targets: Targets<'p>,
    pub(super) bytes: &'p [u8],
    pub(super) count: usize,
    /// Bytes of each row.
    pub(super) length: usize,
    /// The highest target, and one more.
    pub(super) end: u64,
}

impl Put<'_> {
    /// The bytes of one row of the chunk.
    pub(super) fn row(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.length..(index + 1) * self.length]
    }
}

impl PlannedRows {
    pub(super) fn new(plan: TablePlan, path: &Path) -> Result<Self> {
        let shape = plan.shape(0, path)?;
        if plan.layout == Layout::GraphZero {
            graphzero::encode_table_header(&shape).map_err(Error::format(path))?;
        }
        let columns = plan.parts.iter().try_fold(0_u64, |sum, &columns| sum.checked_add(columns));
        if plan.parts.is_empty() || columns != Some(shape.columns()) {
            let problem =
                format!("parts of {:?} columns are no row of {}", plan.parts, shape.columns());
            return Err(Error::request("table", problem));
        }
        let too_wide = || {
            let problem = format!("rows of {} columns are too wide for memory", shape.columns());
            Error::request("table", problem)
        };
        let stride = usize::try_from(shape.stride()).map_err(|_| too_wide())?;
        let length = shape.row_length() as usize;
        let width = plan.element.width() as usize;
        let mut start = 0;
        let parts = plan.parts.iter().map(|&columns| {
            let part = start..start + columns as usize * width;
            start = part.end;
            part
        });
        let parts = parts.collect();
        // A record of a row takes less than 64 bytes besides the row.
        let most = i64::MAX as u64 / (shape.stride() + 64);
        Ok(PlannedRows { plan, stride, length, parts, most })
    }

    /// Checks that bytes are whole rows for targets that can exist.
    pub(super) fn check<'p>(
        &self,
        part: usize,
        first_source_row: u64,
        targets: Targets<'p>,
        bytes: &'p [u8],
    ) -> Result<Put<'p>> {
        let Some(length) = self.parts.get(part).map(Range::len) else {
            let problem = format!("part {part} of {}", self.parts.len());
            return Err(Error::request("table", problem));
        };
        let (count, end) = match &targets {
            Targets::Range(rows) => (rows.end.saturating_sub(rows.start), rows.end),
            Targets::Each(rows) => {
                let highest = rows.iter().copied().max();
                (rows.len() as u64, highest.map_or(0, |row| row.saturating_add(1)))
            }
        };
        if count.checked_mul(length as u64) != Some(bytes.len() as u64) {
            let expected = format!("{count} rows of {length} bytes");
            let remedy = "give whole rows";
            let place = format!("row {first_source_row}");
            return Err(Error::source(place, format!("{} bytes", bytes.len()), expected, remedy));
        }
        let last_source_row = first_source_row.checked_add(count);
        if (end > self.most && count > 0) || last_source_row.is_none_or(|row| row == u64::MAX) {
            let found = format!("row {}", end.saturating_sub(1));
            let expected = format!("a row below {}", self.most);
            let remedy = "number the rows from 0 without large gaps, or map the ids";
            return Err(Error::source("table", found, expected, remedy));
        }
        Ok(Put { part, first_source_row, targets, bytes, count: count as usize, length, end })
    }
}
