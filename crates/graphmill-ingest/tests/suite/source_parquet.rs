//! Edges and tables in Parquet files.
#![cfg(feature = "parquet")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StructArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use graphmill_disk::Budget;
use graphmill_format::ElementType;
use graphmill_ingest::source::{
    Column, EdgeChunk, EdgeInput, EdgeInputOptions, OnBadRow, ReadReport, TableChunk, TableInput,
    TableInputOptions,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// Writes columns with row groups of 1000 rows.
fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

type Row = (u64, u64, u64, Option<f32>, Option<i64>);

fn edges(path: PathBuf, options: &EdgeInputOptions) -> Result<(Vec<Row>, ReadReport), String> {
    let input = EdgeInput::open(&[path], options).map_err(|error| error.to_string())?;
    let rows = Mutex::new(Vec::new());
    let consume = |chunk: &mut EdgeChunk| {
        let mut rows = rows.lock().unwrap();
        for at in 0..chunk.len() {
            let weight = chunk.weights.as_ref().map(|weights| weights[at]);
            let time = chunk.times.as_ref().map(|times| times[at]);
            let row = chunk.first_row + at as u64;
            rows.push((row, chunk.sources[at], chunk.destinations[at], weight, time));
        }
        Ok(())
    };
    let pool = graphmill_disk::with_threads(Some(3)).unwrap();
    let budget = Budget::new(256 << 20);
    let report = pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|row| row.0);
    assert!(rows.iter().enumerate().all(|(at, row)| row.0 == at as u64));
    assert_eq!(report.rows, rows.len() as u64);
    Ok((rows, report))
}

#[test]
fn two_columns_of_integers_are_edges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let count = 4500;
    write(
        &path,
        vec![
            ("when", Arc::new(Int64Array::from_iter_values((0..count).map(|i| -i)))),
            ("src", Arc::new(Int32Array::from_iter_values((0..count as i32).map(|i| i % 100)))),
            ("dst", Arc::new(UInt64Array::from_iter_values(0..count as u64))),
            ("w", Arc::new(Float64Array::from_iter_values((0..count).map(|i| i as f64 / 2.0)))),
        ],
    );
    let name = |name: &str| Column::Name(name.to_owned());
    let options = EdgeInputOptions::new()
        .source_column(name("src"))
        .destination_column(name("dst"))
        .weight_column(name("w"))
        .time_column(Column::Index(0));
    let (rows, report) = edges(path.clone(), &options).unwrap();
    assert_eq!((report.rows, report.bytes), (4500, std::fs::metadata(&path).unwrap().len()));
    for (i, row) in rows.iter().enumerate() {
        let i = i as u64;
        assert_eq!(*row, (i, i % 100, i, Some(i as f32 / 2.0), Some(-(i as i64))));
    }
    let error = edges(path.clone(), &EdgeInputOptions::new().weight_column(name("x"))).unwrap_err();
    assert!(error.contains("when, src, dst, w"), "{error}");
    let floats = EdgeInputOptions::new().source_column(name("w"));
    assert!(edges(path, &floats).unwrap_err().contains("a column of integers"));
}

#[test]
fn gaps_and_negative_ids_are_named_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let mut sources: Vec<Option<i64>> = (0..2500).map(Some).collect();
    sources[1500] = None;
    sources[2000] = Some(-7);
    write(
        &path,
        vec![
            ("src", Arc::new(Int64Array::from(sources))),
            ("dst", Arc::new(Int64Array::from_iter_values(0..2500))),
        ],
    );
    let error = edges(path.clone(), &EdgeInputOptions::new()).unwrap_err();
    assert!(
        error.contains("row 1500, column src: found an empty cell")
            || error.contains("row 2000, column src: found -7"),
        "{error}"
    );
    let skip = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip);
    let (rows, report) = edges(path, &skip).unwrap();
    assert_eq!((rows.len(), report.skipped, report.bad_examples.len()), (2498, 2, 2));
    assert_eq!(rows[1500].1, 1501);
}

#[test]
fn columns_of_numbers_are_rows_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write(
        &path,
        vec![
            ("a", Arc::new(Float32Array::from_iter_values((0..2500).map(|i| i as f32)))),
            ("node_id", Arc::new(Int64Array::from_iter_values((0..2500).rev()))),
            ("b", Arc::new(Int32Array::from_iter_values(0..2500))),
        ],
    );
    let read = |options: &TableInputOptions| -> Result<(Vec<u64>, Vec<u8>), String> {
        let input =
            TableInput::open(std::slice::from_ref(&path), options).map_err(|e| e.to_string())?;
        assert_eq!(input.description().rows, Some(2500));
        let chunks: Mutex<Vec<TableChunk>> = Mutex::default();
        let consume = |chunk: &mut TableChunk| {
            chunks.lock().unwrap().push(std::mem::take(chunk));
            Ok(())
        };
        input.read(&Budget::new(256 << 20), &consume, None).map_err(|error| error.to_string())?;
        let mut chunks = chunks.into_inner().unwrap();
        chunks.sort_by_key(|chunk| chunk.first_row);
        let bytes = chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect();
        Ok((chunks.into_iter().flat_map(|chunk| chunk.ids.unwrap_or_default()).collect(), bytes))
    };
    let (ids, bytes) = read(&TableInputOptions::new()).unwrap();
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    assert_eq!((ids[0], ids[2499], values.len()), (2499, 0, 5000));
    assert!(values.chunks(2).enumerate().all(|(i, row)| row == [i as f32, i as f32]));
    let column = TableInputOptions::new().columns(vec![Column::Index(2)]).element(ElementType::I16);
    assert_eq!(read(&column).unwrap().1.len(), 5000);
    let small = TableInputOptions::new().element(ElementType::U8);
    assert!(read(&small).unwrap_err().contains("from 0 to 255"));
}

#[test]
fn words_are_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write(&path, vec![("name", Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef)]);
    // They may be looked at, which is how labels are found to be words.
    let input = TableInput::open(&[path], &TableInputOptions::new()).unwrap();
    assert!(!input.description().looks_numeric);
    let budget = Budget::new(64 << 20);
    let consume = |_: &mut TableChunk| panic!("words were read as numbers");
    let error = input.read(&budget, &consume, None).unwrap_err().to_string();
    assert!(error.contains("name of type Utf8"), "{error}");
    assert_eq!(budget.used(), 0);
}

/// The names of all edges, in order.
fn names(path: &Path, budget: &Budget) -> Result<(Vec<(String, String)>, ReadReport), String> {
    let options = EdgeInputOptions::new().text_ids(true).on_bad_row(OnBadRow::Skip);
    let input = EdgeInput::open(&[path.to_path_buf()], &options).map_err(|e| e.to_string())?;
    let chunks: Mutex<Vec<EdgeChunk>> = Mutex::default();
    let consume = |chunk: &mut EdgeChunk| {
        assert!(chunk.sources.is_empty());
        chunks.lock().unwrap().push(std::mem::take(chunk));
        Ok(())
    };
    let report = input.read(budget, &consume, None).map_err(|error| error.to_string())?;
    assert_eq!(budget.used(), 0);
    let mut chunks = chunks.into_inner().unwrap();
    chunks.sort_by_key(|chunk| chunk.first_row);
    let mut found = Vec::new();
    for chunk in &chunks {
        assert_eq!(chunk.first_row, found.len() as u64);
        let pairs = chunk.source_names.iter().zip(chunk.destination_names.iter());
        found.extend(pairs.map(|(source, to)| (source.to_owned(), to.to_owned())));
    }
    Ok((found, report))
}

#[test]
fn ids_may_be_text_of_any_kind_or_integers_as_digits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let word = |row: usize| format!(" person {} ", row % 50);
    let rows = 2500;
    let words: Vec<String> = (0..rows).map(word).collect();
    let columns: [ArrayRef; 4] = [
        Arc::new(StringArray::from_iter_values(&words)),
        Arc::new(LargeStringArray::from_iter_values(&words)),
        Arc::new(words.iter().map(|word| Some(&**word)).collect::<DictionaryArray<Int32Type>>()),
        Arc::new(Int64Array::from_iter_values((0..rows as i64).map(|row| row % 50))),
    ];
    for (kind, sources) in columns.into_iter().enumerate() {
        let numbers = UInt64Array::from_iter_values(0..rows as u64);
        write(&path, vec![("a", sources), ("b", Arc::new(numbers))]);
        let (found, _) = names(&path, &Budget::new(256 << 20)).unwrap();
        for (row, (source, destination)) in found.iter().enumerate() {
            let expected = if kind == 3 { (row % 50).to_string() } else { word(row) };
            assert_eq!((source, destination), (&expected, &row.to_string()));
        }
        assert_eq!(found.len(), rows);
    }
    write(
        &path,
        vec![
            ("a", Arc::new(StringArray::from(vec![Some("x"), None, Some("  "), Some("y")]))),
            ("b", Arc::new(StringArray::from(vec!["1", "2", "3", "4"]))),
        ],
    );
    let (found, report) = names(&path, &Budget::new(256 << 20)).unwrap();
    assert_eq!((found.len(), report.skipped), (2, 2));
    assert_eq!(report.bad_examples[0].place, "row 1, column a");
    write(&path, vec![("a", Arc::new(Float32Array::from(vec![1.0])) as ArrayRef)]);
    assert!(names(&path, &Budget::new(256 << 20)).is_err());
}

#[test]
fn long_names_come_in_short_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let long = "n".repeat(60_000);
    write(
        &path,
        vec![
            ("a", Arc::new(StringArray::from(vec![&*long; 900])) as ArrayRef),
            ("b", Arc::new(Int64Array::from_iter_values(0..900))),
        ],
    );
    let input = EdgeInput::open(&[path], &EdgeInputOptions::new().text_ids(true)).unwrap();
    let budget = Budget::new(32 << 20);
    let consume = |chunk: &mut EdgeChunk| {
        assert!(chunk.source_names.bytes() < 1 << 20);
        Ok(())
    };
    assert_eq!(input.read(&budget, &consume, None).unwrap().rows, 900);
}

#[test]
fn tables_may_have_ids_as_text_classes_and_booleans() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write(
        &path,
        vec![
            ("node_id", Arc::new(StringArray::from(vec!["ada", "bob"])) as ArrayRef),
            ("class", Arc::new(StringArray::from(vec![Some("cat"), None]))),
            ("mask", Arc::new(BooleanArray::from(vec![true, false]))),
        ],
    );
    let read = |options: &TableInputOptions| {
        let input = TableInput::open(std::slice::from_ref(&path), options).unwrap();
        let found: Mutex<TableChunk> = Mutex::default();
        let consume = |chunk: &mut TableChunk| {
            *found.lock().unwrap() = std::mem::take(chunk);
            Ok(())
        };
        input.read(&Budget::new(64 << 20), &consume, None).unwrap();
        (input.description(), found.into_inner().unwrap())
    };
    let column = |name: &str| {
        let columns = vec![Column::Name(name.to_owned())];
        TableInputOptions::new().text_ids(true).columns(columns)
    };
    let (description, chunk) = read(&column("class").text(true));
    assert_eq!((description.element, description.looks_numeric), (None, false));
    assert_eq!(chunk.texts.iter().collect::<Vec<_>>(), ["cat", ""]);
    assert_eq!(chunk.id_names.unwrap().iter().collect::<Vec<_>>(), ["ada", "bob"]);
    let (description, chunk) = read(&column("mask"));
    assert_eq!(description.element, Some(ElementType::Bool));
    assert!(description.looks_boolean);
    assert_eq!(chunk.bytes, [1, 0]);
    let numbers = TableInputOptions::new().columns(vec![Column::Name("mask".to_owned())]);
    let error = TableInput::open(std::slice::from_ref(&path), &numbers).unwrap_err().to_string();
    assert!(error.contains("node_id of type Utf8"), "{error}");
}

#[test]
fn pages_are_paid_for_before_they_are_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let rows = 3_000_000_i64;
    let ids = || Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row * 7919 % rows)));
    let batch =
        RecordBatch::try_from_iter([("a", ids() as ArrayRef), ("b", ids() as ArrayRef)]).unwrap();
    // One page of 24 MB for each column.
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(usize::MAX)
        .set_write_batch_size(rows as usize)
        .set_max_row_group_row_count(Some(rows as usize))
        .build();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let input = EdgeInput::open(&[path], &EdgeInputOptions::new()).unwrap();
    let error = input.read(&Budget::new(32 << 20), &|_| Ok(()), None).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, graphmill_ingest::Error::Disk(_)), "{text}");
    assert!(text.contains("pages of Parquet") && text.contains("raise the memory"), "{text}");
    let budget = Budget::new(256 << 20);
    assert_eq!(input.read(&budget, &|_| Ok(()), None).unwrap().rows, rows as u64);
    assert!(budget.peak() > 48 << 20, "{}", budget.peak());
    assert_eq!(budget.used(), 0);
}

/// Edges with a time column, as times or as what went wrong.
fn times(path: &Path, column: ArrayRef) -> Result<Vec<i64>, String> {
    let ids = || Arc::new(Int64Array::from_iter_values(0..column.len() as i64));
    write(path, vec![("src", ids()), ("dst", ids()), ("time", column.clone())]);
    let options = EdgeInputOptions::new().time_column(Column::Index(2));
    let (rows, _) = edges(path.to_path_buf(), &options)?;
    Ok(rows.into_iter().map(|(.., time)| time.unwrap()).collect())
}

#[test]
fn times_are_whole_numbers_in_whatever_type() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let whole = Float64Array::from_iter_values([-3.0, 0.0, 4.5e15]);
    assert_eq!(times(&path, Arc::new(whole)).unwrap(), [-3, 0, 4_500_000_000_000_000]);
    for wrong in [1.5, 1e30, f64::NAN] {
        let error =
            times(&path, Arc::new(Float64Array::from_iter_values([1.0, wrong]))).unwrap_err();
        assert!(error.contains("row 1, column time"), "{error}");
    }
    let error = times(&path, Arc::new(UInt64Array::from_iter_values([1 << 63]))).unwrap_err();
    assert!(error.contains("row 0, column time"), "{error}");
}

#[test]
fn labels_too_large_for_their_type_are_not_taken_for_missing_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("y.parquet");
    let labels = UInt64Array::from(vec![Some(3), None, Some(u64::MAX)]);
    write(&path, vec![("y", Arc::new(labels))]);
    let options = TableInputOptions::new().element(ElementType::I64).missing(-1);
    let input = TableInput::open(&[path], &options).unwrap();
    let error = input.read(&Budget::new(16 << 20), &|_| Ok(()), None).unwrap_err().to_string();
    assert!(error.contains("y.parquet") && error.contains("beyond Int64"), "{error}");
}

#[test]
fn columns_behind_nested_ones_are_read_and_nested_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let pair =
        |first: i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values(first..first + 9)) };
    let field = |name: &str| Arc::new(Field::new(name, DataType::Int64, false));
    let nested = StructArray::from(vec![(field("a"), pair(100)), (field("b"), pair(200))]);
    write(&path, vec![("nested", Arc::new(nested)), ("src", pair(0)), ("dst", pair(1))]);
    let columns = |source, destination| {
        let options = EdgeInputOptions::new().source_column(Column::Index(source));
        options.destination_column(Column::Index(destination))
    };
    let (rows, _) = edges(path.clone(), &columns(1, 2)).unwrap();
    assert_eq!(rows[3], (3, 3, 4, None, None));
    let weights = columns(1, 2).weight_column(Column::Index(0));
    let error = edges(path, &weights).unwrap_err();
    assert!(error.contains("column nested: found nested values"), "{error}");
}

#[test]
fn wide_tables_are_read_in_small_budgets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let names: Vec<String> = (0..300).map(|column| format!("c{column}")).collect();
    let columns = names.iter().enumerate().map(|(column, name)| {
        let cells = (0..4000).map(|row| (row * 300 + column) as f32);
        (name.as_str(), Arc::new(Float32Array::from_iter_values(cells)) as ArrayRef)
    });
    write(&path, columns.collect());
    let input = TableInput::open(&[path], &TableInputOptions::new().ordered(true)).unwrap();
    let rows: Mutex<Vec<u8>> = Mutex::default();
    let consume = |chunk: &mut TableChunk| {
        rows.lock().unwrap().extend(&chunk.bytes);
        Ok(())
    };
    // Batches of as many rows as a narrow table's would take 64 MiB.
    let budget = Budget::new(12 << 20);
    input.read(&budget, &consume, None).unwrap();
    let expected: Vec<u8> = (0..4000 * 300).flat_map(|cell| (cell as f32).to_le_bytes()).collect();
    assert!(rows.into_inner().unwrap() == expected);
}
