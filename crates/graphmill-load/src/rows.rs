//! A table together with the way its rows are read.
//! Feature handles and loaders hold one per column; it makes sure that the reader reads the file that the table was
//! opened from, and hands ids on to [`gather`]. It does not know what the rows are for.

use crate::Result;
use crate::gather::{GatherStats, gather};
use graphmill_disk::{Backend, Pread, ReadAt};
use graphmill_store::Table;
use std::sync::Arc;

/// A table whose rows are fetched through one backend. Cloning shares the open file.
#[derive(Clone, Debug)]
pub struct Rows {
    table: Table,
    reader: Arc<dyn ReadAt>,
}

impl Rows {
    /// Reads the rows of an open table through `backend`.
    pub fn open(table: Table, backend: Backend) -> Result<Self> {
        let reader: Arc<dyn ReadAt> = match backend {
            Backend::Mapped => table.mapped().clone(),
            Backend::Pread => Arc::new(Pread::of(table.mapped())?),
            _ => {
                let name = backend.to_string();
                return Err(graphmill_disk::Error::UnknownBackend { name }.into());
            }
        };
        Ok(Rows { table, reader })
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// How the rows are read.
    pub fn backend(&self) -> Backend {
        self.reader.backend()
    }

    /// Copies the rows `ids` to `out`, one after the other without padding; see [`gather`].
    pub fn gather(&self, ids: &[i64], out: &mut [u8]) -> Result<GatherStats> {
        gather(&self.table, self.reader.as_ref(), ids, out)
    }
}
