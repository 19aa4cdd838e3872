//! Checks of values that need nothing but their own piece.

use super::Fault;
use super::blocks::Piece;
use crate::Result;
use graphmill_format::{ElementType, content};
use zerocopy::FromBytes;

/// For sections in which every value is possible.
pub(super) fn nothing(_: &Piece) -> Result<Option<Fault>> {
    Ok(None)
}

/// A table: only booleans can be wrong.
pub(super) fn check_table(piece: &Piece) -> Result<Option<Fault>> {
    if piece.section.element != ElementType::Bool {
        return Ok(None);
    }
    let describe =
        |at: usize| piece.fault(at, format!("found {}, expected 0 or 1", piece.bytes[at]));
    Ok(content::first_bad_bool(piece.bytes).map(describe))
}

/// Weights: finite and not negative.
pub(super) fn check_weights(piece: &Piece) -> Result<Option<Fault>> {
    let Some(weights) = aligned::<f32>(piece.bytes) else { return Ok(None) };
    let describe = |at: usize| {
        piece.fault(
            at,
            format!("found weight {}, expected a finite number not below 0", weights[at]),
        )
    };
    Ok(content::first_bad_weight(weights).map(describe))
}

/// Edge ids: rows of the source, of which a dataset says how many there are.
pub(super) fn check_edge_ids(piece: &Piece, source_rows: Option<u64>) -> Result<Option<Fault>> {
    let Some(ids) = aligned::<i64>(piece.bytes) else { return Ok(None) };
    let expected = match source_rows {
        None => "0 or more".to_owned(),
        Some(rows) => format!("the number of one of {rows} rows of the source"),
    };
    let describe =
        |at: usize| piece.fault(at, format!("found edge id {}, expected {expected}", ids[at]));
    let limit = source_rows.unwrap_or(u64::MAX).min(i64::MAX as u64);
    Ok(content::first_bad_id(ids, limit).map(describe))
}

/// A piece as numbers. Pieces are whole numbers of elements and start on a page.
pub(super) fn aligned<T>(bytes: &[u8]) -> Option<&[T]>
where
    T: FromBytes + zerocopy::Immutable + zerocopy::KnownLayout,
{
    let elements = <[T]>::ref_from_bytes(bytes).ok();
    debug_assert!(elements.is_some(), "page buffers are aligned");
    elements
}
