//! Edges and tables in memory are read as files are.

use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;
use graphmill_ingest::npy::ArrayType;
use graphmill_ingest::source::{
    EdgeArrays, EdgeChunk, EdgeInput, EdgeInputOptions, OnBadRow, ReadReport, SparseRows,
    TableArray, TableChunk, TableInput, TableInputOptions, TextCells,
};
use proptest::prelude::*;

type Row = (u64, u64, Option<f32>, Option<i64>);

fn read_chunks(
    arrays: EdgeArrays<'_>,
    options: &EdgeInputOptions,
) -> Result<(Vec<EdgeChunk>, ReadReport), String> {
    let input = EdgeInput::memory(arrays, options).map_err(|error| error.to_string())?;
    let chunks: Mutex<Vec<EdgeChunk>> = Mutex::default();
    let consume = |chunk: &mut EdgeChunk| {
        chunks.lock().unwrap().push(std::mem::take(chunk));
        Ok(())
    };
    let budget = Budget::new(32 << 20);
    let pool = graphmill_disk::with_threads(Some(3)).unwrap();
    let report = pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
    assert_eq!(budget.used(), 0);
    let mut chunks = chunks.into_inner().unwrap();
    chunks.sort_by_key(|chunk| chunk.first_row);
    let mut row = 0;
    for chunk in &chunks {
        assert_eq!(chunk.first_row, row);
        row += chunk.len() as u64;
    }
    assert_eq!(report.rows, row);
    Ok((chunks, report))
}

fn read(
    arrays: EdgeArrays<'_>,
    options: &EdgeInputOptions,
) -> Result<(Vec<Row>, ReadReport), String> {
    let (chunks, report) = read_chunks(arrays, options)?;
    let rows = chunks.iter().flat_map(|chunk| {
        (0..chunk.len()).map(move |at| {
            let weight = chunk.weights.as_ref().map(|weights| weights[at]);
            let time = chunk.times.as_ref().map(|times| times[at]);
            (chunk.sources[at], chunk.destinations[at], weight, time)
        })
    });
    Ok((rows.collect(), report))
}

#[test]
fn ids_of_every_type_are_edges() {
    let plain = EdgeInputOptions::new();
    let expected = [(0, 5, None, None), (1, 6, None, None)];
    let (a, b, c, d) = ([0_i32, 1], [5_i64, 6], [0_u32, 1], [5_u64, 6]);
    assert_eq!(read(EdgeArrays::new(&a[..], &b[..]), &plain).unwrap().0, expected);
    assert_eq!(read(EdgeArrays::new(&c[..], &d[..]), &plain).unwrap().0, expected);
    let valued = EdgeArrays::new(&a[..], &d[..]).weights(&[0.5, -0.0]).times(&[-7, 8]);
    let rows = read(valued, &plain).unwrap().0;
    assert_eq!(rows, [(0, 5, Some(0.5), Some(-7)), (1, 6, Some(0.0), Some(8))]);
    assert!(rows[1].2.unwrap().is_sign_positive());
    let empty: [i64; 0] = [];
    assert_eq!(read(EdgeArrays::new(&empty[..], &empty[..]), &plain).unwrap().0, []);
}

#[test]
fn arrays_that_do_not_belong_together_are_refused() {
    let plain = EdgeInputOptions::new();
    let ids = [0_i64, 1];
    let words: TextCells = ["a", "b"].into_iter().collect();
    for (arrays, part) in [
        (EdgeArrays::new(&ids[..], &ids[..1]), "1 destinations, expected 2"),
        (EdgeArrays::new(&ids[..], &ids[..]).weights(&[1.0]), "1 weights"),
        (EdgeArrays::new(&ids[..], &ids[..]).times(&[1, 2, 3]), "3 times"),
        (EdgeArrays::new(&ids[..], &words), "one end as numbers"),
    ] {
        let error = read(arrays, &plain).unwrap_err();
        assert!(error.contains(part), "{part:?} is missing in {error:?}");
    }
}

#[test]
fn bad_rows_stop_with_their_number_or_are_left_out() {
    let sources = [0_i64, -1, 2, 3, 4];
    let destinations = [0_u64, 1, u64::MAX, 3, 4];
    let weights = [1.0, 1.0, 1.0, f32::NAN, 0.25];
    let arrays = || EdgeArrays::new(&sources[..], &destinations[..]).weights(&weights);
    let error = read(arrays(), &EdgeInputOptions::new()).unwrap_err();
    assert!(error.starts_with("edge 1, source: found -1, expected a node id"), "{error}");
    let skip = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip);
    let (rows, report) = read(arrays(), &skip).unwrap();
    assert_eq!(rows, [(0, 0, Some(1.0), None), (4, 4, Some(0.25), None)]);
    let told: Vec<String> = report.bad_examples.iter().map(ToString::to_string).collect();
    assert_eq!(report.skipped, 3);
    assert!(told[1].starts_with("edge 2, destination: found 18446744073709551615"), "{told:?}");
    assert!(told[2].starts_with("edge 3, weight: found NaN"), "{told:?}");
    let negative = EdgeArrays::new(&[0_i64][..], &[0_i64][..]).weights(&[-1.0]);
    assert!(read(negative, &EdgeInputOptions::new()).unwrap_err().contains("found -1"));
}

#[test]
fn words_are_names_whatever_they_came_as() {
    let sources: TextCells = [" ada ", "", "cy"].into_iter().collect();
    let destinations: TextCells = ["x", "y", "z"].into_iter().collect();
    let skip = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip);
    let arrays = EdgeArrays::new(&sources, &destinations).times(&[1, 2, 3]);
    let (chunks, report) = read_chunks(arrays, &skip).unwrap();
    let chunk = &chunks[0];
    assert_eq!(chunk.source_names.iter().collect::<Vec<_>>(), [" ada ", "cy"]);
    assert_eq!(chunk.destination_names.iter().collect::<Vec<_>>(), ["x", "z"]);
    assert_eq!((chunk.times.as_deref(), report.skipped), (Some(&[1, 3][..]), 1));
    let error = read_chunks(arrays, &EdgeInputOptions::new()).unwrap_err();
    assert!(error.contains("edge 1, source: found no text"), "{error}");
    let numbers = EdgeArrays::new(&[7_i32, 8][..], &[9_u64, 10][..]);
    let (chunks, _) = read_chunks(numbers, &EdgeInputOptions::new().text_ids(true)).unwrap();
    assert_eq!(chunks[0].source_names.iter().collect::<Vec<_>>(), ["7", "8"]);
    assert_eq!(chunks[0].destination_names.get(1), Some("10"));
}

#[test]
fn long_words_make_short_chunks_within_the_budget() {
    let long = "n".repeat(60_000);
    let cells: TextCells = (0..200).map(|number| format!("{number}{long}")).collect();
    let input = EdgeInput::memory(EdgeArrays::new(&cells, &cells), &EdgeInputOptions::new());
    let budget = Budget::new(8 << 20);
    let most = Mutex::new(0);
    let consume = |chunk: &mut EdgeChunk| {
        let bytes = chunk.source_names.bytes() + chunk.destination_names.bytes();
        let mut most = most.lock().unwrap();
        *most = bytes.max(*most);
        Ok(())
    };
    assert_eq!(input.unwrap().read(&budget, &consume, None).unwrap().rows, 200);
    assert!(most.into_inner().unwrap() < 1 << 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn many_edges_come_whole_and_in_order_with_bad_ones_left_out(
        count in 0_usize..100_000, seed: u64, bad in 0_u64..50,
    ) {
        let id = |at: usize| {
            let mixed = (at as u64 ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            if bad > 0 && mixed % 1000 < bad { -1 - (mixed as i64) } else { mixed as i64 }
        };
        let sources: Vec<i64> = (0..count).map(id).collect();
        let destinations: Vec<u32> = (0..count as u32).collect();
        let expected: Vec<Row> = (0..count)
            .filter(|at| sources[*at] >= 0)
            .map(|at| (sources[at] as u64, at as u64, None, None))
            .collect();
        let skip = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip);
        let arrays = EdgeArrays::new(&sources[..], &destinations[..]);
        let (rows, report) = read(arrays, &skip).unwrap();
        prop_assert!(rows == expected);
        prop_assert_eq!(report.skipped as usize, count - expected.len());
        let first = sources.iter().position(|id| *id < 0);
        match (first, read(arrays, &EdgeInputOptions::new())) {
            (None, outcome) => prop_assert!(outcome.is_ok()),
            (Some(at), Ok(_)) => prop_assert!(false, "edge {at} was taken"),
            // The first of all, whatever the threads do.
            (Some(at), Err(error)) => {
                let place = format!("edge {at}, source");
                prop_assert!(error.starts_with(&place), "{}", error);
            }
        }
    }
}

fn table(
    array: TableArray<'_>,
    options: &TableInputOptions,
) -> Result<(TableChunk, ReadReport), String> {
    let input = TableInput::memory(array, options).map_err(|error| error.to_string())?;
    let all: Mutex<TableChunk> = Mutex::default();
    let consume = |chunk: &mut TableChunk| {
        let mut all = all.lock().unwrap();
        assert_eq!(chunk.first_row, all.rows as u64, "rows come in order");
        all.rows += chunk.rows;
        all.bytes.extend_from_slice(&chunk.bytes);
        chunk.texts.iter().for_each(|text| all.texts.push(text));
        if let Some(ids) = &chunk.ids {
            all.ids.get_or_insert_default().extend(ids);
        }
        for name in chunk.id_names.iter().flat_map(|names| names.iter()) {
            all.id_names.get_or_insert_default().push(name);
        }
        Ok(())
    };
    let budget = Budget::new(32 << 20);
    let pool = graphmill_disk::with_threads(Some(3)).unwrap();
    let report = pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
    let all = all.into_inner().unwrap();
    assert_eq!((report.rows, budget.used()), (all.rows as u64, 0));
    Ok((all, report))
}

fn bytes<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

#[test]
fn tables_in_memory_become_rows_of_the_type_that_is_wanted() {
    let options = TableInputOptions::new().ordered(true);
    let count = 300_000;
    let numbers = bytes((0..count).map(|value| (value as f32).to_le_bytes()));
    let matrix = TableArray::matrix(&numbers, ElementType::F32, count / 3, 3);
    assert!(table(matrix, &options).unwrap().0.bytes == numbers);
    let wide = table(matrix, &options.clone().element(ElementType::I64)).unwrap().0;
    assert!(wide.bytes == bytes((0..count as i64).map(i64::to_le_bytes)));
    let error = table(matrix, &options.clone().element(ElementType::U8)).unwrap_err();
    assert!(error.starts_with("row 85, column 1: found 256, expected a whole number"), "{error}");
    for (array, part) in [
        (TableArray::matrix(&numbers, ElementType::F32, 7, 3), "7 rows of 3 numbers"),
        (TableArray::matrix(&numbers, ElementType::F32, u64::MAX, 2), "numbers of type float32"),
        (TableArray::matrix(&[], ElementType::F32, 5, 0), "5 rows without columns"),
        (matrix.ids(&[1_i64, 2][..]), "2 ids, expected 100000 rows"),
    ] {
        let error = table(array, &options).unwrap_err();
        assert!(error.contains(part), "{part:?} is missing in {error:?}");
    }
    assert!(table(matrix, &options.clone().text(true)).is_err());
    let (offsets, columns) = ([0_i32, 1, 1, 3], [2_u32, 0, 1]);
    let values = bytes([7_i16, 8, 9].map(i16::to_le_bytes));
    let sparse = SparseRows::new(&offsets[..], &columns[..], &values, ElementType::I16);
    let sparse = TableArray::sparse(sparse, 3).ids(&[9_i64, 8, 7][..]);
    let (rows, _) = table(sparse, &options.clone().element(ElementType::U8)).unwrap();
    assert_eq!((rows.bytes, rows.ids), (vec![0, 0, 7, 0, 0, 0, 8, 9, 0], Some(vec![9, 8, 7])));
    let unsigned = bytes([3_u16.to_le_bytes(), u16::MAX.to_le_bytes()]);
    let vector = TableArray::vector(&unsigned, ArrayType::U16, 2);
    let description = TableInput::memory(vector, &options).unwrap().description();
    assert_eq!((description.element, description.is_vector), (Some(ElementType::I32), true));
    assert_eq!(
        table(vector, &options).unwrap().0.bytes,
        bytes([3_i32, 65535].map(i32::to_le_bytes))
    );
}

#[test]
fn ids_of_rows_are_numbers_or_words_and_bad_ones_are_told() {
    let options = TableInputOptions::new().ordered(true);
    let labels = bytes([2.0_f64, f64::NAN, 4.0, 5.5].map(f64::to_le_bytes));
    let vector = TableArray::vector(&labels, ElementType::F64, 4);
    let labels = options.clone().element(ElementType::I64).missing(-1);
    let error = table(vector, &labels).unwrap_err();
    assert!(error.starts_with("row 3, column 0: found 5.5"), "{error}");
    let skip = labels.clone().on_bad_row(OnBadRow::Skip);
    let (rows, report) = table(vector.ids(&[4_i32, 9, -2, 1][..]), &skip).unwrap();
    assert_eq!(rows.ids, Some(vec![4, 9]));
    assert_eq!(rows.bytes, bytes([2_i64, -1].map(i64::to_le_bytes)));
    assert_eq!(report.skipped, 2);
    assert!(report.bad_examples[0].to_string().starts_with("row 2, id: found -2"));
    let names: TextCells = ["a", "b", " ", "d"].into_iter().collect();
    let (rows, _) = table(vector.ids(&names), &skip).unwrap();
    let found: Vec<String> = rows.id_names.unwrap().iter().map(str::to_owned).collect();
    assert_eq!((found, rows.ids), (vec!["a".to_owned(), "b".to_owned()], None));
}

#[test]
fn words_in_memory_are_classes_as_they_are_or_numbers_as_in_a_text() {
    let options = TableInputOptions::new().ordered(true);
    let cells: TextCells = ["cat", " dog ", "cat"].into_iter().collect();
    let array = TableArray::texts(&cells);
    let description = TableInput::memory(array, &options).unwrap().description();
    assert!(!description.looks_numeric && !description.looks_boolean && description.is_vector);
    let (rows, _) = table(array.ids(&[5_u64, 6, 7][..]), &options.clone().text(true)).unwrap();
    assert_eq!(rows.texts.iter().collect::<Vec<_>>(), ["cat", " dog ", "cat"]);
    assert_eq!(rows.ids, Some(vec![5, 6, 7]));
    let error = table(array, &options).unwrap_err();
    assert!(error.starts_with("row 0: found \"cat\", expected a number"), "{error}");
    let masks: TextCells = ["True", "false", "1"].into_iter().collect();
    let array = TableArray::texts(&masks);
    assert!(TableInput::memory(array, &options).unwrap().description().looks_boolean);
    let (rows, _) = table(array, &options.clone().element(ElementType::Bool)).unwrap();
    assert_eq!(rows.bytes, [1, 0, 1]);
    let labels: TextCells = ["3", "", "nan"].into_iter().collect();
    let wanted = options.element(ElementType::I64).missing(-1);
    let (rows, _) = table(TableArray::texts(&labels), &wanted).unwrap();
    assert_eq!(rows.bytes, bytes([3_i64, -1, -1].map(i64::to_le_bytes)));
}
