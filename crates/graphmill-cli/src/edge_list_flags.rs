//! Flags that say how a list of edges is read.
//! Each becomes what the ingest crate wants as soon as it is parsed. It must not know what is built from the edges.

use clap::{ArgAction, Args};
use graphmill::ingest::ConvertOptions;
use graphmill::ingest::source::{Column, Delimiter, EdgeInputOptions, OnBadRow, SourceFormat};

/// How a list of edges is read, and which of its edges are kept.
#[derive(Debug, Args)]
pub struct EdgeListFlags {
    /// What the source is, instead of what it looks like: csv, npy, npz, parquet, ogb, mag240m, igb
    #[arg(long, value_name = "FORMAT")]
    format: Option<SourceFormat>,
    /// The first line names the columns [default: if its first two fields are no numbers]
    #[arg(long, overrides_with = "no_header")]
    header: bool,
    /// The first line is an edge
    #[arg(long, action = ArgAction::SetTrue)]
    no_header: bool,
    /// What separates the fields: comma, tab, semicolon, space [default: found]
    #[arg(long)]
    delimiter: Option<Delimiter>,
    /// The column of weights, by name or by number from 0
    #[arg(long, value_name = "COLUMN")]
    weight_column: Option<Column>,
    /// The column of times, by name or by number from 0
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<Column>,
    /// Store the source row of every edge; weights and times imply it
    #[arg(long)]
    edge_ids: bool,
    /// At least this many nodes
    #[arg(long, value_name = "N")]
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
    /// What to do with a row that cannot be used: stop, or skip and count it
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    on_bad_row: OnBadRow,
}

impl EdgeListFlags {
    /// The options with what these flags say.
    pub fn apply<'a>(&self, options: ConvertOptions<'a>) -> ConvertOptions<'a> {
        let options = options
            .input(self.input())
            .edge_ids(self.edge_ids)
            .dedup(self.dedup)
            .drop_self_loops(self.drop_self_loops)
            .add_self_loops(self.add_self_loops);
        match self.num_nodes {
            Some(num_nodes) => options.num_nodes(num_nodes),
            None => options,
        }
    }

    fn input(&self) -> EdgeInputOptions {
        let mut input = EdgeInputOptions::new().on_bad_row(self.on_bad_row);
        if let Some(format) = self.format {
            input = input.format(format);
        }
        if self.header || self.no_header {
            input = input.header(self.header);
        }
        if let Some(delimiter) = self.delimiter {
            input = input.delimiter(delimiter);
        }
        if let Some(column) = &self.weight_column {
            input = input.weight_column(column.clone());
        }
        if let Some(column) = &self.time_column {
            input = input.time_column(column.clone());
        }
        input
    }
}
