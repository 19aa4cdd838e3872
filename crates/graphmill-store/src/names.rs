//! The names of nodes whose ids in the source were text, straight from their two mapped files.
//! [`NodeIds`](crate::NodeIds) asks for the name at a place and for the place of a name; names ascend by their bytes,
//! so a place is found by halving. Which node stands at a place is unknown here.

use crate::dataset::open_table;
use crate::{Error, Result, Table};
use graphmill_disk::ReadAt;
use graphmill_format::{ElementType, manifest};
use std::path::Path;

/// No build stores a longer name, so whoever claims one lies, and must not fill memory with it.
pub(crate) const LONGEST_NAME: u64 = 1 << 16;

/// The two files.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    text: Table,
    ends: Table,
}

impl Names {
    pub(crate) fn open(folder: &Path, entry: &manifest::Names, count: u64) -> Result<Self> {
        let text = Table::open(folder.join(&entry.text.name))?;
        crate::dataset::check_entry(text.mapped().as_ref(), &entry.text)?;
        text.check_vector(&[ElementType::U8])?;
        let ends = open_table(folder, &entry.ends, count)?;
        ends.check_vector(&[ElementType::I64])?;
        Ok(Names { text, ends })
    }

    pub(crate) fn text(&self) -> &Table {
        &self.text
    }

    pub(crate) fn ends(&self) -> &Table {
        &self.ends
    }

    /// The content of both files, which are as long as they were.
    pub(crate) fn view(&self) -> Result<NamesView<'_>> {
        self.text.mapped().check_length()?;
        let section = self.text.section();
        let text = &self.text.mapped().bytes()[section.offset as usize..section.end() as usize];
        Ok(NamesView { names: self, text, ends: self.ends.as_i64()? })
    }
}

/// Names in memory that can be read as long as the length of the files is not in doubt.
pub(crate) struct NamesView<'a> {
    names: &'a Names,
    text: &'a [u8],
    ends: &'a [i64],
}

impl<'a> NamesView<'a> {
    /// The name at a place, which must be below the number of names.
    pub(crate) fn get(&self, place: u64) -> Result<&'a str> {
        std::str::from_utf8(self.bytes(place as usize)?).map_err(|error| Error::Corrupt {
            path: self.names.text.path().to_path_buf(),
            byte: self.names.text.section().offset + self.start(place as usize) as u64,
            what: "the name of a node",
            found: error.to_string(),
            expected: "UTF-8".to_owned(),
        })
    }

    /// The place of a name, if a node has it.
    pub(crate) fn find(&self, name: &str) -> Result<Option<u64>> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.bytes(middle)?.cmp(name.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(Some(middle as u64)),
            }
        }
        Ok(None)
    }

    fn start(&self, place: usize) -> i64 {
        if place == 0 { 0 } else { self.ends[place - 1] }
    }

    fn bytes(&self, place: usize) -> Result<&'a [u8]> {
        let (start, end) = (self.start(place), self.ends[place]);
        let lies = || Error::Corrupt {
            path: self.names.ends.path().to_path_buf(),
            byte: self.names.ends.section().offset + place as u64 * 8,
            what: "where the name of a node lies",
            found: format!("{start} to {end}"),
            expected: format!(
                "at most {LONGEST_NAME} bytes in ascending order up to {}",
                self.text.len()
            ),
        };
        // A negative number is a huge one when its bits are read without a sign.
        let (start, end) = (start as u64, end as u64);
        if start > end || end > self.text.len() as u64 || end - start > LONGEST_NAME {
            return Err(lies());
        }
        Ok(&self.text[start as usize..end as usize])
    }
}
