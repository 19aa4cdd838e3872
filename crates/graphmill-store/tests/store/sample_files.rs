//! Files and datasets for the tests of this crate, made by the real writers.

use graphmill_disk::Budget;
use graphmill_format::digest::{self, BLOCK_LENGTH};
use graphmill_format::{ElementType, Header, ListOrder, Section, TableShape};
use graphmill_ingest::{
    DatasetWriter, Directions, GraphOptions, MemoryEdges, write_graph, write_table,
};
use std::fs;
use std::path::Path;

pub const SOURCES: [i64; 6] = [0, 0, 1, 2, 2, 4];
pub const DESTINATIONS: [i64; 6] = [2, 1, 2, 0, 0, 4];
pub const WEIGHTS: [f32; 6] = [0.5, 1.0, 2.0, 0.0, 3.0, 4.0];

pub fn budget() -> Budget {
    Budget::new(64 << 20)
}

pub fn edges() -> MemoryEdges<'static, i64> {
    MemoryEdges::new(&SOURCES, &DESTINATIONS, Some(5)).unwrap()
}

/// Both directions, weighted.
pub fn small_graph(path: &Path) {
    let options = GraphOptions::new().weights(&WEIGHTS);
    write_graph(path, &edges(), &options, &budget(), true).unwrap();
}

pub fn graph_with(path: &Path, directions: Directions, order: ListOrder) {
    let options = GraphOptions::new().directions(directions).order(order);
    write_graph(path, &edges(), &options, &budget(), true).unwrap();
}

/// `rows` x `columns`; element (r, c) is `r * columns + c + start`.
pub fn table(path: &Path, rows: u64, columns: u64, start: f32) {
    let shape = TableShape::matrix(rows, columns, ElementType::F32).unwrap();
    let row = |row: u64| -> Vec<u8> {
        let values = (0..columns).map(|column| (row * columns + column) as f32 + start);
        values.flat_map(f32::to_le_bytes).collect()
    };
    write_table(path, shape, (0..rows).map(|number| Ok(row(number))), true).unwrap();
}

/// A dataset of 5 nodes in which every value of `x` and `y` is `mark`, replacing what is there.
pub fn dataset(folder: &Path, mark: i64) {
    let mut writer = DatasetWriter::begin(folder, true).unwrap();
    writer.graph(&edges(), &GraphOptions::new().weights(&WEIGHTS), &budget()).unwrap();
    let shape = TableShape::matrix(5, 3, ElementType::I64).unwrap();
    let rows: Vec<u8> = (0..15).flat_map(|_| mark.to_le_bytes()).collect();
    writer.table("x", shape, |table| table.write_rows(&rows)).unwrap();
    let shape = TableShape::vector(5, ElementType::I64).unwrap();
    writer.table("y", shape, |table| table.write_rows(&rows[..40])).unwrap();
    writer.split("train", &[0, 3]).unwrap();
    writer.publish().unwrap();
}

/// Changes the bytes of a file and makes its digests and checksums right again: a file that lies.
pub fn lie(path: &Path, change: impl FnOnce(&Header, &mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    let mut header = Header::parse(&bytes[..4096], bytes.len() as u64).unwrap();
    change(&header, &mut bytes);
    let (last, sections) = header.sections().split_last().unwrap();
    let digests: Vec<u64> = sections
        .iter()
        .flat_map(|section| {
            bytes[section.offset as usize..section.end() as usize].chunks(BLOCK_LENGTH as usize)
        })
        .map(digest::digest)
        .collect();
    let table = digest::encode(&digests);
    bytes[last.offset as usize..last.end() as usize].copy_from_slice(&table);
    header.seal(&table);
    bytes[..4096].copy_from_slice(&header.encode());
    fs::write(path, bytes).unwrap();
}

pub fn put(bytes: &mut [u8], section: &Section, element: usize, value: &[u8]) {
    let at = section.offset as usize + element * value.len();
    bytes[at..at + value.len()].copy_from_slice(value);
}
