//! Reads what was written with the format crate alone, checking digests and padding on the way.

use std::path::Path;

use graphmill_format::packed::PackedSequence;
use graphmill_format::{
    Direction, ElementType, GraphLayout, Header, Section, TableShape, content, digest, graphzero,
};

/// One stored edge as a reader sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stored {
    pub neighbour: u64,
    pub row: Option<i64>,
    pub weight: Option<f32>,
    pub time: Option<i64>,
}

/// A topology, list by list.
#[derive(Debug)]
pub struct Graph {
    pub layout: GraphLayout,
    pub lists: Vec<(Direction, Vec<Vec<Stored>>)>,
    pub original_ids: Option<Vec<i64>>,
}

/// The header of a file of ours, after a look at every byte that it describes.
pub fn container(bytes: &[u8]) -> Header {
    let header = Header::parse(bytes, bytes.len() as u64).unwrap();
    let (table, data) = header.sections().split_last().unwrap();
    let mut digests = Vec::new();
    for section in data {
        let range = section.offset as usize..section.end() as usize;
        digests.extend(bytes[range].chunks(digest::BLOCK_LENGTH as usize).map(digest::digest));
        let padding = &bytes[section.end() as usize..section.padded_end() as usize];
        assert_eq!(content::first_nonzero(padding), None, "padding after {section}");
    }
    let stored = &bytes[table.offset as usize..table.end() as usize];
    assert_eq!(stored, digest::encode(&digests));
    assert_eq!(digest::digest(stored), header.digest_of_digests());
    header
}

pub fn graph(path: &Path) -> Graph {
    let bytes = std::fs::read(path).unwrap();
    let layout = container(&bytes).graph_layout().unwrap();
    decode(&bytes, layout)
}

pub fn graphzero_graph(path: &Path) -> Graph {
    let bytes = std::fs::read(path).unwrap();
    let layout = graphzero::parse_graph(&bytes, bytes.len() as u64).unwrap();
    decode(&bytes, layout)
}

fn decode(bytes: &[u8], layout: GraphLayout) -> Graph {
    let mut lists = Vec::new();
    for sections in &layout.directions {
        let packed = |section: &Section, count: u64| {
            let data = &bytes[section.offset as usize..section.end() as usize];
            let sequence = PackedSequence::new(data, count).unwrap();
            assert_eq!(sequence.first_bad_block(), None, "{section}");
            (0..count).map(|index| sequence.get(index).unwrap()).collect::<Vec<u64>>()
        };
        let offsets = match sections.is_packed() {
            true => packed(&sections.offsets, layout.num_nodes + 1),
            false => eights(bytes, &sections.offsets),
        };
        let neighbours: Vec<u64> = match sections.neighbours.element {
            _ if sections.is_packed() => packed(&sections.neighbours, layout.num_edges),
            ElementType::I64 => eights(bytes, &sections.neighbours),
            _ => fours(bytes, &sections.neighbours).map(u64::from).collect(),
        };
        let rows = sections.edge_ids.map(|section| eights(bytes, &section));
        let times = sections.edge_times.map(|section| eights(bytes, &section));
        let weights: Option<Vec<f32>> =
            sections.weights.map(|section| fours(bytes, &section).map(f32::from_bits).collect());
        assert_eq!(offsets[0], 0);
        assert_eq!(*offsets.last().unwrap(), layout.num_edges);
        let stored = |at: usize| Stored {
            neighbour: neighbours[at],
            row: rows.as_ref().map(|rows| rows[at] as i64),
            weight: weights.as_ref().map(|weights| weights[at]),
            time: times.as_ref().map(|times| times[at] as i64),
        };
        let of_nodes = offsets
            .windows(2)
            .map(|ends| (ends[0] as usize..ends[1] as usize).map(stored).collect())
            .collect();
        lists.push((sections.direction, of_nodes));
    }
    let original_ids = layout
        .original_ids
        .map(|section| eights(bytes, &section).into_iter().map(|id| id as i64).collect());
    Graph { layout, lists, original_ids }
}

/// Shape and rows of a `.gd`, without padding, whose bytes are checked to be zero.
pub fn table(path: &Path) -> (TableShape, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let header = container(&bytes);
    let shape = header.table_shape().unwrap();
    let section = header.table_section().unwrap();
    let mut rows = Vec::new();
    if shape.stride() > 0 {
        let data = &bytes[section.offset as usize..section.end() as usize];
        for row in data.chunks(shape.stride() as usize) {
            let (values, padding) = row.split_at(shape.row_length() as usize);
            rows.extend(values);
            assert_eq!(content::first_nonzero(padding), None);
        }
    }
    (shape, rows)
}

pub fn integers(rows: &[u8]) -> Vec<i64> {
    rows.chunks(8).map(|value| i64::from_le_bytes(value.try_into().unwrap())).collect()
}

fn eights(bytes: &[u8], section: &Section) -> Vec<u64> {
    let data = &bytes[section.offset as usize..section.end() as usize];
    data.chunks(8).map(|value| u64::from_le_bytes(value.try_into().unwrap())).collect()
}

fn fours<'a>(bytes: &'a [u8], section: &Section) -> impl Iterator<Item = u32> + 'a {
    let data = &bytes[section.offset as usize..section.end() as usize];
    data.chunks(4).map(|value| u32::from_le_bytes(value.try_into().unwrap()))
}
