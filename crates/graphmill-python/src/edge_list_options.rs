//! How a list of edges is read, as keywords.

use crate::errors::Result;
use graphmill::ingest::ConvertOptions;
use graphmill::ingest::source::EdgeInputOptions;
use pyo3::prelude::*;

/// Options of a list of edges; `graphmill.convert` and the GraphZero drop-in fill them in.
#[pyclass(frozen, module = "graphmill._native")]
pub struct EdgeListOptions {
    input: EdgeInputOptions,
    edge_ids: bool,
    dedup: bool,
    drop_self_loops: bool,
    add_self_loops: bool,
}

#[pymethods]
impl EdgeListOptions {
    #[new]
    #[pyo3(signature = (*, format = None, header = None, delimiter = None, weight_column = None, time_column = None,
        third_is_weight = false, on_bad_row = "stop", edge_ids = false, dedup = false, drop_self_loops = false,
        add_self_loops = false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python class")]
    fn new(
        format: Option<&str>,
        header: Option<bool>,
        delimiter: Option<&str>,
        weight_column: Option<&str>,
        time_column: Option<&str>,
        third_is_weight: bool,
        on_bad_row: &str,
        edge_ids: bool,
        dedup: bool,
        drop_self_loops: bool,
        add_self_loops: bool,
    ) -> Result<Self> {
        let mut input = EdgeInputOptions::new()
            .third_column_is_weight(third_is_weight)
            .on_bad_row(on_bad_row.parse()?);
        if let Some(format) = format {
            input = input.format(format.parse()?);
        }
        if let Some(header) = header {
            input = input.header(header);
        }
        if let Some(delimiter) = delimiter {
            input = input.delimiter(delimiter.parse()?);
        }
        if let Some(column) = weight_column {
            input = input.weight_column(column.parse()?);
        }
        if let Some(column) = time_column {
            input = input.time_column(column.parse()?);
        }
        Ok(EdgeListOptions { input, edge_ids, dedup, drop_self_loops, add_self_loops })
    }
}

impl EdgeListOptions {
    /// The options of a conversion with what these say.
    pub fn apply<'a>(&self, options: ConvertOptions<'a>) -> ConvertOptions<'a> {
        options
            .input(self.input.clone())
            .edge_ids(self.edge_ids)
            .dedup(self.dedup)
            .drop_self_loops(self.drop_self_loops)
            .add_self_loops(self.add_self_loops)
    }
}
