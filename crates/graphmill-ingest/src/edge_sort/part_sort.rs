//! One part of the records, brought into the order of the file.
//! The fields of a part span few bits, since its keys lie close together: packed side by side they
//! make one number, which is sorted digit by digit from the least significant on. It must not know
//! where the records came from.

use graphmill_format::ListOrder;

use zerocopy::FromZeros;

use super::record::{Field, Record, sort_fields};

/// Bits of a digit: its counters and the lines that they point to stay in the second cache.
const DIGIT: u32 = 13;
/// Fewer records are compared instead.
const FEW: usize = 256;

/// Sorts by the fields of `order`; `spare` is memory for as many records.
pub(super) fn sort_part<R: Record>(records: &mut Vec<R>, spare: &mut Vec<R>, order: ListOrder) {
    match order {
        ListOrder::Id => sort(records, spare, [Field::Major, Field::Minor, Field::Row]),
        ListOrder::Time => sort(records, spare, [Field::Major, Field::Time, Field::Row]),
        // A field that is there twice is constant once the first of it decided.
        ListOrder::File => sort(records, spare, [Field::Major, Field::Row, Field::Row]),
    }
    debug_assert!(records.is_sorted_by_key(|record| {
        let fields = sort_fields(order).iter();
        fields.map(|&field| record.field(field)).collect::<Vec<_>>()
    }));
}

/// Sorts stably by node alone.
pub(super) fn sort_by_node<R: Record>(records: &mut Vec<R>, spare: &mut Vec<R>) {
    if records.len() < FEW {
        return records.sort_by_key(Record::major);
    }
    let majors = || records.iter().map(Record::major);
    let (low, high) = (majors().min().unwrap_or(0), majors().max().unwrap_or(0));
    let bits = u64::BITS - (high - low).leading_zeros();
    by_digits(records, spare, bits, |one| one.major() - low, |record| record, |record| record);
}

#[inline(always)]
fn sort<R: Record>(records: &mut Vec<R>, spare: &mut Vec<R>, fields: [Field; 3]) {
    let whole = |record: &R| fields.map(|field| record.field(field));
    if records.len() < FEW {
        return records.sort_unstable_by_key(whole);
    }
    if R::sort_dense(records, spare) {
        return;
    }
    let (low, mut high) = records.iter().fold(([u64::MAX; 3], [0; 3]), |(low, high), record| {
        let [a, b, c] = whole(record);
        (
            [low[0].min(a), low[1].min(b), low[2].min(c)],
            [high[0].max(a), high[1].max(b), high[2].max(c)],
        )
    });
    if fields[1] == fields[2] {
        high[2] = low[2];
    }
    let bits = |field: usize| u64::BITS - (high[field] - low[field]).leading_zeros();
    let bits = [bits(0), bits(1), bits(2)];
    let all = bits[0] + bits[1] + bits[2];
    if all > u64::BITS {
        return records.sort_unstable_by_key(whole);
    }
    // A shift by a whole word is met only where the number shifted is zero.
    let up = |number: u64, by: u32| number.checked_shl(by).unwrap_or(0);
    let third_mask = up(1, bits[2]).wrapping_sub(1);
    let key = |record: &R| {
        let [a, b, c] = whole(record);
        let upper = up(a - low[0], bits[1]) | (b - low[1]);
        up(upper, bits[2]) | (c - low[2]) & third_mask
    };
    by_digits(records, spare, all, key, |record| record, |record| record);
}

/// Sorts stably by a key of this many bits. On the way in every record is changed by `enter`, which
/// is what `key` sees, and on the way out by `leave`.
#[inline(always)]
pub(super) fn by_digits<R: Copy + FromZeros>(
    records: &mut Vec<R>,
    spare: &mut Vec<R>,
    bits: u32,
    key: impl Fn(&R) -> u64,
    enter: impl Fn(R) -> R,
    leave: impl Fn(R) -> R,
) {
    // The number of passes is known to the compiler, which then unrolls the counting.
    match bits.div_ceil(DIGIT) {
        0 | 1 => passes::<R, 1>(records, spare, bits, key, enter, leave),
        2 => passes::<R, 2>(records, spare, bits, key, enter, leave),
        3 => passes::<R, 3>(records, spare, bits, key, enter, leave),
        4 => passes::<R, 4>(records, spare, bits, key, enter, leave),
        _ => passes::<R, 5>(records, spare, bits, key, enter, leave),
    }
}

fn passes<R: Copy + FromZeros, const N: usize>(
    records: &mut Vec<R>,
    spare: &mut Vec<R>,
    bits: u32,
    key: impl Fn(&R) -> u64,
    enter: impl Fn(R) -> R,
    leave: impl Fn(R) -> R,
) {
    let width = bits.div_ceil(N as u32);
    let mask = (1_usize << width) - 1;
    let digit = |key: u64, pass: usize| (key >> (width * pass as u32)) as usize & mask;
    let mut counts = vec![[0_u32; 1 << DIGIT]; N];
    for record in &mut *records {
        *record = enter(*record);
        let key = key(record);
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(key, pass)] += 1;
        }
    }
    // Not by doubling, which would be more than was granted.
    spare.reserve_exact(records.len().saturating_sub(spare.len()));
    spare.resize(records.len(), R::new_zeroed());
    for (pass, places) in counts.iter_mut().enumerate() {
        let mut sum = 0;
        for place in &mut places[..=mask] {
            sum += std::mem::replace(place, sum);
        }
        let last = pass == N - 1;
        for record in &*records {
            let place = &mut places[digit(key(record), pass)];
            spare[*place as usize] = if last { leave(*record) } else { *record };
            *place += 1;
        }
        std::mem::swap(records, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{FullRecord, ListEntry, PairRecord};
    use super::*;
    use proptest::prelude::*;

    fn entries() -> impl Strategy<Value = Vec<ListEntry>> {
        let id = prop_oneof![0..8_u64, 0..5000_u64, Just(u64::from(u32::MAX)), 1000..1010_u64];
        let wide = prop_oneof![3 => id.clone(), 1 => any::<u64>()];
        let entry = (id, wide, any::<u16>(), any::<i64>());
        proptest::collection::vec(entry, 0..900).prop_map(|entries| {
            let make = |(major, minor, row, time)| ListEntry {
                major,
                minor,
                row: u64::from(row),
                time,
                weight: 0.0,
            };
            entries.into_iter().map(make).collect()
        })
    }

    proptest! {
        #[test]
        fn parts_are_sorted_as_by_comparison(entries in entries(), small: bool) {
            for order in [ListOrder::Id, ListOrder::Time, ListOrder::File] {
                let mut records: Vec<FullRecord> =
                    entries.iter().map(|&entry| FullRecord::new(entry)).collect();
                let key = |entry: &ListEntry| match order {
                    ListOrder::Id => (entry.major, entry.minor as i128, entry.row),
                    ListOrder::Time => (entry.major, entry.time.into(), entry.row),
                    ListOrder::File => (entry.major, 0, entry.row),
                };
                let mut expected = entries.clone();
                expected.sort_by_key(key);
                sort_part(&mut records, &mut Vec::new(), order);
                let found: Vec<_> = records.iter().map(|record| key(&record.entry())).collect();
                prop_assert_eq!(found, expected.iter().map(key).collect::<Vec<_>>());
            }
            let most = if small { 9 } else { 1 << 32 };
            let narrow = |entry: &ListEntry| ListEntry { minor: entry.minor % most, ..*entry };
            let mut pairs: Vec<PairRecord> =
                entries.iter().map(|entry| PairRecord::new(narrow(entry))).collect();
            let mut expected: Vec<_> =
                entries.iter().map(|entry| (entry.major, narrow(entry).minor)).collect();
            expected.sort_unstable();
            sort_part(&mut pairs, &mut Vec::new(), ListOrder::Id);
            let found: Vec<_> = pairs.iter().map(|pair| (pair.major(), pair.minor())).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
