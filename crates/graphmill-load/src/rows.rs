//! A table together with the way its rows are read.
//! Feature handles and loaders hold one per column; it makes sure that the reader reads the file that the table was
//! opened from. Gathering is in `gather`, which see; it does not know what the rows are for.

use crate::promotion::Promotion;
use crate::read_plan::{BLOCK, BREAK_EVEN_GAP, LARGEST_GAP, LONGEST_READ, Merging, RowPlaces};
use crate::row_copy::RowCopy;
use crate::{Reading, Result};
use graphmill_disk::{DeviceProfile, Pread, Presence, ReadAt, Ring};
use graphmill_format::{ElementType, TableShape};
use graphmill_store::Table;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A table whose rows are fetched in one way. Cloning shares the open file.
#[derive(Clone, Debug)]
pub struct Rows {
    pub(crate) table: Table,
    reading: Reading,
    /// Serves what does not come from the map; None if everything does.
    pub(crate) reader: Option<Arc<dyn ReadAt>>,
    /// What is known about the page cache; shared by all who read this way.
    pub(crate) presence: Arc<Presence>,
    /// Bytes that may be copied from the map before anybody asks again whether it is resident.
    pub(crate) trusted: Arc<AtomicU64>,
    pub(crate) promotion: Arc<Promotion>,
    pub(crate) how: RowCopy,
    pub(crate) merging: Merging,
}

impl Rows {
    /// Reads the rows of an open table.
    pub fn open(table: Table, reading: impl Into<Reading>) -> Result<Self> {
        let reading = reading.into();
        let reader: Option<Arc<dyn ReadAt>> = match reading {
            Reading::Mapped => None,
            Reading::Pread => Some(Arc::new(Pread::of(table.mapped())?)),
            Reading::Auto | Reading::Ring => Some(Arc::new(Ring::of(table.mapped())?)),
        };
        let measured = reader.as_ref().and_then(|reader| DeviceProfile::cached(reader.path()));
        let gap = measured
            .map_or(BREAK_EVEN_GAP, |profile| profile.break_even_gap().clamp(BLOCK, LARGEST_GAP));
        let merging = Merging { gap, longest: LONGEST_READ, block: BLOCK };
        Ok(Rows {
            table,
            reading,
            reader,
            presence: Arc::default(),
            trusted: Arc::default(),
            promotion: Arc::default(),
            how: RowCopy::Plain,
            merging,
        })
    }

    /// Delivers half floats as single floats, or as they are.
    pub fn widened(self, widen: bool) -> Self {
        let how = RowCopy::new(self.table.shape().element(), widen);
        Rows { how, ..self }
    }

    /// Reads along gaps of up to so many bytes, as the disk was measured to like it.
    pub fn break_even_gap(self, gap: u64) -> Self {
        Rows { merging: Merging { gap, ..self.merging }, ..self }
    }

    /// Makes no read longer than so many bytes, unless a single row is, so that reading takes less memory.
    pub fn longest_read(self, longest: u64) -> Self {
        Rows { merging: Merging { longest: longest.max(1), ..self.merging }, ..self }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How the rows are read, as it was asked for.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The type of the elements that are delivered.
    pub fn element(&self) -> ElementType {
        self.how.delivered(self.table.shape().element())
    }

    /// Bytes of one row as it is delivered; `u64::MAX` if that is no number of bytes.
    pub fn row_length(&self) -> u64 {
        self.how.delivered_length(self.table.shape()).unwrap_or(u64::MAX)
    }

    /// The shape of so many delivered rows, without padding.
    pub fn shape_of(&self, count: usize) -> Result<TableShape> {
        let shape = self.table.shape();
        let delivered = if shape.is_vector() {
            TableShape::vector(count as u64, self.element())
        } else {
            TableShape::matrix(count as u64, shape.columns(), self.element())
        };
        let path = self.table.path().to_path_buf();
        Ok(delivered.map_err(|source| graphmill_store::Error::Format { path, source })?)
    }

    pub(crate) fn places(&self) -> RowPlaces {
        let shape = self.table.shape();
        RowPlaces {
            start: self.table.section().offset,
            stride: shape.stride(),
            length: shape.row_length(),
            file_length: self.table.mapped().len(),
        }
    }

    /// The bytes of a row that exists, in the map.
    pub(crate) fn mapped_row(&self, row: u64) -> &[u8] {
        let places = self.places();
        let start = places.offset(row) as usize;
        &self.table.mapped().bytes()[start..start + places.length as usize]
    }
}
