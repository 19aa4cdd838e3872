//! Which ranges of a file to read for some rows.
//! Rows come in the order of the file; rows that share a block share a read, and rows with a small gap between them
//! too, because the bytes of the gap cost less than another request. It knows positions only and reads nothing.

use crate::row_order::RowOrder;
use std::ops::Range;

/// A request costs about as much as so many bytes more in another one, until the disk has been measured. On a disk of 125
/// thousand requests and 2.3 GB a second, 100 thousand rows of 4 GiB took 625 ms without gaps, 543 ms with gaps of up
/// to 16 KiB and 779 ms with 48 KiB; between 4 and 24 KiB it hardly matters.
pub(crate) const BREAK_EVEN_GAP: u64 = 16 << 10;
/// A disk that seems to want larger gaps was more likely measured while others used it; and where many batches are read
/// together, it is the bytes that a disk has too few of and not the requests.
pub(crate) const LARGEST_GAP: u64 = BREAK_EVEN_GAP;
/// Longer reads gain nothing more and hold a buffer for longer.
pub(crate) const LONGEST_READ: u64 = 256 << 10;
/// What a disk reads at once, whatever is asked of it; rows that share one must not be read twice.
pub(crate) const BLOCK: u64 = 4096;

/// Where the rows of a table lie in its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowPlaces {
    /// The first byte of the first row.
    pub(crate) start: u64,
    /// From one row to the next.
    pub(crate) stride: u64,
    /// Bytes of one row.
    pub(crate) length: u64,
    /// Length of the file.
    pub(crate) file_length: u64,
}

impl RowPlaces {
    pub(crate) fn offset(&self, row: u64) -> u64 {
        self.start + row * self.stride
    }
}

/// When reads are made into one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merging {
    /// The longest gap that is read along.
    pub(crate) gap: u64,
    /// Reads are not made longer than this.
    pub(crate) longest: u64,
    /// Reads begin and end at multiples of this, or at the end of the file.
    pub(crate) block: u64,
}

impl Merging {
    /// The longest read there can be: one row, however long, is read at once.
    pub(crate) fn longest_read(&self, places: &RowPlaces) -> u64 {
        let row = places.length.saturating_add(2 * self.block);
        self.longest.max(row).min(places.file_length)
    }
}

/// Ranges to read and which rows each of them holds.
#[derive(Debug, Default)]
pub(crate) struct ReadPlan {
    /// Ascending; two may share a block where a row would make a read too long.
    pub(crate) ranges: Vec<Range<u64>>,
    /// For each range the end of its pairs in the order; they begin where those of the range before end.
    ends: Vec<usize>,
}

impl ReadPlan {
    /// Plans the reads of all rows of an order.
    pub(crate) fn new(order: &RowOrder, places: &RowPlaces, merging: &Merging) -> Self {
        // Counted first: growing vectors would take twice what they hold.
        let count = reads(order, places, merging).count();
        let mut plan =
            ReadPlan { ranges: Vec::with_capacity(count), ends: Vec::with_capacity(count) };
        for (range, end) in reads(order, places, merging) {
            plan.ranges.push(range);
            plan.ends.push(end);
        }
        plan
    }

    /// Bytes that a plan of so many reads takes.
    pub(crate) fn memory(reads: usize) -> u64 {
        (reads * (size_of::<Range<u64>>() + size_of::<usize>())) as u64
    }

    /// The pairs of the order whose rows lie in a range.
    pub(crate) fn pairs(&self, read: usize) -> Range<usize> {
        let start = if read == 0 { 0 } else { self.ends[read - 1] };
        start..self.ends[read]
    }

    /// Bytes of all ranges.
    pub(crate) fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// Cuts the ranges into as many ascending shares as asked for, of about the same cost.
    pub(crate) fn shares(&self, count: usize) -> Vec<Range<usize>> {
        let cost = |range: &Range<u64>| range.end - range.start + BREAK_EVEN_GAP;
        let total: u64 = self.ranges.iter().map(cost).sum();
        let each = total.div_ceil(count.max(1) as u64).max(1);
        let mut shares = Vec::with_capacity(count);
        let (mut start, mut sum) = (0, 0);
        for (index, range) in self.ranges.iter().enumerate() {
            sum += cost(range);
            if sum >= each {
                shares.push(start..index + 1);
                (start, sum) = (index + 1, 0);
            }
        }
        if start < self.ranges.len() {
            shares.push(start..self.ranges.len());
        }
        shares
    }
}

/// Each read with the end of its pairs.
fn reads(
    order: &RowOrder,
    places: &RowPlaces,
    merging: &Merging,
) -> impl Iterator<Item = (Range<u64>, usize)> {
    let range_of = move |row: u64| {
        let start = places.offset(row);
        let end = (start + places.length).next_multiple_of(merging.block);
        start / merging.block * merging.block..end.min(places.file_length)
    };
    let mut index = 0;
    std::iter::from_fn(move || {
        if index == order.len() {
            return None;
        }
        let mut merged = range_of(order.row(index));
        index += 1;
        while index < order.len() {
            let next = range_of(order.row(index));
            let near = next.start <= merged.end.saturating_add(merging.gap);
            let end = merged.end.max(next.end);
            // A row is read at once, so where a long read ends within one the next begins with the same block again.
            let fits = end - merged.start <= merging.longest || end == merged.end;
            if !near || !fits {
                break;
            }
            merged.end = end;
            index += 1;
        }
        Some((merged, index))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn plan(rows: &[u64], places: &RowPlaces, merging: &Merging) -> (RowOrder, ReadPlan) {
        let order = RowOrder::new(1 << 20, rows.len(), rows.iter().copied().zip(0..));
        let plan = ReadPlan::new(&order, places, merging);
        (order, plan)
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "lists of ranges, of which some have one")]
    fn near_rows_share_a_read_and_far_ones_do_not() {
        let places =
            RowPlaces { start: 4096, stride: 512, length: 512, file_length: 4096 + (512 << 20) };
        let merging = Merging { gap: 8192, longest: 65536, block: 4096 };
        let ranges = |rows: &[u64]| plan(rows, &places, &merging).1.ranges;
        assert_eq!(ranges(&[]), []);
        // Eight rows share a block; then a gap of two blocks, and of three.
        assert_eq!(ranges(&[7, 0, 3, 3]), [4096..8192]);
        assert_eq!(ranges(&[0, 24]), [4096..20480]);
        assert_eq!(ranges(&[0, 32]), [4096..8192, 20480..24576]);
        // As long as allowed and no longer.
        let all: Vec<u64> = (0..256).collect();
        assert_eq!(ranges(&all), [4096..69632, 69632..135168]);
    }

    proptest! {
        #[test]
        fn every_row_lies_in_the_read_that_holds_it_and_no_read_is_for_nothing(
            rows in prop::collection::vec(0_u64..400, 0..80),
            stride in 1_u64..9000, padding in 0_u64..100,
            gap in 0_u64..20_000, longest in 1_u64..70_000, block in prop::sample::select(vec![1_u64, 512, 4096]),
            count in 1_usize..5,
        ) {
            let length = stride.saturating_sub(padding).max(1);
            let places = RowPlaces { start: 4096, stride, length, file_length: 4096 + 400 * stride };
            let merging = Merging { gap, longest, block };
            let (order, plan) = plan(&rows, &places, &merging);
            let mut seen = 0;
            let mut distinct = HashSet::new();
            for (read, range) in plan.ranges.iter().enumerate() {
                let pairs = plan.pairs(read);
                prop_assert_eq!(pairs.start, seen);
                prop_assert!(!pairs.is_empty());
                seen = pairs.end;
                prop_assert!(range.end - range.start <= merging.longest_read(&places));
                prop_assert!(range.end <= places.file_length && range.start % block == 0);
                for pair in pairs {
                    let start = places.offset(order.row(pair));
                    prop_assert!(range.start <= start && start + length <= range.end);
                    distinct.insert((read, order.row(pair)));
                }
            }
            prop_assert_eq!(seen, rows.len());
            // No row is in two reads.
            prop_assert_eq!(distinct.len(), rows.iter().collect::<HashSet<_>>().len());
            let shares = plan.shares(count);
            prop_assert!(shares.len() <= count);
            let listed: Vec<usize> = shares.into_iter().flatten().collect();
            prop_assert_eq!(listed, (0..plan.ranges.len()).collect::<Vec<_>>());
        }
    }
}
