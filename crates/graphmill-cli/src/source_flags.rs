//! Flags that say how sources are read.
//! Each becomes what the ingest crate wants as soon as it is parsed. It must not know what is built.

use clap::{ArgAction, Args};
use graphmill::format::ElementType;
use graphmill::ingest::source::{
    Column, Delimiter, EdgeInputOptions, OnBadRow, SourceFormat, TableInputOptions,
};

/// How edges and tables are read.
#[derive(Debug, Args)]
pub struct SourceFlags {
    /// What the source is, instead of what it looks like: csv, npy, npz, parquet, ogb, mag240m, igb, graphzero
    #[arg(long, value_name = "FORMAT")]
    format: Option<SourceFormat>,
    /// The first line of a text names its columns [default: if its first two fields are no numbers,
    /// or are known names where ids are words]
    #[arg(long, overrides_with = "no_header")]
    header: bool,
    /// The first line of a text is a row
    #[arg(long, action = ArgAction::SetTrue)]
    no_header: bool,
    /// What separates the fields of a text: comma, tab, semicolon, space [default: found]
    #[arg(long)]
    delimiter: Option<Delimiter>,
    /// The column of sources, by name or by number from 0 [default: the one called src, source,
    /// from or the like, else the first that nothing else is read from]
    #[arg(long, value_name = "COLUMN")]
    src_column: Option<Column>,
    /// The column of destinations, by name or by number from 0 [default: the one called dst, target,
    /// to or the like, else the next that nothing else is read from]
    #[arg(long, value_name = "COLUMN")]
    dst_column: Option<Column>,
    /// The column of weights, by name or by number from 0
    #[arg(long, value_name = "COLUMN")]
    weight_column: Option<Column>,
    /// The column of times, by name or by number from 0
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<Column>,
    /// The column of a table that says whose row it is [default: one named id or node_id]
    #[arg(long, value_name = "COLUMN")]
    pub id_column: Option<Column>,
    /// The type of features: f32, f16, bf16, f64, i8, i16, i32, i64, u8
    /// [default: f32 for text, that of the array otherwise]
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementType>,
    /// What to do with a row that cannot be used: stop, or skip and count it
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    on_bad_row: OnBadRow,
}

impl SourceFlags {
    /// How edges are read; what holds for all text holds for tables too.
    pub fn input(&self) -> EdgeInputOptions {
        let mut input = EdgeInputOptions::new().on_bad_row(self.on_bad_row);
        if let Some(format) = self.format {
            input = input.format(format);
        }
        if self.header || self.no_header {
            input = input.header(self.header);
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

    /// How a lone table is read.
    pub fn table(&self) -> TableInputOptions {
        let mut table = TableInputOptions::new().on_bad_row(self.on_bad_row);
        if let Some(format) = self.format {
            table = table.format(format);
        }
        if self.header || self.no_header {
            table = table.header(self.header);
        }
        if let Some(delimiter) = self.delimiter {
            table = table.delimiter(delimiter);
        }
        if let Some(column) = &self.id_column {
            table = table.id_column(column.clone());
        }
        match self.dtype {
            Some(element) => table.element(element),
            None => table,
        }
    }
}
