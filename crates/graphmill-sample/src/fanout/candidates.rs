//! Which edges of a list may be picked.
//! Between the list of a node and the choice among it stand the time of the tree and the edges that are left out; what
//! passes is numbered from 0, and the picker chooses among the numbers. Randomness is unknown here.

use super::rule::Rule;
use crate::room::make_room;
use crate::{Result, Topology};
use graphmill_disk::Reservation;
use graphmill_format::ListOrder;
use std::ops::Range;

/// The edges of one list that may be picked, in the order of the list; keeps its memory between lists.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    run: Range<usize>,
    /// Positions of the run that are left out, ascending.
    holes: Vec<usize>,
    /// Whether the candidates are `positions` and not the run.
    is_listed: bool,
    positions: Vec<usize>,
}

impl Candidates {
    /// Finds the candidates of the list of `node`; `tree` is the seed that it is expanded for.
    ///
    /// Costs nothing by itself. With times it takes a binary search where lists are ordered by time, else it reads the
    /// list; with edges left out, a binary search for each where lists are ordered by id, else it reads the list.
    pub(super) fn find<T: Topology + ?Sized>(
        &mut self,
        topology: &T,
        rule: &Rule<'_>,
        (tree, node): (u32, u64),
        list: Range<usize>,
        memory: &mut Reservation,
    ) -> Result<()> {
        self.run = list.clone();
        self.holes.clear();
        self.is_listed = false;
        self.positions.clear();
        if let Some((earliest, latest)) = rule.times(tree) {
            let stored = topology.edge_times(list.clone()).unwrap_or_default();
            match rule.seeds.node_times {
                None if topology.order() == ListOrder::Time => {
                    let start = stored.partition_point(|&time| time < earliest);
                    let end = stored.partition_point(|&time| time <= latest).max(start);
                    self.run = list.start + start..list.start + end;
                }
                None => {
                    make_room(&mut self.positions, list.len(), memory)?;
                    let passes = |at: &usize| (earliest..=latest).contains(&stored[*at]);
                    let passing = (0..stored.len()).filter(passes);
                    self.positions.extend(passing.map(|at| list.start + at));
                    self.is_listed = true;
                }
                Some(node_times) => {
                    make_room(&mut self.positions, list.len(), memory)?;
                    for position in list {
                        let time = node_times[topology.neighbour(position)? as usize];
                        if (earliest..=latest).contains(&time) {
                            self.positions.push(position);
                        }
                    }
                    self.is_listed = true;
                }
            }
        }
        match rule.seeds.excluded.map(|excluded| excluded.of(node, rule.follow)) {
            None | Some([]) => Ok(()),
            Some(pairs) => self.leave_out(topology, pairs, memory),
        }
    }

    fn leave_out<T: Topology + ?Sized>(
        &mut self,
        topology: &T,
        pairs: &[(u64, u64)],
        memory: &mut Reservation,
    ) -> Result<()> {
        let left_out = |neighbour| pairs.binary_search_by_key(&neighbour, |pair| pair.1).is_ok();
        if self.is_listed {
            let mut kept = 0;
            for at in 0..self.positions.len() {
                let position = self.positions[at];
                if !left_out(topology.neighbour(position)?) {
                    self.positions[kept] = position;
                    kept += 1;
                }
            }
            self.positions.truncate(kept);
            return Ok(());
        }
        if topology.order() != ListOrder::Id {
            for position in self.run.clone() {
                if left_out(topology.neighbour(position)?) {
                    make_room(&mut self.holes, 1, memory)?;
                    self.holes.push(position);
                }
            }
            return Ok(());
        }
        let mut from = self.run.start;
        for &(_, neighbour) in pairs {
            from = first(from..self.run.end, |at| Ok(topology.neighbour(at)? >= neighbour))?;
            while from < self.run.end && topology.neighbour(from)? == neighbour {
                make_room(&mut self.holes, 1, memory)?;
                self.holes.push(from);
                from += 1;
            }
        }
        Ok(())
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        if self.is_listed { self.positions.len() } else { self.run.len() - self.holes.len() }
    }

    /// The position of a candidate among all stored edges.
    #[inline]
    pub(super) fn position(&self, number: usize) -> usize {
        if self.is_listed {
            return self.positions[number];
        }
        let position = self.run.start + number;
        if self.holes.is_empty() {
            return position;
        }
        // Hole j is before the candidate if fewer than `number + 1` candidates are before the hole.
        let (mut low, mut high) = (0, self.holes.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.holes[middle] - self.run.start - middle <= number {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        position + low
    }

    /// The number of the candidate at a position.
    pub(super) fn number(&self, position: usize) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.position(middle) < position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The candidates as one run of positions, if they are one.
    pub(super) fn run(&self) -> Option<Range<usize>> {
        (!self.is_listed && self.holes.is_empty()).then(|| self.run.clone())
    }

    /// Bytes held now.
    pub(super) fn bytes(&self) -> u64 {
        ((self.holes.capacity() + self.positions.capacity()) * size_of::<usize>()) as u64
    }
}

/// The first number for which something holds that holds for all numbers after it; the end if there is none.
fn first(range: Range<usize>, holds: impl Fn(usize) -> Result<bool>) -> Result<usize> {
    let Range { start: mut low, end: mut high } = range;
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}
