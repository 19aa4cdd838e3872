//! `graphmill._native`: the Rust side of the Python package.
//!
//! One file per class or group of functions; conversion and lifetimes only, no algorithm. The Python files beside it
//! add what is better said in Python: the loader's iteration and one file per framework.

mod arguments;
mod build;
mod build_sources;
mod command;
mod dataset;
mod dataset_contents;
mod errors;
mod features;
mod graph;
mod graph_edges;
mod ids;
mod interruptible;
mod loader;
mod memory;
mod recycled;
mod sample;
mod source_options;
mod views;
mod walk;
mod writers;

use pyo3::prelude::*;

// What a budget gets back, the machine gets back.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: graphmill::disk::LargeBlocks = graphmill::disk::LargeBlocks;

/// The extension module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<features::Features>()?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<sample::Sample>()?;
    module.add_class::<source_options::SourceOptions>()?;
    module.add_class::<build::BuildSettings>()?;
    module.add_class::<loader::BatchSource>()?;
    module.add_class::<loader::EpochStream>()?;
    module.add_class::<loader::RawBatch>()?;
    module.add_function(wrap_pyfunction!(source_options::endpoint_columns, module)?)?;
    module.add_function(wrap_pyfunction!(build::build_dataset, module)?)?;
    module.add_function(wrap_pyfunction!(writers::write_edges, module)?)?;
    module.add_function(wrap_pyfunction!(writers::write_table, module)?)?;
    module.add_function(wrap_pyfunction!(writers::amend_table, module)?)?;
    module.add_function(wrap_pyfunction!(writers::amend_split, module)?)?;
    module.add_function(wrap_pyfunction!(writers::amend_removal, module)?)?;
    module.add_function(wrap_pyfunction!(writers::remove_dataset, module)?)?;
    module.add_function(wrap_pyfunction!(writers::stored_rows, module)?)?;
    module.add_function(wrap_pyfunction!(writers::convert_file, module)?)?;
    module.add_function(wrap_pyfunction!(memory::memory_in_use, module)?)?;
    module.add_function(wrap_pyfunction!(memory::size_in_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(command::run_command, module)?)
}
