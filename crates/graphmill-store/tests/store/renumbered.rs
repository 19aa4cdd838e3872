//! Datasets whose nodes have other numbers than ids, made as a build makes them.

use crate::sample_files::budget;
use graphmill_format::manifest::{self, FileEntry, NODE_TYPE};
use graphmill_format::{ElementType, Manifest, TableShape};
use graphmill_ingest::{DatasetWriter, GraphOptions, MemoryEdges, write_table};
use graphmill_store::Dataset;
use std::fs;
use std::path::Path;

/// What a dataset is made from: node number i has id `originals[i]`.
#[derive(Clone, Debug)]
pub struct Plan {
    pub originals: Vec<i64>,
    /// Names in ascending order; the originals are then places among them.
    pub names: Option<Vec<String>>,
    /// Whether places are stored with 8 bytes although 4 would do.
    pub wide: bool,
}

impl Plan {
    pub fn of(originals: &[i64]) -> Self {
        Plan { originals: originals.to_vec(), names: None, wide: false }
    }

    pub fn named(originals: &[i64], names: &[&str]) -> Self {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Plan { names: Some(names), ..Self::of(originals) }
    }

    /// Numbers in ascending order of original id, found the slow way.
    pub fn places(&self) -> Vec<i64> {
        let mut places: Vec<i64> = (0..self.originals.len() as i64).collect();
        places.sort_by_key(|&number| self.originals[number as usize]);
        places
    }

    /// Writes the dataset, in a ring of edges from each number to the next.
    pub fn write(&self, folder: &Path) -> Dataset {
        let count = self.originals.len() as i64;
        let places = self.places();
        let in_order = places.is_sorted();
        let sources: Vec<i64> = (0..count).collect();
        let destinations: Vec<i64> = sources.iter().map(|node| (node + 1) % count).collect();
        let edges = MemoryEdges::new(&sources, &destinations, None).unwrap();
        let mut options = GraphOptions::new();
        // A build leaves the section out where it would say nothing.
        if !(self.names.is_some() && in_order) {
            options = options.original_ids(&self.originals);
        }
        let mut writer = DatasetWriter::begin(folder, true).unwrap();
        writer.graph(&edges, &options, &budget()).unwrap();
        writer.order(if in_order { "none" } else { "hot" }).unwrap();
        if !in_order {
            writer.id_places(&places).unwrap();
        }
        if let Some(names) = &self.names {
            writer.id_names(names).unwrap();
        }
        let shape = TableShape::vector(count as u64, ElementType::I64).unwrap();
        let labels: Vec<u8> = (0..count).flat_map(|node| (node % 3 - 1).to_le_bytes()).collect();
        writer.table("y", shape, |table| table.write_rows(&labels)).unwrap();
        writer.classes("y", vec!["cat".to_owned(), "dog".to_owned()]).unwrap();
        writer.split("train", &[1, 0]).unwrap();
        let manifest = writer.publish().unwrap();
        if self.wide && !in_order {
            let shape = TableShape::vector(count as u64, ElementType::I64).unwrap();
            let bytes: Vec<u8> = places.iter().flat_map(|place| place.to_le_bytes()).collect();
            let name = &manifest.node().ids.as_ref().unwrap().places.as_ref().unwrap().name;
            write_table(&folder.join(name), shape, [Ok(bytes)], true).unwrap();
            publish_again(folder);
        }
        Dataset::open(folder, budget()).unwrap()
    }
}

/// Lets the manifest describe the files as they are now.
pub fn publish_again(folder: &Path) {
    let path = folder.join(manifest::FILE_NAME);
    let mut manifest = Manifest::parse(&fs::read(&path).unwrap()).unwrap();
    let again = |entry: &mut FileEntry| {
        let bytes = fs::read(folder.join(&entry.name)).unwrap();
        *entry = FileEntry::new(entry.name.clone(), bytes.len() as u64, &bytes);
    };
    again(&mut manifest.edges.get_mut(manifest::EDGE_TYPE).unwrap().graph);
    let node = manifest.nodes.get_mut(NODE_TYPE).unwrap();
    node.tables.values_mut().for_each(again);
    let ids = node.ids.as_mut().unwrap();
    ids.places.iter_mut().for_each(again);
    ids.names.iter_mut().for_each(|names| {
        again(&mut names.text);
        again(&mut names.ends);
    });
    fs::write(path, manifest.encode()).unwrap();
}
