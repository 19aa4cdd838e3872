//! Tables into tables: ours, GraphZero's, NumPy's, and rows of text or Parquet; ours also into text.
//! What lies row after row in a file is copied by all threads; what has to be parsed first is placed
//! by its number or its id. It must not know topologies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphmill_disk::{Budget, FileDraft, FileSystem, RealFileSystem};
use graphmill_format::graphzero;

use super::{ConvertOptions, Converted, TargetKind};
use crate::node_naming::NodeNaming;
use crate::npy::NpyHeader;
use crate::placement::{
    CopyOptions, Duplicates, Fill, Layout, Placement, PlacementReport, TableFile, TablePlan,
    Targets, copy_plain, copy_table,
};
use crate::progress::Observer;
use crate::source::{OnBadRow, ReadReport, TableChunk, TableInput, TableInputOptions};
use crate::stored_dataset::StoredDataset;
use crate::table_csv::{RowIds, write_table_csv};
#[cfg(feature = "parquet")]
use crate::table_parquet::write_table_parquet;
use crate::table_writer::Written;
use crate::{Error, Result};

#[cfg(test)]
mod tests;

/// A table with gaps may be this large whatever its ids are.
const SMALL_TABLE: u64 = 64 << 20;
/// Rows of a larger one for each row that was given.
const SPARSEST: u64 = 4;

/// Rows and bytes written from tables, one after the other.
pub(super) fn convert(
    paths: &[PathBuf],
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let budget = options.memory();
    let input = TableInput::open(paths, &options.table.clone().budget(&budget))?;
    if let Some(table) = input.plain_rows()? {
        let (rows, length) = copy(&table, None, target, kind, options)?;
        return Ok(Converted { rows, length, ..Converted::default() });
    }
    let duplicates = match options.table.on_bad_row {
        _ if options.last_row_wins => Duplicates::KeepLast,
        OnBadRow::Stop => Duplicates::Refuse,
        OnBadRow::Skip => Duplicates::KeepFirst,
    };
    let wanted = RowOptions {
        duplicates,
        align_rows: options.align_rows,
        overwrite: options.overwrite,
        num_rows: options.num_nodes,
    };
    let report = convert_rows(&input, target, kind, &wanted, &budget, options.observer)?;
    let RowsReport { rows, length, read, placed } = report;
    let (skipped, filled) = (read.skipped, placed.filled);
    Ok(Converted { rows, length, skipped, filled, left_out: Vec::new() })
}

/// Writes a table of a dataset, with the ids of its rows where the target has room for them.
pub(super) fn export(
    folder: &Path,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<Converted> {
    let dataset = StoredDataset::open(folder)?;
    let name = options.exported_table.as_deref().unwrap_or_default();
    let (node, edge) = (dataset.manifest.node(), dataset.manifest.edge());
    let of_nodes = node.tables.get(name);
    let Some(entry) = of_nodes.or_else(|| edge.tables.get(name)) else {
        let known: Vec<&str> =
            node.tables.keys().chain(edge.tables.keys()).map(|name| &**name).collect();
        let expected =
            if known.is_empty() { "a dataset with tables".to_owned() } else { known.join(", ") };
        let remedy = "name one of its tables";
        return Err(
            Error::source("tables", format!("no table {name:?}"), expected, remedy).in_file(folder)
        );
    };
    let input = TableInput::open(&[dataset.path(entry)], &TableInputOptions::new())?;
    let table = input.plain_rows()?.ok_or_else(|| {
        let remedy = "run `graphmill verify`, and build the dataset again";
        Error::source("table", "rows that cannot be copied", "rows of numbers", remedy)
    })?;
    let budget = options.memory();
    let has_ids = matches!(kind, TargetKind::Csv | TargetKind::Parquet);
    let naming = match of_nodes {
        Some(_) if has_ids && !options.internal_ids => dataset.naming(&budget)?,
        _ => NodeNaming::Numbers,
    };
    let column = if of_nodes.is_some() { "id" } else { "edge_id" };
    let ids = RowIds { column, naming: &naming };
    let (rows, length) = copy(&table, has_ids.then_some((name, &ids)), target, kind, options)?;
    let is_renumbered = node.ids.is_some() && of_nodes.is_some();
    let lost = [
        (is_renumbered && (!has_ids || options.internal_ids), "original ids"),
        (node.classes.contains_key(name), "names of classes"),
    ];
    let left_out = lost.iter().filter(|(is, _)| *is).map(|(_, what)| (*what).to_owned()).collect();
    Ok(Converted { rows, length, left_out, ..Converted::default() })
}

/// Copies rows that lie in a file as they are, or writes them as text or Parquet, under the name of
/// the table and with ids if they have any.
fn copy(
    table: &TableFile,
    ids: Option<(&str, &RowIds<'_>)>,
    target: &Path,
    kind: TargetKind,
    options: &ConvertOptions<'_>,
) -> Result<(u64, u64)> {
    let draft = FileDraft::begin(Arc::new(RealFileSystem), target, options.overwrite)?;
    let file = draft.file();
    let shape = &table.shape;
    let budget = options.memory();
    let copy = CopyOptions {
        rows: shape.rows(),
        fill: Fill::Zero,
        align_rows: options.align_rows,
        budget: &budget,
        observer: options.observer,
    };
    let (name, ids) = match ids {
        Some((name, ids)) => (name, Some(ids)),
        None => ("x", None),
    };
    let length = match kind {
        TargetKind::Csv => write_table_csv(table, name, ids, file, &budget, options.observer)?,
        #[cfg(feature = "parquet")]
        TargetKind::Parquet => {
            write_table_parquet(table, name, ids, file, &budget, options.observer)?
        }
        #[cfg(not(feature = "parquet"))]
        TargetKind::Parquet => return Err(super::without_parquet()),
        TargetKind::Table => copy_table(table, file, Layout::Graphmill, &copy)?.length,
        TargetKind::GraphZeroTable => {
            // Before the rows are copied: not every type can be stored.
            graphzero::encode_table_header(shape).map_err(Error::format(target))?;
            copy_table(table, file, Layout::GraphZero, &copy)?.length
        }
        _ => {
            let sides = [shape.rows(), shape.columns()];
            let sides = if shape.is_vector() { &sides[..1] } else { &sides };
            copy_plain(table, file, NpyHeader::encode(shape.element(), sides)?, &copy)?.length
        }
    };
    draft.publish()?;
    Ok((shape.rows(), length))
}

/// What becomes of rows that are parsed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOptions {
    /// What becomes of ids that come twice.
    pub(crate) duplicates: Duplicates,
    /// Whether rows of a `.gd` of ours start on multiples of 512 bytes.
    pub(crate) align_rows: bool,
    /// Whether a target that exists is replaced.
    pub(crate) overwrite: bool,
    /// At least this many rows; saying it also allows for large gaps between ids.
    pub(crate) num_rows: Option<u64>,
}

/// What was made of rows that were parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowsReport {
    /// Rows of the target.
    pub(crate) rows: u64,
    /// Bytes of the target.
    pub(crate) length: u64,
    /// What was read and left out.
    pub(crate) read: ReadReport,
    /// What was filled and what came twice.
    pub(crate) placed: PlacementReport,
}

/// Writes the rows of text, Parquet or arrays as a `.gd` of ours or GraphZero's.
///
/// Rows are for the nodes that their ids name, or else follow each other.
pub(crate) fn convert_rows(
    input: &TableInput<'_>,
    target: &Path,
    kind: TargetKind,
    options: &RowOptions,
    budget: &Budget,
    observer: Option<Observer<'_>>,
) -> Result<RowsReport> {
    convert_rows_on(Arc::new(RealFileSystem), input, target, kind, options, budget, observer)
}

/// The same on another file system.
pub(crate) fn convert_rows_on(
    file_system: Arc<dyn FileSystem>,
    input: &TableInput<'_>,
    target: &Path,
    kind: TargetKind,
    options: &RowOptions,
    budget: &Budget,
    observer: Option<Observer<'_>>,
) -> Result<RowsReport> {
    let (plan, has_ids) = plan(input, kind, options)?;
    let draft = FileDraft::begin(file_system.clone(), target, options.overwrite)?;
    let file = draft.file();
    let memory = budget.free() / 2;
    let placement = match has_ids {
        false => Placement::in_order(plan, budget, file, memory)?,
        true => Placement::new(plan, budget, file_system, &scratch_name(target), file, memory)?,
    };
    let put = |chunk: &mut TableChunk| {
        let first = chunk.first_row;
        let targets = match &chunk.ids {
            Some(ids) => Targets::Each(ids),
            None => Targets::Range(first..first + chunk.rows as u64),
        };
        placement.put(0, first, targets, &chunk.bytes)
    };
    let read = input.read(budget, &put, observer)?;
    if read.rows == 0 {
        let found = if read.skipped == 0 { "no row" } else { "no row that can be used" };
        return Err(Error::source("content", found, "at least one", "is this the right file?"));
    }
    let rows = placement.rows().max(options.num_rows.unwrap_or(0));
    if has_ids && options.num_rows.is_none_or(|allowed| allowed < rows) {
        refuse_gaps(input, rows, read.rows)?;
    }
    let (Written { length, .. }, placed) = placement.finish(rows, None, observer)?;
    draft.publish()?;
    Ok(RowsReport { rows, length, read, placed })
}

/// The table that an input becomes, and whether its rows carry ids.
fn plan(
    input: &TableInput<'_>,
    kind: TargetKind,
    options: &RowOptions,
) -> Result<(TablePlan, bool)> {
    let layout = match kind {
        TargetKind::Table => Layout::Graphmill,
        TargetKind::GraphZeroTable => Layout::GraphZero,
        other => {
            let problem = format!(
                "several files, or cells of another type, cannot become {} at once; \
                 name a .gd target, which can",
                other.name()
            );
            return Err(Error::request("convert", problem));
        }
    };
    let description = input.description();
    let Some(element) = description.element else {
        let problem = "cells of text cannot be stored; number them as labels of a dataset";
        return Err(Error::request("convert", problem));
    };
    let plan = TablePlan {
        is_vector: description.is_vector,
        align_rows: options.align_rows,
        layout,
        duplicates: options.duplicates,
        ..TablePlan::matrix(description.columns, element)
    };
    Ok((plan, description.has_ids))
}

/// A name beside the target, where there has to be room for as much anyway.
fn scratch_name(target: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".rows");
    target.with_file_name(name)
}

/// One wrong id must not become a file that fills the disk with zeros.
fn refuse_gaps(input: &TableInput<'_>, rows: u64, given: u64) -> Result<()> {
    let description = input.description();
    let width = description.element.map_or(0, |element| element.width());
    let length = rows.saturating_mul(description.columns.saturating_mul(width));
    if length <= SMALL_TABLE || rows / SPARSEST < given {
        return Ok(());
    }
    let found = format!("an id of {} among {given} rows", rows - 1);
    let expected = format!("ids below {}", given.saturating_mul(SPARSEST));
    let remedy = "correct the ids, or allow as many rows by saying their number";
    Err(Error::source("ids", found, expected, remedy))
}
