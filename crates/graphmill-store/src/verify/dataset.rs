//! Verification of a dataset's folder: the manifest, each file, and that they belong together.

use super::{Report, fault, ids, names, verify_file};
use crate::dataset::{check_count, check_entry, check_undirected, read_manifest};
use crate::{Error, Graph, NodeIds, Result, Table};
use graphmill_disk::{Pread, ReadAt};
use graphmill_format::manifest::{self, FileEntry, Manifest};
use graphmill_format::{ElementType, content};
use std::path::Path;
use zerocopy::FromBytes;

pub(super) fn verify_folder(folder: &Path) -> Result<Report> {
    let mut report = Report::default();
    let text = read_manifest(folder)?;
    report.files = 1;
    report.bytes = text.len() as u64;
    let manifest = match Manifest::parse(&text) {
        Ok(manifest) => manifest,
        Err(error) => {
            report.add(fault(&folder.join(manifest::FILE_NAME), "manifest", error));
            return Ok(report);
        }
    };
    for entry in manifest.files() {
        let edge = manifest.edge();
        let source_rows = (entry.name == edge.graph.name).then_some(edge.source_rows);
        check_file(folder, entry, source_rows, &mut report)?;
    }
    if report.is_sound() {
        check_counts(folder, &manifest, &mut report)?;
    }
    Ok(report)
}

fn check_file(
    folder: &Path,
    entry: &FileEntry,
    source_rows: Option<u64>,
    report: &mut Report,
) -> Result<()> {
    let path = folder.join(&entry.name);
    match Pread::open(&path) {
        Ok(file) => note(check_entry(&file, entry), &path, report)?,
        // A file that the manifest names and that is not there is a fault of the dataset.
        Err(error) => {
            report.add(fault(&path, "file", error));
            return Ok(());
        }
    }
    report.merge(verify_file(&path, source_rows)?);
    Ok(())
}

fn check_counts(folder: &Path, manifest: &Manifest, report: &mut Report) -> Result<()> {
    let (node, edge) = (manifest.node(), manifest.edge());
    let graph = Graph::open(folder.join(&edge.graph.name))?;
    note(
        check_count(graph.path(), "number of nodes", graph.num_nodes(), node.count),
        graph.path(),
        report,
    )?;
    note(
        check_count(graph.path(), "number of edges", graph.num_edges(), edge.count),
        graph.path(),
        report,
    )?;
    note(check_undirected(&graph, edge), graph.path(), report)?;
    let node_tables = node.tables.values().map(|entry| (entry, node.count));
    let edge_tables = edge.tables.values().map(|entry| (entry, edge.source_rows));
    let splits = manifest.splits.values().map(|split| (&split.file, split.count));
    for (entry, rows) in node_tables.chain(edge_tables).chain(splits) {
        let table = Table::open(folder.join(&entry.name))?;
        let count = check_count(table.path(), "number of rows", table.shape().rows(), rows);
        note(count, table.path(), report)?;
    }
    for split in manifest.splits.values() {
        check_split(&folder.join(&split.file.name), node.count, report)?;
    }
    for (table, classes) in &node.classes {
        match node.tables.get(table) {
            Some(entry) => {
                let table = Table::open(folder.join(&entry.name))?;
                ids::check_classes(&table, classes.len() as u64, report)?;
            }
            None => {
                let problem = format!("found classes of a table {table:?} that is not there");
                report.add(fault(&folder.join(manifest::FILE_NAME), "classes", problem));
            }
        }
    }
    if report.is_sound() {
        check_original_ids(folder, &graph, manifest, report)?;
    }
    Ok(())
}

/// Every node can be found by the id that it has in the source.
fn check_original_ids(
    folder: &Path,
    graph: &Graph,
    manifest: &Manifest,
    report: &mut Report,
) -> Result<()> {
    let opened = match NodeIds::open(folder, graph, manifest.node().ids.as_ref()) {
        Ok(opened) => opened,
        Err(error) => return note(Err(error), folder, report),
    };
    ids::check_ids(graph, &opened, report)?;
    if opened.are_text() {
        names::check_names(opened.names()?, report)?;
    }
    Ok(())
}

/// A split lists nodes that exist.
fn check_split(path: &Path, num_nodes: u64, report: &mut Report) -> Result<()> {
    let table = Table::open(path)?;
    if let Err(error) = table.check_vector(&[ElementType::I64]) {
        return note(Err(error), path, report);
    }
    let file = Pread::open(path)?;
    let mut bytes = vec![0; 1 << 20];
    let section = table.section();
    for start in (0..section.length()).step_by(bytes.len()) {
        let piece = (section.length() - start).min(1 << 20) as usize;
        let bytes = &mut bytes[..piece];
        file.read_exact_at(section.offset + start, bytes)?;
        let ids = <[i64]>::ref_from_bytes(bytes).unwrap_or_default();
        if let Some(at) = content::first_bad_id(ids, num_nodes) {
            let place = format!("row {}", start / 8 + at as u64);
            report.add(fault(
                path,
                &place,
                format!("found node {}, expected 0 to {num_nodes} - 1", ids[at]),
            ));
            return Ok(());
        }
    }
    Ok(())
}

/// A disagreement between manifest and file is a fault; anything else stops the verification.
fn note(result: Result<()>, path: &Path, report: &mut Report) -> Result<()> {
    match result {
        Err(
            error @ (Error::ManifestMismatch { .. } | Error::Format { .. } | Error::Corrupt { .. }),
        ) => {
            report.add(fault(path, "manifest entry", error));
            Ok(())
        }
        other => other,
    }
}
