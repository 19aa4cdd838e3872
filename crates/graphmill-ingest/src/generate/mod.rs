//! Synthetic graphs, computed from counters instead of stored.
//! Each generator answers "edge number i" and "row of node v" from its seed alone, so a graph
//! larger than memory can be streamed, replayed and made in parallel chunks with the same bytes on
//! every platform: integers, `+ - * /` and square roots only. Nothing here reads or writes files;
//! the writers of a dataset take these sources as they take parsed ones.
//!
//! | kind | degrees | node data | for |
//! |---|---|---|---|
//! | [`Rmat`] | skewed, correlated in and out | none | throughput, comparison with Graph500 |
//! | [`Sbm`] | equal | classes = blocks | tests whose answer is known |
//! | [`Papers`] | power law, independent in and out | classes over communities | training like on citations |

mod counter;
mod divisor;
mod error;
mod node_data;
mod papers;
mod power_law;
mod rmat;
mod sbm;
mod scramble;

pub use error::{GenerateError, MAX_EDGES, MAX_FEATURES, MAX_NODES};
pub use node_data::{NodeData, Split};
pub use papers::{Papers, PapersBuilder};
pub use rmat::{Rmat, RmatBuilder};
pub use sbm::{Sbm, SbmBuilder};

use scramble::Scramble;

/// Random words that belong to one edge; with [`MAX_EDGES`] edges they use up all 2^64 positions.
const WORDS_PER_EDGE: u64 = 16;

/// Edges that can be produced again, in any chunk order, any number of times.
pub trait EdgeSource: Send + Sync {
    /// Number of nodes; every id written is smaller.
    fn num_nodes(&self) -> u64;
    /// Number of edges in the stream.
    fn num_edges(&self) -> u64;
    /// Writes edges `first .. first + sources.len()` of the stream; both slices have equal length.
    ///
    /// The caller stays within `num_edges`; what lies beyond is not part of the graph.
    fn fill(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]);
}

/// Edges made at a time, so that their ranks are still in the nearest cache when ids are made.
const EDGES_PER_STRETCH: usize = 512;

/// Fills the slices with the ranks that `edge` gives, then turns ranks into ids.
#[inline(always)]
fn fill_each(
    first: u64,
    sources: &mut [u64],
    destinations: &mut [u64],
    ids: Option<&Scramble>,
    edge: impl Fn(u64) -> (u64, u64),
) {
    debug_assert_eq!(sources.len(), destinations.len());
    let mut index = first;
    let stretches = sources.chunks_mut(EDGES_PER_STRETCH);
    for (sources, destinations) in stretches.zip(destinations.chunks_mut(EDGES_PER_STRETCH)) {
        for (source, destination) in sources.iter_mut().zip(&mut *destinations) {
            (*source, *destination) = edge(index);
            index = index.wrapping_add(1);
        }
        if let Some(ids) = ids {
            ids.apply_all(sources);
            ids.apply_all(destinations);
        }
    }
}
