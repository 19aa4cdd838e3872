//! A mapped file whose header has been read, and typed views of its sections.

use crate::{Error, Result};
use graphmill_disk::{Advice, Mapped, ReadAt};
use graphmill_format::{FileKind, HEADER_LENGTH, Section, graphzero};
use std::path::Path;
use std::sync::Arc;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of ours: checksummed and versioned.
    Graphmill,
    /// A GraphZero 0.2 file: read as it is, without checksums.
    GraphZero,
}

/// Maps a file and returns its first bytes, at most a header's length, read with the length checked.
pub(crate) fn open(path: &Path) -> Result<(Arc<Mapped>, Vec<u8>)> {
    let mapped = Mapped::open(path)?;
    // Rows and lists are read here and there; without this a fault reads megabytes around the one page it needs.
    mapped.advise(Advice::Random, 0..mapped.len())?;
    let mut start = vec![0; mapped.len().min(HEADER_LENGTH) as usize];
    mapped.read_exact_at(0, &mut start)?;
    Ok((Arc::new(mapped), start))
}

/// What the first bytes of a file say that it is.
pub(crate) fn recognise(start: &[u8]) -> Option<(Origin, FileKind)> {
    if start.starts_with(&graphzero::GRAPH_MAGIC) {
        Some((Origin::GraphZero, FileKind::Graph))
    } else if start.starts_with(&graphzero::TABLE_MAGIC) {
        Some((Origin::GraphZero, FileKind::Table))
    } else {
        FileKind::of(start).map(|kind| (Origin::Graphmill, kind))
    }
}

/// The elements of a section, in place.
///
/// The section was checked against the file's length when the header was read, and every section starts at a multiple
/// of its element's width, so a failure here would be a mistake of ours.
pub(crate) fn elements<'a, T>(mapped: &'a Mapped, section: &Section) -> &'a [T]
where
    T: FromBytes + Immutable + KnownLayout,
{
    let range = section.offset as usize..section.end() as usize;
    elements_of(&mapped.bytes()[range])
}

/// The elements of a whole section that starts on a page.
pub(crate) fn elements_of<T>(bytes: &[u8]) -> &[T]
where
    T: FromBytes + Immutable + KnownLayout,
{
    <[T]>::ref_from_bytes(bytes).expect("sections are aligned and whole")
}

/// Fails if `index` is not below `count`.
pub(crate) fn check_index(path: &Path, what: &'static str, index: u64, count: u64) -> Result<()> {
    if index < count {
        return Ok(());
    }
    Err(Error::OutOfRange { path: path.to_path_buf(), what, index: index as i64, count })
}
