//! What a sampler found: nodes and edges with local ids.
//! Samplers fill it, loaders fetch the rows of its nodes and edges, and its vectors become arrays of the user. It does
//! not know how the nodes were found.

/// A sampled neighbourhood. Local id `i` is the node `nodes[i]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The seeds as given, then every further node once, in the order they were found.
    pub nodes: Vec<i64>,
    /// Local id of the source of each edge.
    pub row: Vec<i64>,
    /// Local id of the destination of each edge.
    pub col: Vec<i64>,
    /// What each edge is called: its source row if that is stored, else its position in the lists followed.
    pub edge_ids: Vec<i64>,
    /// The tree of each node, which is the place of its seed; empty unless trees are disjoint.
    pub batch: Vec<i64>,
    /// How many nodes are new in each hop; the first number counts the seeds.
    pub nodes_per_hop: Vec<u64>,
    /// How many edges each hop added; one number for all edges of an induced or bidirectional subgraph.
    pub edges_per_hop: Vec<u64>,
}

impl Sample {
    /// Bytes of memory that the lists take.
    pub fn bytes(&self) -> u64 {
        let ids =
            [&self.nodes, &self.row, &self.col, &self.edge_ids, &self.batch].map(Vec::capacity);
        let counts = [&self.nodes_per_hop, &self.edges_per_hop].map(Vec::capacity);
        8 * ids.iter().chain(&counts).map(|&capacity| capacity as u64).sum::<u64>()
    }
}
