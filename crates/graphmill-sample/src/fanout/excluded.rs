//! Edges that a sample must not hold.
//! Link prediction hides the edges it asks about; the picker of a hop leaves them out before it chooses, so that the
//! others are picked as if these had never been stored. Which links those are is the caller's affair.

use crate::Result;
use graphmill_disk::room;
use graphmill_format::Direction;

/// Pairs of nodes whose edges, parallel ones included, are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExcludedEdges {
    /// Source and destination, ascending.
    outward: Vec<(u64, u64)>,
    /// Destination and source, ascending.
    inward: Vec<(u64, u64)>,
}

impl ExcludedEdges {
    /// The edges from `sources` to `destinations`, pair by pair; with `both`, their reverses too.
    ///
    /// A pair with a negative number names no edge.
    pub fn new(sources: &[i64], destinations: &[i64], both: bool) -> Result<Self> {
        let mut outward = room::vector(sources.len() << u32::from(both))?;
        for (&source, &destination) in sources.iter().zip(destinations) {
            if let (Ok(source), Ok(destination)) = (source.try_into(), destination.try_into()) {
                outward.push((source, destination));
                if both {
                    outward.push((destination, source));
                }
            }
        }
        outward.sort_unstable();
        outward.dedup();
        let mut inward = room::vector(outward.len())?;
        inward.extend(outward.iter().map(|&(source, to)| (to, source)));
        inward.sort_unstable();
        Ok(ExcludedEdges { outward, inward })
    }

    /// The neighbours that the list of a node leaves out, ascending, each with the node before it.
    pub(super) fn of(&self, node: u64, follow: Direction) -> &[(u64, u64)] {
        let pairs = if follow == Direction::Out { &self.outward } else { &self.inward };
        let start = pairs.partition_point(|&(expanded, _)| expanded < node);
        let length = pairs[start..].partition_point(|&(expanded, _)| expanded == node);
        &pairs[start..start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_found_from_either_end() {
        let excluded = ExcludedEdges::new(&[3, 1, 3, -1], &[1, 2, 1, 0], false).unwrap();
        assert_eq!(excluded.of(3, Direction::Out), [(3, 1)]);
        assert_eq!(excluded.of(1, Direction::Out), [(1, 2)]);
        assert_eq!(excluded.of(1, Direction::In), [(1, 3)]);
        assert_eq!(excluded.of(0, Direction::In), []);
        let both = ExcludedEdges::new(&[3, 1], &[1, 2], true).unwrap();
        assert_eq!(both.of(1, Direction::Out), [(1, 2), (1, 3)]);
        assert_eq!(both.of(1, Direction::In), [(1, 2), (1, 3)]);
    }
}
