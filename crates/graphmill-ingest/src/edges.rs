//! Edges as the writers want them: in any chunk, as often as needed.
//! Lists are built in several passes over the edges because they need not fit into memory, so a
//! source answers "edges 1000 to 2000" again and again with the same edges. Generators and arrays
//! in memory cannot fail at it, files can; the writers see both as [`EdgeStream`]s.

use std::fmt::Display;

use graphmill_format::content::{NodeId, first_bad_id};

use crate::generate::EdgeSource;
use crate::{Error, Result};

/// Edges that can be read again, in any chunk order, any number of times, and that may fail to be.
///
/// Every [`EdgeSource`] is one.
pub trait EdgeStream: Send + Sync {
    /// Number of nodes; every id read is smaller.
    fn node_count(&self) -> u64;
    /// Number of edges in the stream.
    fn edge_count(&self) -> u64;
    /// Reads edges `first .. first + sources.len()`; both slices have equal length.
    fn read(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) -> Result<()>;
}

impl<S: EdgeSource + ?Sized> EdgeStream for S {
    fn node_count(&self) -> u64 {
        self.num_nodes()
    }

    fn edge_count(&self) -> u64 {
        self.num_edges()
    }

    fn read(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) -> Result<()> {
        self.fill(first, sources, destinations);
        Ok(())
    }
}

/// Any stream behind a reference, so that what takes trait objects can take `dyn` sources too.
pub(crate) struct Borrowed<'a, S: ?Sized>(pub(crate) &'a S);

impl<S: EdgeStream + ?Sized> EdgeStream for Borrowed<'_, S> {
    fn node_count(&self) -> u64 {
        self.0.node_count()
    }

    fn edge_count(&self) -> u64 {
        self.0.edge_count()
    }

    fn read(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) -> Result<()> {
        self.0.read(first, sources, destinations)
    }
}

/// One value per edge of a stream, read like the edges themselves.
pub trait EdgeValues<T>: Send + Sync {
    /// Number of values.
    fn count(&self) -> u64;
    /// Reads values `first .. first + values.len()`.
    fn read(&self, first: u64, values: &mut [T]) -> Result<()>;
}

/// Values of edges, wherever they are.
#[derive(Clone, Copy)]
pub(crate) enum EdgeColumn<'a, T> {
    Memory(&'a [T]),
    Stream(&'a dyn EdgeValues<T>),
}

impl<T: Copy> EdgeColumn<'_, T> {
    pub(crate) fn count(&self) -> u64 {
        match self {
            EdgeColumn::Memory(values) => values.len() as u64,
            EdgeColumn::Stream(values) => values.count(),
        }
    }

    pub(crate) fn read(&self, first: u64, into: &mut [T]) -> Result<()> {
        match self {
            EdgeColumn::Memory(values) => {
                let first = first as usize;
                into.copy_from_slice(&values[first..first + into.len()]);
                Ok(())
            }
            EdgeColumn::Stream(values) => values.read(first, into),
        }
    }
}

/// Edges with what belongs to each; rows are positions in the stream where there is no column of them.
#[derive(Clone, Copy)]
pub(crate) struct EdgeRecords<'a> {
    pub(crate) edges: &'a dyn EdgeStream,
    pub(crate) rows: Option<EdgeColumn<'a, i64>>,
    pub(crate) weights: Option<EdgeColumn<'a, f32>>,
    pub(crate) times: Option<EdgeColumn<'a, i64>>,
}

/// Edges in two arrays of NumPy or torch memory, checked once.
#[derive(Clone, Copy, Debug)]
pub struct MemoryEdges<'a, T> {
    sources: &'a [T],
    destinations: &'a [T],
    num_nodes: u64,
}

impl<'a, T: NodeId + Display> MemoryEdges<'a, T> {
    /// Edges from `sources[i]` to `destinations[i]`, `i32` or `i64`.
    ///
    /// Without `num_nodes` there are as many nodes as the largest id demands.
    pub fn new(
        sources: &'a [T],
        destinations: &'a [T],
        num_nodes: Option<u64>,
    ) -> Result<MemoryEdges<'a, T>> {
        if sources.len() != destinations.len() {
            let found = format!("{} destinations", destinations.len());
            let expected = format!("{}, one for each source", sources.len());
            return Err(Error::source("edges", found, expected, "give arrays of equal length"));
        }
        // The bits of a negative i32 are a large number, but no larger than 2^32.
        let most = if size_of::<T>() == 4 { 1 << 31 } else { i64::MAX as u64 };
        let limit = num_nodes.map_or(most, |nodes| nodes.min(most));
        for (end, ids) in [("source", sources), ("destination", destinations)] {
            if let Some(at) = first_bad_id(ids, limit) {
                return Err(bad_id(at as u64, end, ids[at], num_nodes));
            }
        }
        let needed = || {
            let ids = sources.iter().chain(destinations);
            ids.map(|id| id.bits()).max().map_or(0, |largest| largest + 1)
        };
        Ok(MemoryEdges { sources, destinations, num_nodes: num_nodes.unwrap_or_else(needed) })
    }
}

impl<T: NodeId + Send + Sync> EdgeSource for MemoryEdges<'_, T> {
    fn num_nodes(&self) -> u64 {
        self.num_nodes
    }

    fn num_edges(&self) -> u64 {
        self.sources.len() as u64
    }

    fn fill(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) {
        let first = first as usize;
        for (ids, into) in [(self.sources, sources), (self.destinations, destinations)] {
            for (id, into) in ids[first..].iter().zip(into) {
                *into = id.bits();
            }
        }
    }
}

/// An id that is not one of the nodes.
pub(crate) fn bad_id(edge: u64, end: &str, found: impl Display, num_nodes: Option<u64>) -> Error {
    let expected = match num_nodes {
        Some(0) => "no edge at all in a graph of 0 nodes".to_owned(),
        Some(nodes) => format!("an id from 0 to {}", nodes - 1),
        None => "an id from 0 to 2^63 - 2".to_owned(),
    };
    let remedy = "correct the id or raise the number of nodes";
    Error::source(format!("edge {edge}, {end}"), found, expected, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_outside_the_graph_are_named_with_their_place() {
        let text = |result: Result<MemoryEdges<'_, i64>>| result.unwrap_err().to_string();
        let negative = text(MemoryEdges::new(&[0, 1], &[1, -3], None));
        assert!(negative.contains("edge 1, destination: found -3"), "{negative}");
        let large = text(MemoryEdges::new(&[0, 5], &[1, 0], Some(5)));
        assert!(large.contains("edge 1, source: found 5, expected an id from 0 to 4"), "{large}");
        assert!(text(MemoryEdges::new(&[0], &[], None)).contains("0 destinations"));
        assert!(MemoryEdges::new(&[i64::MAX], &[0], None).is_err());
        for num_nodes in [None, Some(1 << 40)] {
            assert!(MemoryEdges::new(&[0_i32], &[-1], num_nodes).is_err());
        }
    }

    #[test]
    fn the_largest_id_decides_how_many_nodes_there_are() {
        assert_eq!(MemoryEdges::new(&[0_i32, 7], &[2, 3], None).unwrap().num_nodes(), 8);
        assert_eq!(MemoryEdges::<i32>::new(&[], &[], None).unwrap().num_nodes(), 0);
        assert_eq!(MemoryEdges::new(&[0_i32], &[2], Some(9)).unwrap().num_nodes(), 9);
    }
}
