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

    /// Calls `visit` with the starts of the lists that start at some edges, a few thousand at a time, and with the node of the
    /// first of them.
    pub(super) fn visit(
        &mut self,
        edges: Range<u64>,
        mut visit: impl FnMut(u64, &[u64]),
    ) -> Result<()> {
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
            visit(self.next, &left[..here]);
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
        self.visit(edges.clone(), |_, starts| {
            places.extend(starts.iter().map(|start| start.wrapping_sub(edges.start) as usize));
        })?;
        Ok(places)
    }

    /// Calls `each` with every list that has some of these edges: its node, and which of them.
    pub(super) fn lists(
        &mut self,
        edges: Range<u64>,
        mut each: impl FnMut(u64, Range<usize>),
    ) -> Result<()> {
        let mut parts = Parts::of(&edges);
        self.visit(edges, |node, starts| parts.until(node, starts, &mut each))?;
        parts.rest(self.next, each);
        Ok(())
    }

    /// The node at whose start [`visit`](Self::visit) ended.
    pub(super) fn next_node(&self) -> u64 {
        self.next
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

/// Cuts some edges into the parts of the lists that they are in, as starts come.
pub(super) struct Parts {
    first: u64,
    reached: u64,
    end: u64,
}

impl Parts {
    pub(super) fn of(edges: &Range<u64>) -> Self {
        Parts { first: edges.start, reached: edges.start, end: edges.end }
    }

    /// Calls `each` with the lists that end at these starts, the first of which is that of `node`.
    #[inline]
    pub(super) fn until(
        &mut self,
        node: u64,
        starts: &[u64],
        mut each: impl FnMut(u64, Range<usize>),
    ) {
        for (node, &start) in (node..).zip(starts) {
            // Of a file that changes meanwhile starts may be anything.
            if start > self.reached && start <= self.end {
                // Every list before that is not empty ended earlier.
                each(node.saturating_sub(1), self.part(start));
                self.reached = start;
            }
        }
    }

    /// Calls `each` with what is left, which is in the list before that of `node`.
    pub(super) fn rest(self, node: u64, mut each: impl FnMut(u64, Range<usize>)) {
        if self.reached < self.end {
            each(node.saturating_sub(1), self.part(self.end));
        }
    }

    fn part(&self, end: u64) -> Range<usize> {
        (self.reached - self.first) as usize..(end - self.first) as usize
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
                prop_assert_eq!(starts.places(edges.clone()).unwrap(), expected);
                let last = offsets[offsets.len() - 1];
                let edges = edges.start.min(last)..edges.end.min(last);
                let owners = edges.clone().map(|edge| offsets.partition_point(|&start| start <= edge) as u64 - 1);
                let mut found = Vec::new();
                starts.lists(edges, |node, part| found.extend(part.map(|_| node))).unwrap();
                prop_assert_eq!(found, owners.collect::<Vec<_>>());
            }
        }
    }
}
