//! Where lists start, for checks that pass over the elements of lists piece by piece.
//! Every thread that checks has its own, so that a piece which follows the one before costs no search and no memory. It
//! relies on offsets that were found sound; if the file changes meanwhile, it gives other starts, never a panic.

use crate::Result;
use crate::stored_offsets::StoredOffsets;
use graphmill_disk::Pread;
use graphmill_format::DirectionSections;
use std::ops::Range;

/// Offsets that are read at a time.
const AT_ONCE: u64 = 1 << 12;

/// The starts of the lists of a direction.
pub(super) struct ListStarts<'a> {
    offsets: StoredOffsets<'a>,
    /// The edge up to which starts were visited.
    reached: u64,
    /// The index of the first offset that is not below that edge; `held` begins there, `passed` of it left out.
    next: u64,
    held: Vec<u64>,
    passed: usize,
}

impl<'a> ListStarts<'a> {
    /// Those of so many nodes.
    pub(super) fn new(file: &'a Pread, sections: &DirectionSections, num_nodes: u64) -> Self {
        let offsets = StoredOffsets::new(file, sections, num_nodes);
        ListStarts { offsets, reached: 0, next: 0, held: Vec::new(), passed: 0 }
    }

    /// Calls `visit` with the starts of the lists that start at some edges, a few thousand at a time.
    pub(super) fn visit(&mut self, edges: Range<u64>, mut visit: impl FnMut(&[u64])) -> Result<()> {
        if edges.start != self.reached {
            self.held.clear();
            self.passed = 0;
            self.next = self.first_not_below(edges.start)?;
        }
        loop {
            if self.passed == self.held.len() && !self.read_on()? {
                break;
            }
            let left = &self.held[self.passed..];
            let here = left.partition_point(|&start| start < edges.end);
            visit(&left[..here]);
            self.passed += here;
            self.next += here as u64;
            if self.passed < self.held.len() {
                break;
            }
        }
        self.reached = edges.end;
        Ok(())
    }

    /// The starts of some edges as places among them.
    pub(super) fn places(&mut self, edges: Range<u64>) -> Result<Vec<usize>> {
        let mut places = Vec::new();
        self.visit(edges.clone(), |starts| {
            places.extend(starts.iter().map(|start| start.wrapping_sub(edges.start) as usize));
        })?;
        Ok(places)
    }

    /// Holds the next offsets; false if there are no more.
    fn read_on(&mut self) -> Result<bool> {
        self.held.clear();
        self.passed = 0;
        let some = self.next..self.offsets.count().min(self.next + AT_ONCE);
        let held = &mut self.held;
        self.offsets.read(some, |offsets| held.extend_from_slice(offsets))?;
        Ok(!self.held.is_empty())
    }

    fn first_not_below(&mut self, edge: u64) -> Result<u64> {
        let (mut low, mut high) = (0, self.offsets.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.offsets.at(middle)? < edge { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_format::{Direction, GraphShape, Header};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pieces_in_any_order_are_given_their_own_starts(
            degrees in prop::collection::vec(0_u64..4, 1..20_000),
            cuts in prop::collection::vec(0_u64..30_000, 1..12),
            is_in_order in any::<bool>(),
        ) {
            let mut offsets = vec![0_u64];
            degrees.iter().for_each(|degree| offsets.push(offsets[offsets.len() - 1] + degree));
            let file = tempfile::NamedTempFile::new().unwrap();
            let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
            std::fs::write(file.path(), [&[0; 4096][..], &bytes].concat()).unwrap();
            let shape = GraphShape::new(degrees.len() as u64, 0, &[Direction::Out]);
            let layout = Header::for_graph(&shape).unwrap().graph_layout().unwrap();
            let file = Pread::open(file.path()).unwrap();
            let mut starts = ListStarts::new(&file, &layout.directions[0], layout.num_nodes);
            let mut cuts: Vec<u64> = cuts;
            if is_in_order {
                cuts.sort_unstable();
            }
            for ends in cuts.windows(2) {
                let edges = ends[0].min(ends[1])..ends[0].max(ends[1]);
                let here = offsets.iter().filter(|start| edges.contains(start));
                let expected: Vec<usize> = here.map(|start| (start - edges.start) as usize).collect();
                prop_assert_eq!(starts.places(edges).unwrap(), expected);
            }
        }
    }
}
