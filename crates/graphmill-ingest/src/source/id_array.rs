//! Ids in memory, of any type that NumPy and torch give.
//! Edges and tables from Python come with ids as arrays or as text; here they are looked at alike.
//! It must not know what the ids belong to.

use std::ops::Range;

use super::chunk::TextCells;
use super::id_numbers::LARGEST_ID;
use super::names::{NoName, name};

/// Ids in memory.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum IdArray<'a> {
    /// Signed, 32 bits.
    I32(&'a [i32]),
    /// Signed, 64 bits.
    I64(&'a [i64]),
    /// Unsigned, 32 bits.
    U32(&'a [u32]),
    /// Unsigned, 64 bits.
    U64(&'a [u64]),
    /// Words.
    Text(&'a TextCells),
}

impl IdArray<'_> {
    /// Number of ids.
    pub fn len(&self) -> usize {
        match self {
            IdArray::I32(ids) => ids.len(),
            IdArray::I64(ids) => ids.len(),
            IdArray::U32(ids) => ids.len(),
            IdArray::U64(ids) => ids.len(),
            IdArray::Text(ids) => ids.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are words.
    pub fn is_text(&self) -> bool {
        matches!(self, IdArray::Text(_))
    }

    /// Appends some ids, sign-extended; words are none.
    pub(crate) fn extend(&self, range: Range<usize>, into: &mut Vec<u64>) {
        match self {
            IdArray::I32(ids) => into.extend(ids[range].iter().map(|id| *id as u64)),
            IdArray::I64(ids) => into.extend(ids[range].iter().map(|id| *id as u64)),
            IdArray::U32(ids) => into.extend(ids[range].iter().map(|id| u64::from(*id))),
            IdArray::U64(ids) => into.extend_from_slice(&ids[range]),
            IdArray::Text(_) => {}
        }
    }

    /// One id, or how it reads if it is none.
    pub(crate) fn number(&self, at: usize) -> Result<u64, String> {
        let signed = |id: i64| u64::try_from(id).map_err(|_| id.to_string());
        match self {
            IdArray::I32(ids) => signed(ids[at].into()),
            IdArray::I64(ids) => signed(ids[at]),
            IdArray::U32(ids) => Ok(ids[at].into()),
            IdArray::U64(ids) if ids[at] > LARGEST_ID => Err(ids[at].to_string()),
            IdArray::U64(ids) => Ok(ids[at]),
            IdArray::Text(ids) => Err(format!("{:?}", ids.get(at).unwrap_or_default())),
        }
    }

    /// One word, if they are words.
    pub(crate) fn word(&self, at: usize) -> Option<Result<&str, NoName>> {
        match self {
            IdArray::Text(ids) => Some(name(ids.get(at).unwrap_or_default().as_bytes())),
            _ => None,
        }
    }

    /// Bytes of one word as it stands, 0 for numbers.
    pub(crate) fn word_bytes(&self, at: usize) -> usize {
        match self {
            IdArray::Text(ids) => ids.get(at).map_or(0, str::len),
            _ => 0,
        }
    }
}

macro_rules! ids_from {
    ($($from:ty => $variant:ident),*) => {$(
        impl<'a> From<&'a $from> for IdArray<'a> {
            fn from(ids: &'a $from) -> Self {
                IdArray::$variant(ids)
            }
        }
    )*};
}

ids_from!([i32] => I32, [i64] => I64, [u32] => U32, [u64] => U64, TextCells => Text);
