//! Arrays of every type, stored and packed, whole and damaged.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use graphmill_disk::faults::{Fault, FaultyFileSystem};
use graphmill_disk::{Budget, FileSystem};
use graphmill_format::ElementType;
use graphmill_ingest::npy::{ArrayHeader, ArrayType, NpyHeader};
use graphmill_ingest::source::{
    EdgeChunk, EdgeInput, EdgeInputOptions, OnBadRow, ReadReport, TableChunk, TableDescription,
    TableInput, TableInputOptions,
};

/// A `.npy` of a type that our own writer may not know.
fn npy(descr: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes.resize(10 + length - 1, b' ');
    bytes.push(b'\n');
    bytes.extend(numbers);
    bytes
}

fn npz(name: &str, array: &[u8], deflated: bool) -> Vec<u8> {
    let method = match deflated {
        true => zip::CompressionMethod::Deflated,
        false => zip::CompressionMethod::Stored,
    };
    let options =
        zip::write::SimpleFileOptions::default().compression_method(method).large_file(true);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file(name, options).unwrap();
    writer.write_all(array).unwrap();
    writer.finish().unwrap().into_inner()
}

fn in_file<T>(bytes: &[u8], run: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, bytes).unwrap();
    run(&path)
}

fn edges(
    path: &Path,
    options: &EdgeInputOptions,
    budget: u64,
) -> Result<(Vec<(u64, u64)>, ReadReport), String> {
    let input = EdgeInput::open(&[path.to_path_buf()], options).map_err(|e| e.to_string())?;
    let found: Mutex<Vec<(u64, u64, u64)>> = Mutex::default();
    let consume = |chunk: &mut EdgeChunk| {
        let mut found = found.lock().unwrap();
        let pairs = chunk.sources.iter().zip(&chunk.destinations).enumerate();
        found.extend(pairs.map(|(at, (s, d))| (chunk.first_row + at as u64, *s, *d)));
        Ok(())
    };
    let budget = Budget::new(budget);
    let pool = graphmill_disk::with_threads(Some(3)).unwrap();
    let report = pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string());
    assert_eq!(budget.used(), 0);
    let report = report?;
    let mut found = found.into_inner().unwrap();
    found.sort_unstable();
    assert!(found.iter().enumerate().all(|(at, edge)| edge.0 == at as u64));
    assert_eq!(report.rows, found.len() as u64);
    Ok((found.into_iter().map(|(_, source, destination)| (source, destination)).collect(), report))
}

fn table(
    bytes: &[u8],
    options: &TableInputOptions,
) -> Result<(TableDescription, Vec<u8>, ReadReport), String> {
    in_file(bytes, |path| {
        let options = options.clone().ordered(true);
        let input = TableInput::open(&[path.to_path_buf()], &options).map_err(|e| e.to_string())?;
        let found: Mutex<(u64, Vec<u8>)> = Mutex::default();
        let consume = |chunk: &mut TableChunk| {
            let mut found = found.lock().unwrap();
            assert_eq!(chunk.first_row, found.0, "in order");
            found.0 += chunk.rows as u64;
            found.1.extend_from_slice(&chunk.bytes);
            Ok(())
        };
        let budget = Budget::new(16 << 20);
        let pool = graphmill_disk::with_threads(Some(3)).unwrap();
        let report =
            pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
        assert_eq!(budget.used(), 0);
        Ok((input.description(), found.into_inner().unwrap().1, report))
    })
}

fn le<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

const PLENTY: u64 = 64 << 20;

#[test]
fn unsigned_arrays_are_ids_and_wider_tables() {
    let plain = EdgeInputOptions::new();
    let arrays = [
        ("<u2", ArrayType::U16, le([1_u16, 65535, 3, 4].map(u16::to_le_bytes))),
        ("<u4", ArrayType::U32, le([1_u32, 65535, 3, 4].map(u32::to_le_bytes))),
        ("<u8", ArrayType::U64, le([1_u64, 65535, 3, 4].map(u64::to_le_bytes))),
        ("|u1", ArrayType::Element(ElementType::U8), vec![1, 255, 3, 4]),
    ];
    for (descr, numbers, bytes) in arrays {
        let array = npy(descr, "(2, 2)", &bytes);
        let header = ArrayHeader::parse(&array, array.len() as u64).unwrap();
        assert_eq!(header.numbers, numbers);
        assert_eq!(NpyHeader::parse(&array, array.len() as u64).is_ok(), descr == "|u1");
        let large = if descr == "|u1" { 255 } else { 65535 };
        in_file(&array, |path| {
            assert_eq!(edges(path, &plain, PLENTY).unwrap().0, [(1, 3), (large, 4)]);
        });
        let (description, bytes, _) = table(&array, &TableInputOptions::new()).unwrap();
        assert_eq!(description.element, Some(numbers.table_element()));
        let wide = table(&array, &TableInputOptions::new().element(ElementType::I64)).unwrap().1;
        assert_eq!(wide, le([1_i64, large as i64, 3, 4].map(i64::to_le_bytes)));
        assert_eq!(bytes.len() as u64, 4 * numbers.table_element().width());
    }
    let large = npy("<u8", "(2, 1)", &le([1_u64, 1 << 63].map(u64::to_le_bytes)));
    in_file(&large, |path| {
        let error = edges(path, &plain, PLENTY).unwrap_err();
        assert!(error.contains("edge 0, destination: found 9223372036854775808"), "{error}");
    });
    let error = table(&large, &TableInputOptions::new()).unwrap_err();
    assert!(error.contains("row 1, column 0: found 9223372036854775808"), "{error}");
}

#[test]
fn booleans_are_told_and_read_from_arrays_and_text() {
    let array = npy("|b1", "(3,)", &[1, 0, 1]);
    for bytes in [array.clone(), npz("mask.npy", &array, true)] {
        let (description, found, _) = table(&bytes, &TableInputOptions::new()).unwrap();
        assert_eq!(description.element, Some(ElementType::Bool));
        assert!(description.looks_boolean && description.is_vector);
        assert_eq!(found, [1, 0, 1]);
    }
    assert!(table(&npy("|b1", "(3,)", &[1, 0, 2]), &TableInputOptions::new()).is_err());
    let bools = TableInputOptions::new().element(ElementType::Bool);
    for (text, looks, expected) in [
        ("true\nFALSE\nTrue\n", true, vec![1, 0, 1]),
        ("is_train\nfalse\ntrue\n", true, vec![0, 1]),
        ("true,false\nfalse,true\n", true, vec![1, 0, 0, 1]),
        ("0\n1\n", false, vec![0, 1]),
        ("mask\n1\n0\n", false, vec![1, 0]),
    ] {
        let (description, found, _) = table(text.as_bytes(), &bools).unwrap();
        assert_eq!((description.looks_boolean, found), (looks, expected), "{text:?}");
    }
    let error = table(b"true\nmaybe\n", &bools).unwrap_err();
    assert!(error.contains("line 2, column 1: found \"maybe\", expected 0, 1, true"), "{error}");
}

#[test]
fn labels_may_be_missing_or_negative() {
    let labels = TableInputOptions::new().element(ElementType::I64).missing(-1);
    let floats = npy("<f4", "(4, 1)", &le([3.0, f32::NAN, -2.0, 0.0].map(f32::to_le_bytes)));
    let expected = le([3_i64, -1, -2, 0].map(i64::to_le_bytes));
    for bytes in [floats.clone(), npz("node_label.npy", &floats, true)] {
        assert_eq!(table(&bytes, &labels).unwrap().1, expected);
    }
    let integers = npy("<i8", "(4,)", &expected);
    assert_eq!(table(&integers, &labels).unwrap().1, expected);
    // Without ids no row is left out: those behind it would be the rows of others.
    let skip = labels.on_bad_row(OnBadRow::Skip);
    let broken = npy("<f4", "(3,)", &le([3.0, 0.5, 1.0].map(f32::to_le_bytes)));
    let error = table(&broken, &skip).unwrap_err();
    assert!(error.contains("row 1, column 0"), "{error}");
}

#[test]
fn rows_without_columns_are_refused() {
    let endless = npy("<f4", "(18446744073709551615, 0)", &[]);
    let error = table(&endless, &TableInputOptions::new()).unwrap_err();
    assert!(error.contains("rows without columns"), "{error}");
}

/// An `edge_index` of several pieces, of which some ids need more than four bytes.
fn large_index() -> (Vec<u8>, Vec<(u64, u64)>) {
    let count = 150_001_u64;
    let source = |edge: u64| if edge / 65_536 == 1 { edge << 20 } else { edge * 7 % 1000 };
    let destination = |edge: u64| edge ^ 5;
    let ends = (0..count).map(source).chain((0..count).map(destination));
    let array = npy("<i8", "(2, 150001)", &le(ends.map(u64::to_le_bytes)));
    (array, (0..count).map(|edge| (source(edge), destination(edge))).collect())
}

#[test]
fn packed_sources_wait_in_a_scratch_file_for_their_destinations() {
    let (array, expected) = large_index();
    let folder = tempfile::tempdir().unwrap();
    let disk = FaultyFileSystem::over(folder.path()).unwrap();
    let place = folder.path().join(".x.scratch");
    let system: Arc<dyn FileSystem> = Arc::new(disk.clone());
    let options = EdgeInputOptions::new().scratch(system, place.clone());
    in_file(&npz("edge_index.npy", &array, true), |path| {
        for budget in [PLENTY, 3 << 20] {
            assert!(edges(path, &options, budget).unwrap().0 == expected);
            assert!(edges(path, &EdgeInputOptions::new(), budget).unwrap().0 == expected);
        }
        let error = edges(path, &options, 200 << 10).unwrap_err();
        assert!(error.contains("raise the memory budget"), "{error}");
    });
    assert!(disk.performed() > 0, "the place that was given is used");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // A stored member is read by position and needs no scratch file.
    let before = disk.performed();
    in_file(&npz("edge_index.npy", &array, false), |path| {
        assert!(edges(path, &options, PLENTY).unwrap().0 == expected);
    });
    assert_eq!(disk.performed(), before);
}

#[test]
fn a_failing_scratch_file_is_an_error_and_never_wrong_edges() {
    let (array, expected) = large_index();
    let folder = tempfile::tempdir().unwrap();
    in_file(&npz("edge_index.npy", &array, true), |path| {
        let run = |disk: &FaultyFileSystem| {
            let system: Arc<dyn FileSystem> = Arc::new(disk.clone());
            let options = EdgeInputOptions::new().scratch(system, folder.path().join(".scratch"));
            edges(path, &options, PLENTY)
        };
        let counted = FaultyFileSystem::over(folder.path()).unwrap();
        run(&counted).unwrap();
        for operation in 0..counted.performed() {
            let disk = FaultyFileSystem::over(folder.path()).unwrap();
            disk.plan(operation, Fault::Error);
            if let Ok((found, _)) = run(&disk) {
                assert!(found == expected, "operation {operation}");
            }
        }
        let disk = FaultyFileSystem::over(folder.path()).unwrap();
        disk.plan(1, Fault::PowerLoss);
        assert!(run(&disk).is_err());
    });
}

#[test]
fn bad_ends_of_packed_edges_are_named_or_left_out() {
    let ends = [0_i64, -1, 2, 3, 10, 11, -12, 13];
    let array = npy("<i8", "(2, 4)", &le(ends.map(i64::to_le_bytes)));
    let pairs = npy("<i8", "(4, 2)", &le([0_i64, 10, -1, 11, 2, -12, 3, 13].map(i64::to_le_bytes)));
    for array in [array, pairs] {
        for deflated in [false, true] {
            in_file(&npz("edge_index.npy", &array, deflated), |path| {
                let error = edges(path, &EdgeInputOptions::new(), PLENTY).unwrap_err();
                assert!(error.contains("edge 1, source: found -1"), "{error}");
                let skip = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip);
                let (found, report) = edges(path, &skip, PLENTY).unwrap();
                assert_eq!((found, report.skipped), (vec![(0, 10), (3, 13)], 2));
                assert_eq!(report.bad_examples[1].place, "edge 2, destination");
            });
        }
    }
}

#[test]
fn a_changed_byte_of_a_member_is_seen_by_its_checksum() {
    let (array, _) = large_index();
    let numbers = le((0..200_000).map(|value| (value as f32).to_le_bytes()));
    let rows = npy("<f4", "(50000, 4)", &numbers);
    for (name, array) in [("edge_index.npy", &array), ("x.npy", &rows)] {
        let whole = npz(name, array, false);
        for at in [200, whole.len() / 2, whole.len() - 500] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            let error = match name {
                "x.npy" => table(&damaged, &TableInputOptions::new()).unwrap_err(),
                _ => in_file(&damaged, |path| {
                    edges(path, &EdgeInputOptions::new(), PLENTY).unwrap_err()
                }),
            };
            assert!(error.contains("checksum"), "{error}");
        }
    }
    for deflated in [false, true] {
        assert_eq!(
            table(&npz("x.npy", &rows, deflated), &TableInputOptions::new()).unwrap().1,
            numbers
        );
    }
}

#[test]
fn an_error_of_the_receiver_ends_the_reading_of_packed_edges() {
    let (array, _) = large_index();
    in_file(&npz("edge_index.npy", &array, true), |path| {
        let input = EdgeInput::open(&[path.to_path_buf()], &EdgeInputOptions::new()).unwrap();
        let budget = Budget::new(PLENTY);
        let refuse = |_: &mut EdgeChunk| Err(graphmill_ingest::Error::Cancelled);
        assert!(input.read(&budget, &refuse, None).is_err());
        let error = input.read(&budget, &|_| Ok(()), Some(&|_| false)).unwrap_err();
        assert!(matches!(error, graphmill_ingest::Error::Cancelled), "{error}");
        assert_eq!(budget.used(), 0);
    });
}
