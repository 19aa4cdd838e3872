//! One leaf after the other, sorted and written to its place.
//! A thread has one of these with all the memory it needs. Bare pairs become lists without ever
//! being sorted as records; whatever else there is takes the general way. It must not know what
//! other leaves hold.

use graphmill_disk::PageBuffer;
use graphmill_format::ListOrder;
use graphmill_format::digest::BLOCK_LENGTH;
use zerocopy::{FromBytes, IntoBytes};

use super::distribution::Filler;
use super::leaf::{LeafState, join};
use super::list_lengths::ListLengths;
use super::list_writer::{Placed, Target};
use super::neighbour_lists::{ListEnds, gather, sort};
use super::part_sort::{sort_by_node, sort_part};
use super::record::{ListEntry, Record};
use super::runs::in_order;
use super::store::{Part, Store};
use crate::Result;
use crate::shared_section::{SharedSection, Stretch};

/// Offsets gathered before they are copied.
const OFFSETS: usize = 512;

/// Sorts and writes leaves.
pub(super) struct LeafWriter<'w, R: Record> {
    target: &'w Target<'w>,
    store: &'w Store<R>,
    order: ListOrder,
    num_nodes: u64,
    /// Where edges go once more, as those of the other direction.
    transposed: Option<Filler<'w, R>>,
    records: Vec<R>,
    spare: Vec<R>,
    ends: Vec<u32>,
    buffer: PageBuffer,
}

impl<'w, R: Record> LeafWriter<'w, R> {
    pub(super) fn new(
        target: &'w Target<'w>,
        store: &'w Store<R>,
        order: ListOrder,
        num_nodes: u64,
        transposed: Option<Filler<'w, R>>,
    ) -> Self {
        let (records, spare, ends) = (Vec::new(), Vec::new(), Vec::new());
        let buffer = PageBuffer::new(BLOCK_LENGTH as usize);
        LeafWriter { target, store, order, num_nodes, transposed, records, spare, ends, buffer }
    }

    pub(super) fn write(&mut self, placed: Placed<R>) -> Result<ListLengths> {
        let Placed { leaf, before, nodes } = placed;
        if leaf.state == LeafState::Uniform {
            let part = join(leaf.streams);
            let lengths = self.write_pieces(before, nodes, &Pieces::Stored(self.store, &part))?;
            self.store.give_back(part.blocks);
            return Ok(lengths);
        }
        let streams = self.load(leaf.streams)?;
        let span = nodes.1 - leaf.lower + 1;
        // A counter for every node pays unless most of them have no edge.
        let dense = span <= self.records.len() as u64;
        if R::IS_PAIR && dense && leaf.state != LeafState::Sorted {
            let by_neighbour = leaf.state == LeafState::ByNeighbour;
            return self.write_pairs(before, leaf.lower, nodes, by_neighbour.then_some(&streams));
        }
        match leaf.state {
            LeafState::Loose => sort_part(&mut self.records, &mut self.spare, self.order),
            LeafState::ByNeighbour => self.sort_streams(&streams),
            LeafState::Sorted | LeafState::Uniform => {}
        }
        let records = std::mem::take(&mut self.records);
        let lengths = self.write_pieces(before, nodes, &Pieces::Memory(&records));
        self.records = records;
        lengths
    }

    /// Brings all records into memory; gives the lengths of the streams.
    fn load(&mut self, streams: Vec<Part<R>>) -> Result<Vec<usize>> {
        let count = streams.iter().map(|part| part.records as usize).sum();
        self.records.clear();
        self.records.reserve_exact(count);
        let mut lengths = Vec::with_capacity(streams.len());
        for part in streams {
            lengths.push(part.records as usize);
            self.store.load(part, &mut self.records)?;
        }
        Ok(lengths)
    }

    fn sort_streams(&mut self, lengths: &[usize]) {
        let LeafWriter { records, spare, .. } = self;
        spare.clear();
        spare.reserve_exact(records.len());
        in_order(&mut split(records, lengths), |run| spare.extend_from_slice(run));
        std::mem::swap(records, spare);
        sort_by_node(records, spare);
    }

    /// Writes the lists of the nodes from `lower` on; `streams` are the lengths of what is sorted by
    /// neighbour.
    fn write_pairs(
        &mut self,
        before: u64,
        lower: u64,
        nodes: (u64, u64),
        streams: Option<&Vec<usize>>,
    ) -> Result<ListLengths> {
        let LeafWriter { target, records, spare, ends, buffer, .. } = self;
        let count = records.len();
        if spare.len() < count {
            spare.reserve_exact(count - spare.len());
            spare.resize(count, R::new_zeroed());
        }
        ends.clear();
        ends.reserve_exact((nodes.1 - lower + 1) as usize);
        ends.resize((nodes.1 - lower + 1) as usize, 0);
        let mut lists = ListEnds { first: lower, ends };
        let spare = words_mut(&mut spare[..count]);
        let neighbours = match streams {
            None => {
                let bits = u64::BITS - self.num_nodes.saturating_sub(1).leading_zeros();
                sort(words_mut(records), spare, &mut lists, bits.min(u32::BITS))
            }
            Some(lengths) => gather(words(records), spare, &mut lists, |take| {
                in_order(&mut split(records, lengths), |run| take(words(run)));
            }),
        };
        let mut lengths = ListLengths::default();
        if nodes.0 <= nodes.1 {
            let mut stretch = target.offsets.stretch(nodes.0 * 8, buffer);
            if nodes.0 == lower {
                lengths.see(before);
                stretch.write_each(&[before], |offset| offset.to_le_bytes())?;
            }
            // The list of the node before a node ends where its own begins.
            let first = nodes.0.saturating_sub(lower + 1) as usize;
            let offsets = &ends[first..(nodes.1 - lower) as usize];
            offsets.iter().for_each(|&end| lengths.see(before + u64::from(end)));
            stretch.write_each(offsets, |&end| (before + u64::from(end)).to_le_bytes())?;
            stretch.finish()?;
        }
        if target.neighbours_are_wide {
            let mut stretch = target.neighbours.stretch(before * 8, buffer);
            stretch.write_each(neighbours, |&one| u64::from(one).to_le_bytes())?;
            stretch.finish()?;
        } else {
            let mut stretch = target.neighbours.stretch(before * 4, buffer);
            stretch.write_each(neighbours, |one| one.to_le_bytes())?;
            stretch.finish()?;
        }
        if let Some(transposed) = &mut self.transposed {
            let mut start = 0;
            for (node, &end) in (lower..).zip(&*ends) {
                for &neighbour in &neighbours[start..end as usize] {
                    let major = u64::from(neighbour);
                    let entry = ListEntry { major, minor: node, row: 0, time: 0, weight: 0.0 };
                    transposed.add(major, R::new(entry))?;
                }
                start = end as usize;
            }
        }
        Ok(lengths)
    }

    fn write_pieces(
        &mut self,
        before: u64,
        nodes: (u64, u64),
        pieces: &Pieces<'_, R>,
    ) -> Result<ListLengths> {
        let LeafWriter { target, buffer, .. } = self;
        let lengths = if nodes.0 <= nodes.1 {
            write_offsets(target.offsets.stretch(nodes.0 * 8, buffer), before, nodes, pieces)?
        } else {
            ListLengths::default()
        };
        if target.neighbours_are_wide {
            pieces.write(&target.neighbours, before, buffer, |one| one.minor().to_le_bytes())?;
        } else {
            // Planned only where every id is below 2^31.
            let narrow = |one: &R| (one.minor() as u32).to_le_bytes();
            pieces.write(&target.neighbours, before, buffer, narrow)?;
        }
        if let Some(section) = &target.edge_ids {
            pieces.write(section, before, buffer, |one| one.row().to_le_bytes())?;
        }
        if let Some(section) = &target.weights {
            pieces.write(section, before, buffer, |one| one.entry().weight.to_le_bytes())?;
        }
        if let Some(section) = &target.times {
            pieces.write(section, before, buffer, |one| one.entry().time.to_le_bytes())?;
        }
        if let Some(transposed) = &mut self.transposed {
            pieces.for_each(|records| {
                let mut records = records.iter();
                records.try_for_each(|one| transposed.add(one.minor(), one.transposed()))
            })?;
        }
        Ok(lengths)
    }
}

/// The streams of some records that lie one behind the other.
fn split<'r, R>(mut records: &'r [R], lengths: &[usize]) -> Vec<&'r [R]> {
    let take = |&length: &usize| {
        let (stream, rest) = records.split_at(length);
        records = rest;
        stream
    };
    lengths.iter().map(take).collect()
}

fn words<R: Record>(pairs: &[R]) -> &[u64] {
    <[u64]>::ref_from_bytes(pairs.as_bytes()).expect("a pair is one u64")
}

fn words_mut<R: Record>(pairs: &mut [R]) -> &mut [u64] {
    <[u64]>::mut_from_bytes(pairs.as_mut_bytes()).expect("a pair is one u64")
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
) -> Result<ListLengths> {
    let mut gathered = [0_u64; OFFSETS];
    let mut filled = 0;
    let mut position = before;
    let mut lengths = ListLengths::default();
    let mut put = |offset: u64| -> Result<()> {
        lengths.see(offset);
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
    stretch.finish()?;
    Ok(lengths)
}
