//! The tables of a case, in text, arrays, Parquet or memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int64Array, StringArray};
use graphmill_format::ElementType;
use graphmill_ingest::build::SourceIds;
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::source::TextCells;

use super::case::{Case, Id, Labels, shuffled};
use super::sources::{Role, archive, field, id_column, packed, parquet, put};
use crate::numbers::Numbers;

/// A table in a file or in memory.
#[derive(Debug)]
pub struct Rows {
    pub path: Option<PathBuf>,
    pub rows: usize,
    /// None for a vector.
    pub columns: Option<usize>,
    pub element: ElementType,
    pub bytes: Vec<u8>,
    pub words: Option<TextCells>,
    pub ids: Option<Vec<i64>>,
    pub names: Option<TextCells>,
}

/// Cells of a table before they have a format.
struct Cells {
    /// Rows of cells as text; empty ones are missing.
    text: Vec<Vec<String>>,
    /// The same as numbers, unless they are words.
    numbers: Option<Vec<Vec<f64>>>,
    element: ElementType,
    is_vector: bool,
}

pub fn write(case: &Case, folder: &Path, random: &mut Numbers) -> Vec<(Role, Rows)> {
    let mut tables = Vec::new();
    if let Some(rows) = &case.features {
        let cells = floats(rows);
        tables.push((Role::Features, of_nodes(case, "x", cells, folder, random)));
    }
    match &case.labels {
        Some(Labels::Numbers(labels)) => {
            let text =
                labels.iter().map(|label| vec![label.map_or(String::new(), |l| l.to_string())]);
            let text = text.collect();
            let numbers = labels.iter().map(|label| vec![label.unwrap_or(-1) as f64]).collect();
            let element = ElementType::I64;
            let cells = Cells { text, numbers: Some(numbers), element, is_vector: true };
            tables.push((Role::Labels, of_nodes(case, "y", cells, folder, random)));
        }
        Some(Labels::Words(labels)) => {
            let text = labels.iter().map(|label| vec![label.clone()]).collect();
            let element = ElementType::I64;
            let cells = Cells { text, numbers: None, element, is_vector: true };
            tables.push((Role::Labels, of_nodes(case, "y", cells, folder, random)));
        }
        None => {}
    }
    if let Some(nodes) = &case.split {
        // Nodes that nothing else names are no nodes.
        let known = super::oracle::nodes(case);
        let ids: Vec<Id> = nodes
            .iter()
            .map(|node| case.ids[*node].clone())
            .filter(|id| known.contains(id))
            .collect();
        if !ids.is_empty() {
            tables.push((Role::Split, split(case, &ids, folder, random)));
        }
    }
    if let Some(rows) = &case.edge_features {
        tables.push((Role::EdgeFeatures, file("edge", floats(rows), None, folder, random)));
    }
    tables
}

fn floats(rows: &[Vec<f32>]) -> Cells {
    Cells {
        text: rows.iter().map(|row| row.iter().map(f32::to_string).collect()).collect(),
        numbers: Some(
            rows.iter().map(|row| row.iter().map(|cell| f64::from(*cell)).collect()).collect(),
        ),
        element: ElementType::F32,
        is_vector: false,
    }
}

/// A table of the nodes, row after row or in any order with ids.
fn of_nodes(case: &Case, name: &str, cells: Cells, folder: &Path, random: &mut Numbers) -> Rows {
    if !case.has_ids_in_tables() {
        return file(name, cells, None, folder, random);
    }
    let mut order = shuffled(case.ids.len(), random);
    // Every node has its row.
    let missing: Vec<usize> = (0..case.ids.len()).filter(|node| !order.contains(node)).collect();
    order.extend(missing);
    let ids: Vec<Id> = order.iter().map(|node| case.ids[*node].clone()).collect();
    let cells = Cells {
        text: order.iter().map(|node| cells.text[*node].clone()).collect(),
        numbers: cells.numbers.map(|rows| order.iter().map(|node| rows[*node].clone()).collect()),
        ..cells
    };
    file(name, cells, Some(&ids), folder, random)
}

fn file(name: &str, cells: Cells, ids: Option<&[Id]>, folder: &Path, random: &mut Numbers) -> Rows {
    let (count, width) = (cells.text.len(), cells.text[0].len());
    let mut rows = Rows {
        path: None,
        rows: count,
        columns: (!cells.is_vector).then_some(width),
        element: cells.element,
        bytes: Vec::new(),
        words: None,
        ids: None,
        names: None,
    };
    let has_gaps = cells.text.iter().flatten().any(String::is_empty);
    // Arrays have neither words nor gaps, and no ids but in memory.
    let has_array = cells.numbers.is_some() && !has_gaps;
    // A column of words alone does not say whether its first one is a header.
    let is_doubtful = cells.numbers.is_none() && ids.is_none();
    match random.below(if is_doubtful { 4 } else { 5 }) {
        0 if is_doubtful => {
            let columns = columns(&cells, ids, random);
            rows.path = Some(put(folder, &format!("{name}.parquet"), &parquet(columns, random)));
        }
        0 if has_array && ids.is_none() => {
            let shape = [count as u64, width as u64];
            let shape = if cells.is_vector { &shape[..1] } else { &shape };
            let mut bytes = NpyHeader::encode(cells.element, shape).unwrap();
            bytes.extend(little_endian(&cells));
            rows.path = Some(match random.below(2) {
                0 => put(folder, &format!("{name}.npy"), &bytes),
                _ => put(folder, &format!("{name}.npz"), &archive("array.npy", &bytes)),
            });
        }
        1 | 2 => {
            let columns = columns(&cells, ids, random);
            rows.path = Some(put(folder, &format!("{name}.parquet"), &parquet(columns, random)));
        }
        3 if has_array => {
            rows.bytes = little_endian(&cells);
            in_memory(&mut rows, ids);
        }
        3 if is_doubtful => {
            let mut words = TextCells::default();
            cells.text.iter().for_each(|row| words.push(&row[0]));
            rows.words = Some(words);
            in_memory(&mut rows, ids);
        }
        _ => {
            let text = text(&cells, ids, random);
            let (bytes, packing) = packed(text.as_bytes(), random);
            rows.path = Some(put(folder, &format!("{name}.csv{packing}"), &bytes));
        }
    }
    rows
}

fn in_memory(rows: &mut Rows, ids: Option<&[Id]>) {
    let Some(ids) = ids else { return };
    if ids.iter().any(|id| matches!(id, Id::Word(_))) {
        let mut names = TextCells::default();
        ids.iter().for_each(|id| names.push(&id.text()));
        rows.names = Some(names);
    } else {
        rows.ids = Some(ids.iter().map(|id| id.number() as i64).collect());
    }
}

fn little_endian(cells: &Cells) -> Vec<u8> {
    let numbers = cells.numbers.iter().flatten().flatten();
    match cells.element {
        ElementType::F32 => numbers.flat_map(|cell| (*cell as f32).to_le_bytes()).collect(),
        _ => numbers.flat_map(|cell| (*cell as i64).to_le_bytes()).collect(),
    }
}

fn columns(cells: &Cells, ids: Option<&[Id]>, random: &mut Numbers) -> Vec<(String, ArrayRef)> {
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    columns.extend(ids.map(|ids| ("node_id".to_owned(), id_column(ids, random))));
    for column in 0..cells.text[0].len() {
        let array: ArrayRef = match (&cells.numbers, cells.element) {
            (None, _) => {
                Arc::new(StringArray::from_iter_values(cells.text.iter().map(|row| &row[column])))
            }
            (Some(rows), ElementType::F32) => {
                Arc::new(Float32Array::from_iter_values(rows.iter().map(|row| row[column] as f32)))
            }
            (Some(rows), _) => Arc::new(
                rows.iter()
                    .zip(&cells.text)
                    .map(|(row, text)| (!text[column].is_empty()).then_some(row[column] as i64))
                    .collect::<Int64Array>(),
            ),
        };
        columns.push((format!("column {column}"), array));
    }
    columns
}

fn text(cells: &Cells, ids: Option<&[Id]>, random: &mut Numbers) -> String {
    let width = cells.text[0].len() + usize::from(ids.is_some());
    // A missing label alone would be an empty line, and a header tells words from numbers.
    let delimiter = if width == 1 { ',' } else { [',', '\t', ';'][random.below(3)] };
    let mut text = String::new();
    let mut names: Vec<String> = Vec::new();
    names.extend(ids.map(|_| "node_id".to_owned()));
    names.extend((0..cells.text[0].len()).map(|column| format!("column-{column}")));
    text += &names.join(&delimiter.to_string());
    text.push('\n');
    for (row, cells) in cells.text.iter().enumerate() {
        let id = ids.map(|ids| field(&ids[row].text(), delimiter, random));
        let cells = cells.iter().map(|cell| {
            let is_missing = cell.is_empty() && width == 1;
            if is_missing { "nan".to_owned() } else { cell.clone() }
        });
        let fields: Vec<String> = id.into_iter().chain(cells).collect();
        text += &fields.join(&delimiter.to_string());
        text.push('\n');
    }
    text
}

fn split(case: &Case, ids: &[Id], folder: &Path, random: &mut Numbers) -> Rows {
    let cells = Cells {
        text: ids.iter().map(|id| vec![id.text()]).collect(),
        numbers: None,
        element: ElementType::I64,
        is_vector: true,
    };
    let mut rows = Rows {
        path: None,
        rows: ids.len(),
        columns: None,
        element: ElementType::I64,
        bytes: Vec::new(),
        words: None,
        ids: None,
        names: None,
    };
    let is_text = case.kind == SourceIds::Text;
    match random.below(4) {
        0 if !is_text => {
            let lines: String = cells.text.iter().map(|row| format!("{}\n", row[0])).collect();
            rows.path = Some(put(folder, "train.csv", lines.as_bytes()));
        }
        1 if !is_text => {
            let mut bytes = NpyHeader::encode(ElementType::I64, &[ids.len() as u64]).unwrap();
            bytes.extend(ids.iter().flat_map(|id| id.number().to_le_bytes()));
            rows.path = Some(put(folder, "train.npy", &bytes));
        }
        2 if !is_text => {
            rows.bytes = ids.iter().flat_map(|id| id.number().to_le_bytes()).collect();
        }
        2 => {
            let mut words = TextCells::default();
            cells.text.iter().for_each(|row| words.push(&row[0]));
            rows.words = Some(words);
        }
        _ => {
            let columns = vec![("id".to_owned(), id_column(ids, random))];
            rows.path = Some(put(folder, "train.parquet", &parquet(columns, random)));
        }
    }
    rows
}
