//! Leaves into the sections of a direction.
//! Every leaf knows how many records come before it, so threads sort leaves and write them to their
//! places independently of each other; a leaf also writes the offsets of the nodes that begin in
//! it. It must not know how leaves were made.

use std::sync::{Mutex, PoisonError};

use graphmill_disk::OutputFile;
use graphmill_format::{DirectionSections, ElementType, ListOrder, Section};

use super::leaf::{Leaf, LeafState};
use super::leaf_writer::LeafWriter;
use super::list_lengths::ListLengths;
use super::record::Record;
use super::store::Store;
use super::transposition::Transposition;
use super::workers::share_out;
use crate::Result;
use crate::running_sums::write_running_sums;
use crate::shared_section::SharedSection;

/// What writing has to know besides the leaves.
pub(super) struct Plan<'p, R> {
    pub(super) num_nodes: u64,
    pub(super) order: ListOrder,
    /// Where edges go once more, if the other direction is wanted too.
    pub(super) transposition: Option<&'p Transposition<R>>,
    /// Hears how many records were written.
    pub(super) advance: &'p (dyn Fn(u64) -> Result<()> + Sync),
}

/// Writes all sections of a direction; gives their digests, in the order of the file, and the
/// lengths of the lists.
pub(super) fn write_lists<R: Record>(
    file: &dyn OutputFile,
    sections: &DirectionSections,
    leaves: Vec<Leaf<R>>,
    store: &Store<R>,
    plan: &Plan<'_, R>,
) -> Result<(Vec<u64>, ListLengths)> {
    let target = Target::new(file, sections);
    let placed = place(leaves, plan.num_nodes);
    let lengths = Mutex::new(vec![ListLengths::default(); placed.len()]);
    let start = || {
        let transposed = plan.transposition.map(|transposition| transposition.filler(store));
        LeafWriter::new(&target, store, plan.order, plan.num_nodes, transposed)
    };
    share_out(store.sizing.workers, placed.len(), start, |writer, index| {
        let placed = placed[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(placed) = placed else { return Ok(()) };
        let records = placed.leaf.records();
        let seen = writer.write(placed)?;
        lengths.lock().unwrap_or_else(PoisonError::into_inner)[index] = seen;
        (plan.advance)(records)
    })?;
    let lengths = lengths.into_inner().unwrap_or_else(PoisonError::into_inner);
    let lengths = lengths.into_iter().fold(ListLengths::default(), ListLengths::join);
    Ok((target.finish(file, sections)?, lengths))
}

/// A leaf and what it has to know of the others.
pub(super) struct Placed<R> {
    pub(super) leaf: Leaf<R>,
    /// Records before it.
    pub(super) before: u64,
    /// The first and the last node whose offset it writes; none if the second is smaller. No record
    /// belongs to a larger node than the second.
    pub(super) nodes: (u64, u64),
}

/// A node's offset is written by the leaf before the first that cannot hold smaller nodes: only
/// there is it known how many records of smaller nodes there are.
fn place<R>(mut leaves: Vec<Leaf<R>>, num_nodes: u64) -> Vec<Mutex<Option<Placed<R>>>> {
    leaves.retain(|leaf| leaf.records() > 0);
    if leaves.is_empty() {
        leaves.push(Leaf { lower: 0, streams: Vec::new(), state: LeafState::Sorted });
    }
    // Nodes before the first record have lists too.
    leaves[0].lower = 0;
    let ends: Vec<u64> = leaves.iter().skip(1).map(|leaf| leaf.lower).chain([num_nodes]).collect();
    let mut before = 0;
    let mut node = 0;
    let mut placed = Vec::with_capacity(leaves.len());
    for (leaf, end) in leaves.into_iter().zip(ends) {
        let records = leaf.records();
        placed.push(Mutex::new(Some(Placed { leaf, before, nodes: (node, end) })));
        before += records;
        node = end + 1;
    }
    placed
}

/// The sections of a direction.
pub(super) struct Target<'a> {
    pub(super) offsets: SharedSection<'a>,
    pub(super) neighbours: SharedSection<'a>,
    pub(super) neighbours_are_wide: bool,
    pub(super) edge_ids: Option<SharedSection<'a>>,
    pub(super) weights: Option<SharedSection<'a>>,
    pub(super) times: Option<SharedSection<'a>>,
}

impl<'a> Target<'a> {
    fn new(file: &'a dyn OutputFile, sections: &DirectionSections) -> Self {
        let open = |section: &Section| SharedSection::new(file, section);
        Target {
            offsets: open(&sections.offsets),
            neighbours: open(&sections.neighbours),
            neighbours_are_wide: sections.neighbours.element == ElementType::I64,
            edge_ids: sections.edge_ids.as_ref().map(open),
            weights: sections.weights.as_ref().map(open),
            times: sections.edge_times.as_ref().map(open),
        }
    }

    /// Gives the digests in the order of the file.
    fn finish(self, file: &dyn OutputFile, sections: &DirectionSections) -> Result<Vec<u64>> {
        let optional = [self.edge_ids, self.weights].into_iter().flatten();
        let mut digests = Vec::new();
        for section in [self.offsets, self.neighbours].into_iter().chain(optional) {
            digests.extend(section.finish()?);
        }
        digests.extend(write_running_sums(file, sections)?);
        if let Some(section) = self.times {
            digests.extend(section.finish()?);
        }
        Ok(digests)
    }
}
