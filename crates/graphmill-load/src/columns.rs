//! The tables that a loader delivers, and their rows for one batch.
//! A loader has one set for nodes and one for edges; it asks how much memory their rows need, reserves it, and only
//! then lets them be gathered. Budgets and sampling are unknown here.

use crate::gather::gather_memory;
use crate::{Column, Result, Rows};
use graphmill_disk::Backend;
use graphmill_format::TableShape;
use graphmill_store::{Dataset, Table};
use std::collections::BTreeMap;

/// Tables with their names, in the order of delivery.
#[derive(Debug)]
pub(crate) struct Columns(Vec<(String, Rows)>);

impl Columns {
    /// The node tables with these names, or all of them.
    pub(crate) fn of_nodes(
        dataset: &Dataset,
        names: Option<&[String]>,
        backend: Backend,
    ) -> Result<Self> {
        Self::open(dataset.tables(), names, |name| dataset.table(name), backend)
    }

    /// The edge tables with these names, or all of them.
    pub(crate) fn of_edges(
        dataset: &Dataset,
        names: Option<&[String]>,
        backend: Backend,
    ) -> Result<Self> {
        Self::open(dataset.edge_tables(), names, |name| dataset.edge_table(name), backend)
    }

    /// No tables at all.
    pub(crate) fn none() -> Self {
        Columns(Vec::new())
    }

    fn open<'a>(
        all: &'a BTreeMap<String, Table>,
        names: Option<&[String]>,
        find: impl Fn(&str) -> graphmill_store::Result<&'a Table>,
        backend: Backend,
    ) -> Result<Self> {
        let open = |name: &String| Ok((name.clone(), Rows::open(find(name)?.clone(), backend)?));
        let opened: Result<_> = match names {
            Some(names) => names.iter().map(open).collect(),
            None => all.keys().map(open).collect(),
        };
        Ok(Columns(opened?))
    }

    /// Bytes of `count` rows of every table; `u64::MAX` if that is no number of bytes.
    pub(crate) fn row_bytes(&self, count: usize) -> u64 {
        let bytes = |rows: &Rows| rows.table().shape().row_length().saturating_mul(count as u64);
        self.0.iter().map(|(_, rows)| bytes(rows)).fold(0, u64::saturating_add)
    }

    /// Bytes that gathering `count` rows takes beside the rows themselves.
    pub(crate) fn work_bytes(&self, count: usize) -> u64 {
        let shapes = self.0.iter().map(|(_, rows)| rows.table().shape());
        shapes.map(|shape| gather_memory(shape, count)).max().unwrap_or(0)
    }

    /// The rows `ids` of every table.
    pub(crate) fn gather(&self, ids: &[i64]) -> Result<Vec<Column>> {
        let gather = |(name, rows): &(String, Rows)| {
            let shape = shape_of_rows(rows.table(), ids.len())?;
            // Fits: a shape has at most 2^63 bytes.
            let mut bytes = vec![0; shape.length() as usize];
            rows.gather(ids, &mut bytes)?;
            Ok(Column { name: name.clone(), shape, bytes })
        };
        self.0.iter().map(gather).collect()
    }
}

/// The shape of `count` rows of a table, without padding.
fn shape_of_rows(table: &Table, count: usize) -> Result<TableShape> {
    let shape = table.shape();
    let gathered = if shape.is_vector() {
        TableShape::vector(count as u64, shape.element())
    } else {
        TableShape::matrix(count as u64, shape.columns(), shape.element())
    };
    let path = table.path().to_path_buf();
    Ok(gathered.map_err(|source| graphmill_store::Error::Format { path, source })?)
}
