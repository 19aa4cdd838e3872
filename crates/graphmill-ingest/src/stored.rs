//! Numbers of a file, read in pieces.
//! Every file source of edges, values and rows reads through here, by positioned reads that turn a
//! truncated file into an error. It must not know formats: callers say where and of which width.

use std::sync::Arc;

use graphmill_disk::ReadAt;
use graphmill_format::{ElementType, Section};

use crate::edges::EdgeValues;
use crate::{Error, Result};

/// Bytes read at a time.
const PIECE: usize = 1 << 16;

/// Reads `count` numbers of `N` bytes from byte `at` on and hands each to `take` with its index.
pub(crate) fn read_each<const N: usize>(
    file: &dyn ReadAt,
    at: u64,
    count: usize,
    mut take: impl FnMut(usize, [u8; N]),
) -> Result<()> {
    let mut buffer = vec![0; PIECE.min(count.saturating_mul(N))];
    let mut done = 0;
    while done < count {
        let length = (count - done).min(PIECE / N);
        let bytes = &mut buffer[..length * N];
        file.read_exact_at(at + (done * N) as u64, bytes)?;
        for (index, value) in bytes.as_chunks::<N>().0.iter().enumerate() {
            take(done + index, *value);
        }
        done += length;
    }
    Ok(())
}

/// Reads integers of any width, sign-extended: a negative one becomes larger than any id.
pub(crate) fn read_integers(
    file: &dyn ReadAt,
    element: ElementType,
    at: u64,
    count: usize,
    mut take: impl FnMut(usize, u64),
) -> Result<()> {
    match element {
        ElementType::I8 => read_each(file, at, count, |i, b| take(i, i8::from_le_bytes(b) as u64)),
        ElementType::U8 => read_each(file, at, count, |i, b| take(i, u8::from_le_bytes(b).into())),
        ElementType::I16 => {
            read_each(file, at, count, |i, b| take(i, i16::from_le_bytes(b) as u64))
        }
        ElementType::I32 => {
            read_each(file, at, count, |i, b| take(i, i32::from_le_bytes(b) as u64))
        }
        ElementType::I64 | ElementType::U64 => {
            read_each(file, at, count, |i, b| take(i, u64::from_le_bytes(b)))
        }
        other => {
            let remedy = "give ids as integers";
            Err(Error::source("ids", other.name(), "integers", remedy).in_file(file.path()))
        }
    }
}

/// The section of a file that holds one value per edge or node.
#[derive(Clone, Debug)]
pub(crate) struct StoredValues {
    pub(crate) file: Arc<dyn ReadAt>,
    pub(crate) section: Section,
}

impl EdgeValues<f32> for StoredValues {
    fn count(&self) -> u64 {
        self.section.count
    }

    fn read(&self, first: u64, values: &mut [f32]) -> Result<()> {
        let at = self.section.offset + first * 4;
        let count = values.len();
        read_each(&*self.file, at, count, |index, bytes| values[index] = f32::from_le_bytes(bytes))
    }
}

impl EdgeValues<i64> for StoredValues {
    fn count(&self) -> u64 {
        self.section.count
    }

    fn read(&self, first: u64, values: &mut [i64]) -> Result<()> {
        let at = self.section.offset + first * 8;
        let count = values.len();
        read_each(&*self.file, at, count, |index, bytes| values[index] = i64::from_le_bytes(bytes))
    }
}
