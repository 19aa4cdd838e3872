//! From sources to files, in bounded memory.
//!
//! Edges come as a replayable [`EdgeStream`] (generated, in memory, or an existing file), rows as
//! chunks of bytes; out come `.gl` and `.gd` files, alone or as a dataset with one commit point.
//! Whatever grows with the graph is taken from a [`Budget`](graphmill_disk::Budget) first, and a
//! build that fails or is cancelled leaves nothing behind. Mapped stores and Python are unknown
//! here: writers and readers meet only in the file.
//!
//! ```
//! use graphmill_disk::Budget;
//! use graphmill_ingest::{GraphOptions, MemoryEdges, write_graph};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let edges = MemoryEdges::new(&[0_i64, 1, 2], &[1, 2, 0], None)?;
//! let path = folder.path().join("triangle.gl");
//! let report = write_graph(&path, &edges, &GraphOptions::new(), &Budget::new(1 << 20), false)?;
//! assert_eq!((report.num_nodes, report.num_edges), (3, 3));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod build;
pub mod convert;
mod dataset_removal;
mod dataset_writer;
mod each_once;
pub mod edge_csv;
#[cfg(feature = "parquet")]
mod edge_parquet;
mod edge_reading;
mod edge_rows;
mod edge_sort;
mod edges;
mod entry;
mod error;
pub mod generate;
mod generated_dataset;
mod graph_file;
mod graph_options;
mod graph_writer;
mod lists;
mod node_naming;
mod node_numbers;
pub mod npy;
mod npy_edges;
mod number_text;
mod numbering;
mod pack;
#[cfg(feature = "parquet")]
mod parquet_writer;
mod placement;
mod progress;
mod replay;
mod running_sums;
mod section_writer;
mod shared_section;
pub mod source;
mod stored;
mod stored_dataset;
mod stored_ids;
mod stored_lists;
mod table_csv;
mod table_padding;
#[cfg(feature = "parquet")]
mod table_parquet;
mod table_writer;

pub use convert::{
    ConvertOptions, ConvertReport, SourceKind, TargetFormat, TargetKind, convert, convert_files,
};
pub use dataset_removal::{remove_dataset, remove_dataset_on};
pub use dataset_writer::DatasetWriter;
pub use edge_csv::write_edge_csv;
pub use edge_sort::{EdgeChunk, EdgeSortOptions, EdgeSortReport, EdgeSorter, ListsReport};
pub use edges::{EdgeStream, EdgeValues, MemoryEdges};
pub use error::{Error, Result, Setting};
pub use generated_dataset::{GeneratedOptions, write_generated};
pub use graph_file::GraphFile;
pub use graph_options::{Directions, GraphOptions};
pub use graph_writer::{GraphReport, write_graph};
pub use progress::{Observer, Progress};
pub use section_writer::SectionWriter;
pub use table_writer::{TableWriter, Written, write_counted_table, write_table};
