//! How the memory of a table whose rows come in any order is divided.
//! Everything is decided here once, from the bytes granted and the size of a row, so that the other
//! files only fill what they were given. It must not know what rows hold.

use graphmill_disk::Budget;

use super::plan::PlannedRows;
use super::records::RECORD_HEADER;
use crate::Result;
use crate::shared_section::SharedSection;

const PAGE: u64 = 4096;
/// Less is not enough for a handful of slabs and their input and output.
const LEAST: u64 = 256 << 10;
/// Windows that fit into the last cache are placed fastest; larger ones only save scratch.
const LARGEST_WINDOW: u64 = 16 << 20;
const SMALLEST_WINDOW: u64 = 128 << 10;
const LARGEST_IO: u64 = 256 << 10;
const SMALLEST_IO: u64 = 8 << 10;
const LARGEST_REGION: u64 = 1 << 20;
/// Blocks of the file that may be incomplete at once, for every worker.
const GATHERED: u64 = 3;

/// Sizes of what is held in memory; together they stay below the bytes granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizing {
    /// Threads that fill windows at once.
    pub(super) workers: usize,
    /// Rows of a window.
    pub(super) window_rows: u64,
    /// Bytes of a slab, a power of two of at least a page.
    pub(super) slab: usize,
    /// Slabs in memory.
    pub(super) slabs: usize,
    /// Bytes that one turn of a thread may add, or one row if that is more.
    pub(super) turn: usize,
    /// Bytes read from or written to the scratch file at once.
    pub(super) io: usize,
    /// Buffers for that.
    pub(super) io_buffers: usize,
    /// Bytes of the scratch file that a window takes at once, a multiple of the slab.
    pub(super) region: u64,
    /// Blocks of the file that may be incomplete at once.
    pub(super) gathered: usize,
    /// Bytes for lists.
    pub(super) books: u64,
}

impl Sizing {
    /// Divides `memory`, or says how much is needed at least.
    pub(super) fn of(
        memory: u64,
        rows: &PlannedRows,
        threads: usize,
        budget: &Budget,
    ) -> Result<Self> {
        let parts = rows.parts.len() as u64;
        // A place in the file, and for each part where its row stood in the source.
        let row = rows.stride as u64 + 8 * parts;
        let record = RECORD_HEADER as u64 + rows.length as u64;
        let least = Self::least(row, record);
        if memory < least {
            let (free, total) = (memory, budget.total());
            let what = format!("placing rows of {} bytes", rows.stride);
            return Err(graphmill_disk::Error::Budget { what, wanted: least, free, total }.into());
        }
        let books = memory / 16;
        let windows = memory / 8 * 3;
        let workers = (windows / (row + PAGE).max(SMALLEST_WINDOW)).clamp(1, threads as u64);
        let window = (windows / workers).min(LARGEST_WINDOW.max(row + PAGE));
        let window_rows = ((window - PAGE) / row).clamp(1, u64::from(u32::MAX) / parts);
        let io_buffers = (memory / 16 / (SMALLEST_IO + PAGE)).clamp(1, threads as u64);
        let io = (memory / 16 / io_buffers - PAGE).clamp(SMALLEST_IO, LARGEST_IO) / PAGE * PAGE;
        let gathered = memory / 8 / SharedSection::gathered_memory();
        let gathered = gathered.min(GATHERED * workers);
        let fixed = books
            + workers * window
            + io_buffers * (io + PAGE)
            + gathered * SharedSection::gathered_memory();
        let slab = if memory >= 32 << 20 { 16 << 10 } else { PAGE };
        // Besides its bytes, a slab has a place in a list and what the allocator adds.
        let slabs = memory.saturating_sub(fixed) / (slab + 64);
        let region = (window / 4).next_power_of_two().clamp(4 * slab, LARGEST_REGION);
        Ok(Sizing {
            workers: workers as usize,
            window_rows,
            slab: slab as usize,
            slabs: slabs as usize,
            turn: (slabs * slab / (4 * threads as u64)).min(LARGEST_IO) as usize,
            io: io as usize,
            io_buffers: io_buffers as usize,
            region,
            gathered: gathered as usize,
            books,
        })
    }

    /// Memory without which a row cannot be placed: twice the row, and room to work.
    fn least(row: u64, record: u64) -> u64 {
        (4 * (row + PAGE)).max(4 * (record + 2 * PAGE)).max(LEAST)
    }

    /// Slabs that records of so many bytes may need.
    pub(super) fn slabs_for(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.slab) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::TablePlan;
    use super::*;
    use graphmill_format::ElementType;
    use std::path::Path;

    #[test]
    fn what_is_granted_is_never_exceeded_and_every_row_finds_room() {
        for shift in 10..38 {
            for columns in [0, 1, 127, 5_000, 1 << 20] {
                for threads in [1, 2, 7, 64] {
                    let plan = TablePlan::matrix(columns, ElementType::U8);
                    let rows = PlannedRows::new(plan, Path::new("x")).unwrap();
                    let memory = 1 << shift;
                    let Ok(sizing) = Sizing::of(memory, &rows, threads, &Budget::new(memory))
                    else {
                        assert!(memory < LEAST || memory < 8 << 20, "{memory} {columns}");
                        continue;
                    };
                    let window = sizing.window_rows * (columns + 8) + PAGE;
                    let held = sizing.books
                        + sizing.workers as u64 * window
                        + (sizing.slabs * (sizing.slab + 64)) as u64
                        + sizing.io_buffers as u64 * (sizing.io as u64 + PAGE)
                        + sizing.gathered as u64 * SharedSection::gathered_memory();
                    assert!(held <= memory, "{memory} {columns} {threads} {sizing:?}");
                    let record = RECORD_HEADER + columns as usize;
                    let turn = record.max(sizing.turn);
                    assert!(sizing.slabs_for(turn) <= sizing.slabs, "{sizing:?}");
                    assert!(sizing.region.is_multiple_of(sizing.slab as u64));
                    assert!(sizing.io.is_multiple_of(PAGE as usize));
                }
            }
        }
    }
}
