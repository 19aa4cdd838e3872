//! From the ids of the source to the numbers of the nodes.
//! Whoever renumbers nodes (an order by heat, a mapping of scattered or textual ids) answers here;
//! whoever places rows or lists splits asks. Neither knows the other.

use crate::source::TextCells;

/// Answers which node an original id belongs to.
pub(crate) trait NodeNumbers: Sync {
    /// Replaces original ids by numbers of nodes; fails with the place of the first that has none.
    fn of_ids(&self, ids: &mut [u64]) -> crate::Result<Result<(), usize>>;

    /// Appends the numbers of the nodes with these names; fails with the place of the first name
    /// that no node has.
    fn of_names(&self, names: &TextCells, into: &mut Vec<u64>) -> crate::Result<Result<(), usize>>;
}
