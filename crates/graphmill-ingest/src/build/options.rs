//! How a dataset is built.
//! Everything has the meaning that users are promised, so that an empty set of options builds what
//! most people want. It must not know the sources.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use graphmill_disk::{Budget, FileSystem};
use graphmill_format::ElementType;

use crate::edge_sort::EdgeSortOptions;
use crate::numbering::{Heat, Order};
use crate::progress::Observer;
use crate::source::{Column, EdgeInputOptions, TableInputOptions};
use crate::{Error, Result};

/// How nodes are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeOrder {
    /// As in the source.
    #[default]
    None,
    /// Those that occur most often as neighbours come first.
    Hot,
    /// Those that sampling is expected to meet most often, whoever it comes from, come first.
    Visits,
    /// Neighbours follow each other, breadth first.
    Bfs,
    /// Nodes that are linked among each other lie together, the hottest of each community first.
    Community,
}

impl NodeOrder {
    const ALL: [NodeOrder; 5] =
        [NodeOrder::None, NodeOrder::Hot, NodeOrder::Visits, NodeOrder::Bfs, NodeOrder::Community];

    /// What users and the manifest call it.
    pub fn name(self) -> &'static str {
        match self {
            NodeOrder::None => "none",
            NodeOrder::Hot => "hot",
            NodeOrder::Visits => "visits",
            NodeOrder::Bfs => "bfs",
            NodeOrder::Community => "community",
        }
    }
}

impl NodeOrder {
    /// How nodes of this heat are put in order; None if they stay where they are.
    pub(super) fn of_heat(self, heat: Heat) -> Option<Order> {
        match self {
            NodeOrder::None => None,
            NodeOrder::Hot => Some(Order::Heat(heat)),
            NodeOrder::Visits => Some(Order::Visits(heat)),
            NodeOrder::Bfs => Some(Order::Bfs),
            NodeOrder::Community => Some(Order::Community(heat)),
        }
    }
}

impl FromStr for NodeOrder {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        NodeOrder::ALL.into_iter().find(|order| order.name() == text).ok_or_else(|| {
            let problem = format!("{text:?} is none of none, hot, visits, bfs, community");
            Error::request("order", problem)
        })
    }
}

/// What the ids of the source are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceIds {
    /// Numbers of nodes, from 0 on.
    #[default]
    Numbers,
    /// Any integers from 0 to 2^63 - 1, to be numbered in ascending order.
    Integers,
    /// Words, to be numbered in the order of their bytes.
    Text,
}

/// Options of a build.
#[derive(Clone, Default)]
pub struct BuildOptions<'a> {
    pub(super) topology: EdgeSortOptions<'a>,
    pub(super) input: EdgeInputOptions,
    pub(super) order: NodeOrder,
    pub(super) ids: SourceIds,
    pub(super) id_column: Option<Column>,
    pub(super) label_column: Option<Column>,
    pub(super) features: Option<ElementType>,
    pub(super) align_rows: bool,
    pub(super) overwrite: bool,
    pub(super) budget: Option<Budget>,
    pub(super) observer: Option<Observer<'a>>,
}

impl<'a> BuildOptions<'a> {
    /// Both directions, nodes numbered as in the source.
    pub fn new() -> Self {
        Self::default()
    }

    /// Which edges are kept, in which lists, and at least how many nodes there are.
    pub fn topology(mut self, topology: EdgeSortOptions<'a>) -> Self {
        self.topology = topology;
        self
    }

    /// How the edges are read; delimiter, header and bad rows hold for tables as well.
    pub fn input(mut self, input: EdgeInputOptions) -> Self {
        self.input = input;
        self
    }

    /// How nodes are numbered.
    pub fn order(mut self, order: NodeOrder) -> Self {
        self.order = order;
        self
    }

    /// What the ids of the source are.
    pub fn ids(mut self, ids: SourceIds) -> Self {
        self.ids = ids;
        self
    }

    /// The column of tables of text or Parquet that says whose row it is.
    pub fn id_column(mut self, column: Column) -> Self {
        self.id_column = Some(column);
        self
    }

    /// The column of the labels, where their table of text or Parquet has several.
    pub fn label_column(mut self, column: Column) -> Self {
        self.label_column = Some(column);
        self
    }

    /// The type of the features; float32 for text and that of the array otherwise.
    pub fn features(mut self, element: ElementType) -> Self {
        self.features = Some(element);
        self
    }

    /// Whether rows of the features start on multiples of 512 bytes.
    pub fn align_rows(mut self, align: bool) -> Self {
        self.align_rows = align;
        self
    }

    /// Whether a dataset that exists is replaced.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// The memory to stay within; by default a quarter of what the machine allows.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Hears about progress and may cancel.
    pub fn observer(mut self, observer: Observer<'a>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// How tables are read, before anything is known of them.
    pub(super) fn table_input(&self) -> TableInputOptions {
        let mut options = TableInputOptions::new().on_bad_row(self.input.on_bad_row);
        if let Some(header) = self.input.header {
            options = options.header(header);
        }
        if let Some(delimiter) = self.input.delimiter {
            options = options.delimiter(delimiter);
        }
        options.text_ids(self.ids == SourceIds::Text)
    }

    /// How edges are read; what does not fit in memory waits beside the dataset.
    pub(super) fn edge_input(
        &self,
        file_system: Arc<dyn FileSystem>,
        scratch: PathBuf,
    ) -> EdgeInputOptions {
        let options = self.input.clone().scratch(file_system, scratch);
        options.text_ids(self.ids == SourceIds::Text)
    }
}
