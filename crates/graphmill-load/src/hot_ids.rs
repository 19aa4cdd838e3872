//! Which rows are hot, and where each of them lies in the hot table.
//! Windows ask it for every node of every batch, so an answer takes at most two looks into memory. It knows numbers
//! only, not why a row is hot.

/// Words between two counts: 512 rows share one.
const WORDS_PER_COUNT: usize = 8;

/// A set of rows with their places in ascending order.
#[derive(Debug)]
pub(crate) enum HotIds {
    /// The first so many rows of the file.
    Prefix(u64),
    /// Any rows.
    Scattered(Bitmap),
}

impl HotIds {
    /// Number of hot rows.
    pub(crate) fn len(&self) -> u64 {
        match self {
            HotIds::Prefix(count) => *count,
            HotIds::Scattered(bitmap) => bitmap.count,
        }
    }

    /// The place of a row among the hot ones.
    #[inline]
    pub(crate) fn place(&self, row: u64) -> Option<u64> {
        match self {
            HotIds::Prefix(count) => (row < *count).then_some(row),
            HotIds::Scattered(bitmap) => bitmap.place(row),
        }
    }

    /// The hot rows, ascending.
    pub(crate) fn rows(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            HotIds::Prefix(count) => Box::new(0..*count),
            HotIds::Scattered(bitmap) => Box::new(bitmap.rows()),
        }
    }
}

/// One bit per row of the table, and how many are set before every eighth word.
#[derive(Debug)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
    before: Vec<u64>,
    count: u64,
}

impl Bitmap {
    /// Bytes that the bits of a table of so many rows take.
    pub(crate) fn memory(rows: u64) -> u64 {
        let words = rows.div_ceil(64);
        8 * (words + words.div_ceil(WORDS_PER_COUNT as u64))
    }

    #[inline]
    fn place(&self, row: u64) -> Option<u64> {
        let at = (row / 64) as usize;
        let word = *self.words.get(at)?;
        let bit = 1 << (row % 64);
        if word & bit == 0 {
            return None;
        }
        let group = at / WORDS_PER_COUNT;
        let earlier = &self.words[group * WORDS_PER_COUNT..at];
        let within: u32 = earlier.iter().map(|word| word.count_ones()).sum();
        Some(self.before[group] + u64::from(within + (word & (bit - 1)).count_ones()))
    }

    fn rows(&self) -> impl Iterator<Item = u64> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let bits = (0..64_u64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at as u64 * 64 + bit)
        })
    }
}

/// Rows of a table that are being marked.
#[derive(Debug)]
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    /// None of so many rows.
    pub(crate) fn none(rows: u64) -> Self {
        // Fits: tables whose bits do not are larger than any address space.
        Marks(vec![0; rows.div_ceil(64) as usize])
    }

    /// Marks a row that exists.
    pub(crate) fn mark(&mut self, row: u64) {
        self.0[(row / 64) as usize] |= 1 << (row % 64);
    }
}

impl From<Marks> for Bitmap {
    fn from(Marks(words): Marks) -> Self {
        let mut count = 0;
        let mut before = Vec::with_capacity(words.len().div_ceil(WORDS_PER_COUNT));
        for group in words.chunks(WORDS_PER_COUNT) {
            before.push(count);
            count += group.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        Bitmap { words, before, count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn places_are_those_of_a_sorted_list(
            rows in 1_u64..3000, picks in prop::collection::vec(any::<u64>(), 0..300), prefix: bool,
        ) {
            let hot: BTreeSet<u64> = if prefix {
                (0..picks.len() as u64 % rows).collect()
            } else {
                picks.iter().map(|pick| pick % rows).collect()
            };
            let ids = if prefix {
                HotIds::Prefix(hot.len() as u64)
            } else {
                let mut marks = Marks::none(rows);
                hot.iter().for_each(|&row| marks.mark(row));
                HotIds::Scattered(marks.into())
            };
            prop_assert_eq!(ids.len(), hot.len() as u64);
            let listed: Vec<u64> = hot.iter().copied().collect();
            prop_assert_eq!(ids.rows().collect::<Vec<_>>(), listed.clone());
            for row in 0..rows + 200 {
                prop_assert_eq!(ids.place(row), listed.binary_search(&row).ok().map(|at| at as u64));
            }
        }
    }
}
