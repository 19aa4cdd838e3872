//! Written tables hold the rows that were given, and only whole tables are written.

use crate::read_back;
use graphmill_format::{ElementType, TableShape};
use graphmill_ingest::{write_counted_table, write_table};
use proptest::prelude::*;

fn element() -> impl Strategy<Value = ElementType> {
    let tables: Vec<_> = ElementType::ALL.into_iter().filter(|e| e.is_table_type()).collect();
    proptest::sample::select(tables)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn tables_of_every_type_and_alignment_read_back(
        element in element(),
        rows in 0_u64..200,
        columns in 0_u64..40,
        vector: bool,
        aligned: bool,
        counted: bool,
        chunk in 1_usize..50,
        seed: u8,
    ) {
        let shape = if vector {
            TableShape::vector(rows, element)
        } else {
            TableShape::matrix(rows, columns, element)
        };
        let mut shape = shape.unwrap();
        if aligned {
            shape = shape.with_aligned_rows().unwrap();
        }
        let length = rows * shape.row_length();
        let mask = if element == ElementType::Bool { 1 } else { 255 };
        let bytes: Vec<u8> =
            (0..length).map(|i| (i as u8).wrapping_mul(13).wrapping_add(seed) & mask).collect();
        let chunks = bytes.chunks((chunk * shape.row_length() as usize).max(1)).map(Ok);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gd");
        if counted && shape.row_length() > 0 {
            let unknown = if vector {
                TableShape::vector(0, element)
            } else {
                TableShape::matrix(0, columns, element)
            };
            let unknown = unknown.unwrap();
            let unknown = if aligned { unknown.with_aligned_rows().unwrap() } else { unknown };
            write_counted_table(&path, unknown, chunks, false).unwrap();
        } else {
            write_table(&path, shape, chunks, false).unwrap();
        }
        let (back, rows) = read_back::table(&path);
        prop_assert_eq!(back, shape);
        prop_assert_eq!(rows, bytes);
    }
}

#[test]
fn a_table_of_several_pieces_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let shape = TableShape::matrix(40_000, 33, ElementType::F32).unwrap();
    let bytes: Vec<u8> = (0..shape.length()).map(|i| (i % 251) as u8).collect();
    for shape in [shape, shape.with_aligned_rows().unwrap()] {
        let written = write_table(&path, shape, bytes.chunks(132 * 777).map(Ok), true).unwrap();
        assert_eq!(written.length, std::fs::metadata(&path).unwrap().len());
        assert!(std::fs::read(&path).unwrap().starts_with(&written.header));
        assert!(read_back::table(&path) == (shape, bytes.clone()));
    }
}

#[test]
fn too_few_too_many_and_broken_rows_are_refused_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    let shape = TableShape::matrix(3, 2, ElementType::I16).unwrap();
    let text =
        |bytes: &[u8]| write_table(&path, shape, [Ok(bytes)], false).unwrap_err().to_string();
    assert!(text(&[0; 8]).contains("x.gd`, row 2: found 2 rows, expected 3 rows"));
    assert!(text(&[0; 16]).contains("found 4 rows or more, expected 3 rows"));
    assert!(text(&[0; 11]).contains("whole rows of 4 bytes"));
    let flags = TableShape::vector(2, ElementType::Bool).unwrap();
    let error = write_table(&path, flags, [Ok([1, 2])], false).unwrap_err().to_string();
    assert!(error.contains("2 at byte 1") && error.contains("0 or 1"), "{error}");
    let empty = TableShape::matrix(0, 0, ElementType::I16).unwrap();
    assert!(write_counted_table(&path, empty, [Ok([0_u8; 0])], false).is_err());
    let failing = [Ok(vec![0; 4]), Err(graphmill_ingest::Error::Cancelled)];
    assert!(write_table(&path, shape, failing, false).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
