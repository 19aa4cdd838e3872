//! Words, numbers and lists as users give them to several calls.
//!
//! Integers of Python have any size. What does not fit is a `ValueError` that says what would, or an `IndexError` where a
//! node was meant; the `OverflowError` of a plain conversion says neither.

use crate::errors::Result;
use graphmill::format::Direction;
use graphmill::store;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::{self, Display};
use std::num::NonZero;
use std::ops::RangeInclusive;

/// More hops reach the whole of any graph; a longer list is a mistake.
const MOST_HOPS: usize = 1000;

/// More threads than any machine has cores; a larger number is a mistake.
const MOST_THREADS: usize = 1024;

/// An integer of any size; `within` says what it is for.
#[derive(Clone, Copy)]
pub struct Int(
    /// Larger and smaller ones count as the last of the type, which no argument allows.
    i128,
);

impl Int {
    /// The number, if it is one of those that are allowed.
    pub fn within<T>(self, what: &str, allowed: RangeInclusive<T>) -> Result<T>
    where
        T: Display + PartialOrd + TryFrom<i128>,
    {
        let too_small = match T::try_from(self.0) {
            Ok(number) if allowed.contains(&number) => return Ok(number),
            Ok(number) => number < *allowed.start(),
            Err(_) => self.0 < 0,
        };
        let expected = match too_small {
            true => format!("at least {}", allowed.start()),
            false => format!("at most {}", allowed.end()),
        };
        Err(PyValueError::new_err(format!("{what} is {self}, expected {expected}")).into())
    }
}

impl Display for Int {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            i128::MAX => formatter.write_str("2^127 or more"),
            i128::MIN => formatter.write_str("-2^127 or less"),
            number => number.fmt(formatter),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Int {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<i128>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                Ok(Int(if object.lt(0)? { i128::MIN } else { i128::MAX }))
            }
            number => Ok(Int(number?)),
        }
    }
}

/// The number of one node.
#[derive(Clone, Copy)]
pub struct NodeNumber(pub i64);

impl<'py> FromPyObject<'_, 'py> for NodeNumber {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<i64>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                let (number, end) = (object.extract::<Int>()?, "no graph has so many nodes");
                Err(PyIndexError::new_err(format!("node {number} is out of range; {end}")))
            }
            number => Ok(NodeNumber(number?)),
        }
    }
}

/// A seed of random numbers; any int is one, of which the lowest 64 bits count: hashes of names may be negative.
#[derive(Clone, Copy)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed that a user gave, or a fresh one.
    pub fn or_fresh(py: Python<'_>, given: Option<Seed>) -> Result<u64> {
        match given {
            Some(seed) => Ok(seed.0),
            None => Ok(py.import("secrets")?.call_method1("randbits", (64,))?.extract()?),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Seed {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match object.extract::<i128>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                let lowest = object.call_method0("__index__")?.bitand(u64::MAX)?;
                Ok(Seed(lowest.extract()?))
            }
            seed => Ok(Seed(seed? as u64)),
        }
    }
}

/// Keywords that Python code has put into a dictionary; mistakes are told by the names that users gave them.
pub struct Keywords<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Keywords<'_, 'py> {
    /// The value of a keyword.
    pub fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> Result<T> {
        let value = self.0.as_any().get_item(name)?;
        let found = value.extract::<T>().map_err(Into::<PyErr>::into);
        Ok(found.map_err(|error| match error.is_instance_of::<PyTypeError>(value.py()) {
            true => PyTypeError::new_err(format!("{name}: {}", error.value(value.py()))),
            false => error,
        })?)
    }

    /// The value of a keyword that is a number.
    pub fn number<T>(&self, name: &str, allowed: RangeInclusive<T>) -> Result<T>
    where
        T: Display + PartialOrd + TryFrom<i128>,
    {
        self.get::<Int>(name)?.within(name, allowed)
    }

    /// The value of a keyword that is a number or None.
    pub fn optional<T>(&self, name: &str, allowed: RangeInclusive<T>) -> Result<Option<T>>
    where
        T: Display + PartialOrd + TryFrom<i128>,
    {
        self.get::<Option<Int>>(name)?.map(|number| number.within(name, allowed)).transpose()
    }
}

/// Fan-outs as users give them; a list that nobody means must not take the memory for it.
pub fn read_fanouts(fanouts: &Bound<'_, PyAny>) -> Result<Vec<i64>> {
    let hops = match fanouts.len() {
        // A range may be longer than any list.
        Err(error) if error.is_instance_of::<PyOverflowError>(fanouts.py()) => usize::MAX,
        hops => hops?,
    };
    if hops > MOST_HOPS {
        let problem = format!("fanouts has {hops} hops, expected at most {MOST_HOPS}");
        return Err(PyValueError::new_err(problem).into());
    }
    let numbers = fanouts.extract::<Vec<Int>>()?.into_iter().enumerate();
    numbers
        .map(|(hop, number)| number.within(&format!("fanouts[{hop}]"), i64::MIN..=i64::MAX))
        .collect()
}

/// How many threads to use, if a user said so.
pub fn read_threads(threads: Option<Int>) -> Result<Option<NonZero<usize>>> {
    let threads = threads.map(|threads| threads.within("threads", 1..=MOST_THREADS)).transpose()?;
    Ok(threads.and_then(NonZero::new))
}

/// Where the topology is to be read from.
pub fn parse_residency(name: &str) -> Result<store::Placement> {
    Ok(name.parse().map_err(PyValueError::new_err)?)
}

/// The direction that a name stands for.
pub fn parse_direction(name: &str) -> Result<Direction> {
    match name {
        "in" => Ok(Direction::In),
        "out" => Ok(Direction::Out),
        other => Err(PyValueError::new_err(format!(
            "direction is {other:?}, expected \"in\" or \"out\""
        ))
        .into()),
    }
}
