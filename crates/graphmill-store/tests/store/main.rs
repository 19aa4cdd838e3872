//! Stores as their users see them: opened, verified, replaced under readers.

mod dataset;
mod lying_ids;
mod node_ids;
mod open;
mod packed;
mod renumbered;
mod sample_files;
mod verify;
mod verify_edges;
