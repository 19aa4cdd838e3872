//! From a mapped store to lists of nodes.
//!
//! Samplers are pure algorithms over a [`Topology`]: [`sample`] follows fan-outs from seeds and returns the nodes and
//! edges it found, relabelled the way PyTorch Geometric does. All randomness is addressed by what it is for
//! ([`random`]), so the same seed gives the same bytes however the work is divided. Features, files and Python are
//! unknown here; memory is asked for before it is used.
//!
//! ```
//! use graphmill_format::Direction;
//! use graphmill_sample::{FanoutOptions, Scratch, Topology, sample};
//! # use std::ops::Range;
//! # struct Ring(u64);
//! # impl Topology for Ring {
//! #     fn num_nodes(&self) -> u64 { self.0 }
//! #     fn list(&self, node: u64) -> graphmill_sample::Result<Range<usize>> { Ok(node as usize..node as usize + 1) }
//! #     fn neighbour(&self, position: usize) -> graphmill_sample::Result<u64> { Ok((position as u64 + 1) % self.0) }
//! #     fn edge_id(&self, position: usize) -> i64 { position as i64 }
//! # }
//! # let ring = Ring(10);
//! // In a ring where node i has one in-edge, from node i + 1:
//! let options = FanoutOptions::new([5, 5]).seed(42);
//! let found = sample(&ring, &[3, 8], &options, Direction::In, &mut Scratch::new())?;
//! assert_eq!(found.nodes, [3, 8, 4, 9, 5, 0]);
//! assert_eq!((found.row, found.col), (vec![2, 3, 4, 5], vec![0, 1, 2, 3]));
//! # Ok::<(), graphmill_sample::Error>(())
//! ```
#![forbid(unsafe_code)]

mod announcements;
mod by_weight;
mod choose;
mod error;
mod fanout;
mod labels;
mod matrix;
mod membership;
mod negative;
pub mod random;
mod room;
mod rows;
mod sample;
mod scratch;
mod sweep;
mod topology;
mod typed_lists;
mod walk;
mod whole_lists;

pub use error::{Error, Result};
pub use fanout::{
    Batches, Exclude, ExcludedEdges, FanoutOptions, LinkSample, Links, Method, Seeds, Strategy,
    Subgraph, check_fanouts, check_seeds, sample, sample_batches, sample_ends_within, sample_links,
    sample_links_within, sample_within,
};
pub use matrix::{neighbour_matrix, neighbour_matrix_over};
pub use membership::are_neighbours;
pub use negative::{
    FirstNodes, NegativeOptions, negative_destinations, negative_destinations_over, negative_edges,
    negative_edges_over,
};
pub use sample::Sample;
pub use scratch::Scratch;
pub use topology::Topology;
pub use walk::{WalkOptions, walk, walk_over};
pub use whole_lists::WholeLists;
