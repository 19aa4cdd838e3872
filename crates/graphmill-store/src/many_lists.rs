//! The lists of many nodes in one call.
//! Each step is taken for several nodes before the next one, so that memory is waited for once and not once a list: where a
//! list is said to begin, where its ids are, and the ids themselves. It must not know what lists are wanted for.

use crate::mapped_file::check_index;
use crate::stored_lists::{Neighbours, Offsets, prefetch_value, prefetch_values};
use crate::{Lists, Result};
use graphmill_disk::prefetch;
use graphmill_format::packed::{PackedSequence, Place, READ_TOGETHER};
use std::ops::Range;

/// Lists that are looked up before the first of them is read.
const TOGETHER: usize = 64;
/// How many nodes ahead offsets are announced.
const AHEAD: usize = 32;

impl Lists<'_> {
    /// Adds where the lists of many nodes lie, as [`range`](Self::range) tells it of one.
    pub fn ranges(&self, nodes: &[i64], into: &mut Vec<Range<usize>>) -> Result<()> {
        match &self.offsets {
            Offsets::Plain(offsets) => {
                let announce = |node: u64| prefetch(offsets, node as usize);
                self.look_up(nodes, (), announce, |(), node| self.offsets.pair(node), into)
            }
            Offsets::Packed(offsets) => {
                let announce = |node: u64| prefetch_value(offsets, node);
                let pair = |place: Place, node: u64| offsets.pair_in(place, node);
                let pair = |place, node| pair(place, node).unwrap_or((u64::MAX, 0));
                self.look_up(nodes, Place::NOWHERE, announce, pair, into)
            }
        }
    }

    /// Reads offsets, always some nodes behind their announcement, which tells what is known of their place.
    #[inline(always)]
    fn look_up<P: Copy>(
        &self,
        nodes: &[i64],
        nowhere: P,
        announce: impl Fn(u64) -> P,
        pair: impl Fn(P, u64) -> (u64, u64),
        into: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        let mut announced = [nowhere; AHEAD];
        for (place, &node) in announced.iter_mut().zip(nodes) {
            *place = announce(node as u64);
        }
        for (at, &node) in nodes.iter().enumerate() {
            let place = announced[at % AHEAD];
            if let Some(&next) = nodes.get(at + AHEAD) {
                announced[at % AHEAD] = announce(next as u64);
            }
            check_index(self.path, "node", node as u64, self.num_nodes())?;
            into.push(self.check_range(node as u64, pair(place, node as u64))?);
        }
        Ok(())
    }

    /// Hands over the lists of many nodes, one after the other, each with the place of its node; all ids are checked to be
    /// nodes.
    pub fn decode_many(&self, nodes: &[u64], take: impl FnMut(usize, &[i64])) -> Result<()> {
        match (&self.offsets, &self.neighbours) {
            (Offsets::Packed(offsets), Neighbours::Packed(ids)) => {
                self.decode_packed(offsets, ids, nodes, take)
            }
            _ => self.decode_plain(nodes, take),
        }
    }

    fn decode_plain(&self, nodes: &[u64], mut take: impl FnMut(usize, &[i64])) -> Result<()> {
        let (mut ranges, mut memory) = (Vec::with_capacity(TOGETHER), Vec::new());
        for (first, nodes) in (0..).step_by(TOGETHER).zip(nodes.chunks(TOGETHER)) {
            nodes.iter().for_each(|&node| self.prefetch_offsets(node));
            ranges.clear();
            for &node in nodes {
                let range = self.range(node)?;
                self.prefetch_position(range.start);
                ranges.push(range);
            }
            for (place, range) in (first..).zip(&ranges) {
                let ids = &mut room_in(&mut memory, range)[..range.len()];
                self.decode_into(range.start, ids)?;
                take(place, ids);
            }
        }
        Ok(())
    }

    fn decode_packed(
        &self,
        offsets: &PackedSequence<'_>,
        neighbours: &PackedSequence<'_>,
        nodes: &[u64],
        mut take: impl FnMut(usize, &[i64]),
    ) -> Result<()> {
        let mut places = [Place::NOWHERE; TOGETHER];
        let mut ranges = [const { 0..0 }; TOGETHER];
        let mut memory = Vec::new();
        for (first, nodes) in (0..).step_by(TOGETHER).zip(nodes.chunks(TOGETHER)) {
            nodes.iter().for_each(|&node| prefetch(offsets.bytes(), offsets.entry_at(node)));
            for (place, &node) in places.iter_mut().zip(nodes) {
                check_index(self.path, "node", node, self.num_nodes())?;
                *place = prefetch_value(offsets, node);
            }
            for ((place, range), &node) in places.iter().zip(&mut ranges).zip(nodes) {
                let pair = offsets.pair_in(*place, node).unwrap_or((u64::MAX, 0));
                *range = self.check_range(node, pair)?;
                self.neighbours.prefetch(&[range.start]);
            }
            let ranges = &ranges[..nodes.len()];
            for (place, range) in places.iter_mut().zip(ranges) {
                if !range.is_empty() {
                    *place = prefetch_values(neighbours, range);
                }
            }
            for (number, (place, range)) in (first..).zip(places.iter().zip(ranges)) {
                let ids = room_in(&mut memory, range);
                let (first, count) = (range.start as u64, range.len());
                let bound = neighbours.read_into_from(*place, first, count, ids);
                let ids = &mut ids[..count];
                if bound.is_none() {
                    ids.fill(-1);
                }
                self.check_ids(bound.unwrap_or(u64::MAX), range.start, ids)?;
                take(number, ids);
            }
        }
        Ok(())
    }
}

/// Room for a list and what reading it may write behind it, in memory that only grows.
#[inline(always)]
fn room_in<'m>(memory: &'m mut Vec<i64>, range: &Range<usize>) -> &'m mut [i64] {
    let wanted = range.len() + READ_TOGETHER;
    if memory.len() < wanted {
        memory.resize(wanted, 0);
    }
    memory
}
