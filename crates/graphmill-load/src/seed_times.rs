//! When the trees of a batch begin, for sampling that must not look into the future.
//! A loader looks the times up once, when it is made; sampling asks for those of a batch by the positions of its seeds.
//! What the times are compared with is the sampler's affair.

use crate::digest::digest;
use crate::start::Start;
use crate::{Error, Result};
use graphmill_disk::Reservation;
use graphmill_format::ElementType;
use graphmill_store::{Dataset, Table};

/// Where the time of each seed is found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeedTimes {
    /// One time for each seed, in the order of the seeds.
    Given(Vec<i64>),
    /// The row of each seed in a node table of 64-bit integers.
    Table(String),
}

/// The time of each seed and the memory that they take.
#[derive(Debug)]
pub(crate) struct KnownTimes {
    times: Vec<i64>,
    _memory: Reservation,
}

impl SeedTimes {
    /// Looks the times up.
    pub(crate) fn known(&self, dataset: &Dataset, start: &Start) -> Result<KnownTimes> {
        let count = start.len();
        let what = format!("the times of {count} seeds");
        let memory = dataset.budget().reserve(8 * count as u64, &what)?;
        let times = match (self, start) {
            (SeedTimes::Given(times), _) if times.len() == count => times.clone(),
            (SeedTimes::Given(times), _) => {
                let (found, expected) = (times.len() as u64, count as u64);
                let error = graphmill_sample::Error::Times { what: "seed times", found, expected };
                return Err(error.into());
            }
            (SeedTimes::Table(name), Start::Nodes { seeds, .. }) => {
                let table = time_table(dataset, name)?;
                let times = table.as_i64()?;
                seeds.iter().map(|&seed| times[seed as usize]).collect()
            }
            (SeedTimes::Table(name), Start::Links(_)) => {
                return Err(Error::LinkTimes { name: name.clone() });
            }
        };
        Ok(KnownTimes { times, _memory: memory })
    }
}

impl KnownTimes {
    /// A number that stands for all times in their order.
    pub(crate) fn digest(&self) -> u64 {
        digest(&[&self.times])
    }

    /// The times of the seeds at these positions.
    pub(crate) fn of(&self, positions: &[i64]) -> Vec<i64> {
        positions.iter().map(|&position| self.times[position as usize]).collect()
    }
}

/// A table that has a time for every node.
pub(crate) fn time_table(dataset: &Dataset, name: &str) -> Result<Table> {
    let table = dataset.table(name)?;
    let shape = table.shape();
    if shape.is_vector() && shape.is_contiguous() && shape.element() == ElementType::I64 {
        return Ok(table.clone());
    }
    let kind = if shape.is_vector() { "vector" } else { "matrix" };
    Err(Error::TimeTable {
        name: name.to_owned(),
        found: format!("a {kind} of {}", shape.element()),
    })
}
