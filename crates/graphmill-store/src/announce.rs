//! Lists that are not in memory, announced before they are read.
//! Samplers ask [`Lists::is_cold`] and, if so, say which lists and edges come next; from that follow the pages of the
//! file. Which edges those are, and why, is unknown here.

use crate::Lists;
use crate::stored_lists::{Neighbours, Offsets};
use graphmill_disk::{Mapped, Presence};
use graphmill_format::Section;
use graphmill_format::packed::{BLOCK, ENTRY_LENGTH, PackedSequence};
use std::ops::Range;
use std::sync::Arc;

/// So much of one list is announced at once, in each section. A list that is longer is a hub's, and resident after its
/// first use.
const MOST_OF_A_LIST: u64 = 64 << 10;

/// When the pages of a topology are announced before they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Announce {
    /// When they are not in memory, as far as a few looks and page faults tell.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never: each page that is missing is waited for by itself.
    Never,
}

/// How one handle announces, and what it knows about its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announcing {
    when: Announce,
    presence: Arc<Presence>,
}

impl Announcing {
    pub(crate) fn new(when: Announce) -> Self {
        Announcing { when, presence: Arc::default() }
    }
}

/// Where announcements of lists go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announcer<'a> {
    pub(crate) mapped: &'a Mapped,
    pub(crate) announcing: &'a Announcing,
}

impl Announcer<'_> {
    fn announce(&self, ranges: &mut [Range<u64>]) {
        if self.announcing.when == Announce::Auto {
            let offset = |place: usize| ranges[place].start;
            self.announcing.presence.look(self.mapped, ranges.len(), offset);
        }
        self.mapped.announce(ranges);
    }
}

impl Lists<'_> {
    /// Whether the file is not in memory, so that what is read next should be announced. Takes less than a microsecond.
    #[inline]
    pub fn is_cold(&self) -> bool {
        self.announcer.is_some_and(|announcer| match announcer.announcing.when {
            Announce::Auto => announcer.announcing.presence.is_cold(),
            Announce::Always => true,
            Announce::Never => false,
        })
    }

    /// Announces that [`range`](Self::range) will be asked for these nodes; any numbers may be given, best in ascending
    /// order.
    pub fn announce_lists(&self, nodes: &[u64]) {
        let Some(announcer) = self.announcer else { return };
        let section = &self.sections.offsets;
        // A list begins at one offset and ends at the next.
        let nodes = nodes.iter().filter(|&&node| node < self.num_nodes());
        let offsets = nodes.map(|&node| node..node + 2);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        match &self.offsets {
            Offsets::Plain(_) => {
                offsets.for_each(|range| add(&mut ranges, section, range, u64::MAX))
            }
            Offsets::Packed(sequence) => {
                announce_entries(announcer, section, sequence, offsets.clone());
                offsets.for_each(|range| add_blocks(&mut ranges, section, sequence, range));
            }
        }
        announcer.announce(&mut ranges);
    }

    /// Announces that the edges at these positions will be read, best in ascending order.
    pub fn announce_edges(&self, positions: &[u64]) {
        let Some(announcer) = self.announcer else { return };
        let mut ranges: Vec<Range<u64>> = Vec::with_capacity(positions.len());
        let edges = positions.iter().map(|&position| position..position.saturating_add(1));
        self.add_neighbours(announcer, &mut ranges, edges.clone());
        if let Some(section) = &self.sections.edge_ids {
            edges.for_each(|range| add(&mut ranges, section, range, u64::MAX));
        }
        announcer.announce(&mut ranges);
    }

    /// Announces that all that is stored about the edges of some lists will be read, or looked for in them.
    pub fn announce_contents(&self, lists: &[Range<usize>]) {
        let sections = self.sections;
        let optional = [&sections.weights, &sections.cumulative_weights, &sections.edge_times];
        self.announce_with(lists, optional.into_iter().filter_map(Option::as_ref));
    }

    /// Announces that the ids in some lists will be read, and nothing else that is stored about their edges.
    pub fn announce_ids(&self, lists: &[Range<usize>]) {
        self.announce_with(lists, []);
    }

    fn announce_with<'s>(
        &self,
        lists: &[Range<usize>],
        optional: impl IntoIterator<Item = &'s Section>,
    ) {
        let Some(announcer) = self.announcer else { return };
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let lists = lists.iter().filter(|list| !list.is_empty());
        let lists = lists.map(|list| list.start as u64..list.end as u64);
        self.add_neighbours(announcer, &mut ranges, lists.clone());
        for section in optional {
            lists.clone().for_each(|list| add(&mut ranges, section, list, MOST_OF_A_LIST));
        }
        announcer.announce(&mut ranges);
    }

    /// Adds the bytes of the neighbours at some positions, not too many of each range.
    fn add_neighbours(
        &self,
        announcer: Announcer<'_>,
        ranges: &mut Vec<Range<u64>>,
        positions: impl Iterator<Item = Range<u64>> + Clone,
    ) {
        let section = &self.sections.neighbours;
        let Neighbours::Packed(sequence) = &self.neighbours else {
            return positions.for_each(|range| add(ranges, section, range, MOST_OF_A_LIST));
        };
        announce_entries(announcer, section, sequence, positions.clone());
        for range in positions {
            // No id takes more bytes than eight.
            let end = range.end.min(range.start.saturating_add(MOST_OF_A_LIST / 8));
            add_blocks(ranges, section, sequence, range.start..end);
        }
    }
}

/// Announces the part of a directory that tells where some values are. It is a fifteenth of the sequence or so, and after the
/// first calls all there.
fn announce_entries(
    announcer: Announcer<'_>,
    section: &Section,
    sequence: &PackedSequence<'_>,
    values: impl Iterator<Item = Range<u64>>,
) {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for range in values.filter(|range| range.end <= sequence.len()) {
        let start = sequence.entry_at(range.start) as u64;
        let end = sequence.entry_at(range.end.saturating_sub(1)) as u64 + ENTRY_LENGTH;
        join(&mut ranges, section.offset + start..section.offset + end);
    }
    announcer.announce(&mut ranges);
}

/// Adds the bytes of the blocks that hold some values.
fn add_blocks(
    ranges: &mut Vec<Range<u64>>,
    section: &Section,
    sequence: &PackedSequence<'_>,
    values: Range<u64>,
) {
    if values.is_empty() || values.end > sequence.len() {
        return;
    }
    let first = sequence.block_bytes(values.start / BLOCK);
    let last = sequence.block_bytes((values.end - 1) / BLOCK);
    if let (Some(first), Some(last)) = (first, last) {
        let (start, end) = (first.start as u64, last.end as u64);
        join(ranges, section.offset + start..section.offset + end);
    }
}

/// Adds the bytes of some elements of a section, at most `most` of them.
#[inline]
fn add(ranges: &mut Vec<Range<u64>>, section: &Section, elements: Range<u64>, most: u64) {
    let width = section.element.width();
    let start = section.offset + elements.start.saturating_mul(width);
    let end = section.offset + elements.end.saturating_mul(width);
    let end = end.min(section.end()).min(start.saturating_add(most));
    join(ranges, start..end);
}

/// Adds some bytes to those before, or to the last of them: most of what is in order lies close to what came before.
#[inline]
fn join(ranges: &mut Vec<Range<u64>>, bytes: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.start <= bytes.start && bytes.start <= last.end.saturating_add(64) => {
            last.end = last.end.max(bytes.end);
        }
        _ => ranges.push(bytes),
    }
}
