//! The facts about a file or a dataset, gathered once.
//! The names of the fields are the keys of `inspect --json`: programs read them, so they stay. It must not know how
//! facts are shown.

use graphmill::disk::{Advice, ReadAt, Residency};
use graphmill::format::{Section, manifest};
use graphmill::store::{Dataset, Graph, Origin, Table, inspect};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Facts {
    Topology(TopologyFacts),
    Table(TableFacts),
    Dataset(Box<DatasetFacts>),
}

/// What can be said of every file.
#[derive(Debug, Serialize)]
pub struct FileFacts {
    pub path: String,
    pub written_by: String,
    pub format_version: String,
    pub bytes: u64,
    /// From 0 to 1.
    pub cached: Option<f64>,
    #[serde(skip)]
    residency: Option<Residency>,
}

#[derive(Debug, Serialize)]
pub struct TopologyFacts {
    #[serde(flatten)]
    pub file: FileFacts,
    pub num_nodes: u64,
    pub num_edges: u64,
    pub undirected: bool,
    pub directions: Vec<&'static str>,
    pub neighbor_order: &'static str,
    pub index_dtype: &'static str,
    pub has_edge_ids: bool,
    pub has_weights: bool,
    pub has_times: bool,
    pub has_original_ids: bool,
    pub bits_per_edge: Option<f64>,
    pub degrees: BTreeMap<&'static str, DegreeFacts>,
    pub sections: Vec<SectionFacts>,
}

#[derive(Debug, Serialize)]
pub struct DegreeFacts {
    pub largest: u64,
    pub mean: f64,
    /// Share of the nodes, from 0 to 1.
    pub isolated: f64,
}

#[derive(Debug, Serialize)]
pub struct SectionFacts {
    pub name: String,
    pub dtype: &'static str,
    pub count: u64,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
pub struct TableFacts {
    #[serde(flatten)]
    pub file: FileFacts,
    pub shape: Vec<u64>,
    pub dtype: &'static str,
    /// From one row to the next.
    pub row_bytes: u64,
    pub sections: Vec<SectionFacts>,
}

#[derive(Debug, Serialize)]
pub struct DatasetFacts {
    #[serde(flatten)]
    pub file: FileFacts,
    pub generation: u64,
    pub order: String,
    /// What the ids of the source are.
    pub ids: &'static str,
    /// How many classes have names, by table.
    pub classes: BTreeMap<String, usize>,
    pub num_nodes: u64,
    pub num_edges: u64,
    pub source_rows: u64,
    pub undirected: bool,
    pub graph: TopologyFacts,
    pub tables: BTreeMap<String, TableFacts>,
    pub edge_tables: BTreeMap<String, TableFacts>,
    pub splits: BTreeMap<String, TableFacts>,
}

pub fn of_graph(graph: &Graph) -> anyhow::Result<TopologyFacts> {
    let layout = graph.layout();
    let version = graph.header().map(|header| header.version());
    // Asked before the offsets are read, which would change the answer.
    let file = file_facts(
        graph.path(),
        graph.origin(),
        version,
        graph.mapped().len(),
        inspect::graph_residency(graph),
    );
    let mut degrees = BTreeMap::new();
    for lists in &layout.directions {
        let offsets = lists.offsets.offset..lists.offsets.end();
        graph.mapped().advise(Advice::Sequential, offsets)?;
        let inspect::Degrees { largest, mean, isolated } =
            inspect::degrees(graph, lists.direction)?;
        degrees.insert(lists.direction.name(), DegreeFacts { largest, mean, isolated });
    }
    let first = &layout.directions[0];
    let sections: Vec<Section> = match graph.header() {
        Some(header) => header.sections().to_vec(),
        None => [Some(first.offsets), Some(first.neighbours), first.weights]
            .into_iter()
            .flatten()
            .collect(),
    };
    Ok(TopologyFacts {
        file,
        num_nodes: layout.num_nodes,
        num_edges: layout.num_edges,
        undirected: layout.undirected,
        directions: layout.directions.iter().map(|lists| lists.direction.name()).collect(),
        neighbor_order: layout.order.name(),
        index_dtype: inspect::encoding(graph),
        has_edge_ids: graph.has_edge_ids(),
        has_weights: graph.has_weights(),
        has_times: first.edge_times.is_some(),
        has_original_ids: layout.original_ids.is_some(),
        bits_per_edge: inspect::bits_per_edge(graph),
        degrees,
        sections: section_facts(&sections),
    })
}

pub fn of_table(table: &Table) -> TableFacts {
    let shape = table.shape();
    let version = table.header().map(|header| header.version());
    let sections = match table.header() {
        Some(header) => section_facts(header.sections()),
        None => section_facts(&[*table.section()]),
    };
    TableFacts {
        file: file_facts(
            table.path(),
            table.origin(),
            version,
            table.mapped().len(),
            inspect::table_residency(table),
        ),
        shape: if shape.is_vector() {
            vec![shape.rows()]
        } else {
            vec![shape.rows(), shape.columns()]
        },
        dtype: shape.element().name(),
        row_bytes: shape.stride(),
        sections,
    }
}

pub fn of_dataset(dataset: &Dataset) -> anyhow::Result<Facts> {
    let manifest = dataset.manifest();
    let edge = manifest.edge();
    let numbering = inspect::numbering(dataset)?;
    let named = |tables: &BTreeMap<String, Table>| -> BTreeMap<String, TableFacts> {
        tables.iter().map(|(name, table)| (name.clone(), of_table(table))).collect()
    };
    let graph = of_graph(dataset.graph())?;
    let (tables, edge_tables, splits) =
        (named(dataset.tables()), named(dataset.edge_tables()), named(dataset.splits()));
    let table_files = tables.values().chain(edge_tables.values()).chain(splits.values());
    let files: Vec<_> = table_files.map(|table| &table.file).chain([&graph.file]).collect();
    let residency = files.iter().map(|file| file.residency).try_fold(
        Residency { total_pages: 0, cached_pages: 0 },
        |sum, next| {
            let next = next?;
            Some(Residency {
                total_pages: sum.total_pages + next.total_pages,
                cached_pages: sum.cached_pages + next.cached_pages,
            })
        },
    );
    let own = std::fs::metadata(dataset.path().join(manifest::FILE_NAME));
    let bytes = manifest.files().map(|file| file.bytes).sum::<u64>();
    let bytes = bytes + own.map_or(0, |own| own.len());
    let file = FileFacts {
        path: dataset.path().display().to_string(),
        written_by: manifest.created_by.clone(),
        format_version: graph.file.format_version.clone(),
        bytes,
        cached: residency.map(|residency| residency.fraction()),
        residency,
    };
    Ok(Facts::Dataset(Box::new(DatasetFacts {
        file,
        generation: manifest.generation,
        order: numbering.order,
        ids: numbering.ids.name(),
        classes: numbering.classes,
        num_nodes: graph.num_nodes,
        num_edges: graph.num_edges,
        source_rows: edge.source_rows,
        undirected: edge.undirected,
        graph,
        tables,
        edge_tables,
        splits,
    })))
}

fn file_facts(
    path: &Path,
    origin: Origin,
    version: Option<(u16, u16)>,
    bytes: u64,
    residency: Option<Residency>,
) -> FileFacts {
    let (written_by, format_version) = match (origin, version) {
        (Origin::Graphmill, Some((major, minor))) => ("graphmill", format!("{major}.{minor}")),
        // Its files do not say; only one layout is known.
        _ => ("GraphZero", "0.2".to_owned()),
    };
    FileFacts {
        path: path.display().to_string(),
        written_by: written_by.to_owned(),
        format_version,
        bytes,
        cached: residency.map(|residency| residency.fraction()),
        residency,
    }
}

fn section_facts(sections: &[Section]) -> Vec<SectionFacts> {
    let facts = |section: &Section| SectionFacts {
        name: section.to_string(),
        dtype: section.element.name(),
        count: section.count,
        bytes: section.length(),
    };
    sections.iter().map(facts).collect()
}
