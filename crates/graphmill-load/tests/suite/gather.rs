//! Gathered rows are the rows, whatever the type, the backend and the order of the ids.

use graphmill_disk::{Backend, Pread, ReadAt, drop_page_cache};
use graphmill_format::{ElementType, TableShape};
use graphmill_ingest::write_table;
use graphmill_load::{Error, ReadStats, Reading, Rows};
use graphmill_store::Table;
use proptest::prelude::*;
use std::path::Path;

/// Bytes that differ from row to row, and are 0 or 1 where the type allows no more.
fn content(shape: &TableShape) -> Vec<u8> {
    let length = shape.rows() * shape.row_length();
    let byte = |at: u64| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8;
    let limit = if shape.element() == ElementType::Bool { 1 } else { u8::MAX };
    (0..length).map(|at| byte(at) & limit).collect()
}

fn write(path: &Path, shape: TableShape) -> Vec<u8> {
    let bytes = content(&shape);
    write_table(path, shape, [Ok(&bytes)], false).unwrap();
    bytes
}

fn gather(rows: &Rows, ids: &[i64]) -> Result<(Vec<u8>, ReadStats), Error> {
    let mut out = vec![0xAA; ids.len() * rows.table().shape().row_length() as usize];
    let stats = rows.gather(ids, &mut out)?;
    Ok((out, stats))
}

fn shapes() -> impl Strategy<Value = TableShape> {
    let types: Vec<_> = ElementType::ALL.into_iter().filter(|t| t.is_table_type()).collect();
    (prop::sample::select(types), 1_u64..60, prop::option::of(0_u64..70), any::<bool>()).prop_map(
        |(element, rows, columns, aligned)| {
            let shape = match columns {
                Some(columns) => TableShape::matrix(rows, columns, element).unwrap(),
                None => TableShape::vector(rows, element).unwrap(),
            };
            if aligned { shape.with_aligned_rows().unwrap() } else { shape }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn gathering_is_indexing(
        shape in shapes(),
        lists in prop::collection::vec(
            prop::collection::vec(any::<prop::sample::Index>(), 0..150), 24,
        ),
        gap in 0_u64..9000, longest in 0_u64..20_000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gd");
        let bytes = write(&path, shape);
        let row_length = shape.row_length() as usize;
        let all: Vec<i64> = (0..shape.rows() as i64).collect();
        let mut lists: Vec<Vec<i64>> = lists
            .iter()
            .map(|list| list.iter().map(|pick| pick.index(all.len()) as i64).collect())
            .collect();
        lists.push(all.iter().rev().copied().collect());
        lists.push(all);
        let table = Table::open(&path).unwrap();
        for reading in Reading::ALL {
            let rows = Rows::open(table.clone(), reading).unwrap();
            prop_assert_eq!(rows.reading(), reading);
            let rows = rows.break_even_gap(gap).longest_read(longest);
            for ids in &lists {
                let expected: Vec<u8> = ids
                    .iter()
                    .flat_map(|&id| &bytes[id as usize * row_length..][..row_length])
                    .copied()
                    .collect();
                prop_assert_eq!(gather(&rows, ids).unwrap().0, expected);
            }
        }
    }
}

#[test]
fn neighbouring_rows_share_a_read_and_duplicates_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let bytes = write(&path, TableShape::matrix(3000, 256, ElementType::F32).unwrap());
    let rows = Rows::open(Table::open(&path).unwrap(), Reading::Pread).unwrap();
    let rows = rows.break_even_gap(32 << 10);

    let all: Vec<i64> = (0..3000).collect();
    let (gathered, stats) = gather(&rows, &all).unwrap();
    assert_eq!(gathered, bytes);
    assert_eq!((stats.from_disk, stats.requests, stats.bytes_read), (3000, 12, 3000 * 1024));
    assert_eq!(stats.backend, Some(Backend::Pread));

    let (_, stats) = gather(&rows, &[7, 2999, 8, 7, 7, 6, 100]).unwrap();
    assert_eq!((stats.rows, stats.distinct, stats.from_disk), (7, 5, 5));
    assert_eq!((stats.requests, stats.bytes_read, stats.bytes_used), (3, 4 * 4096, 5 * 1024));

    // A gap that costs less than a request is read along.
    let (_, stats) = gather(&rows.break_even_gap(91 << 10), &[7, 100, 8]).unwrap();
    assert_eq!((stats.requests, stats.bytes_read, stats.bytes_used), (1, 25 * 4096, 3 * 1024));
}

#[test]
fn padding_between_rows_is_not_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let shape = TableShape::matrix(5, 3, ElementType::I16).unwrap().with_aligned_rows().unwrap();
    let bytes = write(&path, shape);
    let rows = Rows::open(Table::open(&path).unwrap(), Reading::Pread).unwrap();
    let (gathered, stats) = gather(&rows, &[3, 4]).unwrap();
    assert_eq!(gathered, bytes[18..]);
    assert_eq!((stats.requests, stats.bytes_read), (1, 4096));
}

#[test]
fn a_wrong_id_is_named_with_its_place_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    write(&path, TableShape::matrix(10, 2, ElementType::U8).unwrap());
    for backend in Reading::ALL {
        let rows = Rows::open(Table::open(&path).unwrap(), backend).unwrap();
        for wrong in [-1, 10, i64::MIN, i64::MAX] {
            let mut out = [0xAA; 6];
            let error = rows.gather(&[3, 9, wrong], &mut out).unwrap_err();
            assert!(
                matches!(error, Error::RowOutOfRange { position: 2, id, rows: 10, .. } if id == wrong)
            );
            assert!(error.to_string().contains("0 to 9"), "{error}");
            assert_eq!(out, [0xAA; 6]);
        }
    }
}

#[test]
fn memory_of_the_wrong_length_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    write(&path, TableShape::matrix(10, 2, ElementType::F32).unwrap());
    let rows = Rows::open(Table::open(&path).unwrap(), Reading::Mapped).unwrap();
    for length in [0, 15, 17] {
        let error = rows.gather(&[1, 2], &mut vec![0; length]).unwrap_err();
        assert!(matches!(error, Error::OutputLength { ids: 2, expected: 16, .. }), "{error}");
    }
}

#[test]
fn a_truncated_file_is_an_error_on_every_backend() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    write(&path, TableShape::matrix(1000, 64, ElementType::F32).unwrap());
    let readers =
        Reading::ALL.map(|backend| Rows::open(Table::open(&path).unwrap(), backend).unwrap());
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(100_000).unwrap();
    for rows in readers {
        let error = gather(&rows, &[999, 5]).unwrap_err();
        assert!(matches!(error, Error::Disk(_)), "{}: {error}", rows.reading());
    }
}

#[test]
fn a_file_put_in_the_place_of_an_open_table_is_never_read_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let shape = TableShape::matrix(10, 2, ElementType::U8).unwrap();
    let bytes = write(&path, shape);
    let table = Table::open(&path).unwrap();
    let other = folder.path().join("other.gd");
    write_table(&other, shape, [Ok([9; 20])], false).unwrap();
    std::fs::rename(&other, &path).unwrap();
    for backend in Reading::ALL {
        let rows = Rows::open(table.clone(), backend).unwrap();
        assert_eq!(gather(&rows, &[4]).unwrap().0, bytes[8..10]);
    }
}

#[test]
fn half_floats_are_widened_on_the_way_by_every_backend() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    for (element, widen) in [
        (ElementType::F16, (|half| half::f16::from_le_bytes(half).to_f32()) as fn([u8; 2]) -> f32),
        (ElementType::Bf16, |half| half::bf16::from_le_bytes(half).to_f32()),
    ] {
        let shape = TableShape::matrix(4000, 33, element).unwrap();
        let bytes = content(&shape);
        write_table(&path, shape, [Ok(&bytes)], true).unwrap();
        let ids: Vec<i64> = (0..3000).map(|at| at * 37 % 4000).collect();
        let (halves, _) = bytes.as_chunks::<2>();
        let expected: Vec<u8> = ids
            .iter()
            .flat_map(|&id| &halves[id as usize * 33..][..33])
            .flat_map(|half| widen(*half).to_le_bytes())
            .collect();
        for reading in Reading::ALL {
            let rows = Rows::open(Table::open(&path).unwrap(), reading).unwrap().widened(true);
            assert_eq!((rows.element(), rows.row_length()), (ElementType::F32, 132));
            let mut out = vec![0; expected.len()];
            rows.gather(&ids, &mut out).unwrap();
            assert!(out == expected, "{element}, {reading}");
        }
    }
}

#[test]
fn auto_takes_from_the_page_cache_what_is_there_and_reads_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let shape = TableShape::matrix(40_000, 128, ElementType::F32).unwrap();
    let bytes = write(&path, shape);
    let table = Table::open(&path).unwrap();
    let file = table.mapped().file();
    file.sync_all().unwrap();
    let ids: Vec<i64> = (0..30_000).map(|at| at * 7919 % 40_000).collect();
    let expected: Vec<u8> =
        ids.iter().flat_map(|&id| &bytes[id as usize * 512..][..512]).copied().collect();
    // Resident from the first byte to the third, the middle, and the last.
    let third = table.mapped().len() / 3;
    for resident in [0, third, 2 * third, table.mapped().len()] {
        drop_page_cache(file, 0..table.mapped().len()).unwrap();
        for at in (0..resident).step_by(4096) {
            Pread::of(table.mapped()).unwrap().read_exact_at(at, &mut [0]).unwrap();
        }
        let rows = Rows::open(table.clone(), Reading::Auto).unwrap();
        for _ in 0..2 {
            let (gathered, stats) = gather(&rows, &ids).unwrap();
            assert!(gathered == expected, "{resident}");
            let duplicates = 30_000 - stats.distinct;
            assert!(stats.from_page_cache + stats.from_disk + duplicates >= 30_000, "{stats:?}");
        }
    }
}
