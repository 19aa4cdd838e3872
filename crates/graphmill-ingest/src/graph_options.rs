//! What a `.gl` file to be written shall hold.
//! Callers collect their wishes here, the graph writer checks them against the edges before it
//! reads any. It must not know how lists are built.

use graphmill_format::{Direction, ElementType, Encoding, GraphShape, ListOrder};

use crate::edges::{EdgeColumn, EdgeRecords, EdgeStream};
use crate::entry::ListKey;
use crate::progress::Observer;
use crate::{Error, Result};

/// Which neighbour lists are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// The destinations of every node.
    Out,
    /// The sources of every node.
    In,
    /// Both, as two sets of lists.
    #[default]
    OutAndIn,
    /// One set that holds every edge both ways: a self loop twice, duplicates kept.
    Undirected,
}

impl Directions {
    pub(crate) fn stored(self) -> &'static [Direction] {
        match self {
            Directions::Out => &[Direction::Out],
            Directions::In => &[Direction::In],
            Directions::OutAndIn => &[Direction::Out, Direction::In],
            Directions::Undirected => &[Direction::Both],
        }
    }
}

/// Options of a `.gl` file.
///
/// ```
/// use graphmill_format::ListOrder;
/// use graphmill_ingest::{Directions, GraphOptions};
/// let options = GraphOptions::new().directions(Directions::Undirected).order(ListOrder::File);
/// ```
#[derive(Clone, Copy, Default)]
pub struct GraphOptions<'a> {
    pub(crate) num_nodes: Option<u64>,
    pub(crate) directions: Directions,
    /// The stream holds both halves of every edge already.
    pub(crate) symmetric: bool,
    pub(crate) order: ListOrder,
    /// The order of the file is that of the rows, and not that of the stream.
    pub(crate) by_rows: bool,
    /// Where the in-lists come from, if their order is not that of the out-lists' stream.
    pub(crate) in_lists: Option<EdgeRecords<'a>>,
    pub(crate) neighbours: Option<ElementType>,
    /// None if it is left to the writer.
    pub(crate) packed: Option<bool>,
    pub(crate) edge_ids: bool,
    pub(crate) rows: Option<EdgeColumn<'a, i64>>,
    pub(crate) weights: Option<EdgeColumn<'a, f32>>,
    pub(crate) times: Option<EdgeColumn<'a, i64>>,
    pub(crate) original_ids: Option<EdgeColumn<'a, i64>>,
    pub(crate) observer: Option<Observer<'a>>,
}

impl<'a> GraphOptions<'a> {
    /// Both directions, lists by id, the narrowest neighbours, nothing optional.
    pub fn new() -> Self {
        Self::default()
    }

    /// At least this many nodes; by default those of the source.
    pub fn num_nodes(mut self, num_nodes: u64) -> Self {
        self.num_nodes = Some(num_nodes);
        self
    }

    /// Which lists are stored.
    pub fn directions(mut self, directions: Directions) -> Self {
        self.directions = directions;
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

    /// One finite weight of at least 0 per edge of the source.
    pub fn weights(mut self, weights: &'a [f32]) -> Self {
        self.weights = Some(EdgeColumn::Memory(weights));
        self
    }

    /// One time per edge of the source.
    pub fn times(mut self, times: &'a [i64]) -> Self {
        self.times = Some(EdgeColumn::Memory(times));
        self
    }

    /// The id that every node had before it was renumbered.
    pub fn original_ids(mut self, original_ids: &'a [i64]) -> Self {
        self.original_ids = Some(EdgeColumn::Memory(original_ids));
        self
    }

    /// Hears about progress and may cancel.
    pub fn observer(mut self, observer: Observer<'a>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// What the lists are sorted by.
    pub(crate) fn key(&self) -> ListKey {
        match self.order {
            ListOrder::Id => ListKey::Neighbour,
            ListOrder::Time => ListKey::Time,
            ListOrder::File if self.by_rows => ListKey::Row,
            ListOrder::File => ListKey::Stream,
        }
    }

    /// The file that these options make of these edges.
    pub(crate) fn shape(&self, edges: &dyn EdgeStream) -> Result<GraphShape> {
        let rows = edges.edge_count();
        let num_nodes = self.num_nodes.unwrap_or(0).max(edges.node_count());
        let twice = self.directions == Directions::Undirected && !self.symmetric;
        let num_edges = if twice { rows.checked_mul(2) } else { Some(rows) };
        let num_edges = num_edges.ok_or_else(|| {
            Error::request("graph", format!("{rows} edges stored both ways exceed 2^64"))
        })?;
        let counts = [
            ("edge ids", self.rows.map(|column| column.count())),
            ("weights", self.weights.map(|column| column.count())),
            ("times", self.times.map(|column| column.count())),
        ];
        for (what, count) in counts {
            if let Some(count) = count.filter(|&count| count != rows) {
                let found = format!("{count} values");
                let expected = format!("{rows}, one for each edge");
                return Err(Error::source(what, found, expected, "give one value for every edge"));
            }
        }
        if let Some(count) = self.original_ids.map(|column| column.count())
            && count != num_nodes
        {
            let expected = format!("{num_nodes}, one for each node");
            let remedy = "give the original id of every node";
            return Err(Error::source("original ids", format!("{count} ids"), expected, remedy));
        }
        if self.order == ListOrder::Time && self.times.is_none() {
            let problem = "time order needs the times of the edges; give them or choose id or file";
            return Err(Error::request("neighbour order", problem));
        }
        let mut shape = GraphShape::new(num_nodes, num_edges, self.directions.stored());
        shape.order = self.order;
        shape.neighbours = self.neighbours.unwrap_or(shape.neighbours);
        shape.weights = self.weights.is_some();
        shape.cumulative_weights = shape.weights;
        shape.edge_times = self.times.is_some();
        shape.original_ids = self.original_ids.is_some();
        shape.edge_ids = self.edge_ids || self.rows.is_some() || shape.weights || shape.edge_times;
        Ok(shape)
    }
}
