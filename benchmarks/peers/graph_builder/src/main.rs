//! Builds a directed graph in memory from a list of edges with `graph_builder`, and prints its counts.
//! The benchmarks time it as the fastest road from text to neighbour lists that ends in memory. It
//! must not do anything by itself that the crate does.

use std::error::Error;

use graph_builder::prelude::{DirectedCsrGraph, EdgeListInput, Graph, GraphBuilder};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the list of edges")?;
    let graph: DirectedCsrGraph<u32> =
        GraphBuilder::new().file_format(EdgeListInput::default()).path(path).build()?;
    println!("{{\"nodes\": {}, \"edges\": {}}}", graph.node_count(), graph.edge_count());
    Ok(())
}
