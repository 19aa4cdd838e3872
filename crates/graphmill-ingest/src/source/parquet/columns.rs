//! The columns that are read, held against the schema and the length of the file.
//! They are leaves at the root: a value or none for each row, so that all counts of a row group are its rows.

use std::sync::Arc;

use graphmill_disk::Budget;
use parquet::basic::Type;

use super::page_charge::PageCharge;
use super::pages::{Chunk, Pages};
use super::reading::SMALLEST_BATCH;
use super::{ParquetFile, REMEDY, footer, unpack, words};
use crate::{Error, Result};

/// Bytes of text that a batch shall have about.
const BATCH_TEXT: u64 = 1 << 20;
/// Bytes of a value of fixed length, at most; decimals take 32.
const WIDEST: u32 = 64;
/// Rows for each byte of a column, above which the headers of all pages are asked before the footer is believed.
/// Values that repeat may take less, but memory and files are planned by the number of rows.
const USUAL_ROWS_PER_BYTE: u64 = 16;

impl ParquetFile {
    /// Checks what the footer says of some columns in all row groups.
    pub(super) fn check_columns(&self, columns: &[usize]) -> Result<()> {
        for &column in columns {
            for group in 0..self.metadata.num_row_groups() {
                let chunk = self.chunk(group, column, 0)?;
                if chunk.values / USUAL_ROWS_PER_BYTE > chunk.end - chunk.start {
                    self.count_values(chunk)?;
                }
            }
        }
        Ok(())
    }

    /// Asks the pages whether a column has as many values as the footer says.
    fn count_values(&self, chunk: Chunk) -> Result<()> {
        let nothing = Arc::new(PageCharge::new(&[], 0, &Budget::unlimited())?);
        let (name, values) = (chunk.name.clone(), chunk.values);
        let found = Pages::new(self.file.clone(), nothing, chunk).count_values()?;
        if found == values {
            return Ok(());
        }
        let expected = format!("{values}, as the footer says");
        Err(Error::source(name, format!("{found} values in its pages"), expected, REMEDY)
            .in_file(&self.path))
    }

    /// What the footer says of a column in a row group, once it is found to be possible.
    pub(super) fn chunk(&self, group: usize, root: usize, column: usize) -> Result<Chunk> {
        let name = format!("row group {group}, column {}", self.schema.field(root).name());
        let fault = |found: String, expected: String| {
            Err(Error::source(name.clone(), found, expected, REMEDY).in_file(&self.path))
        };
        let schema = self.metadata.file_metadata().schema_descr();
        let (leaf, groups) = (self.leaves[root], self.metadata.row_group(group));
        let Some(found) = groups.columns().get(leaf) else {
            return fault("no values".to_owned(), "a column".to_owned());
        };
        let descriptor = schema.column(leaf);
        let is_leaf = schema.root_schema().get_fields()[root].is_primitive();
        if !is_leaf || descriptor.max_rep_level() != 0 || descriptor.max_def_level() > 1 {
            return fault("nested values".to_owned(), "one for each row".to_owned());
        }
        if found.file_path().is_some_and(|path| !path.is_empty()) {
            return fault("values in another file".to_owned(), "values in this file".to_owned());
        }
        if found.num_values() != groups.num_rows() {
            let expected = format!("one for each of {} rows", groups.num_rows());
            return fault(format!("{} values", found.num_values()), expected);
        }
        let width = match descriptor.physical_type() {
            Type::FIXED_LEN_BYTE_ARRAY => descriptor.type_length().max(0) as u32,
            _ => 0,
        };
        if width > WIDEST {
            return fault(format!("values of {width} bytes"), format!("at most {WIDEST}"));
        }
        let codec = found.compression();
        if !unpack::is_known(codec) {
            let expected = "snappy, gzip, zstd, LZ4_RAW or none".to_owned();
            return fault(format!("compression {codec}"), expected);
        }
        // As old writers have it, a dictionary may start before the data or nowhere.
        let data = found.data_page_offset();
        let start = found.dictionary_page_offset().filter(|start| (1..data).contains(start));
        let start = start.unwrap_or(data);
        let Some(bytes) = footer::bytes_of(start, found.compressed_size(), self.footer) else {
            let found = format!("{} bytes from byte {start}", found.compressed_size());
            return fault(found, format!("a part of the first {} bytes", self.footer));
        };
        Ok(Chunk {
            name,
            column,
            start: bytes.start,
            end: bytes.end,
            values: groups.num_rows().max(0) as u64,
            codec,
            physical: descriptor.physical_type(),
            width,
            is_optional: descriptor.max_def_level() > 0,
        })
    }

    /// Rows of one batch, fewer than `most` where texts are long.
    pub(super) fn batch_rows(&self, group: usize, columns: &[usize], most: usize) -> usize {
        let rows = self.row_groups()[group].max(1);
        let texts = columns.iter().filter(|column| words::is_text(self.data_type(**column)));
        let length = texts.map(|column| (self.sizes(group, *column).1 / rows).max(1)).max();
        let fitting = length.map_or(u64::MAX, |length| BATCH_TEXT / length);
        fitting.clamp(SMALLEST_BATCH as u64, most.max(SMALLEST_BATCH) as u64) as usize
    }

    /// Bytes of a column in a row group, packed and unpacked, as the footer says.
    pub(super) fn sizes(&self, group: usize, root: usize) -> (u64, u64) {
        let column = self.metadata.row_group(group).columns().get(self.leaves[root]);
        let sizes = column.map(|column| (column.compressed_size(), column.uncompressed_size()));
        sizes.map_or((0, 0), |(packed, unpacked)| (packed.max(0) as u64, unpacked.max(0) as u64))
    }
}
