//! What the pages of a row group take, asked of the budget before they are read.
//!
//! Of each column the dictionary and one page are held at a time; pages of text are also held by the batch that was
//! made of them. A worker has paid for usual pages beforehand, so that reading does not depend on what others leave.
//! What the budget or a page refuses is kept here, as the library only passes texts on.

use std::sync::Mutex;

use graphmill_disk::{Budget, Reservation};

use crate::source::turns::lock;
use crate::{Error, Result};

/// Pays for the pages of some columns of one row group.
#[derive(Debug)]
pub(super) struct PageCharge {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Bytes that the worker has paid for already.
    prepaid: u64,
    /// What goes beyond them.
    further: Reservation,
    columns: Vec<Column>,
    refusal: Option<Error>,
}

/// Bytes held for one column.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    dictionary: u64,
    page: u64,
    /// Pages before that, which the batch still points into.
    batch: u64,
    /// Whether batches point into pages.
    is_text: bool,
}

impl PageCharge {
    /// For columns of which some are text.
    pub(super) fn new(are_text: &[bool], prepaid: u64, budget: &Budget) -> Result<Self> {
        let further = budget.reserve(0, "pages of Parquet")?;
        let columns = are_text.iter().map(|&is_text| Column { is_text, ..Column::default() });
        let columns = columns.collect();
        Ok(PageCharge { state: Mutex::new(State { prepaid, further, columns, refusal: None }) })
    }

    /// Pays for a dictionary, which stays until the end.
    pub(super) fn dictionary(&self, column: usize, bytes: u64) -> Result<()> {
        self.change(column, |column| column.dictionary = bytes)
    }

    /// Pays for the next page, which replaces the one before.
    pub(super) fn page(&self, column: usize, bytes: u64) -> Result<()> {
        self.change(column, |column| {
            if column.is_text {
                column.batch = column.batch.saturating_add(column.page);
            }
            column.page = bytes;
        })
    }

    /// Changes what the page is known to take.
    pub(super) fn resize_page(&self, column: usize, bytes: u64) -> Result<()> {
        self.change(column, |column| column.page = bytes)
    }

    /// A batch is gone, and with it the pages before the last one.
    pub(super) fn end_batch(&self) -> Result<()> {
        let mut state = lock(&self.state);
        state.columns.iter_mut().for_each(|column| column.batch = 0);
        state.pay()
    }

    fn change(&self, column: usize, change: impl FnOnce(&mut Column)) -> Result<()> {
        let mut state = lock(&self.state);
        state.columns.get_mut(column).map(change);
        state.pay()
    }

    /// Keeps the first error that stopped the reading.
    pub(super) fn refuse(&self, error: Error) {
        lock(&self.state).refusal.get_or_insert(error);
    }

    /// The error that stopped the reading, if it was one of ours.
    pub(super) fn refusal(&self) -> Option<Error> {
        lock(&self.state).refusal.take()
    }
}

impl State {
    fn pay(&mut self) -> Result<()> {
        let sum = |sum: u64, column: &Column| {
            let held = column.dictionary.saturating_add(column.page);
            sum.saturating_add(held).saturating_add(column.batch)
        };
        let total = self.columns.iter().fold(0, sum);
        Ok(self.further.resize(total.saturating_sub(self.prepaid))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_replace_each_other_and_dictionaries_stay() {
        let budget = Budget::new(1000);
        let charge = PageCharge::new(&[false, false], 0, &budget).unwrap();
        charge.dictionary(0, 200).unwrap();
        charge.page(0, 300).unwrap();
        charge.page(1, 100).unwrap();
        assert_eq!(budget.used(), 600);
        charge.page(0, 50).unwrap();
        charge.resize_page(0, 70).unwrap();
        assert_eq!(budget.used(), 370);
        let error = charge.page(1, 900).unwrap_err();
        assert!(error.to_string().contains("pages of Parquet"), "{error}");
        charge.refuse(error);
        assert!(charge.refusal().is_some() && charge.refusal().is_none());
        drop(charge);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn batches_of_text_hold_their_pages() {
        let budget = Budget::new(1000);
        let charge = PageCharge::new(&[true], 0, &budget).unwrap();
        charge.page(0, 100).unwrap();
        charge.page(0, 150).unwrap();
        assert_eq!(budget.used(), 250);
        charge.end_batch().unwrap();
        assert_eq!(budget.used(), 150);
    }

    #[test]
    fn what_is_paid_beforehand_is_not_paid_again() {
        let budget = Budget::new(100);
        let charge = PageCharge::new(&[false], 500, &budget).unwrap();
        charge.page(0, 450).unwrap();
        assert_eq!(budget.used(), 0);
        charge.page(0, 560).unwrap();
        assert_eq!(budget.used(), 60);
        assert!(charge.page(0, 601).is_err());
    }
}
