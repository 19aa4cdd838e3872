//! Whether the rows of a window stood in the source as they stand in the file.
//! Then the source row of each is known from that of the first, without a list of them. It must not know
//! what rows hold.

/// The source rows of the rows of a window that came so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum SourceRun {
    /// Nothing came.
    #[default]
    Empty,
    /// Each came from this row and as many behind it as its place is behind the first of the window.
    From(u64),
    /// They stood in another order.
    Mixed,
}

impl SourceRun {
    /// The row at a place of the window came from a row of the source.
    #[inline]
    pub(super) fn add(&mut self, place: u64, source: u64) {
        let first = source.wrapping_sub(place);
        *self = match *self {
            SourceRun::Empty => SourceRun::From(first),
            SourceRun::From(known) if known == first => *self,
            _ => SourceRun::Mixed,
        };
    }

    /// The source row of a place, if all of them are known.
    #[inline]
    pub(super) fn of(&self, place: u64) -> Option<u64> {
        match self {
            SourceRun::From(first) => Some(first.wrapping_add(place)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_order_are_known_and_mixed_ones_are_not() {
        let mut run = SourceRun::default();
        assert_eq!(run.of(0), None);
        // The window begins before the first row of the source.
        for place in [5, 7, 6, 9] {
            run.add(place, place - 3);
            assert_eq!(run.of(8), Some(5));
        }
        run.add(8, 7);
        assert_eq!(run.of(8), None);
        run.add(4, 1);
        assert_eq!(run.of(8), None);
    }
}
