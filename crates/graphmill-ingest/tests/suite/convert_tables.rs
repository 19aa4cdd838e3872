//! Tables that lie in files are copied as they are, by all threads and within the budget.

use crate::read_back;
use std::ffi::OsString;
use std::path::Path;

use graphmill_disk::Budget;
use graphmill_format::{ElementType, TableShape};
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::{ConvertOptions, Progress, convert, write_table};
use proptest::prelude::*;

fn bytes(length: u64, element: ElementType) -> Vec<u8> {
    let mask = if element == ElementType::Bool { 1 } else { 255 };
    (0..length).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 11) as u8 & mask).collect()
}

fn npy(path: &Path, element: ElementType, shape: &[u64], bytes: &[u8]) {
    let mut file = NpyHeader::encode(element, shape).unwrap();
    file.extend(bytes);
    std::fs::write(path, file).unwrap();
}

fn names(folder: &Path) -> Vec<OsString> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn copies_hold_the_rows_of_the_source_for_every_padding_thread_and_budget(
        element in proptest::sample::select(vec![
            ElementType::Bool, ElementType::I16, ElementType::F32, ElementType::F64,
        ]),
        columns in prop_oneof![1_u64..5, 60_u64..70, 300_u64..310],
        length in 0_u64..3_500_000,
        padded: bool,
        from_npy: bool,
        align: bool,
        threads in 1_usize..4,
        budget in prop_oneof![Just(128_u64 << 10), Just(1 << 20), Just(32 << 20)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let row = columns * element.width();
        let padded = padded && !from_npy;
        let stride = if padded || align { row.next_multiple_of(512) } else { row };
        let rows = length / stride;
        let plain = TableShape::matrix(rows, columns, element).unwrap();
        let aligned = plain.with_aligned_rows().unwrap();
        let data = bytes(rows * row, element);
        let (source, target) = (folder.path().join("source"), folder.path().join("target.gd"));
        if from_npy {
            npy(&source, element, &[rows, columns], &data);
        } else {
            write_table(&source, if padded { aligned } else { plain }, [Ok(&data)], false).unwrap();
        }
        let budget = Budget::new(budget);
        let options = ConvertOptions::new().budget(budget.clone()).align_rows(align);
        let pool = graphmill_disk::with_threads(Some(threads)).unwrap();
        let report = pool.install(|| convert(&source, &target, &options)).unwrap();
        prop_assert!(budget.peak() <= budget.total() && budget.used() == 0);
        prop_assert_eq!(report.rows, rows);
        prop_assert_eq!(report.length, std::fs::metadata(&target).unwrap().len());
        let (shape, found) = read_back::table(&target);
        prop_assert_eq!(shape, if align { aligned } else { plain });
        prop_assert!(found == data);
        let array = folder.path().join("back.npy");
        pool.install(|| convert(&target, &array, &options)).unwrap();
        let back = std::fs::read(&array).unwrap();
        let header = NpyHeader::parse(&back, back.len() as u64).unwrap();
        prop_assert_eq!(&header.shape, &vec![rows, columns]);
        prop_assert!(back[header.data_offset as usize..] == data);
    }
}

#[test]
fn a_value_that_is_no_truth_value_is_named_by_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("x.npy"), folder.path().join("x.gd"));
    let mut data = bytes(3 << 20, ElementType::Bool);
    data[2_500_000] = 7;
    npy(&source, ElementType::Bool, &[(3 << 20) / 16, 16], &data);
    for align in [false, true] {
        let options = ConvertOptions::new().budget(Budget::new(8 << 20)).align_rows(align);
        let error = convert(&source, &target, &options).unwrap_err().to_string();
        assert!(error.contains("x.npy`, row 156250: found 7, expected 0 or 1"), "{error}");
        assert_eq!(names(folder.path()), ["x.npy"]);
    }
}

#[test]
fn an_observer_hears_of_every_row_and_can_stop_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("x.npy"), folder.path().join("x.gd"));
    npy(&source, ElementType::F32, &[300_000, 3], &bytes(300_000 * 12, ElementType::F32));
    let heard = std::sync::Mutex::new(Vec::new());
    let listen = |progress: Progress| {
        heard.lock().unwrap().push(progress.done);
        assert_eq!(progress.total, 300_000);
        true
    };
    let options = ConvertOptions::new().budget(Budget::new(8 << 20));
    convert(&source, &target, &options.clone().observer(&listen)).unwrap();
    let heard = heard.into_inner().unwrap();
    assert!(heard.is_sorted() && heard.last() == Some(&300_000), "{heard:?}");
    std::fs::remove_file(&target).unwrap();
    let stop = |progress: Progress| progress.done < 150_000;
    assert!(convert(&source, &target, &options.observer(&stop)).is_err());
    assert_eq!(names(folder.path()), ["x.npy"]);
}

#[test]
fn a_source_that_shrinks_while_it_is_copied_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("x.npy"), folder.path().join("x.gd"));
    npy(&source, ElementType::U8, &[8 << 20], &bytes(8 << 20, ElementType::U8));
    let shrink = |_: Progress| {
        std::fs::File::options().write(true).open(&source).unwrap().set_len(1 << 20).unwrap();
        true
    };
    let options = ConvertOptions::new().budget(Budget::new(8 << 20)).observer(&shrink);
    let error = convert(&source, &target, &options).unwrap_err();
    assert!(error.to_string().contains("x.npy"), "{error}");
    assert_eq!(names(folder.path()), ["x.npy"]);
}
