//! Rows by id, from the disk to where they are wanted.
//! Loaders and feature handles give a list of ids and the memory for their rows. From a map the rows are copied one by
//! one; any other backend is asked for every distinct row once, in the order of the file, with neighbouring rows in one
//! read. It does not know whose rows they are.

use crate::{Error, Result};
use graphmill_disk::{Backend, ReadAt};
use graphmill_format::TableShape;
use graphmill_store::Table;

/// Rows that follow each other are read together up to this many bytes.
const LONGEST_READ: u64 = 256 << 10;
/// How many rows of a map are copied between two looks at the length of its file.
const ROWS_AT_ONCE: usize = 4096;

/// What fetching some rows took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatherStats {
    /// Rows delivered.
    pub rows: u64,
    /// Rows fetched: a row asked for twice is read once, except from a map.
    pub rows_read: u64,
    /// Requests to the backend.
    pub reads: u64,
    /// Bytes fetched.
    pub bytes_read: u64,
}

/// One wanted row and its place among the wanted.
type Wanted = (u64, usize);

/// Copies the rows `ids` of a table to `out`, one after the other without padding.
///
/// `reader` must read the very file of `table`; [`Rows`](crate::Rows) sees to that. Every id is checked before anything
/// is read. After a failure the content of `out` is unspecified.
pub fn gather(
    table: &Table,
    reader: &dyn ReadAt,
    ids: &[i64],
    out: &mut [u8],
) -> Result<GatherStats> {
    let shape = table.shape();
    // A negative id is a huge one when its bits are read without a sign.
    if let Some(position) = ids.iter().position(|&id| id as u64 >= shape.rows()) {
        let (path, id, rows) = (table.path().to_path_buf(), ids[position], shape.rows());
        return Err(Error::RowOutOfRange { path, position, id, rows });
    }
    let expected = (ids.len() as u64).checked_mul(shape.row_length());
    if expected != Some(out.len() as u64) {
        return Err(Error::OutputLength {
            path: table.path().to_path_buf(),
            ids: ids.len(),
            found: out.len() as u64,
            expected: expected.unwrap_or(u64::MAX),
        });
    }
    if out.is_empty() {
        return Ok(GatherStats { rows: ids.len() as u64, ..GatherStats::default() });
    }
    let source = Source {
        reader,
        start: table.section().offset,
        stride: shape.stride(),
        // Fits: at least one row of this length lies in `out`.
        row_length: shape.row_length() as usize,
    };
    match reader.backend() {
        Backend::Mapped => source.copy(ids, out),
        _ => source.read(ids, out),
    }
}

/// Bytes of memory that [`gather`] takes for `ids` rows while it runs, whichever backend it reads from.
pub fn gather_memory(shape: &TableShape, ids: usize) -> u64 {
    let wanted = ids as u64 * size_of::<Wanted>() as u64;
    let copied = ids.min(ROWS_AT_ONCE) * size_of::<(u64, &mut [u8])>();
    (wanted + run_limit(shape.stride()) * shape.stride()).max(copied as u64)
}

/// How many rows one read may cover.
fn run_limit(stride: u64) -> u64 {
    (LONGEST_READ / stride.max(1)).max(1)
}

/// Where rows come from.
struct Source<'a> {
    reader: &'a dyn ReadAt,
    start: u64,
    stride: u64,
    row_length: usize,
}

impl Source<'_> {
    fn offset(&self, row: u64) -> u64 {
        self.start + row * self.stride
    }

    fn copy(&self, ids: &[i64], out: &mut [u8]) -> Result<GatherStats> {
        let mut rows = ids.iter().zip(out.chunks_exact_mut(self.row_length));
        let mut ranges = Vec::with_capacity(ids.len().min(ROWS_AT_ONCE));
        loop {
            let next = rows.by_ref().take(ROWS_AT_ONCE);
            ranges.extend(next.map(|(&id, into)| (self.offset(id as u64), into)));
            if ranges.is_empty() {
                break;
            }
            self.reader.read_ranges(&mut ranges)?;
            ranges.clear();
        }
        let rows = ids.len() as u64;
        Ok(GatherStats { rows, rows_read: rows, reads: rows, bytes_read: out.len() as u64 })
    }

    fn read(&self, ids: &[i64], out: &mut [u8]) -> Result<GatherStats> {
        let mut wanted: Vec<Wanted> =
            ids.iter().enumerate().map(|(place, &id)| (id as u64, place)).collect();
        wanted.sort_unstable();
        let mut stats = GatherStats { rows: ids.len() as u64, ..GatherStats::default() };
        let mut bounce = Vec::new();
        for run in runs(&wanted, run_limit(self.stride)) {
            let (first, last) = (run[0].0, run[run.len() - 1].0);
            let length = (last - first) * self.stride + self.row_length as u64;
            if first == last {
                self.read_row(run, out)?;
            } else {
                bounce.resize(length as usize, 0);
                self.reader.read_exact_at(self.offset(first), &mut bounce)?;
                for &(row, place) in run {
                    let from = ((row - first) * self.stride) as usize;
                    out[self.place(place)].copy_from_slice(&bounce[from..from + self.row_length]);
                }
            }
            stats.rows_read += last - first + 1;
            stats.reads += 1;
            stats.bytes_read += length;
        }
        Ok(stats)
    }

    /// Reads one row to the first place that wants it, and copies it to the others.
    fn read_row(&self, run: &[Wanted], out: &mut [u8]) -> Result<()> {
        let (row, first) = run[0];
        self.reader.read_exact_at(self.offset(row), &mut out[self.place(first)])?;
        for &(_, place) in &run[1..] {
            out.copy_within(self.place(first), place * self.row_length);
        }
        Ok(())
    }

    fn place(&self, place: usize) -> std::ops::Range<usize> {
        place * self.row_length..(place + 1) * self.row_length
    }
}

/// Cuts sorted rows where one is missing in between or `limit` rows are reached.
fn runs(wanted: &[Wanted], limit: u64) -> impl Iterator<Item = &[Wanted]> {
    let mut rest = wanted;
    std::iter::from_fn(move || {
        let (first, _) = *rest.first()?;
        let breaks = |pair: &[Wanted]| pair[1].0 > pair[0].0 + 1 || pair[1].0 - first >= limit;
        let end = rest.windows(2).position(breaks).map_or(rest.len(), |before| before + 1);
        let (run, later) = rest.split_at(end);
        rest = later;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(rows: &[u64], limit: u64) -> Vec<Vec<u64>> {
        let wanted: Vec<Wanted> = rows.iter().map(|&row| (row, 0)).collect();
        runs(&wanted, limit).map(|run| run.iter().map(|wanted| wanted.0).collect()).collect()
    }

    #[test]
    fn runs_break_at_gaps_and_at_the_limit_but_not_at_duplicates() {
        assert_eq!(cut(&[], 3), Vec::<Vec<u64>>::new());
        assert_eq!(cut(&[1, 2, 2, 3, 4, 6], 3), [vec![1, 2, 2, 3], vec![4], vec![6]]);
        assert_eq!(cut(&[5, 5, 5, 6], 1), [vec![5, 5, 5], vec![6]]);
    }

    #[test]
    fn a_read_covers_at_least_one_row_however_long() {
        assert_eq!(run_limit(LONGEST_READ * 10), 1);
        assert_eq!(run_limit(512), 512);
        assert_eq!(run_limit(0), LONGEST_READ);
    }
}
