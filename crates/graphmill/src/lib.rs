//! Train graph neural networks on graphs that do not fit in memory.
//!
//! This is the Rust face of graphmill: one name for the rooms of the house, from the bytes of a file to the batches of
//! a loader. It holds no code of its own; each room keeps its own documentation, and no room knows this face.
//!
//! | module | what it does |
//! |---|---|
//! | [`mod@format`] | the bytes of `.gl` and `.gd` files and of a dataset's manifest |
//! | [`disk`] | reading, writing, memory budgets and threads |
//! | [`ingest`] | sources become files, in bounded memory |
//! | [`store`] | files become graphs, tables and datasets |
//! | [`mod@sample`] | seeds become neighbourhoods |
//! | [`load`] | neighbourhoods become batches, with the rows of their nodes |
//!
//! # Quick start
//!
//! A graph and its features go from memory to two files; the files are opened, which takes microseconds whatever
//! their size, and a neighbourhood is sampled and its rows are fetched.
//!
//! ```
//! use graphmill::disk::{Backend, Budget};
//! use graphmill::format::{Direction, ElementType, TableShape};
//! use graphmill::ingest::{GraphOptions, MemoryEdges, write_graph, write_table};
//! use graphmill::load::Rows;
//! use graphmill::sample::{FanoutOptions, Scratch, sample};
//! use graphmill::store::{Graph, Table};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! // Papers 1, 2 and 3 cite paper 0, and paper 3 cites paper 2 too.
//! let edges = MemoryEdges::new(&[1_i64, 2, 3, 3], &[0, 0, 0, 2], None)?;
//! let budget = Budget::new(64 << 20);
//! write_graph(&folder.join("papers.gl"), &edges, &GraphOptions::new(), &budget, false)?;
//! let shape = TableShape::matrix(4, 2, ElementType::U8)?;
//! write_table(&folder.join("papers.gd"), shape, [Ok([0, 0, 1, 10, 2, 20, 3, 30])], false)?;
//!
//! // Message passing wants what points at a node: up to 5 in-neighbours, and up to 5 of each of those.
//! let graph = Graph::open(folder.join("papers.gl"))?;
//! let lists = graph.lists(Direction::In)?;
//! let fanouts = FanoutOptions::new([5, 5]).seed(42);
//! let found = sample(&lists, &[2], &fanouts, Direction::In, &mut Scratch::new())?;
//! assert_eq!(found.nodes, [2, 3]); // the seed, then what was found
//! assert_eq!((found.row, found.col), (vec![1], vec![0])); // 3 -> 2 in places of that list
//!
//! let features = Rows::open(Table::open(folder.join("papers.gd"))?, Backend::Mapped)?;
//! let mut rows = [0; 4];
//! features.gather(&found.nodes, &mut rows)?;
//! assert_eq!(rows, [2, 20, 3, 30]);
//! # Ok(())
//! # }
//! ```
//!
//! A dataset holds all of that in one folder, with labels and splits, and a loader makes batches of it. The budget
//! covers everything that is loaded:
//!
//! ```
//! use graphmill::disk::Budget;
//! use graphmill::ingest::generate::Sbm;
//! use graphmill::ingest::{GeneratedOptions, write_generated};
//! use graphmill::load::{LoaderOptions, NeighborLoader};
//! use graphmill::store::Dataset;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("blocks");
//! let graph = Sbm::builder(1000, 8000, 4).features(16).build()?;
//! write_generated(&folder, &graph, Some(&graph), &GeneratedOptions::new(), &Budget::new(64 << 20))?;
//!
//! let dataset = Dataset::open(&folder, Budget::new(64 << 20))?;
//! let options = LoaderOptions::new([10, 5]).batch_size(32).shuffle(true).seed(1);
//! let loader = NeighborLoader::new(dataset, (0..100).collect(), options)?;
//! for index in 0..loader.len() {
//!     let batch = loader.batch(0, index)?;
//!     let x = batch.columns.iter().find(|column| column.name == "x").expect("it was written");
//!     assert_eq!(x.shape.rows(), batch.sample.nodes.len() as u64);
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub use graphmill_disk as disk;
pub use graphmill_format as format;
pub use graphmill_ingest as ingest;
pub use graphmill_load as load;
pub use graphmill_sample as sample;
pub use graphmill_store as store;
