//! Edges as Parquet: the columns `source` and `destination`, int64 or strings, and `weight`
//! (float32), `time` and `edge_id` (int64) where edges have them.
//! It must not know where edges come from.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use graphmill_disk::{Budget, OutputFile};

use crate::edge_rows::{EdgeColumns, EdgeRows};
use crate::node_naming::NodeNaming;
use crate::parquet_writer::ParquetWriter;
use crate::source::TextCells;
use crate::{Error, Result};

/// A Parquet file of edges that grows.
pub(crate) struct EdgeParquet<'a> {
    writer: ParquetWriter<'a>,
    schema: SchemaRef,
    columns: EdgeColumns,
    naming: &'a NodeNaming,
}

impl<'a> EdgeParquet<'a> {
    pub(crate) fn new(
        file: &'a dyn OutputFile,
        columns: EdgeColumns,
        naming: &'a NodeNaming,
        budget: &Budget,
    ) -> Result<Self> {
        let id = if naming.has_names() { DataType::Utf8 } else { DataType::Int64 };
        let all = [
            (true, "source", id.clone()),
            (true, "destination", id),
            (columns.weights, "weight", DataType::Float32),
            (columns.times, "time", DataType::Int64),
            (columns.edge_ids, "edge_id", DataType::Int64),
        ];
        let fields = all.into_iter().filter(|(has, ..)| *has);
        let fields: Vec<Field> =
            fields.map(|(_, name, data)| Field::new(name, data, false)).collect();
        let schema = Arc::new(Schema::new(fields));
        let writer = ParquetWriter::new(file, schema.clone(), budget)?;
        Ok(EdgeParquet { writer, schema, columns, naming })
    }

    pub(crate) fn write(&mut self, rows: &EdgeRows) -> Result<()> {
        let EdgeParquet { writer, schema, columns, naming } = self;
        if naming.has_names() {
            return naming.each_pair_of_names(rows, &mut |range, sources, destinations| {
                let strings = |names: &TextCells| -> ArrayRef {
                    Arc::new(StringArray::from_iter_values(names.iter()))
                };
                let mut arrays = vec![strings(sources), strings(destinations)];
                push_values(&mut arrays, columns, rows, range);
                writer.write(&batch(schema, arrays)?)
            });
        }
        let numbers = |nodes: &[u64]| -> Result<ArrayRef> {
            let mut ids = nodes.to_vec();
            naming.replace(&mut ids)?;
            Ok(Arc::new(Int64Array::from_iter_values(ids.iter().map(|&id| id as i64))))
        };
        let mut arrays = vec![numbers(&rows.sources)?, numbers(&rows.destinations)?];
        push_values(&mut arrays, columns, rows, 0..rows.len());
        writer.write(&batch(schema, arrays)?)
    }

    /// Ends the file; gives its bytes.
    pub(crate) fn finish(self) -> Result<u64> {
        self.writer.finish()
    }
}

fn push_values(
    arrays: &mut Vec<ArrayRef>,
    columns: &EdgeColumns,
    rows: &EdgeRows,
    range: std::ops::Range<usize>,
) {
    let integers = |values: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(values.to_vec())) };
    if columns.weights {
        arrays.push(Arc::new(Float32Array::from(rows.weights[range.clone()].to_vec())));
    }
    if columns.times {
        arrays.push(integers(&rows.times[range.clone()]));
    }
    if columns.edge_ids {
        arrays.push(integers(&rows.edge_ids[range]));
    }
}

pub(crate) fn batch(schema: &SchemaRef, arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema.clone(), arrays).map_err(|error| {
        Error::request("parquet", format!("{error}; this is a mistake of graphmill"))
    })
}
