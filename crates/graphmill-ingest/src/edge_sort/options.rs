//! What the edge sorter shall make, and what it is fed with.
//! Readers of text and tables fill [`EdgeChunk`]s and know nothing of sorting; the sorter knows
//! nothing of their files. It must not know how edges are sorted.

use graphmill_format::{ElementType, Encoding, GraphShape, ListOrder};

use crate::graph_options::Directions;
use crate::progress::Observer;
use crate::{Error, Result};

/// Options of an [`EdgeSorter`](super::EdgeSorter).
///
/// ```
/// use graphmill_ingest::{Directions, EdgeSortOptions};
/// let options = EdgeSortOptions::new().directions(Directions::Out).dedup(true);
/// ```
#[derive(Clone, Copy, Default)]
pub struct EdgeSortOptions<'a> {
    pub(crate) num_nodes: u64,
    pub(crate) directions: Directions,
    /// Whether the caller chose them, so that a source does not.
    pub(crate) chose_directions: bool,
    pub(crate) order: ListOrder,
    pub(crate) neighbours: Option<ElementType>,
    /// None if it is left to the writer.
    pub(crate) packed: Option<bool>,
    pub(crate) edge_ids: bool,
    pub(crate) weights: bool,
    pub(crate) times: bool,
    pub(crate) dedup: bool,
    pub(crate) drop_self_loops: bool,
    pub(crate) add_self_loops: bool,
    pub(crate) memory: Option<u64>,
    pub(crate) observer: Option<Observer<'a>>,
}

impl<'a> EdgeSortOptions<'a> {
    /// Both directions, lists by id, the narrowest neighbours, every edge as it comes.
    pub fn new() -> Self {
        Self::default()
    }

    /// At least this many nodes; the largest id may demand more.
    pub fn num_nodes(mut self, num_nodes: u64) -> Self {
        self.num_nodes = num_nodes;
        self
    }

    /// Which lists are stored.
    pub fn directions(mut self, directions: Directions) -> Self {
        self.directions = directions;
        self.chose_directions = true;
        self
    }

    /// The order within lists; by time needs [`times`](Self::times).
    pub fn order(mut self, order: ListOrder) -> Self {
        self.order = order;
        self
    }

    /// `I32` or `I64` neighbours; the narrowest that holds every id by default.
    pub fn neighbours(mut self, element: ElementType) -> Self {
        self.neighbours = Some(element);
        self
    }

    /// How neighbours are stored; packed lists are written plain first, to a scratch file beside the target.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.neighbours = encoding.element();
        self.packed = encoding.packed();
        self
    }

    /// Stores the source row of every edge; weights and times imply it.
    pub fn edge_ids(mut self, edge_ids: bool) -> Self {
        self.edge_ids = edge_ids;
        self
    }

    /// Stores the weights that every chunk then has to bring.
    pub fn weights(mut self, weights: bool) -> Self {
        self.weights = weights;
        self
    }

    /// Stores the times that every chunk then has to bring.
    pub fn times(mut self, times: bool) -> Self {
        self.times = times;
        self
    }

    /// Of edges with the same source and destination only the one with the smallest row is kept; of
    /// an undirected graph's edges between the same two nodes likewise.
    pub fn dedup(mut self, dedup: bool) -> Self {
        self.dedup = dedup;
        self
    }

    /// Leaves out edges from a node to itself.
    pub fn drop_self_loops(mut self, drop: bool) -> Self {
        self.drop_self_loops = drop;
        self
    }

    /// Adds an edge from every node to itself, as rows that follow those of the source and with a
    /// weight of 1. Together with [`dedup`](Self::dedup) nodes that have one get no other.
    pub fn add_self_loops(mut self, add: bool) -> Self {
        self.add_self_loops = add;
        self
    }

    /// Bytes of the budget to use; all that are free when the sorter is made by default.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Hears about the progress of finishing and may cancel.
    pub fn observer(mut self, observer: Observer<'a>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Whether rows have to be carried along.
    pub(super) fn needs_rows(&self) -> bool {
        self.stores_rows() || self.order != ListOrder::Id
    }

    fn stores_rows(&self) -> bool {
        self.edge_ids || self.weights || self.times
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.order == ListOrder::Time && !self.times {
            let problem = "time order needs the times of the edges; give them or choose id or file";
            return Err(Error::request("neighbour order", problem));
        }
        if self.add_self_loops && self.times {
            let problem =
                "an edge that is added has no time; leave out the times or the self loops";
            return Err(Error::request("self loops", problem));
        }
        Ok(())
    }

    pub(crate) fn shape(&self, num_nodes: u64, num_edges: u64) -> GraphShape {
        let mut shape = GraphShape::new(num_nodes, num_edges, self.directions.stored());
        shape.order = self.order;
        shape.neighbours = self.neighbours.unwrap_or(shape.neighbours);
        shape.weights = self.weights;
        shape.cumulative_weights = self.weights;
        shape.edge_times = self.times;
        shape.edge_ids = self.stores_rows();
        shape
    }
}

/// Consecutive edges of a source.
#[derive(Clone, Copy, Debug)]
pub struct EdgeChunk<'a> {
    pub(crate) first_row: u64,
    pub(crate) ids: ChunkIds<'a>,
    pub(crate) rows: Option<&'a [u64]>,
    pub(crate) weights: Option<&'a [f32]>,
    pub(crate) times: Option<&'a [i64]>,
}

/// Sources and destinations in the width that the reader has them in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChunkIds<'a> {
    Narrow(&'a [u32], &'a [u32]),
    Wide(&'a [u64], &'a [u64]),
}

impl<'a> EdgeChunk<'a> {
    /// Edges from `sources[i]` to `destinations[i]`, which is row `first_row + i` of the source.
    pub fn new(first_row: u64, sources: &'a [u64], destinations: &'a [u64]) -> Self {
        let ids = ChunkIds::Wide(sources, destinations);
        EdgeChunk { first_row, ids, rows: None, weights: None, times: None }
    }

    /// The same for ids below 2^32.
    pub fn narrow(first_row: u64, sources: &'a [u32], destinations: &'a [u32]) -> Self {
        let ids = ChunkIds::Narrow(sources, destinations);
        EdgeChunk { first_row, ids, rows: None, weights: None, times: None }
    }

    /// The row of each edge, where they do not follow each other from `first_row` on.
    pub fn rows(mut self, rows: &'a [u64]) -> Self {
        self.rows = Some(rows);
        self
    }

    /// One finite weight of at least 0 per edge.
    pub fn weights(mut self, weights: &'a [f32]) -> Self {
        self.weights = Some(weights);
        self
    }

    /// One time per edge.
    pub fn times(mut self, times: &'a [i64]) -> Self {
        self.times = Some(times);
        self
    }
}
