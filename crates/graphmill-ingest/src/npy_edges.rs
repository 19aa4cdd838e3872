//! An integer `.npy` as a source of edges.
//! Two rows of E ids or E rows of two ids, of any integer type, read in chunks as often as asked.
//! It must not know what is written from it.

use graphmill_format::ElementType;

use crate::edges::{EdgeStream, bad_id};
use crate::npy::NpyFile;
use crate::stored::read_integers;
use crate::{Error, Result};

/// Ids looked at together when the largest is sought.
const IDS: u64 = 1 << 16;

/// Edges in a `.npy` file.
#[derive(Clone, Debug)]
pub(crate) struct NpyEdges {
    npy: NpyFile,
    num_nodes: u64,
    num_edges: u64,
    /// Whether the file holds all sources and then all destinations, rather than pairs.
    by_end: bool,
}

impl NpyEdges {
    /// Takes the array as edges; without `num_nodes` one pass looks for the largest id.
    pub(crate) fn new(npy: NpyFile, num_nodes: Option<u64>) -> Result<Self> {
        let path = npy.file.path();
        let header = &npy.header;
        let (num_edges, by_end) = match header.shape[..] {
            [2, edges] => (edges, true),
            [edges, 2] => (edges, false),
            _ => {
                let found = format!("an array of shape {:?}", header.shape);
                let remedy = "give edges as edge_index, or name a .gd target for a table";
                let error = Error::source("shape", found, "[2, E] or [E, 2]", remedy);
                return Err(error.in_file(path));
            }
        };
        if !matches!(
            header.element,
            ElementType::I8
                | ElementType::I16
                | ElementType::I32
                | ElementType::I64
                | ElementType::U8
        ) {
            let remedy = "save the ids as int64, or name a .gd target for a table";
            let found = header.element.name();
            return Err(Error::source("type", found, "integers", remedy).in_file(path));
        }
        let mut edges = NpyEdges { num_nodes: 0, num_edges, by_end, npy };
        edges.num_nodes = match num_nodes {
            Some(nodes) => nodes,
            None => edges.largest_id()?.map_or(0, |largest| largest + 1),
        };
        Ok(edges)
    }

    fn largest_id(&self) -> Result<Option<u64>> {
        let mut largest = None;
        let (mut sources, mut destinations) = (Vec::new(), Vec::new());
        let mut first = 0;
        while first < self.num_edges {
            let length = (self.num_edges - first).min(IDS) as usize;
            sources.resize(length, 0);
            destinations.resize(length, 0);
            self.read(first, &mut sources, &mut destinations)?;
            for (end, ids) in [("source", &sources), ("destination", &destinations)] {
                largest = largest.max(ids.iter().copied().max());
                // Negative ids were sign-extended; the largest id of a graph is 2^63 - 2.
                if let Some(at) = ids.iter().position(|&id| id >= i64::MAX as u64) {
                    let error = bad_id(first + at as u64, end, ids[at] as i64, None);
                    return Err(error.in_file(self.npy.file.path()));
                }
            }
            first += length as u64;
        }
        Ok(largest)
    }
}

impl EdgeStream for NpyEdges {
    fn node_count(&self) -> u64 {
        self.num_nodes
    }

    fn edge_count(&self) -> u64 {
        self.num_edges
    }

    fn read(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) -> Result<()> {
        let file = &*self.npy.file;
        let (element, start) = (self.npy.header.element, self.npy.header.data_offset);
        let at = |number: u64| start + number * element.width();
        let count = sources.len();
        if self.by_end {
            read_integers(file, element, at(first), count, |i, id| sources[i] = id)?;
            let second = at(self.num_edges + first);
            return read_integers(file, element, second, count, |i, id| destinations[i] = id);
        }
        read_integers(file, element, at(2 * first), 2 * count, |i, id| {
            let end = if i % 2 == 0 { &mut *sources } else { &mut *destinations };
            end[i / 2] = id;
        })
    }
}
