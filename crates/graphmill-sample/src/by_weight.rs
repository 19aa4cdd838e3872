//! One edge of a list, in proportion to the weights.
//! Where the file holds running sums a draw is a binary search in them; else the list is added up. Both ways add in the
//! order of the list, so they give the same edge.

use crate::random::Stream;
use crate::{Error, Result, Topology};
use std::ops::Range;

/// Draws a position of a list; None if no edge of it has weight.
#[inline]
pub(crate) fn draw<T: Topology + ?Sized>(
    topology: &T,
    list: Range<usize>,
    stream: &mut Stream,
) -> Result<Option<usize>> {
    if let Some(sums) = topology.cumulative_weights(list.clone()) {
        let Some(&total) = sums.last() else { return Ok(None) };
        let total = checked(total, list.end - 1)?;
        if total == 0.0 {
            return Ok(None);
        }
        let target = stream.unit() * total;
        let mut number = sums.partition_point(|&sum| sum <= target);
        if number >= sums.len() {
            // Rounding leads past the end: then it is the last that has weight.
            number = sums.partition_point(|&sum| sum < total).min(sums.len() - 1);
        }
        return Ok(Some(list.start + number));
    }
    let total = total(topology, list.clone())?;
    if total == 0.0 {
        return Ok(None);
    }
    let target = stream.unit() * total;
    let weights = topology.weights(list.clone()).unwrap_or_default();
    let (mut sum, mut last) = (0.0, 0);
    for (number, &weight) in weights.iter().enumerate() {
        sum += f64::from(weight);
        if sum > target {
            return Ok(Some(list.start + number));
        }
        if weight > 0.0 {
            last = number;
        }
    }
    Ok(Some(list.start + last))
}

/// All the weight of some edges of a list, which need not be the whole list.
pub(crate) fn sum<T: Topology + ?Sized>(topology: &T, edges: Range<usize>) -> Result<f64> {
    let mut sum = 0.0;
    for (number, &weight) in topology.weights(edges.clone()).unwrap_or_default().iter().enumerate()
    {
        sum += checked(weight.into(), edges.start + number)?;
    }
    Ok(sum)
}

/// All the weight of a list.
pub(crate) fn total<T: Topology + ?Sized>(topology: &T, list: Range<usize>) -> Result<f64> {
    match topology.cumulative_weights(list.clone()) {
        Some([]) => Ok(0.0),
        Some(sums) => checked(sums[sums.len() - 1], list.end - 1),
        None => sum(topology, list),
    }
}

/// A weight or a sum of weights, if it is one.
#[inline]
fn checked(found: f64, position: usize) -> Result<f64> {
    if (0.0..f64::INFINITY).contains(&found) {
        Ok(found)
    } else {
        Err(Error::Weight { position, found })
    }
}
