//! The facts as a person wants to read them: what it is, then one fact a line, then a table of contents.
//! It must not know where facts come from.

use super::facts::{DatasetFacts, Facts, FileFacts, SectionFacts, TableFacts, TopologyFacts};
use crate::columns::{Row, columns, row};
use crate::counts::{counted, grouped};
use graphmill::disk::format_size;
use std::collections::BTreeMap;

/// The whole text, each line ended.
pub fn describe(facts: &Facts) -> String {
    let lines = match facts {
        Facts::Topology(topology) => {
            let mut lines = title(&topology.file, "topology");
            lines.extend(columns([topology_facts(topology), file_facts(&topology.file)].concat()));
            lines.extend(section_lines(&topology.sections));
            lines
        }
        Facts::Table(table) => {
            let mut lines = title(&table.file, "table");
            lines.extend(columns([table_facts(table), file_facts(&table.file)].concat()));
            lines.extend(section_lines(&table.sections));
            lines
        }
        Facts::Dataset(dataset) => dataset_lines(dataset),
    };
    lines.join("\n") + "\n"
}

fn title(file: &FileFacts, kind: &str) -> Vec<String> {
    let FileFacts { path, written_by, format_version, .. } = file;
    vec![format!("{path}: {kind}, format {format_version}, written by {written_by}")]
}

fn topology_facts(topology: &TopologyFacts) -> Vec<Row> {
    let edges = grouped(topology.num_edges);
    let extras: Vec<_> = [
        ("edge ids", topology.has_edge_ids),
        ("weights", topology.has_weights),
        ("times", topology.has_times),
        ("original node ids", topology.has_original_ids),
    ]
    .into_iter()
    .filter_map(|(name, is_there)| is_there.then_some(name))
    .collect();
    let directions = match topology.directions[..] {
        _ if topology.undirected => "one set of lists for both (undirected)".to_owned(),
        [one] => format!("{one} only"),
        _ => topology.directions.join(" and "),
    };
    let lists = format!("{}, in {} order", topology.index_dtype, topology.neighbor_order);
    let mut rows = vec![
        row(["nodes", &grouped(topology.num_nodes)]),
        row(["edges", &edges]),
        row(["directions", &directions]),
        row(["neighbours", &lists]),
    ];
    if !extras.is_empty() {
        rows.push(row(["also stored", &extras.join(", ")]));
    }
    if let Some(bits) = topology.bits_per_edge {
        rows.push(row(["bits per edge", &format!("{bits:.1}")]));
    }
    for (direction, degrees) in &topology.degrees {
        let label =
            if topology.undirected { "degrees".to_owned() } else { format!("{direction}-degrees") };
        let value = format!(
            "largest {}, mean {:.2}, {:.1}% of nodes have none",
            grouped(degrees.largest),
            degrees.mean,
            degrees.isolated * 100.0
        );
        rows.push(vec![label, value]);
    }
    rows
}

fn table_facts(table: &TableFacts) -> Vec<Row> {
    vec![
        row(["shape", &shape(table)]),
        row(["type", table.dtype]),
        row(["row", &counted(table.row_bytes, "byte", "bytes")]),
    ]
}

fn file_facts(file: &FileFacts) -> Vec<Row> {
    vec![row(["on disk", &format_size(file.bytes)]), row(["in page cache", &percent(file.cached)])]
}

fn section_lines(sections: &[SectionFacts]) -> Vec<String> {
    let section = |section: &SectionFacts| {
        vec![
            section.name.clone(),
            format!("{} x {}", grouped(section.count), section.dtype),
            format_size(section.bytes),
        ]
    };
    [vec!["sections".to_owned()], columns(sections.iter().map(section).collect())].concat()
}

fn dataset_lines(dataset: &DatasetFacts) -> Vec<String> {
    let mut lines = title(&dataset.file, "dataset");
    let mut facts = topology_facts(&dataset.graph);
    let order = match dataset.order.as_str() {
        "none" => "as in the source",
        other => other,
    };
    facts.push(row(["source rows", &grouped(dataset.source_rows)]));
    facts.push(row(["node order", order]));
    if dataset.ids != "same" {
        facts.push(row(["original ids", dataset.ids]));
    }
    for (table, classes) in &dataset.classes {
        facts.push(vec![format!("classes of {table}"), grouped(*classes as u64)]);
    }
    facts.push(row(["generation", &dataset.generation.to_string()]));
    facts.extend(file_facts(&dataset.file));
    lines.extend(columns(facts));
    lines.extend(section_lines(&dataset.graph.sections));
    for (heading, tables) in [
        ("tables", &dataset.tables),
        ("edge tables", &dataset.edge_tables),
        ("splits", &dataset.splits),
    ] {
        lines.extend(table_lines(heading, tables));
    }
    lines
}

fn table_lines(heading: &str, tables: &BTreeMap<String, TableFacts>) -> Vec<String> {
    if tables.is_empty() {
        return Vec::new();
    }
    let table = |(name, table): (&String, &TableFacts)| {
        vec![
            name.clone(),
            format!("{} {}", shape(table), table.dtype),
            format_size(table.file.bytes),
            format!("{} cached", percent(table.file.cached)),
        ]
    };
    [vec![heading.to_owned()], columns(tables.iter().map(table).collect())].concat()
}

fn shape(table: &TableFacts) -> String {
    let lengths: Vec<_> = table.shape.iter().map(|&length| grouped(length)).collect();
    lengths.join(" x ")
}

fn percent(share: Option<f64>) -> String {
    // Rounded down: 100% shall mean all of it.
    share.map_or_else(|| "unknown".to_owned(), |share| format!("{}%", (share * 100.0).floor()))
}
