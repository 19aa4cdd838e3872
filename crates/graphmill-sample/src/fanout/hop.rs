//! One hop: expand the frontier, read what was picked, give local ids to what was found.
//! Lists are looked up first, so that where degrees decide how many edges there will be, the memory of the result is
//! known and asked for beforehand. A large hop is divided among threads up to the reading; local ids are given by one,
//! in the order of the frontier, so that they are the same for any number of threads.

use super::Work;
use super::expansion::{Expansion, Found};
use super::rule::Rule;
use crate::labels::Slot;
use crate::room::{make_exact_room, make_room};
use crate::{Error, Result, Sample, Topology};
use std::iter::repeat_n;
use std::ops::Range;

/// How many edges are given their labels after all of these have been announced.
const LABELLED: usize = 256;
/// Nodes that are worth dividing among threads.
const DIVIDED: usize = 1 << 11;

impl<T: Topology + ?Sized, S: Slot> Work<'_, T, S> {
    /// Adds the edges of a hop and the nodes that they lead to.
    pub(super) fn hop(
        &mut self,
        hop: usize,
        rule: &Rule<'_>,
        frontier: Range<usize>,
    ) -> Result<()> {
        let edges = self.look_up(hop, rule, frontier.clone())?;
        if let Some(edges) = edges {
            self.make_room(hop, edges)?;
            self.make_labels(edges)?;
        }
        if self.options.threads > 1 && frontier.len() >= DIVIDED {
            self.expand_divided(rule, frontier)
        } else {
            self.expand(rule, frontier)
        }
    }

    /// Looks up the lists of some nodes; returns how many edges will be picked at most, if that is known.
    pub(super) fn look_up(
        &mut self,
        hop: usize,
        rule: &Rule<'_>,
        frontier: Range<usize>,
    ) -> Result<Option<usize>> {
        let lists = &mut self.scratch.lists;
        lists.clear();
        make_exact_room(lists, frontier.len(), &mut self.scratch.memory)?;
        let nodes = &self.sample.nodes[frontier];
        if self.topology.is_cold() {
            lists.resize(nodes.len(), 0..0);
            self.scratch.sweep.run(
                nodes.iter().map(|&node| node as u64),
                &mut self.scratch.memory,
                |nodes| self.topology.announce_lists(nodes),
                |node, place| {
                    lists[place] = self.topology.list(node)?;
                    Ok(())
                },
            )?;
        } else {
            self.topology.lists(nodes, lists)?;
        }
        let mut edges = 0_usize;
        for list in lists.iter() {
            let Some(more) = rule.most(list.len()) else { return Ok(None) };
            edges = edges.checked_add(more).ok_or(Error::TooLarge { hop, edges: u64::MAX })?;
        }
        Ok(Some(edges))
    }

    fn expand(&mut self, rule: &Rule<'_>, frontier: Range<usize>) -> Result<()> {
        self.scratch.pickers(1)?;
        let mut counts = Vec::new();
        let mut place = 0;
        while place < frontier.len() {
            counts.clear();
            let picker = &mut self.scratch.pickers[0];
            let expansion = Expansion {
                topology: self.topology,
                rule,
                nodes: &self.sample.nodes[frontier.clone()],
                trees: trees(&self.sample.batch, frontier.clone()),
                lists: &self.scratch.lists,
            };
            let next = expansion.pick_block(place, picker, &mut counts)?;
            let (row, edge_ids) = (&mut self.sample.row, &mut self.sample.edge_ids);
            make_room(row, picker.positions.len(), self.memory)?;
            make_room(edge_ids, picker.positions.len(), self.memory)?;
            picker.read(self.topology, row, edge_ids)?;
            self.label(frontier.start + place, &counts)?;
            place = next;
        }
        Ok(())
    }

    fn expand_divided(&mut self, rule: &Rule<'_>, frontier: Range<usize>) -> Result<()> {
        let threads = self.options.threads;
        let piece = frontier.len().div_ceil(2 * threads);
        let pieces = frontier.len().div_ceil(piece);
        self.scratch.pickers(pieces)?;
        let trees = trees(&self.sample.batch, frontier.clone());
        let part = |number: usize| Expansion {
            topology: self.topology,
            rule,
            nodes: slice(&self.sample.nodes[frontier.clone()], number, piece),
            trees: slice(trees, number, piece),
            lists: slice(&self.scratch.lists, number, piece),
        };
        let mut found: Vec<Result<Found>> = Vec::new();
        found.resize_with(pieces, || Ok(Found::default()));
        graphmill_disk::with_threads(Some(threads))?.scope(|scope| {
            let jobs = found.iter_mut().zip(&mut self.scratch.pickers).enumerate();
            for (number, (found, picker)) in jobs {
                let expansion = part(number);
                scope.spawn(move |_| *found = expansion.run(picker));
            }
        });
        let mut first = frontier.start;
        for (number, found) in found.into_iter().enumerate() {
            let found = found?;
            let edges = found.neighbours.len();
            make_room(&mut self.sample.row, edges, self.memory)?;
            make_room(&mut self.sample.edge_ids, edges, self.memory)?;
            self.sample.row.extend_from_slice(&found.neighbours);
            self.sample.edge_ids.extend_from_slice(&found.edge_ids);
            self.label(first, &found.counts)?;
            first += found.counts.len();
            drop(found);
            self.scratch.pickers[number].settle();
        }
        Ok(())
    }

    /// Turns the newest rows, which are nodes, into local ids, and adds the columns; node `first` got the first of
    /// `counts` edges, and so on.
    fn label(&mut self, first: usize, counts: &[usize]) -> Result<()> {
        let start = self.sample.col.len();
        let edges = self.sample.row.len() - start;
        make_room(&mut self.sample.col, edges, self.memory)?;
        for (expanded, &count) in (first..).zip(counts) {
            self.sample.col.extend(repeat_n(expanded as i64, count));
        }
        let has_trees = self.has_trees();
        let mut from = start;
        while from < start + edges {
            let some = from..(from + LABELLED).min(start + edges);
            from = some.end;
            make_room(&mut self.sample.nodes, some.len(), self.memory)?;
            if has_trees {
                make_room(&mut self.sample.batch, some.len(), self.memory)?;
            }
            self.make_labels(some.len())?;
            let Sample { nodes, batch, row, col, .. } = &mut self.sample;
            let (row, col) = (&mut row[some.clone()], &col[some]);
            if has_trees {
                for (&node, &expanded) in row.iter().zip(col) {
                    self.labels.prefetch(batch[expanded as usize] as u32, node as u64);
                }
                for (found, &expanded) in row.iter_mut().zip(col) {
                    let (tree, next) = (batch[expanded as usize], nodes.len() as u32);
                    let label = self.labels.label(tree as u32, *found as u64, next);
                    if label == next {
                        nodes.push(*found);
                        batch.push(tree);
                    }
                    *found = label.into();
                }
            } else {
                row.iter().for_each(|&node| self.labels.prefetch(0, node as u64));
                for found in row {
                    let next = nodes.len() as u32;
                    let label = self.labels.label(0, *found as u64, next);
                    if label == next {
                        nodes.push(*found);
                    }
                    *found = label.into();
                }
            }
        }
        Ok(())
    }

    /// Makes room for the labels of what `edges` more edges lead to.
    fn make_labels(&mut self, edges: usize) -> Result<()> {
        let Sample { nodes, batch, .. } = &self.sample;
        let entries = (nodes.len() as u64).saturating_add(edges as u64);
        // In one tree no node has two labels.
        let most = if batch.is_empty() { self.topology.num_nodes() } else { u64::MAX };
        self.labels.reserve(entries.min(most), nodes, batch, &mut self.scratch.memory)
    }

    fn make_room(&mut self, hop: usize, edges: usize) -> Result<()> {
        let Sample { row, col, edge_ids, .. } = &mut self.sample;
        for ids in [row, col, edge_ids] {
            make_exact_room(ids, edges, self.memory).map_err(|error| match error {
                Error::NoMemory { .. } => Error::TooLarge { hop, edges: edges as u64 },
                error => error,
            })?;
        }
        Ok(())
    }
}

/// The trees of some nodes, if there is more than one.
pub(super) fn trees(batch: &[i64], nodes: Range<usize>) -> &[i64] {
    if batch.is_empty() { batch } else { &batch[nodes] }
}

/// Piece `number` of a slice that is cut into pieces of one length; empty if the slice is.
fn slice<V>(whole: &[V], number: usize, length: usize) -> &[V] {
    whole.chunks(length).nth(number).unwrap_or_default()
}
