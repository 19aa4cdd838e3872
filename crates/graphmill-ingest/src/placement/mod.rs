//! Rows into their places.
//!
//! Readers put chunks of rows from several threads, in any order of rows, and out comes a table with
//! every row where it belongs, within a fixed memory. Rows that come in the order of the file go to it
//! directly; others wait by windows of the file until a window is complete, in a scratch file without
//! a name when memory is full. Rows that never came are filled, rows that came twice are told apart by where they stood in
//! the source. It must not know formats of sources, nor who publishes the file.

mod books;
mod in_order;
mod plan;
mod records;
mod row_copy;
mod row_sink;
mod scratch;
mod sizing;
mod slabs;
mod source_run;
mod stream;
mod table_file;
#[cfg(test)]
pub(crate) mod tests;
mod window_fill;
mod windows;
mod workers;
mod workspace;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use graphmill_disk::{Budget, FileSystem, OutputFile};
use graphmill_format::{ElementType, content};

use crate::progress::Observer;
use crate::table_writer::Written;
use crate::{Error, Result};
use in_order::InOrder;
use plan::PlannedRows;
pub(crate) use plan::{Duplicates, Fill, Layout, PlacementReport, TablePlan, Targets};
pub(crate) use row_copy::{CopyOptions, copy_plain, copy_table};
pub(crate) use table_file::TableFile;
use windows::Windows;

/// Maps the bytes of rows to what is stored instead of them.
pub(crate) type Recode<'r> = &'r (dyn Fn(&mut [u8]) + Sync);

/// Takes the rows of a table and writes them to their places.
pub(crate) struct Placement<'a> {
    rows: PlannedRows,
    /// The highest row that came, and one more.
    end: AtomicU64,
    way: Way<'a>,
}

enum Way<'a> {
    InOrder(Box<InOrder<'a>>),
    Anywhere(Box<Windows<'a>>),
}

impl<'a> Placement<'a> {
    /// Rows may come in any order, not at all, or again. Takes `memory` out of the budget;
    /// `scratch_name` is a hidden name beside the target that nobody else uses.
    pub(crate) fn new(
        plan: TablePlan,
        budget: &Budget,
        file_system: Arc<dyn FileSystem>,
        scratch_name: &Path,
        file: &'a dyn OutputFile,
        memory: u64,
    ) -> Result<Self> {
        let rows = PlannedRows::new(plan, file.path())?;
        let windows = Windows::new(&rows, budget, file_system, scratch_name, file, memory)?;
        Ok(Placement { rows, end: AtomicU64::new(0), way: Way::Anywhere(Box::new(windows)) })
    }

    /// Rows come once each, as ranges that together are all rows from 0 to the last. They go to
    /// the file at once; nothing is kept but blocks that are not whole yet. Takes `memory`, or less
    /// when that is enough, out of the budget.
    pub(crate) fn in_order(
        plan: TablePlan,
        budget: &Budget,
        file: &'a dyn OutputFile,
        memory: u64,
    ) -> Result<Self> {
        let rows = PlannedRows::new(plan, file.path())?;
        if rows.parts.len() != 1 {
            let problem = "rows in parts side by side are not in the order of the file";
            return Err(Error::request("table", problem));
        }
        let in_order = InOrder::new(&rows, budget, file, memory)?;
        Ok(Placement { rows, end: AtomicU64::new(0), way: Way::InOrder(Box::new(in_order)) })
    }

    /// Takes rows of one part, little-endian and without padding; any thread may call it at any
    /// time. The first of them is row `first_source_row` of that part's source.
    pub(crate) fn put(
        &self,
        part: usize,
        first_source_row: u64,
        targets: Targets<'_>,
        bytes: &[u8],
    ) -> Result<()> {
        let put = self.rows.check(part, first_source_row, targets, bytes)?;
        if put.count == 0 {
            return Ok(());
        }
        if self.rows.plan.element == ElementType::Bool
            && let Some(at) = content::first_bad_bool(bytes)
        {
            let row = first_source_row + (at / put.length) as u64;
            let remedy = "correct it or choose another element type";
            return Err(Error::source(format!("row {row}"), bytes[at], "0 or 1", remedy));
        }
        self.end.fetch_max(put.end, Ordering::Relaxed);
        match &self.way {
            Way::InOrder(in_order) => in_order.put(&self.rows, &put),
            Way::Anywhere(windows) => windows.put(&self.rows, &put),
        }
    }

    /// The highest row that came so far, and one more.
    pub(crate) fn rows(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Writes a table of `rows` rows, of which those that never came are filled.
    ///
    /// `recode` maps the rows that came before they are written; that it will be there, the plan has to say.
    pub(crate) fn finish(
        self,
        rows: u64,
        recode: Option<Recode<'_>>,
        observer: Option<Observer<'_>>,
    ) -> Result<(Written, PlacementReport)> {
        let end = self.rows();
        if end > rows {
            let expected = format!("a row below {rows}");
            let remedy = "leave out the rows of nodes that do not exist";
            return Err(Error::source("table", format!("row {}", end - 1), expected, remedy));
        }
        if recode.is_some() && !self.rows.plan.recoded {
            let problem = "rows that went to the file cannot be mapped later";
            return Err(Error::request("table", problem));
        }
        match self.way {
            Way::InOrder(in_order) => in_order.finish(&self.rows, end, rows, observer),
            Way::Anywhere(windows) => windows.finish(&self.rows, rows, recode, observer),
        }
    }
}
