//! Flags that say which neighbour lists a topology holds.
//! Each becomes what the ingest crate wants as soon as it is parsed. It must not know where edges come from.

use crate::storage_flags::DirectionFlags;
use clap::{Args, ValueEnum};
use graphmill::format::{Encoding, ListOrder};
use graphmill::ingest::{ConvertOptions, EdgeSortOptions};

/// Which edges are kept, and how their lists are stored.
#[derive(Debug, Args)]
pub struct TopologyFlags {
    #[command(flatten)]
    direction: DirectionFlags,
    /// The order of the neighbours within a list
    #[arg(long, value_enum, value_name = "ORDER")]
    neighbor_order: Option<OrderName>,
    /// How neighbours are stored; auto takes the narrowest type, and packs what is too large for the machine
    #[arg(long, value_enum, default_value_t = EncodingName::Auto)]
    encoding: EncodingName,
    /// Store the source row of every edge; weights, times and tables of edges imply it
    #[arg(long)]
    edge_ids: bool,
    /// At least this many nodes
    #[arg(long, value_name = "N", value_parser = crate::counts::parse)]
    num_nodes: Option<u64>,
    /// Keep only the first of the edges with the same ends
    #[arg(long)]
    dedup: bool,
    /// Leave out edges from a node to itself
    #[arg(long)]
    drop_self_loops: bool,
    /// Add an edge from every node to itself
    #[arg(long)]
    add_self_loops: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    Id,
    Time,
    File,
}

impl From<OrderName> for ListOrder {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Id => ListOrder::Id,
            OrderName::Time => ListOrder::Time,
            OrderName::File => ListOrder::File,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EncodingName {
    Auto,
    I32,
    I64,
    Packed,
}

impl From<EncodingName> for Encoding {
    fn from(name: EncodingName) -> Self {
        match name {
            EncodingName::Auto => Encoding::Auto,
            EncodingName::I32 => Encoding::I32,
            EncodingName::I64 => Encoding::I64,
            EncodingName::Packed => Encoding::Packed,
        }
    }
}

impl TopologyFlags {
    /// What a build wants: both directions, unless something else is said.
    pub fn build(&self) -> EdgeSortOptions<'static> {
        let mut options = EdgeSortOptions::new()
            .num_nodes(self.num_nodes.unwrap_or(0))
            .edge_ids(self.edge_ids)
            .dedup(self.dedup)
            .drop_self_loops(self.drop_self_loops)
            .add_self_loops(self.add_self_loops);
        if let Some(directions) = self.direction.directions() {
            options = options.directions(directions);
        }
        if let Some(order) = self.neighbor_order {
            options = options.order(order.into());
        }
        options.encoding(self.encoding.into())
    }

    /// What a conversion wants: what is not said is taken over from its source.
    pub fn convert<'a>(&self, options: ConvertOptions<'a>) -> ConvertOptions<'a> {
        let mut options = options
            .edge_ids(self.edge_ids)
            .dedup(self.dedup)
            .drop_self_loops(self.drop_self_loops)
            .add_self_loops(self.add_self_loops);
        if let Some(num_nodes) = self.num_nodes {
            options = options.num_nodes(num_nodes);
        }
        if let Some(directions) = self.direction.directions() {
            options = options.directions(directions);
        }
        if let Some(order) = self.neighbor_order {
            options = options.order(order.into());
        }
        options.encoding(self.encoding.into())
    }
}
