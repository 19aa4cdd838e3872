//! Whether two files hold the same graph.
//! Encodings and ways to build are held against each other here, list by list. It must not know how either was made.

use graphmill::format::Direction;
use graphmill::store::{Graph, Lists};

/// Whether all lists of both directions are the same.
pub fn same_lists(one: &Graph, other: &Graph) -> anyhow::Result<bool> {
    if one.num_nodes() != other.num_nodes() || one.num_edges() != other.num_edges() {
        return Ok(false);
    }
    for direction in [Direction::In, Direction::Out] {
        if !same(&one.lists(direction)?, &other.lists(direction)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn same(one: &Lists<'_>, other: &Lists<'_>) -> anyhow::Result<bool> {
    for node in 0..one.num_nodes() {
        let range = one.range(node)?;
        if range != other.range(node)? || one.decode(range.clone())? != other.decode(range)? {
            return Ok(false);
        }
    }
    Ok(true)
}
