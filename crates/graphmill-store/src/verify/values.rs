//! Checks of values that need nothing but their own block.

use super::Fault;
use super::blocks::Block;
use crate::Result;
use graphmill_format::{ElementType, content};
use zerocopy::FromBytes;

/// For sections in which every value is possible.
pub(super) fn nothing(_: &Block) -> Result<Option<Fault>> {
    Ok(None)
}

/// A table: only booleans can be wrong.
pub(super) fn check_table(block: &Block) -> Result<Option<Fault>> {
    if block.section.element != ElementType::Bool {
        return Ok(None);
    }
    let describe =
        |at: usize| block.fault(at, format!("found {}, expected 0 or 1", block.bytes[at]));
    Ok(content::first_bad_bool(block.bytes).map(describe))
}

/// Weights: finite and not negative.
pub(super) fn check_weights(block: &Block) -> Result<Option<Fault>> {
    let Some(weights) = aligned::<f32>(block.bytes) else { return Ok(None) };
    let describe = |at: usize| {
        block.fault(
            at,
            format!("found weight {}, expected a finite number not below 0", weights[at]),
        )
    };
    Ok(content::first_bad_weight(weights).map(describe))
}

/// Edge ids: rows of the source.
pub(super) fn check_edge_ids(block: &Block) -> Result<Option<Fault>> {
    let Some(ids) = aligned::<i64>(block.bytes) else { return Ok(None) };
    let describe =
        |at: usize| block.fault(at, format!("found edge id {}, expected 0 or more", ids[at]));
    Ok(content::first_bad_id(ids, i64::MAX as u64).map(describe))
}

/// A block as numbers. Blocks are whole numbers of elements and heap buffers are aligned for them.
pub(super) fn aligned<T>(bytes: &[u8]) -> Option<&[T]>
where
    T: FromBytes + zerocopy::Immutable + zerocopy::KnownLayout,
{
    let elements = <[T]>::ref_from_bytes(bytes).ok();
    debug_assert!(elements.is_some(), "a heap buffer of a MiB is aligned");
    elements
}
