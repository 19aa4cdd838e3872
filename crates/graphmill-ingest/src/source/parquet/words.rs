//! Columns of text, and of integers taken as text.
//! Strings are read as views of their pages, so that a word that occurs often lies in memory once;
//! what is handed on is cut into chunks of bounded length. Words are bytes here: the library takes the encoding of
//! some strings on trust.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};

use crate::source::names::LONGEST_NAME;

/// Bytes of words in one chunk, beyond which no further row is added.
const CHUNK: usize = 512 << 10;
/// What the words of one column of a chunk take at most, while they grow.
pub(super) const CHUNK_MEMORY: u64 = 2 * (CHUNK + LONGEST_NAME) as u64;

/// Whether a column holds text.
pub(super) fn is_text(data: &DataType) -> bool {
    matches!(data, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether a column can be taken as words.
pub(super) fn is_wordy(data: &DataType) -> bool {
    is_text(data) || data.is_integer()
}

/// A column of a batch as words.
pub(super) struct Words(BinaryViewArray);

impl Words {
    pub(super) fn new(array: &ArrayRef) -> Result<Self, ArrowError> {
        Ok(Words(cast(array, &DataType::Utf8View)?.as_string_view().clone().to_binary_view()))
    }

    /// The word of a row, if there is one.
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

/// The first rows of some whose words fit into one chunk, at least one.
pub(super) fn fitting(rows: Range<usize>, words: &[&Words]) -> Range<usize> {
    let mut bytes = 0;
    let mut end = rows.start;
    while end < rows.end && bytes <= CHUNK {
        let length = |words: &&Words| words.get(end).map_or(0, |word| word.len().min(LONGEST_NAME));
        bytes += words.iter().map(length).sum::<usize>();
        end += 1;
    }
    rows.start..end
}
