//! Sources: what users bring, as chunks of edges and rows.
//! Text, compressed text, NumPy, Parquet and compiled files are told by their content, arrays come
//! from memory; all are read once, in parallel and in bounded memory, and builders receive
//! numbered chunks and never see a file format.
//! It must not know what is built.

pub mod array;
mod array_edges;
mod array_table;
mod cells;
mod chunk;
mod compiled_edges;
pub mod compressed;
mod detect;
mod edge_input;
mod endpoints;
mod faults;
pub mod folder;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod id_array;
mod id_numbers;
mod kept_half;
mod memory_edges;
mod memory_table;
mod names;
mod number_rows;
mod options;
mod packed_edges;
#[cfg(feature = "parquet")]
mod parquet;
mod pieces;
mod positions;
mod shared_stream;
mod sparse_rows;
mod table_input;
mod table_text;
pub(crate) mod text;
mod turns;
mod zip_directory;
mod zstd_frames;

pub use chunk::{BadRow, EdgeChunk, ReadReport, TableChunk, TableDescription, TextCells};
pub use detect::{SourceFormat, expand};
pub use edge_input::EdgeInput;
pub use endpoints::endpoints;
pub use folder::{FolderPart, FolderSources};
pub use id_array::IdArray;
pub use memory_edges::EdgeArrays;
pub use memory_table::TableArray;
pub use number_rows::stored_rows;
pub use options::{Column, EdgeInputOptions, OnBadRow, TableInputOptions};
pub use sparse_rows::SparseRows;
pub use table_input::TableInput;
pub use text::Delimiter;
