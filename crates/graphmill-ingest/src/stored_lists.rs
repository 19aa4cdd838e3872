//! The lists of an existing topology, as the writer of another one takes them.
//! Conversion and reordering build lists again from the lists that there are. Those by id and by
//! time are sorted anew; the order of the file is sorted by the stored ids of the edges, or taken
//! from the lists of the same direction, because in-lists do not follow from out-lists. It must not
//! know what is done with the nodes.

use graphmill_format::{Direction, ListOrder};

use crate::edges::{EdgeColumn, EdgeRecords, EdgeStream};
use crate::graph_file::GraphFile;
use crate::graph_options::Directions;
use crate::stored::StoredValues;
use crate::{Error, Result};

/// The lists of one direction with what is stored of their edges.
#[derive(Debug)]
pub(crate) struct StoredLists {
    pub(crate) graph: GraphFile,
    pub(crate) rows: Option<StoredValues>,
    pub(crate) weights: Option<StoredValues>,
    pub(crate) times: Option<StoredValues>,
}

impl StoredLists {
    pub(crate) fn of(graph: GraphFile) -> Self {
        let (rows, weights, times) = (graph.edge_ids(), graph.weights(), graph.times());
        StoredLists { graph, rows, weights, times }
    }

    /// The edges `edges`, which are those of these lists under other numbers perhaps.
    pub(crate) fn records<'a>(&'a self, edges: &'a dyn EdgeStream) -> EdgeRecords<'a> {
        EdgeRecords {
            edges,
            rows: self.rows.as_ref().map(|values| EdgeColumn::Stream(values)),
            weights: self.weights.as_ref().map(|values| EdgeColumn::Stream(values)),
            times: self.times.as_ref().map(|values| EdgeColumn::Stream(values)),
        }
    }
}

/// Which lists become the lists of a new topology, and in which order.
#[derive(Debug)]
pub(crate) struct ListPlan {
    pub(crate) lists: StoredLists,
    /// Where in-lists come from, if not from the edges of `lists`.
    pub(crate) in_lists: Option<StoredLists>,
    pub(crate) order: ListOrder,
    /// Lists in the order of the file are sorted by the ids of the edges.
    pub(crate) by_rows: bool,
    /// The order of the file was to be kept, and is not known for every direction.
    pub(crate) loses_order: bool,
}

impl ListPlan {
    /// `wanted` is an order that the user named; `usual` is taken otherwise, as far as it is known.
    /// `symmetric` says that the lists hold each edge both ways and become undirected ones.
    pub(crate) fn new(
        graph: &GraphFile,
        directions: Directions,
        wanted: Option<ListOrder>,
        usual: ListOrder,
        symmetric: bool,
    ) -> Result<Self> {
        let layout = graph.layout();
        let stored = directions.stored();
        let own = |direction: Direction| match direction {
            Direction::Both => symmetric.then(|| graph.clone()),
            _ => graph.following(direction),
        };
        let mut order = wanted.unwrap_or(usual);
        let (mut by_rows, mut loses_order) = (false, false);
        let in_file_order = graph.is_graphzero() || layout.order == ListOrder::File;
        let is_kept = in_file_order && stored.iter().all(|&direction| own(direction).is_some());
        if order == ListOrder::File && !is_kept {
            by_rows = graph.edge_ids().is_some();
            if !by_rows && wanted.is_some() {
                let problem = "the topology stores neither the ids of its edges nor every wanted list in the \
                     order of the file; choose id, or build it from its source again with edge ids";
                return Err(Error::request("neighbour order", problem));
            }
            if !by_rows {
                (order, loses_order) = (ListOrder::Id, true);
            }
        }
        let lists = StoredLists::of(own(stored[0]).unwrap_or_else(|| graph.clone()));
        let apart = order == ListOrder::File && !by_rows && stored.len() > 1;
        let in_lists = if apart { own(Direction::In).map(StoredLists::of) } else { None };
        Ok(ListPlan { lists, in_lists, order, by_rows, loses_order })
    }
}
