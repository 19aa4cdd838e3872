//! The footer of a file: its schema and where its columns lie.
//!
//! The library parses it, but only after a walk over its bytes has bounded lists and nesting, so that it neither
//! recurses nor allocates without end. What the library makes of it is then held against itself and against the
//! length of the file.

use std::ops::Range;
use std::sync::Arc;

use graphmill_disk::ReadAt;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::guarded::guarded;
use super::thrift::{I64, LIST, STRUCT, Thrift};
use super::{REMEDY, damaged};
use crate::{Error, Result};

const MAGIC: &[u8; 4] = b"PAR1";
/// The magic of a file whose footer is encrypted.
const ENCRYPTED: &[u8; 4] = b"PARE";
/// Bytes behind the footer: its length and the magic.
const TAIL: u64 = 8;
/// Footers take several times their length in memory; this is that of millions of columns.
const LONGEST: u64 = 256 << 20;
/// Groups within groups, at most.
const DEEPEST: usize = 64;

/// Reads the footer of a file; gives where it starts too.
pub(super) fn read(file: &Arc<dyn ReadAt>) -> Result<(ParquetMetaData, u64)> {
    let fault = |place: &str, found: &dyn ToString, expected: &str| {
        Error::source(place, found.to_string(), expected, REMEDY).in_file(file.path())
    };
    let mut magic = [0; 4];
    if file.len() < TAIL + 4 {
        let found = format!("a file of {} bytes", file.len());
        return Err(fault("content", &found, "a Parquet file"));
    }
    file.read_exact_at(0, &mut magic)?;
    let mut tail = [0; TAIL as usize];
    file.read_exact_at(file.len() - TAIL, &mut tail)?;
    let (length, end) = tail.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    if [&magic[..], end].contains(&&ENCRYPTED[..]) {
        return Err(fault("content", &"an encrypted footer", "a file that is not encrypted"));
    }
    if magic != *MAGIC || end != MAGIC {
        return Err(fault("content", &"no PAR1 at its start or end", "a Parquet file"));
    }
    let length = u64::from(u32::from_le_bytes(*length));
    let most = (file.len() - TAIL - 4).min(LONGEST);
    if length > most {
        let (found, expected) = (format!("{length} bytes"), format!("at most {most}"));
        return Err(fault("length of the footer", &found, &expected));
    }
    let start = file.len() - TAIL - length;
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(start, &mut bytes)?;
    if walk(&bytes).is_none() {
        return Err(fault("footer", &"damaged bytes", "columns and row groups"));
    }
    let metadata = guarded(|| ParquetMetaDataReader::decode_metadata(&bytes))
        .map_err(|panic| damaged(file.path(), &panic))?
        .map_err(|error| damaged(file.path(), &error))?;
    check_rows(&metadata)
        .map_err(|(found, expected)| fault("rows of the footer", &found, &expected))?;
    Ok((metadata, start))
}

/// Walks over a footer as the library will; None if that is not safe.
fn walk(bytes: &[u8]) -> Option<()> {
    let mut thrift = Thrift::new(bytes);
    let mut last = 0;
    while let Some(field) = thrift.field(&mut last)? {
        match field.id {
            2 if field.kind == LIST => walk_schema(&mut thrift)?,
            2 => return None,
            3 if field.kind != I64 => return None,
            _ => thrift.skip(field.kind)?,
        }
    }
    Some(())
}

/// Walks over the elements of a schema, which is a tree in preorder: each says how many children it has.
fn walk_schema(thrift: &mut Thrift<'_>) -> Option<()> {
    let (STRUCT, elements) = thrift.list()? else { return None };
    // Children that are still to come, of each group that is open.
    let mut open: Vec<usize> = Vec::new();
    for element in 0..elements {
        let (mut children, mut last) = (0, 0);
        while let Some(field) = thrift.field(&mut last)? {
            match field.id {
                5 => children = thrift.size(field)? as usize,
                _ => thrift.skip(field.kind)?,
            }
        }
        if children > elements - element || open.len() > DEEPEST {
            return None;
        }
        if let Some(left) = open.last_mut() {
            *left = left.checked_sub(1)?;
        }
        open.push(children);
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(())
}

/// Row groups hold the rows of the file; the error says what was found and expected.
fn check_rows(metadata: &ParquetMetaData) -> std::result::Result<(), (String, String)> {
    let rows = metadata.file_metadata().num_rows();
    let sum = metadata.row_groups().iter().try_fold(0_i64, |sum, group| {
        sum.checked_add(group.num_rows()).filter(|_| group.num_rows() >= 0)
    });
    if sum == Some(rows) {
        return Ok(());
    }
    let found = sum.map_or("impossible numbers".to_owned(), |sum| sum.to_string());
    Err((format!("{found} in the row groups"), format!("{rows}, as the file has")))
}

/// The bytes of a column chunk, if they lie between the magic and the footer.
pub(super) fn bytes_of(start: i64, length: i64, footer: u64) -> Option<Range<u64>> {
    let (start, length) = (u64::try_from(start).ok()?, u64::try_from(length).ok()?);
    let end = start.checked_add(length)?;
    (start >= MAGIC.len() as u64 && end <= footer).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with a schema of these numbers of children, and nothing else.
    fn with_schema(children: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x29, 0xFC];
        let mut count = children.len();
        while count >= 0x80 {
            bytes.push(count as u8 | 0x80);
            count >>= 7;
        }
        bytes.push(count as u8);
        children.iter().for_each(|&children| bytes.extend([0x55, 2 * children, 0]));
        bytes.push(0);
        bytes
    }

    #[test]
    fn schemas_are_walked_as_trees() {
        assert!(walk(&with_schema(&[2, 0, 1, 0])).is_some());
        // More children than elements, and groups within groups without end.
        assert!(walk(&with_schema(&[5, 0])).is_none());
        let mut deep = vec![1; 10_000];
        deep.push(0);
        assert!(walk(&with_schema(&deep)).is_none());
        assert!(walk(&with_schema(&deep[9_960..])).is_some());
    }

    #[test]
    fn columns_lie_between_magic_and_footer() {
        assert_eq!(bytes_of(4, 6, 10), Some(4..10));
        for (start, length) in [(3, 1), (4, 7), (-4, 6), (4, -1), (i64::MAX, i64::MAX)] {
            assert_eq!(bytes_of(start, length, 10), None);
        }
    }
}
