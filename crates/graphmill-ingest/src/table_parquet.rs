//! The rows of a table as Parquet: a column for each of its columns, and one of ids where its rows
//! belong to nodes that have them.
//! bfloat16 becomes float32, which holds it exactly; every other type stays what it is. It must not
//! know who publishes the file.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float16Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, StringArray, UInt8Array,
};
use arrow_schema::{DataType, Field, Schema};
use graphmill_disk::{Budget, OutputFile};
use graphmill_format::{ElementType, content};
use half::{bf16, f16};

use crate::edge_parquet::batch;
use crate::parquet_writer::ParquetWriter;
use crate::placement::TableFile;
use crate::progress::{Observer, Stage};
use crate::table_csv::RowIds;
use crate::{Error, Result};

/// Columns that a file has at most: each needs a page of its own.
const COLUMNS: u64 = 10_000;
/// Bytes of rows that are turned into columns together.
const PORTION: u64 = 4 << 20;
/// Rows whose names are looked up together.
const ROWS: u64 = 1 << 14;

/// Writes all rows, their columns called `name` or `name0`, `name1` and so on; gives the bytes of
/// the file.
pub(crate) fn write_table_parquet(
    table: &TableFile,
    name: &str,
    ids: Option<&RowIds<'_>>,
    file: &dyn OutputFile,
    budget: &Budget,
    observer: Option<Observer<'_>>,
) -> Result<u64> {
    let shape = &table.shape;
    let (rows, columns, element) = (shape.rows(), shape.columns(), shape.element());
    if columns == 0 || columns > COLUMNS {
        let expected = format!("1 to {COLUMNS} columns for Parquet");
        let remedy = "name a .npy target";
        let error = Error::source("shape", format!("{columns} columns"), expected, remedy);
        return Err(error.in_file(table.file.path()));
    }
    let mut fields = Vec::new();
    if let Some(ids) = ids {
        let data = if ids.naming.has_names() { DataType::Utf8 } else { DataType::Int64 };
        fields.push(Field::new(ids.column, data, false));
    }
    let is_vector = shape.is_vector();
    fields.extend((0..columns).map(|column| {
        let name = if is_vector { name.to_owned() } else { format!("{name}{column}") };
        Field::new(name, data_type(element), false)
    }));
    let schema = Arc::new(Schema::new(fields));
    let mut writer = ParquetWriter::new(file, schema.clone(), budget)?;
    // Rows as they are stored, as columns, and as the encoder has them.
    let row = shape.stride().saturating_add(columns.saturating_mul(16)).saturating_add(32);
    let step = ((budget.free() / 4).min(PORTION) / row).clamp(1, ROWS);
    let _reserved = budget.reserve(row.saturating_mul(step), "rows of a table")?;
    let mut stage = Stage::new(observer, "writing rows", rows);
    let (mut bytes, mut first) = (Vec::new(), 0);
    while first < rows {
        let end = (first + step).min(rows);
        let read = |bytes: &mut Vec<u8>, first: u64, end: u64| -> Result<Vec<ArrayRef>> {
            bytes.resize(((end - first) * shape.stride()) as usize, 0);
            table.file.read_exact_at(table.start + first * shape.stride(), bytes)?;
            arrays(table, first, bytes)
        };
        match ids {
            Some(ids) if ids.naming.has_names() => {
                let mut at = first;
                ids.naming.each_name(first..end, &mut |names| {
                    let mut all: Vec<ArrayRef> =
                        vec![Arc::new(StringArray::from_iter_values(names.iter()))];
                    let until = at + names.len() as u64;
                    all.extend(read(&mut bytes, at, until)?);
                    at = until;
                    writer.write(&batch(&schema, all)?)
                })?;
            }
            _ => {
                let mut all: Vec<ArrayRef> = Vec::new();
                if let Some(ids) = ids {
                    let mut nodes: Vec<u64> = (first..end).collect();
                    ids.naming.replace(&mut nodes)?;
                    let ids = nodes.iter().map(|&id| id as i64);
                    all.push(Arc::new(Int64Array::from_iter_values(ids)));
                }
                all.extend(read(&mut bytes, first, end)?);
                writer.write(&batch(&schema, all)?)?;
            }
        }
        stage.advance(end - first)?;
        first = end;
    }
    writer.finish()
}

fn data_type(element: ElementType) -> DataType {
    match element {
        ElementType::Bool => DataType::Boolean,
        ElementType::U8 => DataType::UInt8,
        ElementType::I8 => DataType::Int8,
        ElementType::I16 => DataType::Int16,
        ElementType::I32 => DataType::Int32,
        ElementType::F16 => DataType::Float16,
        ElementType::Bf16 | ElementType::F32 => DataType::Float32,
        ElementType::F64 => DataType::Float64,
        // Tables of unsigned numbers of 64 bits do not exist.
        _ => DataType::Int64,
    }
}

/// The columns of rows that start at row `first`.
fn arrays(table: &TableFile, first: u64, bytes: &[u8]) -> Result<Vec<ArrayRef>> {
    let shape = &table.shape;
    let element = shape.element();
    if element == ElementType::Bool {
        let length = shape.row_length() as usize;
        for (row, cells) in bytes.chunks_exact(shape.stride() as usize).enumerate() {
            if let Some(at) = content::first_bad_bool(&cells[..length]) {
                let (row, remedy) = (first + row as u64, "save the table as truth values");
                let error = Error::source(format!("row {row}"), cells[at], "0 or 1", remedy);
                return Err(error.in_file(table.file.path()));
            }
        }
    }
    let columns = 0..shape.columns() as usize;
    Ok(columns.map(|column| array(element, shape.stride() as usize, column, bytes)).collect())
}

fn array(element: ElementType, stride: usize, column: usize, bytes: &[u8]) -> ArrayRef {
    fn cells<const N: usize>(
        bytes: &[u8],
        stride: usize,
        column: usize,
    ) -> impl Iterator<Item = [u8; N]> {
        let rows = bytes.chunks_exact(stride);
        rows.map(move |row| row[column * N..].first_chunk().copied().unwrap_or([0; N]))
    }
    macro_rules! of {
        ($array:ident, $number:ty) => {{
            let cells = cells(bytes, stride, column).map(<$number>::from_le_bytes);
            Arc::new($array::from_iter_values(cells))
        }};
    }
    match element {
        ElementType::Bool => {
            let cells = cells::<1>(bytes, stride, column);
            Arc::new(cells.map(|[cell]| Some(cell == 1)).collect::<BooleanArray>())
        }
        ElementType::U8 => of!(UInt8Array, u8),
        ElementType::I8 => of!(Int8Array, i8),
        ElementType::I16 => of!(Int16Array, i16),
        ElementType::I32 => of!(Int32Array, i32),
        ElementType::F16 => of!(Float16Array, f16),
        ElementType::F32 => of!(Float32Array, f32),
        ElementType::F64 => of!(Float64Array, f64),
        ElementType::Bf16 => {
            let cells = cells(bytes, stride, column).map(|cell| bf16::from_le_bytes(cell).to_f32());
            Arc::new(Float32Array::from_iter_values(cells))
        }
        _ => of!(Int64Array, i64),
    }
}
