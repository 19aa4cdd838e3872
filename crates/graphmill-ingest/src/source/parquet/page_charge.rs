//! What the pages of a row group take, asked of the budget before they are read.
//! The Parquet reader takes memory for a page as its header tells; the file is read through a
//! window that sees every header first, so that a page too large for the budget is refused before
//! it is unpacked. It must not know what pages hold.

use std::ops::Range;
use std::sync::Mutex;

use graphmill_disk::{Budget, Error, Reservation};

use crate::source::turns::lock;

/// Bytes of a page's header in which its sizes stand.
pub(super) const SIZES: usize = 24;
/// The number of dictionary pages among the types of pages.
const DICTIONARY: i64 = 2;

/// Pays for the pages of some columns of one row group.
#[derive(Debug)]
pub(super) struct PageCharge {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    reserved: Reservation,
    columns: Vec<Column>,
    refusal: Option<Error>,
}

/// The pages of one column, of which a dictionary and one other are kept at a time.
#[derive(Debug)]
struct Column {
    bytes: Range<u64>,
    announced: Option<PageSizes>,
    dictionary: u64,
    page: u64,
}

/// The first fields of a page's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageSizes {
    is_dictionary: bool,
    unpacked: u64,
    packed: u64,
}

impl PageCharge {
    /// For columns that lie at these places of the file.
    pub(super) fn new(columns: Vec<Range<u64>>, budget: &Budget) -> Result<Self, Error> {
        let reserved = budget.reserve(0, "pages of Parquet")?;
        let column = |bytes| Column { bytes, announced: None, dictionary: 0, page: 0 };
        let columns = columns.into_iter().map(column).collect();
        Ok(PageCharge { state: Mutex::new(State { reserved, columns, refusal: None }) })
    }

    /// Hears what stands at a place where a header may be.
    pub(super) fn announce(&self, at: u64, bytes: &[u8]) {
        let mut state = lock(&self.state);
        if let Some(column) = state.columns.iter_mut().find(|column| column.bytes.contains(&at))
            && let Some(sizes) = PageSizes::parse(bytes)
        {
            column.announced = Some(sizes);
        }
    }

    /// Pays for a page whose packed bytes lie at a place; false if the budget refuses.
    pub(super) fn pay(&self, at: u64, length: u64) -> bool {
        let mut state = lock(&self.state);
        let State { reserved, columns, refusal } = &mut *state;
        let Some(column) = columns.iter_mut().find(|column| column.bytes.contains(&at)) else {
            return true;
        };
        match column.announced.take().filter(|sizes| sizes.packed == length) {
            // Kept unpacked, and once more as values.
            Some(sizes) if sizes.is_dictionary => {
                column.dictionary = length.saturating_add(2 * sizes.unpacked);
            }
            Some(sizes) => column.page = column.page.max(length.saturating_add(sizes.unpacked)),
            None => column.page = column.page.max(2 * length),
        }
        let total = columns.iter().fold(0_u64, |sum, column| {
            sum.saturating_add(column.dictionary).saturating_add(column.page)
        });
        match reserved.resize(total.max(reserved.bytes())) {
            Ok(()) => true,
            Err(error) => {
                *refusal = Some(error);
                false
            }
        }
    }

    /// Why the budget refused, if it did.
    pub(super) fn refusal(&self) -> Option<Error> {
        lock(&self.state).refusal.take()
    }
}

impl PageSizes {
    /// Reads the type and both sizes, which are the first three fields of a header in Thrift's
    /// compact protocol: each an i32 whose number follows that of the one before.
    fn parse(bytes: &[u8]) -> Option<Self> {
        const NEXT_I32: u8 = 0x15;
        let mut rest = bytes;
        let mut field = || {
            let (&kind, behind) = rest.split_first()?;
            let (value, length) = (kind == NEXT_I32).then(|| zigzag(behind))??;
            rest = &behind[length..];
            Some(value)
        };
        let (kind, unpacked, packed) = (field()?, field()?, field()?);
        Some(PageSizes {
            is_dictionary: kind == DICTIONARY,
            unpacked: u64::try_from(unpacked).ok()?,
            packed: u64::try_from(packed).ok()?,
        })
    }
}

/// A signed number of variable length, and its length.
fn zigzag(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            return Some(((value >> 1) as i64 ^ -((value & 1) as i64), index + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_paid_for_by_their_headers() {
        let budget = Budget::new(1000);
        let charge = PageCharge::new(vec![100..200, 200..400], &budget).unwrap();
        // A dictionary of 100 bytes packed into 20, and a page of 300 bytes packed into 50.
        charge.announce(100, &[0x15, 4, 0x15, 0xC8, 1, 0x15, 40]);
        assert!(charge.pay(110, 20));
        assert_eq!(budget.used(), 220);
        charge.announce(130, &[0x15, 0, 0x15, 0xD8, 4, 0x15, 100]);
        assert!(charge.pay(140, 50));
        assert_eq!(budget.used(), 570);
        // The other column holds a page of its own; a smaller one costs nothing more.
        charge.announce(200, &[0x15, 0, 0x15, 0xC8, 1, 0x15, 100]);
        assert!(charge.pay(210, 50));
        charge.announce(300, &[0x15, 0, 0x15, 2, 0x15, 2]);
        assert!(charge.pay(310, 1));
        assert_eq!(budget.used(), 720);
        charge.announce(320, &[0x15, 0, 0x15, 0xFE, 0xFF, 0x0F, 0x15, 2]);
        assert!(!charge.pay(330, 1));
        assert!(charge.refusal().unwrap().to_string().contains("pages of Parquet"));
        drop(charge);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn what_is_no_header_announces_nothing() {
        for bytes in [&[][..], &[0x15], &[0x15, 0, 0x16, 0], &[0x15, 0, 0x15, 0xFF, 0xFF]] {
            assert_eq!(PageSizes::parse(bytes), None);
        }
    }
}
