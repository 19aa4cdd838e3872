//! The edges of a sample in both directions.
//! Message passing on an undirected graph wants every edge both ways, but hops follow it one way; here the sampled
//! edges get their reverses, and each pair of nodes is kept once. Whether a reverse is stored is not asked.

use super::Work;
use crate::labels::Slot;
use crate::room::make_exact_room;
use crate::{Result, Sample, Topology};

impl<T: Topology + ?Sized, S: Slot> Work<'_, T, S> {
    /// Adds the reverse of every edge, under the same name, and orders all by destination and then source. Of equal pairs
    /// the first stays, sampled edges before reverses, so that parallel edges become one.
    pub(super) fn reverse_too(&mut self) -> Result<()> {
        let Sample { row, col, edge_ids, edges_per_hop, .. } = &mut self.sample;
        let count = row.len();
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        make_exact_room(&mut pairs, 2 * count, self.memory)?;
        // Local ids are below 2^32.
        let pair = |destination: i64, source: i64| (destination as u64) << 32 | source as u64;
        pairs.extend((0..count).map(|edge| (pair(col[edge], row[edge]), edge as u64)));
        let reverses = (0..count).map(|edge| (pair(row[edge], col[edge]), (count + edge) as u64));
        pairs.extend(reverses);
        pairs.sort_unstable();
        pairs.dedup_by_key(|(pair, _)| *pair);
        let mut names = Vec::new();
        make_exact_room(&mut names, pairs.len(), self.memory)?;
        names.extend(pairs.iter().map(|&(_, place)| edge_ids[place as usize % count]));
        for list in [&mut *row, &mut *col] {
            list.clear();
            make_exact_room(list, pairs.len(), self.memory)?;
        }
        row.extend(pairs.iter().map(|&(pair, _)| i64::from(pair as u32)));
        col.extend(pairs.iter().map(|&(pair, _)| (pair >> 32) as i64));
        *edge_ids = names;
        edges_per_hop.clear();
        edges_per_hop.push(pairs.len() as u64);
        Ok(())
    }
}
