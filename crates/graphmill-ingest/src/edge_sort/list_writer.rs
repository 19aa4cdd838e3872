//! Leaves into the sections of a direction.
//! Every leaf knows how many records come before it, so threads sort leaves and write them to their
//! places independently of each other; a leaf also writes the offsets of the nodes that begin in
//! it. It must not know how leaves were made.

use std::sync::{Mutex, PoisonError};

use graphmill_disk::{OutputFile, PageBuffer};
use graphmill_format::digest::BLOCK_LENGTH;
use graphmill_format::{DirectionSections, ElementType, ListOrder, Section};

use super::list_sort::{Leaf, LeafState, Leaves};
use super::part_sort::sort_part;
use super::record::Record;
use super::store::{Part, Store};
use super::workers::share_out;
use crate::Result;
use crate::progress::Stage;
use crate::shared_section::{SharedSection, Stretch};

/// Offsets gathered before they are copied.
const OFFSETS: usize = 512;

/// Writes all sections of a direction and gives their digests, in the order of the file.
pub(super) fn write_lists<R: Record>(
    file: &dyn OutputFile,
    sections: &DirectionSections,
    leaves: Leaves<R>,
    num_nodes: u64,
    order: ListOrder,
    stage: &Mutex<Stage<'_>>,
) -> Result<Vec<u64>> {
    let Leaves { store, leaves, .. } = leaves;
    let target = Target::new(file, sections);
    let placed = place(leaves, num_nodes);
    let start = || Workspace {
        records: Vec::new(),
        spare: Vec::new(),
        buffer: PageBuffer::new(BLOCK_LENGTH as usize),
    };
    share_out(store.sizing.workers, placed.len(), start, |workspace, index| {
        let placed = placed[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(placed) = placed else { return Ok(()) };
        let records = placed.leaf.part.records;
        target.write(placed, workspace, order, &store)?;
        stage.lock().unwrap_or_else(PoisonError::into_inner).advance(records)
    })?;
    target.finish()
}

/// A leaf and what it has to know of the others.
struct Placed<R> {
    leaf: Leaf<R>,
    /// Records before it.
    before: u64,
    /// The first and the last node whose offset it writes; none if the second is smaller.
    nodes: (u64, u64),
}

/// A node's offset is written by the leaf before the first that cannot hold smaller nodes: only
/// there is it known how many records of smaller nodes there are.
fn place<R>(leaves: Vec<Leaf<R>>, num_nodes: u64) -> Vec<Mutex<Option<Placed<R>>>> {
    let ends: Vec<u64> = leaves.iter().skip(1).map(|leaf| leaf.lower).chain([num_nodes]).collect();
    let mut before = 0;
    let mut node = 0;
    let mut placed = Vec::with_capacity(leaves.len());
    for (leaf, end) in leaves.into_iter().zip(ends) {
        let records = leaf.part.records;
        placed.push(Mutex::new(Some(Placed { leaf, before, nodes: (node, end) })));
        before += records;
        node = end + 1;
    }
    placed
}

struct Workspace<R> {
    records: Vec<R>,
    spare: Vec<R>,
    buffer: PageBuffer,
}

struct Target<'a> {
    offsets: SharedSection<'a>,
    neighbours: SharedSection<'a>,
    neighbours_are_wide: bool,
    edge_ids: Option<SharedSection<'a>>,
    weights: Option<SharedSection<'a>>,
    times: Option<SharedSection<'a>>,
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

    fn finish(self) -> Result<Vec<u64>> {
        let optional = [self.edge_ids, self.weights, self.times].into_iter().flatten();
        let mut digests = Vec::new();
        for section in [self.offsets, self.neighbours].into_iter().chain(optional) {
            digests.extend(section.finish()?);
        }
        Ok(digests)
    }

    fn write<R: Record>(
        &self,
        placed: Placed<R>,
        workspace: &mut Workspace<R>,
        order: ListOrder,
        store: &Store<R>,
    ) -> Result<()> {
        let Placed { leaf, before, nodes } = placed;
        let Workspace { records, spare, buffer } = workspace;
        if leaf.state == LeafState::Uniform {
            self.write_pieces(before, nodes, buffer, &Pieces::Stored(store, &leaf.part))?;
            store.give_back(leaf.part.blocks);
            return Ok(());
        }
        records.clear();
        records.reserve_exact(leaf.part.records as usize);
        store.load(leaf.part, records)?;
        if leaf.state == LeafState::Loose {
            sort_part(records, spare, order);
        }
        self.write_pieces(before, nodes, buffer, &Pieces::Memory(records))
    }

    fn write_pieces<R: Record>(
        &self,
        before: u64,
        nodes: (u64, u64),
        buffer: &mut PageBuffer,
        pieces: &Pieces<'_, R>,
    ) -> Result<()> {
        if nodes.0 <= nodes.1 {
            write_offsets(self.offsets.stretch(nodes.0 * 8, buffer), before, nodes, pieces)?;
        }
        if self.neighbours_are_wide {
            pieces.write(&self.neighbours, before, buffer, |one| one.minor().to_le_bytes())?;
        } else {
            // Planned only where every id is below 2^31.
            let narrow = |one: &R| (one.minor() as u32).to_le_bytes();
            pieces.write(&self.neighbours, before, buffer, narrow)?;
        }
        if let Some(section) = &self.edge_ids {
            pieces.write(section, before, buffer, |one| one.entry().row.to_le_bytes())?;
        }
        if let Some(section) = &self.weights {
            pieces.write(section, before, buffer, |one| one.entry().weight.to_le_bytes())?;
        }
        if let Some(section) = &self.times {
            pieces.write(section, before, buffer, |one| one.entry().time.to_le_bytes())?;
        }
        Ok(())
    }
}

/// The sorted records of a leaf, wherever they are.
enum Pieces<'a, R> {
    Memory(&'a [R]),
    Stored(&'a Store<R>, &'a Part<R>),
}

impl<R: Record> Pieces<'_, R> {
    fn for_each(&self, mut take: impl FnMut(&[R]) -> Result<()>) -> Result<()> {
        match self {
            Pieces::Memory(records) => take(records),
            Pieces::Stored(store, part) => store.read(part, take),
        }
    }

    fn write<const N: usize>(
        &self,
        section: &SharedSection<'_>,
        before: u64,
        buffer: &mut PageBuffer,
        value: impl Fn(&R) -> [u8; N],
    ) -> Result<()> {
        let mut stretch = section.stretch(before * N as u64, buffer);
        self.for_each(|records| stretch.write_each(records, &value))?;
        stretch.finish()
    }
}

/// Writes how many records there are of smaller nodes than each of `nodes`.
fn write_offsets<R: Record>(
    mut stretch: Stretch<'_, '_>,
    before: u64,
    (mut node, last): (u64, u64),
    pieces: &Pieces<'_, R>,
) -> Result<()> {
    let mut gathered = [0_u64; OFFSETS];
    let mut filled = 0;
    let mut position = before;
    let mut put = |offset: u64| -> Result<()> {
        gathered[filled] = offset;
        filled += 1;
        if filled == OFFSETS {
            stretch.write_each(&gathered, |offset| offset.to_le_bytes())?;
            filled = 0;
        }
        Ok(())
    };
    pieces.for_each(|records| {
        for record in records {
            while node <= record.major() {
                put(position)?;
                node += 1;
            }
            position += 1;
        }
        Ok(())
    })?;
    while node <= last {
        put(position)?;
        node += 1;
    }
    stretch.write_each(&gathered[..filled], |offset| offset.to_le_bytes())?;
    stretch.finish()
}
