//! Lists that are not in memory, announced before they are read.
//! Samplers ask [`Lists::is_cold`] and, if so, say which lists and edges come next; from that follow the pages of the
//! file. Which edges those are, and why, is unknown here.

use crate::Lists;
use graphmill_disk::{Mapped, Presence};
use graphmill_format::Section;
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
        let mut ranges: Vec<Range<u64>> = Vec::with_capacity(nodes.len());
        for &node in nodes.iter().filter(|&&node| node < self.num_nodes()) {
            // A list begins at one offset and ends at the next.
            add(&mut ranges, &self.sections.offsets, node..node + 2, u64::MAX);
        }
        announcer.announce(&mut ranges);
    }

    /// Announces that the edges at these positions will be read, best in ascending order.
    pub fn announce_edges(&self, positions: &[u64]) {
        let Some(announcer) = self.announcer else { return };
        let mut ranges: Vec<Range<u64>> = Vec::with_capacity(positions.len());
        let read = [Some(&self.sections.neighbours), self.sections.edge_ids.as_ref()];
        for section in read.into_iter().flatten() {
            for &position in positions {
                add(&mut ranges, section, position..position.saturating_add(1), u64::MAX);
            }
        }
        announcer.announce(&mut ranges);
    }

    /// Announces that all that is stored about the edges of some lists will be read, or looked for in them.
    pub fn announce_contents(&self, lists: &[Range<usize>]) {
        let Some(announcer) = self.announcer else { return };
        let sections = self.sections;
        let optional = [&sections.weights, &sections.cumulative_weights, &sections.edge_times];
        let optional = optional.into_iter().filter_map(Option::as_ref);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for section in std::iter::once(&sections.neighbours).chain(optional) {
            for list in lists.iter().filter(|list| !list.is_empty()) {
                let elements = list.start as u64..list.end as u64;
                add(&mut ranges, section, elements, MOST_OF_A_LIST);
            }
        }
        announcer.announce(&mut ranges);
    }
}

/// Adds the bytes of some elements of a section, at most `most` of them.
#[inline]
fn add(ranges: &mut Vec<Range<u64>>, section: &Section, elements: Range<u64>, most: u64) {
    let width = section.element.width();
    let start = section.offset + elements.start.saturating_mul(width);
    let end = section.offset + elements.end.saturating_mul(width);
    let end = end.min(section.end()).min(start.saturating_add(most));
    match ranges.last_mut() {
        // Most of what is in order lies close to what came before.
        Some(last) if last.start <= start && start <= last.end.saturating_add(64) => {
            last.end = last.end.max(end);
        }
        _ => ranges.push(start..end),
    }
}
