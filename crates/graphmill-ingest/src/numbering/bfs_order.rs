//! Numbers by breadth: a node is followed by its neighbours, and these by theirs.
//! It starts at the node with most neighbours, and again at the smallest number that was not reached.
//! It must not know what ids were before they were ranks.

use graphmill_disk::prefer_huge_pages;

use super::number_table::NumberTable;
use super::symmetric_lists::SymmetricLists;
use super::workspace::Workspace;
use crate::Result;
use crate::progress::{Observer, Stage};

const UNSEEN: u32 = u32::MAX;

/// Numbers all nodes of the lists.
pub(super) fn number(
    workspace: &Workspace,
    lists: &SymmetricLists,
    observer: Option<Observer<'_>>,
) -> Result<NumberTable> {
    let count = lists.count();
    let (hub, longest) = longest(lists)?;
    // A number and a place in the queue for every node, and one list.
    let bytes = count * 8 + longest * 4 + SymmetricLists::READING;
    let mut reserved = workspace.budget().reserve(bytes, "the breadth-first order of nodes")?;
    let mut numbers: Vec<u32> = Vec::with_capacity(count as usize);
    prefer_huge_pages(&mut numbers);
    numbers.resize(count as usize, UNSEEN);
    let mut queue: Vec<u32> = Vec::with_capacity(count as usize);
    let mut list = Vec::with_capacity(longest as usize);
    let mut stage = Stage::new(observer, "ordering nodes", count);
    let mut next = 0;
    let starts = if count > 0 { Some(hub) } else { None };
    for start in starts.into_iter().chain(0..count as u32) {
        if numbers[start as usize] != UNSEEN {
            continue;
        }
        numbers[start as usize] = queue.len() as u32;
        queue.push(start);
        while let Some(&node) = queue.get(next) {
            next += 1;
            lists.read(node, &mut list)?;
            for &neighbour in &list {
                let number = &mut numbers[neighbour as usize];
                if *number == UNSEEN {
                    *number = queue.len() as u32;
                    queue.push(neighbour);
                }
            }
            stage.advance(1)?;
        }
    }
    drop((queue, list));
    reserved.resize(count * 4)?;
    Ok(NumberTable::Narrow { values: numbers, _reserved: reserved })
}

/// The node with the longest list, and how long that is.
fn longest(lists: &SymmetricLists) -> Result<(u32, u64)> {
    let mut found = (0, 0);
    let mut reader = lists.lengths()?;
    let mut node = 0;
    while let Some(length) = reader.next()? {
        if length > found.1 {
            found = (node, length);
        }
        node += 1;
    }
    Ok(found)
}
