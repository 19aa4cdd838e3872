//! Several sorted streams as one, in runs.
//! Transposed records come in a stream per writer, of which long stretches follow each other: they
//! are found by leaps and handed on as they lie. It must not know what is done with them.

use super::record::Record;

/// How far the first leap goes.
const LEAP: usize = 32;

/// Hands out the records of all streams in the order of neighbour, node and row, by which each of
/// the streams is sorted.
pub(super) fn in_order<R: Record>(streams: &mut [&[R]], mut take: impl FnMut(&[R])) {
    let key = |record: &R| (record.minor(), record.major(), record.row());
    loop {
        let heads = streams.iter().enumerate();
        let heads = heads.filter_map(|(index, stream)| Some((key(stream.first()?), index)));
        let Some((_, first)) = heads.clone().min() else { return };
        let others = heads.filter(|&(_, index)| index != first);
        let stream = streams[first];
        let length = match others.map(|(head, _)| head).min() {
            None => stream.len(),
            Some(next) => {
                let mut end = LEAP;
                while end < stream.len() && key(&stream[end]) <= next {
                    end *= 2;
                }
                stream[..end.min(stream.len())].partition_point(|record| key(record) <= next)
            }
        };
        let (run, rest) = stream.split_at(length);
        take(run);
        streams[first] = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{ListEntry, RowRecord};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_of_sorted_streams_follow_each_other_as_if_all_had_been_sorted(
            streams in proptest::collection::vec(
                proptest::collection::vec((0..40_u64, 0..3_u64, 0..3_u64), 0..300),
                0..5,
            ),
        ) {
            let record = |&(minor, major, row): &(u64, u64, u64)| {
                RowRecord::new(ListEntry { major, minor, row, time: 0, weight: 0.0 })
            };
            let key = |record: &RowRecord| (record.minor(), record.major(), record.row());
            let mut expected = streams.concat();
            expected.sort_unstable();
            let sorted = |mut stream: Vec<_>| -> Vec<RowRecord> {
                stream.sort_unstable();
                stream.iter().map(record).collect()
            };
            let streams: Vec<_> = streams.into_iter().map(sorted).collect();
            let mut slices: Vec<_> = streams.iter().map(Vec::as_slice).collect();
            let mut found = Vec::new();
            in_order(&mut slices, |run| found.extend(run.iter().map(key)));
            prop_assert_eq!(found, expected);
        }
    }
}
