//! Wanted rows in the order of the file, each with the place that wants it.
//! Gathering and windows sort what they want here before they plan reads, so that equal rows stand together and near
//! ones follow each other. It does not know where rows lie.

use rayon::slice::ParallelSliceMut;

/// Places above this number would only ever be an address error; it keeps shifts in range for tables of one row.
const MOST_PLACE_BITS: u32 = 40;

/// Pairs of row and place, ascending; row and place share one word, because sorting words is twice as fast as pairs.
#[derive(Debug)]
pub(crate) struct RowOrder {
    packed: Vec<u64>,
    place_bits: u32,
}

impl RowOrder {
    /// How many places can be sorted at once for a table of so many rows. At least two.
    pub(crate) fn most_places(rows: u64) -> usize {
        1 << place_bits(rows)
    }

    /// Bytes that so many places take.
    pub(crate) fn memory(places: usize) -> u64 {
        places as u64 * 8
    }

    /// Sorts pairs of row and place: rows are below `rows`, places below [`most_places`](Self::most_places), and there
    /// are at most `count` of them.
    pub(crate) fn new(rows: u64, count: usize, wanted: impl Iterator<Item = (u64, usize)>) -> Self {
        let place_bits = place_bits(rows);
        let mut packed = Vec::with_capacity(count);
        packed.extend(wanted.map(|(row, place)| row << place_bits | place as u64));
        // A window of batches has millions; for one batch a second thread is woken for nothing.
        match graphmill_disk::pool() {
            Ok(pool) if packed.len() > 1 << 18 => pool.install(|| packed.par_sort_unstable()),
            _ => packed.sort_unstable(),
        }
        RowOrder { packed, place_bits }
    }

    /// Number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.packed.len()
    }

    /// The row of a pair.
    pub(crate) fn row(&self, index: usize) -> u64 {
        self.packed[index] >> self.place_bits
    }

    /// The place of a pair.
    pub(crate) fn place(&self, index: usize) -> usize {
        (self.packed[index] & ((1 << self.place_bits) - 1)) as usize
    }

    /// Takes out the pairs whose row passes; every row is asked about once, in ascending order.
    pub(crate) fn take_rows(&mut self, mut wanted: impl FnMut(u64) -> bool) -> Self {
        let place_bits = self.place_bits;
        let mut latest = None;
        let mut taken = Vec::new();
        self.packed.retain(|&pair| {
            let row = pair >> place_bits;
            let is_taken = match latest {
                Some((asked, answer)) if asked == row => answer,
                _ => latest.insert((row, wanted(row))).1,
            };
            if is_taken {
                taken.push(pair);
            }
            !is_taken
        });
        RowOrder { packed: taken, place_bits }
    }

    /// Number of different rows.
    pub(crate) fn distinct(&self) -> u64 {
        let rows =
            self.packed.chunk_by(|one, other| one >> self.place_bits == other >> self.place_bits);
        rows.count() as u64
    }
}

fn place_bits(rows: u64) -> u32 {
    rows.saturating_sub(1).leading_zeros().clamp(1, MOST_PLACE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_pairs(
            rows in 1_u64..=1 << 63, picks in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let limit = RowOrder::most_places(rows);
            let pairs: Vec<(u64, usize)> =
                picks.iter().take(limit).enumerate().map(|(at, pick)| (pick % rows, at)).collect();
            let mut order = RowOrder::new(rows, pairs.len(), pairs.iter().copied());
            let listed = |order: &RowOrder| -> Vec<(u64, usize)> {
                (0..order.len()).map(|at| (order.row(at), order.place(at))).collect()
            };
            let mut sorted = pairs;
            sorted.sort_unstable();
            prop_assert_eq!(listed(&order), sorted.clone());
            let mut asked = Vec::new();
            let taken = order.take_rows(|row| { asked.push(row); row % 3 == 0 });
            prop_assert!(asked.is_sorted_by(|one, other| one < other));
            let (yes, no): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|pair| pair.0 % 3 == 0);
            prop_assert_eq!((listed(&taken), listed(&order)), (yes, no));
            prop_assert_eq!(taken.distinct() + order.distinct(), asked.len() as u64);
        }
    }
}
