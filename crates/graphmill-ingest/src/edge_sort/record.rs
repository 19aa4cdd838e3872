//! What is carried of an edge while it is sorted.
//! A record is a few words, because records are what fills memory and scratch file: the sorter is
//! written once for all widths and picks the narrowest that holds what the file will store. It must
//! not know where records are kept.

use graphmill_format::ListOrder;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::part_sort::by_digits;

/// One stored edge, seen from the node whose list it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ListEntry {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) row: u64,
    pub(super) time: i64,
    pub(super) weight: f32,
}

/// A part of a record that lists can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Major,
    Minor,
    Time,
    Row,
}

/// The fields that decide the place of a record in the file, most significant first.
///
/// Rows come last, so that equal ids and equal times stay in the order of the source.
pub(super) fn sort_fields(order: ListOrder) -> &'static [Field] {
    match order {
        ListOrder::Id => &[Field::Major, Field::Minor, Field::Row],
        ListOrder::Time => &[Field::Major, Field::Time, Field::Row],
        ListOrder::File => &[Field::Major, Field::Row],
    }
}

/// Words that hold an edge.
pub(super) trait Record:
    Copy + Send + Sync + 'static + FromBytes + IntoBytes + Immutable + KnownLayout
{
    /// Whether a record is the node and its neighbour, in the halves of one u64.
    const IS_PAIR: bool = false;

    fn new(entry: ListEntry) -> Self;
    fn entry(&self) -> ListEntry;
    fn major(&self) -> u64;
    fn minor(&self) -> u64;

    fn row(&self) -> u64 {
        self.entry().row
    }

    /// The same edge, seen from its other end.
    fn transposed(&self) -> Self {
        let entry = self.entry();
        Self::new(ListEntry { major: entry.minor, minor: entry.major, ..entry })
    }

    /// A field as a number that sorts as the field does.
    fn field(&self, field: Field) -> u64 {
        match field {
            Field::Major => self.major(),
            Field::Minor => self.minor(),
            Field::Time => self.entry().time as u64 ^ 1 << 63,
            Field::Row => self.row(),
        }
    }

    /// Sorts by id, and by a shorter way if there is one.
    fn sort_dense(_records: &mut Vec<Self>, _spare: &mut Vec<Self>) -> bool {
        false
    }
}

/// Both ids below 2^32 and nothing else.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(transparent)]
pub(super) struct PairRecord(u64);

impl Record for PairRecord {
    const IS_PAIR: bool = true;

    #[inline(always)]
    fn new(entry: ListEntry) -> Self {
        PairRecord(entry.major << 32 | entry.minor)
    }

    fn entry(&self) -> ListEntry {
        let (major, minor) = (self.major(), self.minor());
        ListEntry { major, minor, row: 0, time: 0, weight: 0.0 }
    }

    #[inline(always)]
    fn major(&self) -> u64 {
        self.0 >> 32
    }

    #[inline(always)]
    fn minor(&self) -> u64 {
        self.0 & u64::from(u32::MAX)
    }

    /// Squeezes out the bits that never change, so that digits are taken by one shift.
    fn sort_dense(records: &mut Vec<Self>, spare: &mut Vec<Self>) -> bool {
        let (least, most, minors) =
            records.iter().fold((u64::MAX, 0, 0), |(least, most, minors), &PairRecord(pair)| {
                (pair.min(least), pair.max(most), minors | pair as u32)
            });
        let low = least >> 32 << 32;
        let minor_bits = (u32::BITS - minors.leading_zeros()).max(1);
        let major_bits = u64::BITS - (most.saturating_sub(low) >> 32).leading_zeros();
        let gap = u32::BITS - minor_bits;
        let mask = u64::from(u32::MAX >> gap);
        by_digits(
            records,
            spare,
            major_bits + minor_bits,
            |pair| pair.0,
            |PairRecord(pair)| PairRecord((pair - low) >> 32 << minor_bits | pair & mask),
            |PairRecord(pair)| PairRecord(((pair & !mask) << gap | pair & mask) + low),
        );
        true
    }
}

/// Both ids below 2^32 and the source row.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(transparent)]
pub(super) struct RowRecord([u64; 2]);

impl Record for RowRecord {
    #[inline(always)]
    fn new(entry: ListEntry) -> Self {
        RowRecord([entry.major << 32 | entry.minor, entry.row])
    }

    fn entry(&self) -> ListEntry {
        let (major, minor) = (self.major(), self.minor());
        ListEntry { major, minor, row: self.0[1], time: 0, weight: 0.0 }
    }

    #[inline(always)]
    fn major(&self) -> u64 {
        self.0[0] >> 32
    }

    #[inline(always)]
    fn minor(&self) -> u64 {
        self.0[0] & u64::from(u32::MAX)
    }
}

/// Both ids below 2^32, the source row and the weight.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(transparent)]
pub(super) struct WeightRecord([u64; 3]);

impl Record for WeightRecord {
    #[inline(always)]
    fn new(entry: ListEntry) -> Self {
        let ListEntry { major, minor, row, weight, .. } = entry;
        WeightRecord([major << 32 | minor, row, weight.to_bits().into()])
    }

    fn entry(&self) -> ListEntry {
        let (major, minor) = (self.major(), self.minor());
        let weight = f32::from_bits(self.0[2] as u32);
        ListEntry { major, minor, row: self.0[1], time: 0, weight }
    }

    #[inline(always)]
    fn major(&self) -> u64 {
        self.0[0] >> 32
    }

    #[inline(always)]
    fn minor(&self) -> u64 {
        self.0[0] & u64::from(u32::MAX)
    }
}

/// Ids of any size and everything an edge can carry.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(transparent)]
pub(super) struct FullRecord([u64; 5]);

impl Record for FullRecord {
    #[inline(always)]
    fn new(entry: ListEntry) -> Self {
        let ListEntry { major, minor, row, time, weight } = entry;
        FullRecord([major, minor, row, time as u64, weight.to_bits().into()])
    }

    fn entry(&self) -> ListEntry {
        let FullRecord([major, minor, row, time, weight]) = *self;
        let weight = f32::from_bits(weight as u32);
        ListEntry { major, minor, row, time: time as i64, weight }
    }

    #[inline(always)]
    fn major(&self) -> u64 {
        self.0[0]
    }

    #[inline(always)]
    fn minor(&self) -> u64 {
        self.0[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_give_back_what_they_were_made_of() {
        let full = ListEntry { major: 1 << 40, minor: 7, row: 1 << 50, time: -5, weight: 0.25 };
        assert_eq!(FullRecord::new(full).entry(), full);
        let narrow = ListEntry { major: u32::MAX.into(), minor: 3, row: 9, time: 0, weight: 0.0 };
        assert_eq!(RowRecord::new(narrow).entry(), narrow);
        let weighted = ListEntry { weight: 0.5, ..narrow };
        assert_eq!(WeightRecord::new(weighted).entry(), weighted);
        assert_eq!(PairRecord::new(narrow).entry(), ListEntry { row: 0, ..narrow });
    }

    #[test]
    fn a_transposed_record_has_its_ends_exchanged_and_all_else_as_before() {
        let full = ListEntry { major: 1 << 40, minor: 7, row: 1 << 50, time: -5, weight: 0.25 };
        let expected = ListEntry { major: 7, minor: 1 << 40, ..full };
        assert_eq!(FullRecord::new(full).transposed().entry(), expected);
    }

    #[test]
    fn negative_times_sort_before_positive_ones() {
        let field = |time| {
            let entry = ListEntry { major: 0, minor: 0, row: 0, time, weight: 0.0 };
            FullRecord::new(entry).field(Field::Time)
        };
        assert!([i64::MIN, -1, 0, 1, i64::MAX].map(field).is_sorted());
    }
}
