//! Why a generator's parameters are refused, each with the value found and the value expected.
//! Every builder returns these before anything is drawn. It knows nothing of how graphs are made.

/// The most nodes a generator can number: beyond it the ranks drawn would skip nodes.
pub const MAX_NODES: u64 = 1 << 48;
/// The most edges of a stream: each has sixteen random words of its own among 2^64.
pub const MAX_EDGES: u64 = 1 << 59;
/// The most features of a node: each value has a random word of its own among 2^64.
pub const MAX_FEATURES: usize = 1 << 16;

/// A parameter of a synthetic graph that cannot be met.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The number of nodes is zero or too large.
    #[error("a graph of {nodes} nodes cannot be generated: choose between 1 and {MAX_NODES}")]
    Nodes {
        /// The number asked for.
        nodes: u64,
    },
    /// The scale of an R-MAT graph is too large.
    #[error(
        "an R-MAT graph of 2^{scale} nodes cannot be generated: choose a scale of at most {limit}"
    )]
    Scale {
        /// The scale asked for.
        scale: u32,
        /// The largest scale.
        limit: u32,
    },
    /// The number of edges is too large.
    #[error("a graph of {edges} edges cannot be generated: choose at most {MAX_EDGES}")]
    Edges {
        /// The number asked for.
        edges: u64,
    },
    /// The mean degree is not a number, negative, or gives too many edges.
    #[error(
        "{edges_per_node} edges per node on {nodes} nodes cannot be generated: choose a number of \
         at least 0 that gives at most {MAX_EDGES} edges"
    )]
    EdgesPerNode {
        /// The mean degree asked for.
        edges_per_node: f64,
        /// The number of nodes.
        nodes: u64,
    },
    /// A share or probability lies outside `[0, 1]`.
    #[error("{parameter} is {value}: choose a share between 0 and 1")]
    Share {
        /// Which parameter.
        parameter: &'static str,
        /// The value found.
        value: f64,
    },
    /// Shares that divide a whole add up to more than it.
    #[error("{parameters} add up to {sum}: together they may be at most 1")]
    ShareSum {
        /// Which parameters.
        parameters: &'static str,
        /// Their sum.
        sum: f64,
    },
    /// There must be at least one class, block or community.
    #[error("{parameter} is 0: choose at least 1")]
    Zero {
        /// Which parameter.
        parameter: &'static str,
    },
    /// There are too many features.
    #[error("{features} features cannot be generated: choose at most {MAX_FEATURES}")]
    Features {
        /// The number asked for.
        features: usize,
    },
    /// The strength of the classes in the features is not a usable number.
    #[error("the signal of the features is {signal}: choose a finite number of at least 0")]
    Signal {
        /// The value found.
        signal: f32,
    },
}

/// `value` when it is a share.
pub(super) fn share(parameter: &'static str, value: f64) -> Result<f64, GenerateError> {
    // Written so that NaN is refused.
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(GenerateError::Share { parameter, value })
    }
}

/// Refuses shares of one whole that exceed it by more than rounding of their decimals.
pub(super) fn shares(
    parameters: &'static str,
    values: [(&'static str, f64); 3],
) -> Result<(), GenerateError> {
    let mut sum = 0.0;
    for (parameter, value) in values {
        sum += share(parameter, value)?;
    }
    if sum > 1.0 + 1e-9 { Err(GenerateError::ShareSum { parameters, sum }) } else { Ok(()) }
}

pub(super) fn nodes(nodes: u64) -> Result<u64, GenerateError> {
    if (1..=MAX_NODES).contains(&nodes) { Ok(nodes) } else { Err(GenerateError::Nodes { nodes }) }
}

pub(super) fn edges(edges: u64) -> Result<u64, GenerateError> {
    if edges <= MAX_EDGES { Ok(edges) } else { Err(GenerateError::Edges { edges }) }
}
