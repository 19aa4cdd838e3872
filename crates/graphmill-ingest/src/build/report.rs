//! What a build did, for the report at its end.
//! Stages are timed as they pass; counts come from those who counted. It must not print.

use std::time::{Duration, Instant};

use graphmill_format::{ElementType, Manifest};

use crate::edge_sort::EdgeSortReport;
use crate::source::ReadReport;

/// What was built, from what, and how long it took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuildReport {
    /// The dataset as it was published.
    pub manifest: Manifest,
    /// Rows of the edges as they were read.
    pub edges: ReadReport,
    /// What became of them.
    pub topology: EdgeSortReport,
    /// Every table in the order in which it was read.
    pub tables: Vec<TableReport>,
    /// Names and lengths of the splits.
    pub splits: Vec<(String, u64)>,
    /// How long each stage took.
    pub stages: Vec<(&'static str, Duration)>,
    /// The most of the budget that was in use at once.
    pub peak_memory: u64,
}

/// What became of one table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableReport {
    /// Its name in the dataset.
    pub name: String,
    /// Whether it belongs to the edges.
    pub of_edges: bool,
    /// Cells of a row.
    pub columns: u64,
    /// The type of the cells.
    pub element: ElementType,
    /// Whether a column of ids says whose row each is.
    pub by_ids: bool,
    /// Rows as they were read.
    pub read: ReadReport,
    /// Rows without a source, which hold zeros, or -1 for labels.
    pub filled: u64,
    /// Rows that were left out because their node has another.
    pub duplicates: u64,
    /// Names of the classes, if the cells were words.
    pub classes: usize,
}

impl BuildReport {
    /// Bytes of the dataset.
    pub fn bytes(&self) -> u64 {
        self.manifest.files().map(|file| file.bytes).sum()
    }

    /// Rows of all sources that could not be used and were left out, as asked for.
    pub fn skipped(&self) -> u64 {
        self.edges.skipped + self.tables.iter().map(|table| table.read.skipped).sum::<u64>()
    }
}

/// Times the stages of a build, each from the end of the one before.
pub(super) struct Stopwatch {
    last: Instant,
    stages: Vec<(&'static str, Duration)>,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Stopwatch { last: Instant::now(), stages: Vec::new() }
    }

    /// The time since the last lap belongs to `stage`; a stage may come again.
    pub(super) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        let passed = now - std::mem::replace(&mut self.last, now);
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sum)) => *sum += passed,
            None => self.stages.push((stage, passed)),
        }
    }

    pub(super) fn finish(self) -> Vec<(&'static str, Duration)> {
        self.stages
    }
}
