//! Rows of a result, filled by all threads.
//! A sampler whose output is a matrix says how to fill some of its rows; here they are handed out. A row depends on its
//! number alone, so it does not matter who fills it. What rows mean is unknown here.

use crate::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// Fills a matrix with rows of `width` ids, `rows_per_job` of them at a time on the threads of the pool.
///
/// `fill` gets the number of its first row and the memory of some rows.
pub(crate) fn fill_rows(
    matrix: &mut [i64],
    width: usize,
    rows_per_job: usize,
    fill: impl Fn(usize, &mut [i64]) -> Result<()> + Sync,
) -> Result<()> {
    let ids_per_job = width.saturating_mul(rows_per_job).max(1);
    in_jobs(matrix.chunks_mut(ids_per_job), |job, rows| fill(job * rows_per_job, rows))
}

/// Does each part of some work on a thread of the pool, or right here if there is only one part.
///
/// Of several errors the one of the first part is returned, so that it too does not depend on threads.
pub(crate) fn in_jobs<Part: Send>(
    mut parts: impl ExactSizeIterator<Item = Part>,
    work: impl Fn(usize, Part) -> Result<()> + Sync,
) -> Result<()> {
    if parts.len() <= 1 {
        return parts.next().map_or(Ok(()), |part| work(0, part));
    }
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let (work, failed) = (&work, &failure);
    graphmill_disk::pool()?.in_place_scope(|scope| {
        for (job, part) in parts.enumerate() {
            scope.spawn(move |_| {
                let Err(error) = work(job, part) else { return };
                // Nothing in here panics while it holds the lock.
                let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earlier, _)| job < *earlier) {
                    *first = Some((job, error));
                }
            });
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Fails unless an array has exactly room for `rows` rows of `width` ids.
pub(crate) fn check_room(
    what: &'static str,
    found: usize,
    rows: usize,
    width: usize,
) -> Result<()> {
    let expected = rows.saturating_mul(width);
    if found == expected { Ok(()) } else { Err(Error::Room { what, found, expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_filled_once_whatever_the_division() {
        for (rows, width, per_job) in [(0, 3, 4), (1, 3, 4), (4, 3, 4), (9, 3, 4), (100, 1, 7)] {
            let mut matrix = vec![0; rows * width];
            let fill = |first: usize, rows: &mut [i64]| {
                for (row, ids) in rows.chunks_mut(width).enumerate() {
                    ids.iter_mut().for_each(|id| *id += (first + row) as i64);
                }
                Ok(())
            };
            fill_rows(&mut matrix, width, per_job, fill).unwrap();
            let expected = (0..rows * width).map(|at| (at / width) as i64);
            assert!(matrix.into_iter().eq(expected));
        }
    }

    #[test]
    fn the_first_error_is_told() {
        let mut matrix = vec![0; 1000];
        let fill = |first: usize, _: &mut [i64]| {
            let failure = Error::NoNegatives { row: first, tries: 1 };
            if first >= 30 { Err(failure) } else { Ok(()) }
        };
        for _ in 0..50 {
            let error = fill_rows(&mut matrix, 1, 10, fill).unwrap_err();
            assert!(matches!(error, Error::NoNegatives { row: 30, .. }), "{error}");
        }
    }

    #[test]
    fn sizes_that_overflow_fit_no_array() {
        assert!(check_room("walks", 6, 2, 3).is_ok());
        assert!(check_room("walks", 0, usize::MAX, 2).is_err());
    }
}
