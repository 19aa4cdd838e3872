//! Rows of text become the table that they say, whole or not at all.

use graphmill_disk::faults::{Fault, FaultyFileSystem};
use graphmill_format::{ElementType, TableShape};
use proptest::prelude::*;

use super::*;
use crate::placement::tests::read_back;
use crate::source::{Column, OnBadRow, TableInputOptions};

const OPTIONS: RowOptions = RowOptions {
    duplicates: Duplicates::KeepLast,
    align_rows: false,
    overwrite: true,
    num_rows: None,
};

fn folder_with(text: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("x.csv");
    std::fs::write(&source, text).unwrap();
    let target = folder.path().join("x.gd");
    (folder, source, target)
}

fn rows_of(
    text: &str,
    input: &TableInputOptions,
    options: &RowOptions,
) -> Result<(RowsReport, TableShape, Vec<f32>)> {
    let (folder, source, target) = folder_with(text);
    let input = TableInput::open(&[source], input)?;
    let budget = Budget::new(2 << 20);
    let report = convert_rows(&input, &target, TargetKind::Table, options, &budget, None);
    if report.is_err() {
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let report = report?;
    assert!(budget.peak() <= budget.total());
    assert_eq!(report.length, std::fs::metadata(&target).unwrap().len());
    let (shape, bytes) = read_back::table(&target);
    let cells = bytes.as_chunks().0.iter().map(|cell| f32::from_le_bytes(*cell)).collect();
    Ok((report, shape, cells))
}

#[test]
fn rows_without_ids_follow_each_other() {
    let new = TableInputOptions::new;
    let (report, shape, cells) = rows_of("1,2\n3,4\n5,6\n", &new(), &OPTIONS).unwrap();
    assert_eq!(shape, TableShape::matrix(3, 2, ElementType::F32).unwrap());
    assert_eq!(cells, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!((report.rows, report.placed), (3, PlacementReport::default()));
    let more = RowOptions { num_rows: Some(5), align_rows: true, ..OPTIONS };
    let (report, shape, cells) = rows_of("1\n2\n", &new(), &more).unwrap();
    assert!(shape.is_vector() && shape.rows() == 5 && !shape.is_contiguous());
    assert_eq!((cells, report.placed.filled), (vec![1.0, 2.0, 0.0, 0.0, 0.0], 3));
    // Those behind a row that is left out would be the rows of others.
    let skip = new().on_bad_row(OnBadRow::Skip);
    let error = rows_of("1,2\nno,4\n5,6\n", &skip, &OPTIONS).unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
    let text = "id,a,b\n0,1,2\n1,no,4\n2,5,6\n";
    let (report, _, cells) = rows_of(text, &skip, &OPTIONS).unwrap();
    assert_eq!((cells, report.read.skipped), (vec![1.0, 2.0, 0.0, 0.0, 5.0, 6.0], 1));
}

#[test]
fn rows_with_ids_lie_at_their_ids_and_the_last_duplicate_wins() {
    let text = "node_id,a,b\n4,1,2\n0,3,4\n4,5,6\n";
    let (report, shape, cells) = rows_of(text, &TableInputOptions::new(), &OPTIONS).unwrap();
    assert_eq!(shape.rows(), 5);
    assert_eq!(cells, [3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 6.0]);
    assert_eq!(report.placed, PlacementReport { filled: 3, duplicates: 1 });
    let first_is_id = TableInputOptions::new().first_column_is_id(true);
    let (_, shape, cells) = rows_of("1,0.5\n0,0.25\n", &first_is_id, &OPTIONS).unwrap();
    assert_eq!((shape.rows(), cells), (2, vec![0.25, 0.5]));
    let named = TableInputOptions::new().id_column(Column::Index(1));
    let keep_first = RowOptions { duplicates: Duplicates::KeepFirst, ..OPTIONS };
    let (_, _, cells) = rows_of("7,1\n8,0\n9,1\n", &named, &keep_first).unwrap();
    assert_eq!(cells, [8.0, 7.0]);
}

#[test]
fn what_cannot_be_a_table_is_refused_and_leaves_nothing() {
    let new = TableInputOptions::new;
    let text = |text: &str, input: &TableInputOptions, options: &RowOptions| {
        rows_of(text, input, options).unwrap_err().to_string()
    };
    let refuse = RowOptions { duplicates: Duplicates::Refuse, ..OPTIONS };
    let error = text("id,a\n2,1\n0,2\n2,3\n", &new(), &refuse);
    assert!(error.contains("row 2 of the table: found rows 0 and 2 of the source"), "{error}");
    let error = text("id,a\n0,1\n50000000,2\n", &new(), &OPTIONS);
    assert!(error.contains("an id of 50000000 among 2 rows"), "{error}");
    for id in [5_000_000_000, i64::MAX] {
        let error = text(&format!("id,a\n{id},2\n"), &new(), &OPTIONS);
        assert!(error.contains(&format!("row {id}")) && error.contains("map the ids"), "{error}");
    }
    for nothing in ["", "id,a\n", "# nothing\n"] {
        assert!(text(nothing, &new(), &OPTIONS).contains("no row"), "{nothing:?}");
    }
    let error = text("a\nb\n", &new().text(true).header(false), &OPTIONS);
    assert!(error.contains("cells of text"), "{error}");
    assert!(text("1,2\n3\n", &new(), &OPTIONS).contains("line 2"));
    let (_folder, source, target) = folder_with("1,2\n");
    let input = TableInput::open(&[source], &new()).unwrap();
    let budget = Budget::new(1 << 20);
    let convert = |input: &TableInput, kind, options: &RowOptions| {
        convert_rows(input, &target, kind, options, &budget, None).unwrap_err().to_string()
    };
    assert!(convert(&input, TargetKind::Npy, &OPTIONS).contains("name a .gd"));
    std::fs::write(&target, b"old").unwrap();
    let keep = RowOptions { overwrite: false, ..OPTIONS };
    assert!(convert(&input, TargetKind::Table, &keep).contains("x.gd"));
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    let half = TableInputOptions::new().element(ElementType::F16);
    let half = TableInput::open(&[target.with_extension("csv")], &half).unwrap();
    assert!(convert(&half, TargetKind::GraphZeroTable, &OPTIONS).contains("float16"));
}

#[test]
fn graphzeros_layout_holds_the_same_rows() {
    let (_folder, source, target) = folder_with("2,1.5\n0,2.5\n");
    let options = TableInputOptions::new().first_column_is_id(true).element(ElementType::F64);
    let input = TableInput::open(&[source], &options).unwrap();
    let (kind, budget) = (TargetKind::GraphZeroTable, Budget::new(2 << 20));
    let report = convert_rows(&input, &target, kind, &OPTIONS, &budget, None).unwrap();
    let bytes = std::fs::read(&target).unwrap();
    assert_eq!(report.length, bytes.len() as u64);
    let (shape, section) = graphzero::parse_table(&bytes, report.length).unwrap();
    assert_eq!((shape.rows(), shape.columns()), (3, 1));
    let expected: Vec<u8> =
        [2.5_f64, 0.0, 1.5].iter().flat_map(|cell| cell.to_le_bytes()).collect();
    assert_eq!(bytes[section.offset as usize..], expected);
}

/// Lines of ids in any order with cells that follow from the id and the line.
fn shuffled(rows: u64, columns: u64, with_ids: bool) -> String {
    let mut text = String::new();
    for line in 0..rows {
        let id = line * 7919 % rows;
        if with_ids {
            text.push_str(&format!("{id},"));
        }
        let cells: Vec<String> = (0..columns).map(|at| format!("{}", id * 10 + at)).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn many_rows_are_placed_by_any_number_of_threads_within_the_budget(
        rows in 1_u64..20_000,
        columns in 1_u64..12,
        with_ids: bool,
        threads in 1_usize..4,
        budget in 2_u64..24,
    ) {
        let (_folder, source, target) = folder_with(&shuffled(rows, columns, with_ids));
        let options = TableInputOptions::new().first_column_is_id(with_ids);
        let options = options.header(false).element(ElementType::I64);
        let input = TableInput::open(&[source], &options).unwrap();
        let budget = Budget::new(budget << 20);
        let pool = graphmill_disk::with_threads(Some(threads)).unwrap();
        pool.install(|| {
            convert_rows(&input, &target, TargetKind::Table, &OPTIONS, &budget, None)
        }).unwrap();
        prop_assert!(budget.peak() <= budget.total() && budget.used() == 0);
        let found = read_back::integers(&read_back::table(&target).1);
        let row = |place: u64| if with_ids { place } else { place * 7919 % rows };
        let mut expected = Vec::new();
        if rows % 7919 != 0 {
            for place in 0..rows {
                expected.extend((0..columns).map(|at| (row(place) * 10 + at) as i64));
            }
            prop_assert!(found == expected);
        }
    }
}

#[test]
fn a_fault_at_any_operation_keeps_the_old_file_and_leaves_no_other() {
    for with_ids in [false, true] {
        let (folder, source, target) = folder_with(&shuffled(20_000, 6, with_ids));
        let options = TableInputOptions::new().first_column_is_id(with_ids).header(false);
        let input = TableInput::open(&[source], &options).unwrap();
        let run = |disk: &FaultyFileSystem| {
            let files = Arc::new(disk.clone());
            let budget = Budget::new(1 << 20);
            convert_rows_on(files, &input, &target, TargetKind::Table, &OPTIONS, &budget, None)
        };
        let disk = FaultyFileSystem::over(folder.path()).unwrap();
        run(&disk).unwrap();
        let (expected, operations) = (std::fs::read(&target).unwrap(), disk.performed());
        for operation in (0..operations + 3).step_by(1 + operations / 60) {
            for fault in [Fault::Error, Fault::FalseAlarm] {
                std::fs::write(&target, b"old").unwrap();
                let disk = FaultyFileSystem::over(folder.path()).unwrap();
                disk.plan(operation, fault);
                let outcome = run(&disk);
                let content = std::fs::read(&target).unwrap();
                let fits = content == expected || (outcome.is_err() && content == b"old");
                assert!(fits, "{operation} {fault:?} {outcome:?}");
                // The draft's own hidden files may stay when their removal is what fails.
                for name in RealFileSystem.list(folder.path()).unwrap() {
                    if name.to_string_lossy().starts_with(".x.gd.") {
                        std::fs::remove_file(folder.path().join(name)).unwrap();
                    }
                }
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "{operation}");
            }
        }
    }
}
