//! Words and lists as users give them to several calls.

use crate::errors::Result;
use graphmill::format::Direction;
use graphmill::store;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// More hops reach the whole of any graph; a longer list is a mistake.
const MOST_HOPS: usize = 1000;

/// Fan-outs as users give them; a list that nobody means must not take the memory for it.
pub fn read_fanouts(fanouts: &Bound<'_, PyAny>) -> Result<Vec<i64>> {
    let hops = fanouts.len()?;
    if hops > MOST_HOPS {
        let problem = format!("fanouts has {hops} hops, expected at most {MOST_HOPS}");
        return Err(PyValueError::new_err(problem).into());
    }
    Ok(fanouts.extract()?)
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
