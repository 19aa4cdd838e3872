//! The whole lists of many nodes, one after the other: nothing is chosen and nothing relabelled.
//! Where lists lie is looked up first, so that whoever asks can make room for exactly their ids; both steps go through
//! memory for many lists at a time, and ids are read on all threads. What the lists are for is unknown here.

use crate::rows::{check_room, in_jobs};
use crate::{Result, check_seeds};
use graphmill_disk::room;
use graphmill_store::Lists;
use std::ops::Range;

/// Nodes that are handed to a thread at once, and whose lists are announced together where they come from a disk.
const NODES_PER_JOB: usize = 4096;

/// Where the lists of some nodes lie.
#[derive(Clone, Debug)]
pub struct WholeLists {
    ranges: Vec<Range<usize>>,
    offsets: Vec<i64>,
}

impl WholeLists {
    /// Looks up the lists of some nodes, of which any may come again.
    pub fn of(lists: &Lists<'_>, nodes: &[i64]) -> Result<Self> {
        check_seeds(nodes, lists.num_nodes())?;
        let mut ranges = room::vector(nodes.len())?;
        for nodes in nodes.chunks(NODES_PER_JOB) {
            if lists.is_cold() {
                let mut ahead: Vec<u64> = nodes.iter().map(|&node| node as u64).collect();
                ahead.sort_unstable();
                lists.announce_lists(&ahead);
            }
            lists.ranges(nodes, &mut ranges)?;
        }
        let mut offsets = room::vector(nodes.len() + 1)?;
        let mut end = 0;
        offsets.push(end);
        for range in &ranges {
            end += range.len() as i64;
            offsets.push(end);
        }
        Ok(WholeLists { ranges, offsets })
    }

    /// Where each list begins among the ids of all, and where the last ends.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// Those, without what else was looked up.
    pub fn into_offsets(self) -> Vec<i64> {
        self.offsets
    }

    /// Number of ids in all lists together.
    pub fn num_ids(&self) -> usize {
        self.offsets.last().map_or(0, |&end| end as usize)
    }

    /// Reads the ids, all checked to be nodes, into room for exactly so many.
    pub fn read(&self, lists: &Lists<'_>, mut into: &mut [i64]) -> Result<()> {
        check_room("ids of lists", into.len(), self.num_ids(), 1)?;
        lists.count_edges_read(self.num_ids() as u64);
        let jobs = self.ranges.chunks(NODES_PER_JOB).map(|ranges| {
            let ids = ranges.iter().map(Range::len).sum();
            let (ids, rest) = std::mem::take(&mut into).split_at_mut(ids);
            into = rest;
            (ranges, ids)
        });
        let mut all = room::vector(jobs.len())?;
        all.extend(jobs);
        in_jobs(all.into_iter(), |_, (ranges, ids)| {
            if lists.is_cold() {
                let mut ahead = ranges.to_vec();
                ahead.sort_unstable_by_key(|range| range.start);
                lists.announce_ids(&ahead);
            }
            Ok(lists.read_lists(ranges, ids)?)
        })
    }
}
