//! The lists of many nodes in one call.
//! Each step is taken for several nodes before the next one, so that memory is waited for once and not once a list: where a
//! list is said to begin, where its ids are, and the ids themselves. It must not know what lists are wanted for.

use crate::mapped_file::check_index;
use crate::stored_lists::{Neighbours, Offsets, prefetch_value, prefetch_values};
use crate::{Lists, Result};
use graphmill_disk::prefetch;
use graphmill_format::packed::{PackedSequence, Place};
use std::ops::Range;

/// Lists that are looked up before the first of them is read.
const TOGETHER: usize = 64;
/// How many nodes ahead offsets are announced; twice as many what tells where they are.
const AHEAD: usize = 32;

impl Lists<'_> {
    /// Adds where the lists of many nodes lie, as [`range`](Self::range) tells it of one.
    pub fn ranges(&self, nodes: &[i64], into: &mut Vec<Range<usize>>) -> Result<()> {
        into.reserve(nodes.len());
        match &self.offsets {
            Offsets::Plain(offsets) => {
                let announce = |node: u64| prefetch(offsets, node as usize);
                let pair = |(), node| self.offsets.pair(node);
                self.look_up(nodes, (), |_| (), announce, pair, into)
            }
            Offsets::Packed(offsets) => {
                let entry = |node| prefetch(offsets.bytes(), offsets.entry_at(node));
                let announce = |node: u64| prefetch_value(offsets, node);
                let pair = |place: Place, node: u64| offsets.pair_in(place, node);
                let pair = |place, node| pair(place, node).unwrap_or((u64::MAX, 0));
                self.look_up(nodes, Place::NOWHERE, entry, announce, pair, into)
            }
        }
    }

    /// Reads offsets, always some nodes behind their announcement, which tells what is known of their place.
    #[inline(always)]
    fn look_up<P: Copy>(
        &self,
        nodes: &[i64],
        nowhere: P,
        entry: impl Fn(u64),
        announce: impl Fn(u64) -> P,
        pair: impl Fn(P, u64) -> (u64, u64),
        into: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        let mut announced = [nowhere; AHEAD];
        nodes.iter().take(2 * AHEAD).for_each(|&node| entry(node as u64));
        for (place, &node) in announced.iter_mut().zip(nodes) {
            *place = announce(node as u64);
        }
        for (at, &node) in nodes.iter().enumerate() {
            let place = announced[at % AHEAD];
            if let Some(&later) = nodes.get(at + 2 * AHEAD) {
                entry(later as u64);
            }
            if let Some(&next) = nodes.get(at + AHEAD) {
                announced[at % AHEAD] = announce(next as u64);
            }
            check_index(self.path, "node", node as u64, self.num_nodes())?;
            into.push(self.check_range(node as u64, pair(place, node as u64))?);
        }
        Ok(())
    }

    /// Reads the ids of lists that [`range`](Self::range) gave, one after the other, and checks that they are nodes. Panics if
    /// they do not fill `into` exactly, like a slice.
    pub fn read_lists(&self, lists: &[Range<usize>], mut into: &mut [i64]) -> Result<()> {
        let mut found = [const { 0..0 }; TOGETHER];
        for lists in lists.chunks(TOGETHER) {
            // Whether a list is empty cannot be foreseen, so nothing is decided: the next one takes its place.
            let mut count = 0;
            for list in lists {
                found[count] = list.clone();
                count += usize::from(!list.is_empty());
            }
            into = match &self.neighbours {
                Neighbours::Packed(ids) => self.read_packed(ids, &found[..count], into)?,
                _ => self.read_plain(&found[..count], into)?,
            };
        }
        assert!(into.is_empty(), "room for {} ids too many", into.len());
        Ok(())
    }

    /// Reads a few lists and gives what is left of the room.
    fn read_plain<'r>(
        &self,
        lists: &[Range<usize>],
        mut into: &'r mut [i64],
    ) -> Result<&'r mut [i64]> {
        lists.iter().for_each(|list| self.prefetch_position(list.start));
        for list in lists {
            let (ids, rest) = into.split_at_mut(list.len());
            self.decode_into(list.start, ids)?;
            into = rest;
        }
        Ok(into)
    }

    fn read_packed<'r>(
        &self,
        neighbours: &PackedSequence<'_>,
        lists: &[Range<usize>],
        mut into: &'r mut [i64],
    ) -> Result<&'r mut [i64]> {
        let mut places = [Place::NOWHERE; TOGETHER];
        for list in lists {
            prefetch(neighbours.bytes(), neighbours.entry_at(list.start as u64));
        }
        for (place, list) in places.iter_mut().zip(lists) {
            *place = prefetch_values(neighbours, list);
        }
        for (&place, list) in places.iter().zip(lists) {
            // What lies behind a list may be written to: the next one comes there.
            let bound = neighbours.read_into_from(place, list.start as u64, list.len(), into);
            let (ids, rest) = into.split_at_mut(list.len());
            if bound.is_none() {
                ids.fill(-1);
            }
            self.check_ids(bound.unwrap_or(u64::MAX), list.start, ids)?;
            into = rest;
        }
        Ok(into)
    }
}
