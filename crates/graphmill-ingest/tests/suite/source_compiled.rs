//! Compiled topologies and tables, ours and GraphZero's, as sources.

use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::{ElementType, ListOrder, TableShape};
use graphmill_ingest::source::{
    EdgeChunk, EdgeInput, EdgeInputOptions, OnBadRow, SourceFormat, TableChunk, TableInput,
    TableInputOptions,
};
use graphmill_ingest::{
    ConvertOptions, Directions, GraphOptions, MemoryEdges, TargetFormat, convert, write_graph,
    write_table,
};

type Row = (u64, u64, Option<f32>, Option<i64>);

fn edges(paths: &[PathBuf], options: &EdgeInputOptions) -> Result<Vec<Row>, String> {
    let input = EdgeInput::open(paths, options).map_err(|error| error.to_string())?;
    let rows: Mutex<Vec<(u64, Row)>> = Mutex::default();
    let consume = |chunk: &mut EdgeChunk| {
        let mut rows = rows.lock().unwrap();
        for at in 0..chunk.len() {
            let weight = chunk.weights.as_ref().map(|weights| weights[at]);
            let time = chunk.times.as_ref().map(|times| times[at]);
            let row = (chunk.sources[at], chunk.destinations[at], weight, time);
            rows.push((chunk.first_row + at as u64, row));
        }
        Ok(())
    };
    let budget = Budget::new(16 << 20);
    let pool = graphmill_disk::with_threads(Some(3)).unwrap();
    let report = pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
    assert_eq!(budget.used(), 0);
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(row, _)| *row);
    assert!(rows.iter().enumerate().all(|(at, (row, _))| *row == at as u64));
    assert_eq!(report.rows, rows.len() as u64);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// A graph of more than one chunk of edges, with nodes that have none at the end.
fn graph(path: &Path, directions: Directions, valued: bool) -> Vec<Row> {
    let count = 100_000;
    let sources: Vec<i64> = (0..count).map(|edge| edge * 7919 % 5000).collect();
    let destinations: Vec<i64> = (0..count).map(|edge| edge * 31 % 4999).collect();
    let weights: Vec<f32> = (0..count).map(|edge| edge as f32 / 4.0).collect();
    let times: Vec<i64> = (0..count).map(|edge| -edge).collect();
    let memory = MemoryEdges::new(&sources, &destinations, Some(6000)).unwrap();
    let mut options = GraphOptions::new().directions(directions).order(ListOrder::File);
    if valued {
        options = options.weights(&weights).times(&times);
    }
    write_graph(path, &memory, &options, &Budget::new(64 << 20), false).unwrap();
    let value = |edge: i64| (valued.then_some(weights[edge as usize]), valued.then_some(-edge));
    let mut rows: Vec<Row> = (0..count)
        .map(|edge| {
            let (weight, time) = value(edge);
            (sources[edge as usize] as u64, destinations[edge as usize] as u64, weight, time)
        })
        .collect();
    rows.sort_by_key(|row| row.0);
    rows
}

#[test]
fn the_edges_of_a_topology_are_its_lists_in_stored_order() {
    let folder = tempfile::tempdir().unwrap();
    for (name, directions, valued) in
        [("out.gl", Directions::Out, true), ("both.gl", Directions::OutAndIn, false)]
    {
        let path = folder.path().join(name);
        let expected = graph(&path, directions, valued);
        let input = EdgeInput::open(from_ref(&path), &EdgeInputOptions::new()).unwrap();
        assert_eq!(input.format(), Some(SourceFormat::Graphmill));
        assert_eq!((input.rows(), input.num_nodes()), (Some(100_000), Some(6000)));
        assert_eq!((input.has_weights(), input.has_times()), (valued, valued));
        assert!(edges(from_ref(&path), &EdgeInputOptions::new()).unwrap() == expected);
        let twice = edges(&[path.clone(), path], &EdgeInputOptions::new()).unwrap();
        assert!(twice[100_000..] == expected);
    }
    let mixed = ["out.gl", "both.gl"].map(|name| folder.path().join(name));
    assert!(edges(&mixed, &EdgeInputOptions::new()).unwrap_err().contains("only some"));
    let inward = folder.path().join("in.gl");
    let mut expected = graph(&inward, Directions::In, false);
    let mut found = edges(&[inward], &EdgeInputOptions::new()).unwrap();
    expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
    found.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert!(found == expected, "sources are still sources");
}

#[test]
fn graphzero_files_are_sources_and_their_bad_weights_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours.gl"), folder.path().join("theirs.gl"));
    let memory = MemoryEdges::new(&[0_i64, 0, 1], &[1, 2, 0], None).unwrap();
    let options = GraphOptions::new().directions(Directions::Out).weights(&[0.5, 1.0, 2.0]);
    write_graph(&ours, &memory, &options, &Budget::new(1 << 20), false).unwrap();
    convert(&ours, &theirs, &ConvertOptions::new().to(TargetFormat::GraphZero)).unwrap();
    let plain = EdgeInputOptions::new();
    let expected = [(0, 1, Some(0.5), None), (0, 2, Some(1.0), None), (1, 0, Some(2.0), None)];
    assert_eq!(edges(from_ref(&theirs), &plain).unwrap(), expected);
    let input = EdgeInput::open(from_ref(&theirs), &plain).unwrap();
    assert_eq!(input.format(), Some(SourceFormat::GraphZero));
    let mut bytes = std::fs::read(&theirs).unwrap();
    let at = bytes.windows(4).rposition(|four| four == 1.0_f32.to_le_bytes()).unwrap();
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&theirs, &bytes).unwrap();
    let error = edges(from_ref(&theirs), &plain).unwrap_err();
    assert!(error.contains("theirs.gl`, edge 1, weight: found NaN"), "{error}");
    let skip = plain.clone().on_bad_row(OnBadRow::Skip);
    assert_eq!(edges(from_ref(&theirs), &skip).unwrap(), [expected[0], expected[2]]);
    // An id that no node has is damage, not a bad row.
    // Offsets of three nodes follow the header, and ids start on the next multiple of 64.
    let id_at = 128;
    bytes[id_at..id_at + 8].copy_from_slice(&99_i64.to_le_bytes());
    std::fs::write(&theirs, &bytes).unwrap();
    assert!(edges(from_ref(&theirs), &skip).unwrap_err().contains("99"));
    let named = plain.weight_column("2".parse().unwrap());
    assert!(edges(&[theirs], &named).unwrap_err().contains("no columns to name"));
}

fn rows(path: &Path, options: &TableInputOptions) -> Result<Vec<u8>, String> {
    let input = TableInput::open(&[path.to_path_buf()], options).map_err(|e| e.to_string())?;
    let bytes: Mutex<Vec<u8>> = Mutex::default();
    let consume = |chunk: &mut TableChunk| {
        bytes.lock().unwrap().extend_from_slice(&chunk.bytes);
        Ok(())
    };
    let pool = graphmill_disk::with_threads(Some(3)).unwrap();
    let budget = Budget::new(16 << 20);
    pool.install(|| input.read(&budget, &consume, None)).map_err(|error| error.to_string())?;
    Ok(bytes.into_inner().unwrap())
}

#[test]
fn compiled_tables_are_tables_with_or_without_padding() {
    let folder = tempfile::tempdir().unwrap();
    let options = TableInputOptions::new().ordered(true);
    let values: Vec<f32> = (0..300_000).map(|value| value as f32).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let shape = TableShape::matrix(100_000, 3, ElementType::F32).unwrap();
    let plain = folder.path().join("plain.gd");
    write_table(&plain, shape, [Ok(&bytes)], false).unwrap();
    let aligned = folder.path().join("aligned.gd");
    write_table(&aligned, shape.with_aligned_rows().unwrap(), [Ok(&bytes)], false).unwrap();
    let theirs = folder.path().join("theirs.gd");
    convert(&plain, &theirs, &ConvertOptions::new().to(TargetFormat::GraphZero)).unwrap();
    for path in [&plain, &aligned, &theirs] {
        let description = TableInput::open(from_ref(path), &options).unwrap().description();
        assert_eq!(
            (description.rows, description.columns, description.element, description.is_vector),
            (Some(100_000), 3, Some(ElementType::F32), false)
        );
        assert!(rows(path, &options).unwrap() == bytes, "{}", path.display());
        let wide = rows(path, &options.clone().element(ElementType::F64)).unwrap();
        assert_eq!(wide.len(), 2 * bytes.len());
    }
    let vector = folder.path().join("vector.gd");
    let shape = TableShape::vector(3, ElementType::Bool).unwrap();
    write_table(&vector, shape, [Ok([1, 0, 1])], false).unwrap();
    let description = TableInput::open(from_ref(&vector), &options).unwrap().description();
    assert!(description.is_vector && description.looks_boolean);
    assert_eq!(rows(&vector, &options).unwrap(), [1, 0, 1]);
}

#[test]
fn the_wrong_kind_of_compiled_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("x.gd");
    let shape = TableShape::vector(3, ElementType::U8).unwrap();
    write_table(&table, shape, [Ok([1, 0, 1])], false).unwrap();
    assert!(edges(&[table], &EdgeInputOptions::new()).is_err());
    let topology = folder.path().join("x.gl");
    graph(&topology, Directions::Out, false);
    assert!(rows(&topology, &TableInputOptions::new()).is_err());
    std::fs::write(folder.path().join("dataset.json"), "{}").unwrap();
    let error = edges(&[folder.path().to_path_buf()], &EdgeInputOptions::new()).unwrap_err();
    assert!(error.contains("is a dataset"), "{error}");
}
