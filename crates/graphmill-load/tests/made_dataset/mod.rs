//! A small dataset whose every row can be told from its node or edge.

use graphmill_disk::Budget;
use graphmill_format::{ElementType, TableShape};
use graphmill_ingest::{DatasetWriter, GraphOptions, MemoryEdges};
use graphmill_store::Dataset;
use std::path::PathBuf;

pub const NODES: i64 = 300;
pub const EDGES: i64 = 3000;

pub struct MadeDataset {
    folder: tempfile::TempDir,
}

impl MadeDataset {
    pub fn new(options: GraphOptions<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = DatasetWriter::begin(&folder.path().join("made"), false).unwrap();
        let (sources, destinations): (Vec<i64>, Vec<i64>) = (0..EDGES).map(edge).unzip();
        let edges = MemoryEdges::new(&sources, &destinations, Some(NODES as u64)).unwrap();
        writer.graph(&edges, &options, &Budget::new(1 << 20)).unwrap();
        let shape = TableShape::matrix(NODES as u64, 3, ElementType::F32).unwrap();
        let rows: Vec<u8> = (0..NODES).flat_map(x_row).collect();
        writer.table("x", shape, |table| table.write_rows(&rows)).unwrap();
        let shape = TableShape::vector(NODES as u64, ElementType::I64).unwrap();
        let rows: Vec<u8> = (0..NODES).flat_map(y_row).collect();
        writer.table("y", shape, |table| table.write_rows(&rows)).unwrap();
        let shape = TableShape::matrix(EDGES as u64, 1, ElementType::I16).unwrap();
        let rows: Vec<u8> = (0..EDGES).flat_map(edge_row).collect();
        writer.edge_table("edge_attr", shape, |table| table.write_rows(&rows)).unwrap();
        writer.publish().unwrap();
        MadeDataset { folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("made")
    }

    pub fn open(&self, budget: u64) -> Dataset {
        Dataset::open(self.path(), Budget::new(budget)).unwrap()
    }
}

/// Source and destination of an edge; low ids are hubs.
pub fn edge(row: i64) -> (i64, i64) {
    let mixed = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let (one, other) = (mixed as i64 % NODES, (mixed >> 20) as i64 % NODES);
    (one * other / NODES, other)
}

pub fn x_row(node: i64) -> Vec<u8> {
    [0.0, 0.5, 0.25].iter().flat_map(|part| (node as f32 + part).to_le_bytes()).collect()
}

pub fn y_row(node: i64) -> Vec<u8> {
    (node * 7 - 3).to_le_bytes().to_vec()
}

pub fn edge_row(row: i64) -> Vec<u8> {
    (row as i16).to_le_bytes().to_vec()
}
