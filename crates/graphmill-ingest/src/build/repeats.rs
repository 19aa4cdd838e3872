//! Nodes that a list names twice.
//! A split is written first and looked through afterwards: one bit for each node of a range that
//! fits in memory, one pass over the list for each range, which for nearly all graphs is one. It
//! must not know where the list comes from.

use graphmill_disk::{Budget, OutputFile, PageBuffer};
use graphmill_format::HEADER_LENGTH;

use crate::Result;

/// Nodes read at a time.
const PIECE: usize = 8 << 10;
/// Words of bits that are used however little memory is free.
const LEAST_WORDS: u64 = 1 << 13;

/// The first position of a list whose node stands before it already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeat {
    /// Where the node stands first.
    pub(super) first: u64,
    /// Where it stands again.
    pub(super) second: u64,
}

/// Looks for a node that stands twice in a list of `count` numbers below `num_nodes`.
pub(super) fn first_repeat(
    list: &dyn OutputFile,
    count: u64,
    num_nodes: u64,
    budget: &Budget,
) -> Result<Option<Repeat>> {
    let words = num_nodes.div_ceil(64).min((budget.free() / 32).max(LEAST_WORDS));
    let _reserved = budget.reserve(words * 8 + 8 * PIECE as u64, "looking for repeated nodes")?;
    let mut seen = vec![0_u64; words as usize];
    let mut second: Option<(u64, u64)> = None;
    let range = words * 64;
    let mut first_node = 0;
    while first_node < num_nodes {
        seen.fill(0);
        each_node(list, count, |position, node| {
            let at = node.wrapping_sub(first_node);
            if at >= range {
                return true;
            }
            let (word, bit) = (&mut seen[(at / 64) as usize], 1 << (at % 64));
            if *word & bit == 0 {
                *word |= bit;
                return true;
            }
            if second.is_none_or(|(found, _)| position < found) {
                second = Some((position, node));
            }
            false
        })?;
        first_node = first_node.saturating_add(range);
    }
    let Some((second, node)) = second else { return Ok(None) };
    let mut first = second;
    each_node(list, second, |position, other| {
        if other == node {
            first = position;
        }
        other != node
    })?;
    Ok(Some(Repeat { first, second }))
}

/// Hands over the numbers of a list until `take` has enough.
fn each_node(
    list: &dyn OutputFile,
    count: u64,
    mut take: impl FnMut(u64, u64) -> bool,
) -> Result<()> {
    let mut bytes = PageBuffer::new(PIECE * 8);
    let mut position = 0;
    while position < count {
        let nodes = (count - position).min(PIECE as u64);
        let bytes = &mut bytes[..nodes as usize * 8];
        list.read_exact_at(HEADER_LENGTH + position * 8, bytes)?;
        for node in bytes.as_chunks().0 {
            if !take(position, u64::from_le_bytes(*node)) {
                return Ok(());
            }
            position += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use graphmill_disk::{FileSystem, RealFileSystem};
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn obvious(nodes: &[u64]) -> Option<Repeat> {
        let mut places = HashMap::new();
        (0_u64..).zip(nodes).find_map(|(second, node)| {
            places.insert(node, second).map(|first| Repeat { first, second })
        })
    }

    proptest! {
        #[test]
        fn the_first_repeated_node_is_found_in_any_memory(
            nodes in prop::collection::vec(0_u64..3_000_000, 0..60),
            again in prop::option::of((0_usize..60, 0_usize..60)),
            free in prop::sample::select(vec![200 << 10, 64 << 20]),
        ) {
            let mut nodes = nodes;
            if let Some((from, to)) = again
                && from < nodes.len()
            {
                nodes.insert(to.min(nodes.len()), nodes[from]);
            }
            let folder = tempfile::tempdir().unwrap();
            let list = RealFileSystem.create(&folder.path().join("list")).unwrap();
            let bytes: Vec<u8> = nodes.iter().flat_map(|node| node.to_le_bytes()).collect();
            list.write_all_at(HEADER_LENGTH, &bytes).unwrap();
            let budget = Budget::new(free);
            let found = first_repeat(&*list, nodes.len() as u64, 3_000_000, &budget).unwrap();
            prop_assert_eq!(found, obvious(&nodes));
            prop_assert_eq!(budget.used(), 0);
        }
    }
}
