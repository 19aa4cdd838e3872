//! Numbers by community: nodes that are linked among each other lie together, the hottest of each first.
//! Communities are found by label propagation. Every node starts with a label of its own and takes,
//! again and again, the label that most of its neighbours have; a community that is full takes nobody
//! in. It must not know what ids were before they were ranks.

use graphmill_disk::prefer_huge_pages;

use super::number_table::NumberTable;
use super::symmetric_lists::SymmetricLists;
use super::workspace::Workspace;
use crate::Result;
use crate::progress::{Observer, Stage};

/// Nodes of a community at most. Without a limit one label conquers most of a well-connected graph.
const MOST_NODES: u32 = 1024;
/// Times that every node may change its label; few do so after the first ones.
const ROUNDS: u64 = 6;
/// Neighbours of a hub that have a say: its community matters little, as it is met from everywhere.
const ASKED: usize = 256;
/// Nodes between two reports of progress.
const PIECE: u64 = 1 << 16;

/// Numbers all nodes of the lists; within a community those come first that `heat` numbers first.
pub(super) fn number(
    workspace: &Workspace,
    lists: &SymmetricLists,
    heat: NumberTable,
    observer: Option<Observer<'_>>,
) -> Result<NumberTable> {
    let count = lists.count();
    // Labels, the sizes of communities, and nodes by heat.
    let bytes = count * 12 + SymmetricLists::READING + LabelCounts::BYTES;
    let mut reserved = workspace.budget().reserve(bytes, "the communities of nodes")?;
    let mut communities = Communities::new(count);
    let mut stage = Stage::new(observer, "finding communities", ROUNDS * count);
    for round in 0..ROUNDS {
        let moved = communities.propagate(lists, round, &mut stage)?;
        if moved * 100 < count {
            break;
        }
    }
    let numbers = communities.into_numbers(&by_number(heat)?);
    reserved.resize(count * 4)?;
    Ok(NumberTable::Narrow { values: numbers, _reserved: reserved })
}

/// The label of every node, and how many nodes have each.
struct Communities {
    labels: Vec<u32>,
    sizes: Vec<u32>,
}

impl Communities {
    fn new(count: u64) -> Self {
        let mut labels = with_huge_pages(count);
        labels.extend(0..count as u32);
        let mut sizes = with_huge_pages(count);
        sizes.resize(count as usize, 1);
        Communities { labels, sizes }
    }

    /// Lets every node look at the labels of its neighbours once; gives how many changed theirs.
    fn propagate(
        &mut self,
        lists: &SymmetricLists,
        round: u64,
        stage: &mut Stage<'_>,
    ) -> Result<u64> {
        let Communities { labels, sizes } = self;
        let mut reader = lists.reader()?;
        let mut list = Vec::with_capacity(ASKED);
        let mut counts = LabelCounts::new();
        let mut moved = 0;
        for node in 0..labels.len() {
            reader.next(ASKED, &mut list)?;
            let own = labels[node];
            let neighbours = list.iter().map(|&neighbour| labels[neighbour as usize]);
            let is_open = |label: u32| label == own || sizes[label as usize] < MOST_NODES;
            let best = counts.most_frequent(neighbours, node as u64 + round, is_open);
            if let Some(best) = best.filter(|&best| best != own) {
                sizes[own as usize] -= 1;
                sizes[best as usize] += 1;
                labels[node] = best;
                moved += 1;
            }
            if (node as u64 + 1).is_multiple_of(PIECE) {
                stage.advance(PIECE)?;
            }
        }
        stage.advance(labels.len() as u64 % PIECE)?;
        Ok(moved)
    }

    /// Numbers community after community; nodes that are alone come last. Takes the nodes in the
    /// order that they shall have within a community.
    fn into_numbers(self, nodes: &[u32]) -> Vec<u32> {
        let Communities { mut labels, mut sizes } = self;
        let mut next = 0;
        for size in sizes.iter_mut().filter(|size| **size > 1) {
            next += std::mem::replace(size, next | COMMUNITY);
        }
        for &node in nodes {
            let label = &mut labels[node as usize];
            let start = &mut sizes[*label as usize];
            let place = if *start & COMMUNITY != 0 { start } else { &mut next };
            *label = *place & !COMMUNITY;
            *place += 1;
        }
        labels
    }
}

/// Marks a size that has become the place of the community's next node. Numbers are below it.
const COMMUNITY: u32 = 1 << 31;

/// Counts a few labels.
struct LabelCounts {
    /// A label, how often it was seen, and for which node.
    slots: Vec<(u32, u32, u64)>,
    seen_for: u64,
}

impl LabelCounts {
    /// At most half of them are ever used.
    const SLOTS: usize = 2 * ASKED.next_power_of_two();
    const BYTES: u64 = (Self::SLOTS * size_of::<(u32, u32, u64)>()) as u64;

    fn new() -> Self {
        LabelCounts { slots: vec![(0, 0, 0); Self::SLOTS], seen_for: 0 }
    }

    /// The open label that occurs most often; which of equals, `choice` decides.
    fn most_frequent(
        &mut self,
        labels: impl Iterator<Item = u32>,
        choice: u64,
        is_open: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        self.seen_for += 1;
        let mut best: Option<(u32, u64, u32)> = None;
        for label in labels {
            let mut slot = (mixed(label.into()) as usize) % Self::SLOTS;
            while self.slots[slot].2 == self.seen_for && self.slots[slot].0 != label {
                slot = (slot + 1) % Self::SLOTS;
            }
            if self.slots[slot].2 != self.seen_for {
                self.slots[slot] = (label, 0, self.seen_for);
            }
            self.slots[slot].1 += 1;
            let rank = (self.slots[slot].1, mixed(u64::from(label) ^ mixed(choice)), label);
            if best.is_none_or(|best| rank > best) && is_open(label) {
                best = Some(rank);
            }
        }
        best.map(|(_, _, label)| label)
    }
}

/// A number that depends on all bits of another.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

/// The nodes in the order of their numbers.
fn by_number(numbers: NumberTable) -> Result<Vec<u32>> {
    let count = numbers.count();
    let mut nodes = with_huge_pages(count);
    nodes.resize(count as usize, 0);
    let mut piece = [0; 1024];
    for first in (0..count).step_by(piece.len()) {
        let piece = &mut piece[..(count - first).min(1024) as usize];
        numbers.read(first, piece)?;
        for (&number, node) in piece.iter().zip(first as u32..) {
            nodes[number as usize] = node;
        }
    }
    Ok(nodes)
}

fn with_huge_pages(count: u64) -> Vec<u32> {
    let mut values = Vec::with_capacity(count as usize);
    prefer_huge_pages(&mut values);
    values
}
