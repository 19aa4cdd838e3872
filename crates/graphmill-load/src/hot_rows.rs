//! The rows that are wanted most often, in memory for good.
//! A loader makes them before its first window, within a share of what is free, and all loaders of a dataset that
//! deliver the same columns use one set. Windows take from it what it has, and read only the rest. It does not know
//! why a row is hot.

use crate::columns::Columns;
use crate::heat::Heat;
use crate::hot_ids::HotIds;
use crate::row_copy::RowCopy;
use crate::row_order::RowOrder;
use crate::with_unlocked::with_unlocked;
use crate::{ReadStats, Result, Rows};
use graphmill_disk::{Budget, PageBuffer, ReadAt, Reservation, ScatterBuffer};
use graphmill_format::Direction;
use graphmill_store::{Dataset, Table};
use std::sync::{Arc, Mutex, Weak};

/// Rows that are read at once while a table is filled, which bounds what planning them takes.
const PORTION: usize = 1 << 18;
/// Places of hot rows have to fit beside a mark in 32 bits.
const MOST_ROWS: u64 = (1 << 31) - 1;

/// Hot rows of some columns. Those who want the same find it here as long as somebody has it.
static SHARED: Mutex<Vec<Weak<HotRows>>> = Mutex::new(Vec::new());

/// The hot rows of all columns of a loader.
#[derive(Debug)]
pub(crate) struct HotRows {
    pub(crate) ids: HotIds,
    followed: Direction,
    tables: Vec<HotTable>,
    _ids_memory: Reservation,
}

#[derive(Debug)]
struct HotTable {
    table: Table,
    rows: PageBuffer,
    row_length: usize,
    _memory: Reservation,
}

impl HotRows {
    /// The hot rows that another loader has made of the same files for the same direction.
    pub(crate) fn shared(columns: &Columns, followed: Direction) -> Option<Arc<Self>> {
        let is_same = |hot: &Arc<HotRows>| {
            // A file that is held open here cannot have given its address to another.
            let tables = hot.tables.iter().map(|hot| Arc::as_ptr(hot.table.mapped()));
            let wanted = columns.rows().map(|rows| Arc::as_ptr(rows.table().mapped()));
            hot.followed == followed && tables.eq(wanted)
        };
        let find = |shared: &mut Vec<Weak<HotRows>>| {
            shared.retain(|hot| hot.strong_count() > 0);
            shared.iter().filter_map(Weak::upgrade).find(is_same)
        };
        with_unlocked(&SHARED, find).flatten()
    }

    /// Reads the hottest rows of all columns, as many as take `bytes` of memory; None if that is none.
    ///
    /// `batches` are the nodes of some batches, in case that nothing better tells which rows are hot.
    pub(crate) fn read(
        dataset: &Dataset,
        columns: &Columns,
        followed: Direction,
        bytes: u64,
        batches: &[&[i64]],
    ) -> Result<(Option<Arc<Self>>, ReadStats)> {
        let budget = dataset.budget();
        let heat = Heat::of(dataset, followed);
        let most = hot_count(dataset, columns, &heat, bytes);
        let mut stats = ReadStats::default();
        if most == 0 {
            return Ok((None, stats));
        }
        let sampled = batches.iter().map(|nodes| nodes.len()).sum();
        let work = heat.work_memory(sampled);
        let ids_bytes = heat.memory(dataset.graph().num_nodes()).saturating_add(work);
        let mut ids_memory = budget.reserve(ids_bytes, "the list of hot rows")?;
        let ids = heat.hottest(dataset, most, batches)?;
        ids_memory.shrink(work);
        let mut tables = Vec::new();
        for rows in columns.rows() {
            let (table, read) = HotTable::read(rows, &ids, budget)?;
            tables.push(table);
            stats += read;
        }
        let hot = Arc::new(HotRows { ids, followed, tables, _ids_memory: ids_memory });
        // Another loader may have been as fast; then one of the two sets is too many.
        let other = Self::shared(columns, followed);
        let hot = other.unwrap_or_else(|| {
            with_unlocked(&SHARED, |shared| shared.push(Arc::downgrade(&hot)));
            hot
        });
        Ok((Some(hot), stats))
    }

    /// The row of a column at a place that [`HotIds`] gave, as it is stored.
    #[inline]
    pub(crate) fn row(&self, column: usize, place: usize) -> &[u8] {
        let HotTable { rows, row_length, .. } = &self.tables[column];
        &rows[place * row_length..(place + 1) * row_length]
    }
}

impl HotTable {
    fn read(rows: &Rows, ids: &HotIds, budget: &Budget) -> Result<(Self, ReadStats)> {
        let count = ids.len() as usize;
        let row_length = stored_length(rows) as usize;
        let what = format!("the hot rows of `{}`", rows.table().path().display());
        let length = count.saturating_mul(row_length);
        let memory = budget.reserve((length as u64).saturating_add(PageBuffer::MARGIN), &what)?;
        let _work = budget.reserve(rows.read_memory(count.min(PORTION)), &what)?;
        let mut held = PageBuffer::with_huge_pages(length);
        let mut stats = ReadStats::default();
        rows.table().mapped().check_length()?;
        if row_length > 0 {
            let mut hot = ids.rows();
            for out in held.chunks_mut(PORTION * row_length) {
                let count = out.len() / row_length;
                let wanted = hot.by_ref().take(count).zip(0..);
                let order = RowOrder::new(rows.table().shape().rows(), count, wanted);
                let out = ScatterBuffer::new(out, row_length);
                stats +=
                    rows.read_rows(order, &|place| out.take(place), RowCopy::Plain, &|| true)?;
            }
        }
        let table = rows.table().clone();
        Ok((HotTable { table, rows: held, row_length, _memory: memory }, stats))
    }
}

/// How many rows of all columns fit into so many bytes, beside what tells which they are.
pub(crate) fn hot_count(dataset: &Dataset, columns: &Columns, heat: &Heat, bytes: u64) -> u64 {
    let num_nodes = dataset.graph().num_nodes();
    let margins = columns.rows().count() as u64 * PageBuffer::MARGIN;
    let room = bytes.saturating_sub(heat.memory(num_nodes).saturating_add(margins));
    let fitting = room.checked_div(columns.stored_row_bytes()).unwrap_or(0);
    fitting.min(num_nodes).min(MOST_ROWS)
}

/// Bytes of a row as it is stored.
fn stored_length(rows: &Rows) -> u64 {
    rows.table().shape().row_length()
}
