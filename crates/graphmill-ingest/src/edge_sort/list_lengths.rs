//! How long the lists of a direction are, seen while their offsets are written.
//! A leaf sees the lists that begin and end in it; what lies between two leaves is added when all
//! are there. It must not know what lists hold.

use graphmill_format::Direction;

/// What the lists of one stored direction are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListsReport {
    /// Which way they point.
    pub direction: Direction,
    /// Edges of the longest list.
    pub longest: u64,
    /// Lists that have an edge.
    pub non_empty: u64,
}

/// Lengths of consecutive lists.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListLengths {
    /// The first and the last offset seen.
    ends: Option<(u64, u64)>,
    longest: u64,
    non_empty: u64,
}

impl ListLengths {
    /// Sees the next offset.
    #[inline(always)]
    pub(super) fn see(&mut self, offset: u64) {
        let (first, last) = self.ends.unwrap_or((offset, offset));
        self.longest = self.longest.max(offset - last);
        self.non_empty += u64::from(offset > last);
        self.ends = Some((first, offset));
    }

    /// Adds the lists that follow.
    pub(super) fn join(mut self, next: Self) -> Self {
        if let Some((first, last)) = next.ends {
            self.see(first);
            self.ends = self.ends.map(|(first, _)| (first, last));
        }
        self.longest = self.longest.max(next.longest);
        self.non_empty += next.non_empty;
        self
    }

    pub(super) fn report(self, direction: Direction) -> ListsReport {
        ListsReport { direction, longest: self.longest, non_empty: self.non_empty }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_do_not_depend_on_where_offsets_are_divided() {
        let offsets = [0, 0, 3, 4, 4, 11, 12, 12];
        for first in 0..=offsets.len() {
            for second in first..=offsets.len() {
                let pieces = [&offsets[..first], &offsets[first..second], &offsets[second..]];
                let lengths = pieces.map(|piece| {
                    let mut lengths = ListLengths::default();
                    piece.iter().for_each(|&offset| lengths.see(offset));
                    lengths
                });
                let joined = lengths.into_iter().fold(ListLengths::default(), ListLengths::join);
                let expected = ListsReport { direction: Direction::In, longest: 7, non_empty: 4 };
                assert_eq!(joined.report(Direction::In), expected);
            }
        }
    }
}
