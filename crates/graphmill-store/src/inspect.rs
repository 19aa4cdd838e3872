//! What is in a file: the facts that `graphmill inspect` and `repr` tell.

use crate::{Dataset, Graph, IdKind, Result, Table};
use graphmill_disk::{ReadAt, Residency, residency};
use graphmill_format::{Direction, Section, SectionKind};
use std::collections::BTreeMap;

/// How many neighbours nodes have in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Degrees {
    /// The largest.
    pub largest: u64,
    /// The mean.
    pub mean: f64,
    /// The share of nodes with none.
    pub isolated: f64,
}

/// Reads all offsets of a direction and sums them up.
pub fn degrees(graph: &Graph, direction: Direction) -> Result<Degrees> {
    let lists = graph.lists(direction)?;
    let (mut largest, mut isolated) = (0, 0_u64);
    for node in 0..graph.num_nodes() {
        let degree = lists.degree(node)?;
        largest = degree.max(largest);
        isolated += u64::from(degree == 0);
    }
    let nodes = graph.num_nodes().max(1) as f64;
    Ok(Degrees {
        largest,
        mean: graph.num_edges() as f64 / nodes,
        isolated: isolated as f64 / nodes,
    })
}

/// Bits that topology takes per stored edge, offsets included; edge ids, weights and times are not topology.
pub fn bits_per_edge(graph: &Graph) -> Option<f64> {
    let layout = graph.layout();
    let bytes = |section: &Section| section.length();
    let directions = layout.directions.len() as u64;
    let total: u64 = layout
        .directions
        .iter()
        .map(|lists| bytes(&lists.offsets) + bytes(&lists.neighbours))
        .sum();
    let edges = layout.num_edges * directions;
    (edges > 0).then(|| total as f64 * 8.0 / edges as f64)
}

/// The type of the neighbours, or that they are packed.
pub fn encoding(graph: &Graph) -> &'static str {
    match &graph.layout().directions[0] {
        lists if lists.is_packed() => "packed",
        lists => lists.neighbours.element.name(),
    }
}

/// The sections of a file with their sizes, for a table of contents.
pub fn contents(sections: &[Section]) -> Vec<(String, u64)> {
    let visible = sections.iter().filter(|section| section.kind != Some(SectionKind::Digests));
    visible.map(|section| (section.to_string(), section.length())).collect()
}

/// How the nodes of a dataset were numbered, and which numbers in tables have names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// By what the nodes are ordered; `none` if as in the source.
    pub order: String,
    /// What the ids of the source are.
    pub ids: IdKind,
    /// How many classes have names, by table.
    pub classes: BTreeMap<String, usize>,
}

/// Looks at two ids at most.
pub fn numbering(dataset: &Dataset) -> Result<Numbering> {
    let manifest = dataset.manifest();
    let classes = manifest.node().classes.iter();
    Ok(Numbering {
        order: manifest.order.clone(),
        ids: dataset.ids().kind()?,
        classes: classes.map(|(table, names)| (table.clone(), names.len())).collect(),
    })
}

/// How much of a topology is in the page cache.
pub fn graph_residency(graph: &Graph) -> Option<Residency> {
    residency(graph.mapped().file(), graph.mapped().len())
}

/// How much of a table is in the page cache.
pub fn table_residency(table: &Table) -> Option<Residency> {
    residency(table.mapped().file(), table.mapped().len())
}
