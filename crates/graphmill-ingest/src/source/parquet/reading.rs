//! How much memory reading takes and how many threads share the row groups.
//! All of it is reserved before the first row is read: batches, and pages as large as the footer lets expect them. Only
//! pages that are larger ask for more.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use graphmill_disk::{Budget, Reservation};

use super::{ParquetFile, words};
use crate::Result;

/// Rows of one batch.
const BATCH: u64 = 1 << 15;
/// Rows of one batch of long texts, or of very many columns.
pub(super) const SMALLEST_BATCH: usize = 64;
/// What the number of one row and column takes in a batch, as stored and as handed over.
const MEMORY_PER_CELL: u64 = 32;
/// Pages of one column as writers make them: a page, its packed bytes and a dictionary.
const USUAL_PAGES: u64 = 4 << 20;

/// The plan of a reading, with the memory for it.
#[derive(Debug)]
pub(super) struct Reading {
    workers: usize,
    pub(super) batch_rows: usize,
    /// Bytes of pages that each worker has paid for.
    pub(super) prepaid: u64,
    _reserved: Reservation,
}

impl Reading {
    /// For at most `most` workers, each of which reads the columns of a file, makes `cells` numbers of each row and
    /// has `further` bytes beside them.
    pub(super) fn plan(
        files: &[(&ParquetFile, Vec<usize>)],
        (cells, further): (u64, u64),
        most: usize,
        budget: &Budget,
    ) -> Result<Self> {
        let metadata: usize = files.iter().map(|(file, _)| file.metadata.memory_size()).sum();
        let mut reserved = budget.reserve(metadata as u64, "footers of Parquet")?;
        let (mut rows, mut groups, mut pages) = (1, 0, 0);
        for (file, columns) in files {
            for (group, found) in file.row_groups().into_iter().enumerate() {
                rows = rows.max(found);
                groups += 1;
                let of_column = |column: &usize| {
                    let (packed, unpacked) = file.sizes(group, *column);
                    let held = packed.saturating_add(unpacked.saturating_mul(2));
                    let is_text = words::is_text(file.data_type(*column));
                    let held = if is_text { held.saturating_mul(2) } else { held };
                    // Views of a dictionary, or the numbers in it.
                    held.saturating_add(held.min(found.saturating_mul(16))).min(USUAL_PAGES)
                };
                pages = pages.max(columns.iter().map(of_column).sum());
            }
        }
        let free = budget.free();
        let (share, per_row) = (free / 2, cells.max(1) * MEMORY_PER_CELL);
        let whole = per_row * rows.min(BATCH) + further + pages;
        let workers = (share / whole).clamp(1, most.min(groups.max(1)) as u64);
        let mut batch_rows = rows.min(BATCH);
        if whole > share {
            let left = share.saturating_sub(further + pages).max(share / 2);
            batch_rows = (left / per_row).clamp(SMALLEST_BATCH as u64, batch_rows.max(64));
        }
        let memory = per_row * batch_rows + further;
        let prepaid = pages.min((free / workers).saturating_sub(memory));
        reserved.grow(workers * (memory + prepaid))?;
        let (workers, batch_rows) = (workers as usize, batch_rows as usize);
        Ok(Reading { workers, batch_rows, prepaid, _reserved: reserved })
    }

    /// Runs over all row groups of all files with the workers; each is told its first row.
    pub(super) fn each_group(
        &self,
        files: &[ParquetFile],
        work: &(dyn Fn(&ParquetFile, usize, u64) -> Result<()> + Sync),
    ) -> Result<()> {
        let mut groups = Vec::new();
        for file in files {
            let mut first_row = file.first_row;
            for (group, rows) in file.row_groups().into_iter().enumerate() {
                groups.push((file, group, first_row));
                first_row += rows;
            }
        }
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let outcomes = graphmill_disk::pool()?.broadcast(|context| {
            while context.index() < self.workers && !failed.load(Ordering::Relaxed) {
                let next = next.fetch_add(1, Ordering::Relaxed);
                let Some((file, group, first_row)) = groups.get(next) else { break };
                if let Err(error) = work(file, *group, *first_row) {
                    failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        });
        outcomes.into_iter().collect()
    }
}
