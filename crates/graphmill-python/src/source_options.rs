//! How rows of edges or of a table are read, as keywords.

use crate::errors::Result;
use graphmill::format::ElementType;
use graphmill::ingest::ConvertOptions;
use graphmill::ingest::source::{
    Column, Delimiter, EdgeInputOptions, OnBadRow, SourceFormat, TableInputOptions, TextCells,
    endpoints,
};
use pyo3::prelude::*;

/// Options of a source; `graphmill.convert`, `graphmill.build` and the GraphZero drop-in fill them in.
#[pyclass(frozen, module = "graphmill._native")]
pub struct SourceOptions {
    format: Option<SourceFormat>,
    header: Option<bool>,
    delimiter: Option<Delimiter>,
    src_column: Option<Column>,
    dst_column: Option<Column>,
    weight_column: Option<Column>,
    time_column: Option<Column>,
    third_is_weight: bool,
    pub id_column: Option<Column>,
    first_is_id: bool,
    pub dtype: Option<ElementType>,
    on_bad_row: OnBadRow,
}

#[pymethods]
impl SourceOptions {
    #[new]
    #[pyo3(signature = (*, format = None, header = None, delimiter = None, src_column = None, dst_column = None,
        weight_column = None, time_column = None, third_is_weight = false, id_column = None, first_is_id = false, dtype = None, on_bad_row = "stop"))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python class")]
    fn new(
        format: Option<&str>,
        header: Option<bool>,
        delimiter: Option<&str>,
        src_column: Option<&str>,
        dst_column: Option<&str>,
        weight_column: Option<&str>,
        time_column: Option<&str>,
        third_is_weight: bool,
        id_column: Option<&str>,
        first_is_id: bool,
        dtype: Option<&str>,
        on_bad_row: &str,
    ) -> Result<Self> {
        Ok(SourceOptions {
            format: format.map(str::parse).transpose()?,
            header,
            delimiter: delimiter.map(str::parse).transpose()?,
            src_column: src_column.map(str::parse).transpose()?,
            dst_column: dst_column.map(str::parse).transpose()?,
            weight_column: weight_column.map(str::parse).transpose()?,
            time_column: time_column.map(str::parse).transpose()?,
            third_is_weight,
            id_column: id_column.map(str::parse).transpose()?,
            first_is_id,
            dtype: dtype.map(str::parse).transpose()?,
            on_bad_row: on_bad_row.parse()?,
        })
    }
}

impl SourceOptions {
    /// How edges are read.
    pub fn edges(&self) -> EdgeInputOptions {
        let mut input = EdgeInputOptions::new()
            .third_column_is_weight(self.third_is_weight)
            .on_bad_row(self.on_bad_row);
        if let Some(format) = self.format {
            input = input.format(format);
        }
        if let Some(header) = self.header {
            input = input.header(header);
        }
        if let Some(delimiter) = self.delimiter {
            input = input.delimiter(delimiter);
        }
        if let Some(column) = &self.src_column {
            input = input.source_column(column.clone());
        }
        if let Some(column) = &self.dst_column {
            input = input.destination_column(column.clone());
        }
        if let Some(column) = &self.weight_column {
            input = input.weight_column(column.clone());
        }
        if let Some(column) = &self.time_column {
            input = input.time_column(column.clone());
        }
        input
    }

    /// The options of a conversion with what these say; as in GraphZero, the last of two rows stays where the first
    /// column is the id.
    pub fn convert<'a>(&self, options: ConvertOptions<'a>) -> ConvertOptions<'a> {
        let mut table = TableInputOptions::new()
            .first_column_is_id(self.first_is_id)
            .on_bad_row(self.on_bad_row);
        if let Some(format) = self.format {
            table = table.format(format);
        }
        if let Some(header) = self.header {
            table = table.header(header);
        }
        if let Some(delimiter) = self.delimiter {
            table = table.delimiter(delimiter);
        }
        if let Some(column) = &self.id_column {
            table = table.id_column(column.clone());
        }
        if let Some(element) = self.dtype {
            table = table.element(element);
        }
        options.input(self.edges()).table(table).last_row_wins(self.first_is_id)
    }
}

/// The columns of sources and destinations among those of a data frame, by the rule of files.
#[pyfunction]
pub fn endpoint_columns(
    names: Vec<String>,
    source: Option<usize>,
    destination: Option<usize>,
    taken: Vec<usize>,
) -> Result<(usize, usize)> {
    let cells: TextCells = names.iter().collect();
    Ok(endpoints(names.len(), Some(&cells), source, destination, &taken)?)
}
