//! Words as class numbers.
//! While a column is read its words get numbers as they come; when all are known they are numbered
//! by their bytes, so that the result does not depend on threads. It must not know tables.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use graphmill_disk::{Budget, Reservation};

use crate::source::TextCells;
use crate::source::text::numbers;
use crate::{Error, Result};

/// The names go into the manifest, which stays small.
const MOST_BYTES: u64 = 4 << 20;

/// The classes of a column.
pub(super) struct Classes {
    state: Mutex<State>,
}

struct State {
    numbers: HashMap<String, i64>,
    bytes: u64,
    _reserved: Reservation,
}

impl Classes {
    pub(super) fn new(budget: &Budget) -> Result<Self> {
        // A name is stored once, with its number and the table around it.
        let reserved = budget.reserve(4 * MOST_BYTES, "names of classes")?;
        let state = State { numbers: HashMap::new(), bytes: 0, _reserved: reserved };
        Ok(Classes { state: Mutex::new(state) })
    }

    /// Appends a preliminary number for each cell; -1 for one that is missing.
    pub(super) fn encode(&self, cells: &TextCells, into: &mut Vec<u8>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for cell in cells.iter() {
            let missing = numbers::is_missing(cell.as_bytes());
            let known = if missing { Some(-1) } else { state.numbers.get(cell).copied() };
            let number = match known {
                Some(number) => number,
                None => state.add(cell)?,
            };
            into.extend_from_slice(&number.to_le_bytes());
        }
        Ok(())
    }

    /// The names in their final order, and the final number of every preliminary one.
    pub(super) fn finish(self) -> (Vec<String>, Vec<i64>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut named: Vec<(String, i64)> = state.numbers.into_iter().collect();
        named.sort_unstable();
        let mut numbers = vec![0; named.len()];
        for (place, (_, preliminary)) in named.iter().enumerate() {
            numbers[*preliminary as usize] = place as i64;
        }
        (named.into_iter().map(|(name, _)| name).collect(), numbers)
    }
}

impl State {
    fn add(&mut self, name: &str) -> Result<i64> {
        // What a class costs beside its name.
        const ENTRY: u64 = 16;
        self.bytes += name.len() as u64 + ENTRY;
        if self.bytes > MOST_BYTES {
            let found = format!("more than {} classes", self.numbers.len());
            let remedy = "give numbers, or is this the right column?";
            return Err(Error::source("labels", found, "words that repeat", remedy));
        }
        let number = self.numbers.len() as i64;
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }
}

/// Replaces the preliminary numbers in some bytes.
pub(super) fn recode(numbers: &[i64], bytes: &mut [u8]) {
    for cell in bytes.as_chunks_mut::<8>().0 {
        let preliminary = i64::from_le_bytes(*cell);
        // -1 stands for a missing label and stays.
        if let Some(number) = usize::try_from(preliminary).ok().and_then(|at| numbers.get(at)) {
            *cell = number.to_le_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(words: &[&str]) -> TextCells {
        let mut cells = TextCells::default();
        words.iter().for_each(|word| cells.push(word));
        cells
    }

    #[test]
    fn classes_are_numbered_by_name_whatever_comes_first() {
        for words in [["b", "a", "", "c"], ["c", "b", "", "a"]] {
            let classes = Classes::new(&Budget::new(64 << 20)).unwrap();
            let mut bytes = Vec::new();
            classes.encode(&cells(&words), &mut bytes).unwrap();
            let (names, numbers) = classes.finish();
            recode(&numbers, &mut bytes);
            let found: Vec<i64> =
                bytes.as_chunks().0.iter().map(|cell| i64::from_le_bytes(*cell)).collect();
            assert_eq!(names, ["a", "b", "c"]);
            let expected = words.map(|word| names.iter().position(|name| name == word));
            assert_eq!(found, expected.map(|place| place.map_or(-1, |place| place as i64)));
        }
    }

    #[test]
    fn words_that_do_not_repeat_are_no_classes() {
        let classes = Classes::new(&Budget::new(64 << 20)).unwrap();
        let words: Vec<String> = (0..400_000).map(|number| number.to_string()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let error = classes.encode(&cells(&words), &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("classes"), "{error}");
    }
}
