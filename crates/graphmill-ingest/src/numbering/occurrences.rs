//! How often nodes occur at the ends of edges.
//! The order by heat counts so, and what sampling will meet depends on the lengths of lists, which are
//! such counts too. It must not know what follows from counts.

use super::tally::{Counter, Raised};
use crate::edge_sort::{ChunkIds, EdgeChunk};

/// The ends of edges at which nodes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Where edges start: how often a node occurs in lists of in-neighbours.
    Source,
    /// Where edges end: how often a node occurs in lists of out-neighbours.
    Destination,
    /// Both: how often a node occurs in the lists of an undirected graph; a self loop counts twice.
    Both,
}

/// What makes a node hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heat {
    /// The ends that count.
    pub(crate) end: End,
    /// Whether edges from a node to itself count for nothing, because they will be left out.
    pub(crate) skip_self_loops: bool,
}

impl Heat {
    /// Counts every edge at this end.
    #[cfg(test)]
    pub(crate) fn at(end: End) -> Self {
        Heat { end, skip_self_loops: false }
    }

    /// Counts the ends of a chunk of edges.
    pub(super) fn count<C: Counter>(self, raised: &Raised<'_, C>, chunk: &EdgeChunk<'_>) {
        match chunk.ids {
            ChunkIds::Narrow(sources, to) => self.count_ids(raised, sources, to),
            ChunkIds::Wide(sources, to) => self.count_ids(raised, sources, to),
        }
    }

    #[inline(always)]
    fn count_ids<C: Counter, T: Copy + PartialEq + Into<u64>>(
        self,
        raised: &Raised<'_, C>,
        sources: &[T],
        destinations: &[T],
    ) {
        let raise = |id: T| raised.raise(id.into(), 1.into());
        let (at_source, at_destination) = (self.end != End::Destination, self.end != End::Source);
        if self.skip_self_loops {
            let edges = sources.iter().zip(destinations).filter(|(one, other)| one != other);
            for (&source, &to) in edges {
                if at_source {
                    raise(source);
                }
                if at_destination {
                    raise(to);
                }
            }
            return;
        }
        if at_source {
            sources.iter().for_each(|&id| raise(id));
        }
        if at_destination {
            destinations.iter().for_each(|&id| raise(id));
        }
    }
}
