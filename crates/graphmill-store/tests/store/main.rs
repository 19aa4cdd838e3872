//! Stores as their users see them: opened, verified, replaced under readers.

mod dataset;
mod open;
mod sample_files;
mod verify;
