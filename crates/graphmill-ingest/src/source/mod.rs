//! Sources: what users bring, as chunks of edges and rows.
//! Text, compressed text, NumPy and Parquet files are told by their content and read once, in
//! parallel and in bounded memory; builders receive numbered chunks and never see a file format.
//! It must not know what is built.

pub mod array;
mod array_edges;
mod array_table;
mod cells;
mod chunk;
pub mod compressed;
mod detect;
mod edge_input;
pub mod folder;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod table_input;
mod table_text;
mod text;
mod zip_directory;

pub use chunk::{BadRow, EdgeChunk, ReadReport, TableChunk, TableDescription, TextCells};
pub use detect::{SourceFormat, expand};
pub use edge_input::EdgeInput;
pub use folder::{FolderPart, FolderSources};
pub use options::{Column, EdgeInputOptions, OnBadRow, TableInputOptions};
pub use table_input::TableInput;
pub use text::Delimiter;
