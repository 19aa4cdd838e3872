//! The search for one pair, and for many at once.
//! A seeker draws, waits for the list of one end, searches it for the other, and draws again if it is there. Seekers take
//! turns so that they wait together.

use super::{FirstNodes, NegativeOptions};
use crate::announcements::Announcements;
use crate::membership::{Search, is_at, scan};
use crate::random::Stream;
use crate::{Error, Result, Topology};
use graphmill_format::{Direction, ListOrder};
use std::ops::Range;

/// Pairs that one thread has under way at once.
const IN_FLIGHT: usize = 32;
/// The same when lists are on a disk, which fetches hundreds of pages at a time.
const IN_FLIGHT_COLD: usize = 4096;

/// After so many pairs that are edges a graph counts as complete. One with a thousandth of all pairs missing fails once
/// in 10^28 pairs.
const MOST_TRIES: u32 = 1 << 16;

/// What all seekers of a call have in common.
pub(super) struct Seeking<'a, T: ?Sized> {
    topology: &'a T,
    follow: Direction,
    among: Option<FirstNodes<'a>>,
    weighted: bool,
    strict: bool,
    is_sorted: bool,
    num_nodes: u64,
    num_edges: usize,
}

/// What a seeker waits for.
enum Stage {
    /// The edge whose destination it takes.
    Edge(usize),
    /// The list of one end.
    List,
    /// The next look for the other end in it.
    Look(Search, Range<usize>),
}

struct Seeker {
    row: usize,
    stream: Stream,
    given: Option<u64>,
    source: u64,
    destination: u64,
    tries: u32,
    stage: Stage,
}

impl<'a, T: Topology + ?Sized> Seeking<'a, T> {
    pub(super) fn new(
        topology: &'a T,
        follow: Direction,
        options: &NegativeOptions<'a>,
    ) -> Result<Self> {
        if follow == Direction::Both {
            return Err(Error::Direction { found: follow });
        }
        let num_nodes = topology.num_nodes();
        let Some(last) = num_nodes.checked_sub(1) else {
            return Err(Error::NotStored { what: "nodes", remedy: "ask for no pairs of it" });
        };
        let num_edges = topology.list(last)?.end;
        if options.weighted && num_edges == 0 {
            return Err(Error::NotStored { what: "edges", remedy: "draw with weighted=False" });
        }
        let NegativeOptions { weighted, strict, among, .. } = *options;
        let is_sorted = topology.order() == ListOrder::Id;
        Ok(Seeking { topology, follow, among, weighted, strict, is_sorted, num_nodes, num_edges })
    }

    /// Finds the pairs of rows `0..rows`; `begin` gives the stream of a row and its source, if that is not to be drawn.
    ///
    /// `first` is the number of row 0 in the call.
    pub(super) fn run(
        &self,
        first: usize,
        rows: usize,
        begin: impl Fn(usize) -> (Stream, Option<u64>),
        mut found: impl FnMut(usize, u64, u64),
    ) -> Result<()> {
        let is_cold = self.topology.is_cold();
        let in_flight = if is_cold { IN_FLIGHT_COLD } else { IN_FLIGHT };
        let mut seekers: Vec<Seeker> = Vec::with_capacity(in_flight.min(rows));
        let mut announcements = Announcements::default();
        let mut next = 0;
        loop {
            while seekers.len() < in_flight && next < rows {
                let (stream, given) = begin(next);
                let (row, stage) = (next, Stage::List);
                let (source, destination, tries) = (0, 0, 0);
                let mut seeker = Seeker { row, stream, given, source, destination, tries, stage };
                next += 1;
                if self.draw(&mut seeker, first, &mut announcements)? {
                    found(seeker.row, seeker.source, seeker.destination);
                } else {
                    seekers.push(seeker);
                }
            }
            if seekers.is_empty() {
                return Ok(());
            }
            match is_cold {
                true => announcements.issue_to_disk(self.topology),
                false => announcements.issue(self.topology),
            }
            let mut at = 0;
            while at < seekers.len() {
                if self.turn(&mut seekers[at], first, &mut announcements)? {
                    let Seeker { row, source, destination, .. } = seekers.swap_remove(at);
                    found(row, source, destination);
                } else {
                    at += 1;
                }
            }
        }
    }

    /// Draws a pair; whether it may be kept without another look.
    fn draw(
        &self,
        seeker: &mut Seeker,
        first: usize,
        announcements: &mut Announcements,
    ) -> Result<bool> {
        loop {
            if seeker.tries == MOST_TRIES {
                return Err(Error::NoNegatives { row: first + seeker.row, tries: MOST_TRIES });
            }
            seeker.tries += 1;
            let (stream, row) = (&mut seeker.stream, first + seeker.row);
            let mut drawn = || self.drawn_node(stream, row);
            seeker.source = seeker.given.unwrap_or_else(&mut drawn);
            seeker.destination = if self.weighted {
                let position = seeker.stream.below(self.num_edges as u64) as usize;
                if self.follow == Direction::Out {
                    announcements.edge(position);
                    seeker.stage = Stage::Edge(position);
                    return Ok(false);
                }
                self.owner(position)?
            } else {
                drawn()
            };
            if let Some(is_found) = self.drawn(seeker, announcements) {
                return Ok(is_found);
            }
        }
    }

    /// One of the nodes that the pair of a row of the call may have.
    #[inline]
    fn drawn_node(&self, stream: &mut Stream, row: usize) -> u64 {
        match &self.among {
            None => stream.below(self.num_nodes),
            Some(first) => first.order[stream.below(first.counts[row] as u64) as usize] as u64,
        }
    }

    /// Both ends are there; whether the pair may be kept without another look, None if it must not be kept.
    fn drawn(&self, seeker: &mut Seeker, announcements: &mut Announcements) -> Option<bool> {
        if !self.strict {
            return Some(true);
        }
        if seeker.source == seeker.destination {
            return None;
        }
        announcements.list(self.ends(seeker).0);
        seeker.stage = Stage::List;
        Some(false)
    }

    /// The end whose list is searched, and the one it is searched for.
    fn ends(&self, seeker: &Seeker) -> (u64, u64) {
        match self.follow {
            Direction::In => (seeker.destination, seeker.source),
            _ => (seeker.source, seeker.destination),
        }
    }

    /// Goes on with what was announced; whether the pair is found.
    fn turn(
        &self,
        seeker: &mut Seeker,
        first: usize,
        announcements: &mut Announcements,
    ) -> Result<bool> {
        let (owner, other) = self.ends(seeker);
        let is_edge = match &mut seeker.stage {
            Stage::Edge(position) => {
                seeker.destination = self.topology.neighbour(*position)?;
                return match self.drawn(seeker, announcements) {
                    Some(is_found) => Ok(is_found),
                    None => self.draw(seeker, first, announcements),
                };
            }
            Stage::List => {
                let list = self.topology.list(owner)?;
                if self.is_sorted {
                    let search = Search::new(&list, other);
                    search.announce(announcements);
                    seeker.stage = Stage::Look(search, list);
                    return Ok(false);
                }
                let opposite = match self.topology.is_symmetric() {
                    true => Some(self.topology.list(other)?).filter(|it| it.len() < list.len()),
                    false => None,
                };
                match opposite {
                    Some(opposite) => scan(self.topology, opposite, owner)?,
                    None => scan(self.topology, list, other)?,
                }
            }
            Stage::Look(search, list) => match search.look(self.topology)? {
                Some(place) => is_at(self.topology, list, place, other)?,
                None => {
                    search.announce(announcements);
                    return Ok(false);
                }
            },
        };
        if is_edge { self.draw(seeker, first, announcements) } else { Ok(true) }
    }

    /// The node in whose list a position is.
    fn owner(&self, position: usize) -> Result<u64> {
        let (mut low, mut high) = (0, self.num_nodes - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.topology.list(middle)?.end <= position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
