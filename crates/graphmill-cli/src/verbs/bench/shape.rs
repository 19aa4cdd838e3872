//! How large a benchmark is.
//! A size names a graph and how much is done with it in one timing. It must not know how anything is timed.

use clap::ValueEnum;
use serde::Serialize;

/// The sizes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    Tiny,
    Small,
    Medium,
}

/// The graph, and the work of one timing.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// There are two to the power of this nodes.
    pub scale: u32,
    pub edges: u64,
    pub features: usize,
    /// Batches of 1024 seeds.
    pub sampled_batches: usize,
    pub walks: u64,
    /// Rows gathered from memory at a time.
    pub gathered_rows: u64,
    /// Seeds of a batch of the loader: so few that a batch with its rows fits into a quarter of the dataset.
    pub loaded_seeds: usize,
    pub loaded_batches: u64,
}

impl Size {
    pub fn name(self) -> &'static str {
        match self {
            Size::Tiny => "tiny",
            Size::Small => "small",
            Size::Medium => "medium",
        }
    }

    pub fn shape(self) -> Shape {
        match self {
            Size::Tiny => Shape {
                scale: 12,
                edges: 40_000,
                features: 16,
                sampled_batches: 2,
                walks: 1_000,
                gathered_rows: 2_000,
                loaded_seeds: 32,
                loaded_batches: 4,
            },
            Size::Small => Shape {
                scale: 18,
                edges: 4_000_000,
                features: 128,
                sampled_batches: 16,
                walks: 100_000,
                gathered_rows: 1 << 16,
                loaded_seeds: 64,
                loaded_batches: 48,
            },
            Size::Medium => Shape {
                scale: 22,
                edges: 64_000_000,
                features: 128,
                sampled_batches: 64,
                walks: 500_000,
                gathered_rows: 1 << 18,
                loaded_seeds: 1024,
                loaded_batches: 64,
            },
        }
    }
}

impl Shape {
    pub fn num_nodes(&self) -> u64 {
        1 << self.scale
    }

    /// Bytes of the edges as text: two numbers, a comma and the end of the line.
    pub fn text_bytes(&self) -> u64 {
        let digits = u64::from((self.num_nodes() - 1).ilog10() + 1);
        self.edges * (2 * digits + 2)
    }

    /// Bytes of the plain lists of both directions, with their offsets.
    pub fn list_bytes(&self) -> u64 {
        2 * (4 * self.edges + 8 * self.num_nodes())
    }

    /// Bytes of the features.
    pub fn table_bytes(&self) -> u64 {
        4 * self.num_nodes() * self.features as u64
    }
}
