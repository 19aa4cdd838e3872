//! What is read, sorted, numbered and written, from sources to datasets.
//! One program, because linking takes longer than most of its tests; a test that looks at the whole
//! process has a program of its own.

#[path = "../read_back/mod.rs"]
mod read_back;

mod broken_builds;
mod build_faults;
mod convert;
mod convert_tables;
mod convert_text;
mod dataset_faults;
mod dataset_writer;
mod edge_sort_failures;
mod edge_sort_oracle;
mod exports;
mod generate_papers;
mod generate_parameters;
mod generate_stream;
mod graph_writer;
mod losses;
mod npy;
mod pack;
mod source_arrays;
mod source_compiled;
mod source_edges;
mod source_folders;
mod source_fuzzing;
mod source_memory;
mod source_parquet;
mod source_tables;
mod source_text_ids;
mod source_zip64;
mod synthetic_dataset;
mod table_writer;
mod text_oracle;
