//! One number for each of the numbers from 0 on: in memory if it fits, else in a scratch file.
//! The order by heat and the ranks of hashes are such tables, and lookups in them are what replaying
//! edges spends its time with. It must not know what is numbered.

use graphmill_disk::{Budget, Reservation, prefer_huge_pages};

use super::batches::Batches;
use super::scratch_array::{ScratchArray, Stored};
use crate::Result;

/// Numbers by place.
#[derive(Debug)]
pub(super) enum NumberTable {
    Narrow { values: Vec<u32>, _reserved: Reservation },
    Wide { values: Vec<u64>, _reserved: Reservation },
    NarrowFile(ScratchArray<u32>),
    WideFile(ScratchArray<u64>),
}

/// Whether numbers below `limit` take four bytes each.
pub(super) fn is_narrow(limit: u64) -> bool {
    limit <= 1 << 32
}

impl NumberTable {
    /// Loads a file if it fits into half of what is free.
    pub(super) fn narrow(file: ScratchArray<u32>, budget: &Budget) -> Result<Self> {
        Ok(match load(&file, budget)? {
            Some((values, _reserved)) => NumberTable::Narrow { values, _reserved },
            None => NumberTable::NarrowFile(file),
        })
    }

    /// The same for wide numbers.
    pub(super) fn wide(file: ScratchArray<u64>, budget: &Budget) -> Result<Self> {
        Ok(match load(&file, budget)? {
            Some((values, _reserved)) => NumberTable::Wide { values, _reserved },
            None => NumberTable::WideFile(file),
        })
    }

    pub(super) fn count(&self) -> u64 {
        match self {
            NumberTable::Narrow { values, .. } => values.len() as u64,
            NumberTable::Wide { values, .. } => values.len() as u64,
            NumberTable::NarrowFile(file) => file.count(),
            NumberTable::WideFile(file) => file.count(),
        }
    }

    /// Whether lookups need batches.
    pub(super) fn needs_batches(&self) -> bool {
        matches!(self, NumberTable::NarrowFile(_) | NumberTable::WideFile(_))
    }

    /// The numbers, if they are narrow and in memory.
    pub(super) fn as_narrow(&self) -> Option<&[u32]> {
        match self {
            NumberTable::Narrow { values, .. } => Some(values),
            _ => None,
        }
    }

    /// Replaces places by the numbers there; places beyond the end stay as they are.
    pub(super) fn look_up(&self, places: &mut [u64], batches: Option<&Batches>) -> Result<()> {
        match (self, batches) {
            (NumberTable::Narrow { values, .. }, _) => replace(values, places),
            (NumberTable::Wide { values, .. }, _) => replace(values, places),
            (NumberTable::NarrowFile(file), Some(batches)) => batches.gather(file, places)?,
            (NumberTable::WideFile(file), Some(batches)) => batches.gather(file, places)?,
            (_, None) => unreachable!("files are looked up in batches"),
        }
        Ok(())
    }

    /// Reads the numbers from place `first` on; where `first` is past the end there are none, and `into` must be empty.
    pub(super) fn read(&self, first: u64, into: &mut [u64]) -> Result<()> {
        fn copy<T: Copy + Into<u64>>(values: &[T], first: u64, into: &mut [u64]) {
            for (into, &value) in into.iter_mut().zip(values.iter().skip(first as usize)) {
                *into = value.into();
            }
        }
        match self {
            NumberTable::Narrow { values, .. } => copy(values, first, into),
            NumberTable::Wide { values, .. } => copy(values, first, into),
            NumberTable::WideFile(file) => file.read(first, into)?,
            NumberTable::NarrowFile(file) => {
                let mut narrow = [0; 1024];
                for (index, into) in into.chunks_mut(narrow.len()).enumerate() {
                    let narrow = &mut narrow[..into.len()];
                    file.read(first + (index * 1024) as u64, narrow)?;
                    copy(narrow, 0, into);
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn replace<T: Copy + Into<u64>>(values: &[T], places: &mut [u64]) {
    for place in places {
        if let Some(&value) = usize::try_from(*place).ok().and_then(|place| values.get(place)) {
            *place = value.into();
        }
    }
}

fn load<T: Stored + Default>(
    file: &ScratchArray<T>,
    budget: &Budget,
) -> Result<Option<(Vec<T>, Reservation)>> {
    let bytes = file.count().saturating_mul(size_of::<T>() as u64);
    if bytes > budget.free() / 2 {
        return Ok(None);
    }
    let reserved = budget.reserve(bytes, "the numbers of the nodes")?;
    let mut values = Vec::with_capacity(file.count() as usize);
    prefer_huge_pages(&mut values);
    let mut reader = file.reader();
    loop {
        let piece = reader.next_piece()?;
        if piece.is_empty() {
            return Ok(Some((values, reserved)));
        }
        values.extend_from_slice(piece);
    }
}
