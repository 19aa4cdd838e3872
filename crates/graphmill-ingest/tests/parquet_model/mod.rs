//! Parquet files taken apart, changed and put together again.

pub mod files;
pub mod model;
pub mod numbers;
pub mod value;
