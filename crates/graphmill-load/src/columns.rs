//! The tables that a loader delivers, and their rows for one batch.
//! A loader has one set for nodes and one for edges. A single batch is gathered here; windows read the same tables for
//! several. Sampling is unknown here.

use crate::batch::Column;
use crate::buffers::Buffers;
use crate::{LoaderOptions, ReadStats, Result, Rows};
use graphmill_disk::Budget;
use graphmill_store::{Dataset, Table};
use std::collections::BTreeMap;

/// Tables with their names, in the order of delivery.
#[derive(Debug)]
pub(crate) struct Columns(Vec<(String, Rows)>);

impl Columns {
    /// The node tables that the options ask for.
    pub(crate) fn of_nodes(dataset: &Dataset, options: &LoaderOptions) -> Result<Self> {
        let names = options.columns.as_deref();
        Self::open(dataset.tables(), names, |name| dataset.table(name), options)
    }

    /// The edge tables that the options ask for.
    pub(crate) fn of_edges(dataset: &Dataset, options: &LoaderOptions) -> Result<Self> {
        let names = options.edge_columns.as_deref();
        Self::open(dataset.edge_tables(), names, |name| dataset.edge_table(name), options)
    }

    /// No tables at all.
    pub(crate) fn none() -> Self {
        Columns(Vec::new())
    }

    fn open<'a>(
        all: &'a BTreeMap<String, Table>,
        names: Option<&[String]>,
        find: impl Fn(&str) -> graphmill_store::Result<&'a Table>,
        options: &LoaderOptions,
    ) -> Result<Self> {
        let open = |name: &String| {
            let rows = Rows::open(find(name)?.clone(), options.backend)?;
            Ok((name.clone(), rows.widened(options.widen)))
        };
        let opened: Result<_> = match names {
            Some(names) => names.iter().map(open).collect(),
            None => all.keys().map(open).collect(),
        };
        Ok(Columns(opened?))
    }

    /// The tables.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Rows> {
        self.0.iter().map(|(_, rows)| rows)
    }

    /// The tables with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &Rows)> {
        self.0.iter().map(|(name, rows)| (name.as_str(), rows))
    }

    /// Bytes that `count` rows of every table take from the budget when they are delivered; `u64::MAX` if that is no
    /// number of bytes.
    pub(crate) fn delivered_bytes(&self, count: usize) -> u64 {
        let bytes = |rows: &Rows| Buffers::memory(rows.row_length().saturating_mul(count as u64));
        self.rows().map(bytes).fold(0, u64::saturating_add)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of one row of every table as it is stored.
    pub(crate) fn stored_row_bytes(&self) -> u64 {
        let bytes = |rows: &Rows| rows.table().shape().row_length();
        self.rows().map(bytes).fold(0, u64::saturating_add)
    }

    /// Bytes that reading `count` rows of one table after the other takes beside the rows themselves.
    pub(crate) fn work_bytes(&self, count: usize) -> u64 {
        self.rows().map(|rows| rows.gather_memory(count)).max().unwrap_or(0)
    }

    /// Whether the rows of some table are on the disk, as far as a look at a few of them tells.
    pub(crate) fn are_cold(&self, ids: &[i64]) -> Result<bool> {
        for rows in self.rows() {
            rows.check_ids(ids)?;
            if !ids.is_empty() && !rows.is_resident(ids.len(), |index| ids[index] as u64) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rows `ids` of every table.
    pub(crate) fn gather(
        &self,
        ids: &[i64],
        buffers: &Buffers,
        budget: &Budget,
    ) -> Result<(Vec<Column>, ReadStats)> {
        let mut stats = ReadStats::default();
        let mut columns = Vec::with_capacity(self.0.len());
        for (name, rows) in self.named() {
            let (column, read) = self.gather_one(name, rows, ids, buffers, budget)?;
            columns.push(column);
            stats += read;
        }
        Ok((columns, stats))
    }

    /// The rows `ids` of one table.
    pub(crate) fn gather_one(
        &self,
        name: &str,
        rows: &Rows,
        ids: &[i64],
        buffers: &Buffers,
        budget: &Budget,
    ) -> Result<(Column, ReadStats)> {
        let mut column = Column::of(name, rows, ids.len(), buffers)?;
        let reserve = |bytes| buffers.with_room(|| Ok(budget.reserve(bytes, "reading rows")?));
        let stats = rows.gather_within(ids, &mut column.bytes, reserve)?;
        Ok((column, stats))
    }
}
