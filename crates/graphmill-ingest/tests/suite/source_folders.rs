//! Folders of the benchmarks, opened part by part as a build opens them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::source::{
    EdgeChunk, EdgeInput, EdgeInputOptions, FolderPart, FolderSources, SourceFormat, TableChunk,
    TableInput, TableInputOptions,
};

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn gzip(text: &str) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text.as_bytes()).unwrap();
    writer.finish().unwrap()
}

fn npy(element: ElementType, shape: &[u64], numbers: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut bytes = NpyHeader::encode(element, shape).unwrap();
    bytes.extend(numbers);
    bytes
}

fn i64s(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .large_file(true);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(format!("{name}.npy"), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn find(folder: &Path) -> FolderSources {
    FolderSources::of(folder, SourceFormat::of(folder).unwrap()).unwrap()
}

fn edges(part: &FolderPart) -> Vec<(u64, u64)> {
    let options = part.edge_options(&EdgeInputOptions::new());
    read_edges(&EdgeInput::open(std::slice::from_ref(&part.path), &options).unwrap())
}

fn read_edges(input: &EdgeInput<'_>) -> Vec<(u64, u64)> {
    let found: Mutex<Vec<(u64, u64)>> = Mutex::default();
    let consume = |chunk: &mut EdgeChunk| {
        let pairs = chunk.sources.iter().copied().zip(chunk.destinations.iter().copied());
        found.lock().unwrap().extend(pairs);
        Ok(())
    };
    input.read(&Budget::new(16 << 20), &consume, None).unwrap();
    found.into_inner().unwrap()
}

fn rows(part: &FolderPart, options: &TableInputOptions) -> Vec<u8> {
    let input =
        TableInput::open(std::slice::from_ref(&part.path), &part.table_options(options)).unwrap();
    let found: Mutex<Vec<u8>> = Mutex::default();
    let consume = |chunk: &mut TableChunk| {
        assert!(chunk.ids.is_none(), "rows are positional");
        found.lock().unwrap().extend_from_slice(&chunk.bytes);
        Ok(())
    };
    input.read(&Budget::new(16 << 20), &consume, None).unwrap();
    found.into_inner().unwrap()
}

fn labels() -> TableInputOptions {
    TableInputOptions::new().element(ElementType::I64).missing(-1)
}

#[test]
fn a_small_set_of_ogb_is_read_part_by_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    put(path, "raw/edge.csv.gz", &gzip("0,1\n1,2\n"));
    put(path, "raw/node-feat.csv.gz", &gzip("0.5,1\n2,3\n4,5\n"));
    put(path, "raw/node-label.csv.gz", &gzip("2\nnan\n1\n"));
    put(path, "raw/num-node-list.csv.gz", &gzip("3\n"));
    put(path, "raw/node_year.csv.gz", &gzip("2013\n2015\n2014\n"));
    put(path, "split/time/train.csv.gz", &gzip("0\n2\n"));
    put(path, "split/time/test.csv.gz", &gzip("1\n"));
    let sources = find(path);
    assert_eq!(edges(&sources.edges), [(0, 1), (1, 2)]);
    let features = rows(sources.features.as_ref().unwrap(), &TableInputOptions::new());
    assert_eq!(features, f32s(&[0.5, 1.0, 2.0, 3.0, 4.0, 5.0]));
    assert_eq!(rows(sources.labels.as_ref().unwrap(), &labels()), i64s(&[2, -1, 1]));
    assert_eq!(rows(&sources.tables[0].1, &labels()), i64s(&[2013, 2015, 2014]));
    assert_eq!(sources.count_nodes(&Budget::new(8 << 20)).unwrap(), Some(3));
    let splits: Vec<(&str, Vec<u8>)> =
        sources.splits.iter().map(|(name, part)| (&**name, rows(part, &labels()))).collect();
    assert_eq!(splits, [("train", i64s(&[0, 2])), ("test", i64s(&[1]))]);
    let whole = EdgeInput::open(&[path.to_path_buf()], &EdgeInputOptions::new()).unwrap();
    assert_eq!((whole.format(), read_edges(&whole).len()), (Some(SourceFormat::Ogb), 2));
    put(path, "raw/num-node-list.csv.gz", &gzip("3\n4\n"));
    let error = find(path).count_nodes(&Budget::new(8 << 20)).unwrap_err().to_string();
    assert!(error.contains("many small graphs"), "{error}");
}

#[test]
fn papers100m_is_read_from_its_archives_with_or_without_years() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut members = vec![
        ("edge_index", npy(ElementType::I64, &[2, 2], i64s(&[0, 1, 1, 2]))),
        ("node_feat", npy(ElementType::F32, &[3, 1], f32s(&[0.5, 1.5, 2.5]))),
        ("num_nodes_list", npy(ElementType::I64, &[1], i64s(&[3]))),
        ("num_edges_list", npy(ElementType::I64, &[1], i64s(&[2]))),
    ];
    put(path, "raw/data.npz", &npz(&members));
    assert!(find(path).tables.is_empty(), "no year is no error");
    members.push(("node_year", npy(ElementType::I64, &[3, 1], i64s(&[2001, 2002, 2003]))));
    put(path, "raw/data.npz", &npz(&members));
    let label = npy(ElementType::F32, &[3, 1], f32s(&[f32::NAN, 4.0, 7.0]));
    put(path, "raw/node-label.npz", &npz(&[("node_label", label)]));
    let sources = find(path);
    assert_eq!(edges(&sources.edges), [(0, 1), (1, 2)]);
    let features = rows(sources.features.as_ref().unwrap(), &TableInputOptions::new());
    assert_eq!(features, f32s(&[0.5, 1.5, 2.5]));
    assert_eq!(rows(sources.labels.as_ref().unwrap(), &labels()), i64s(&[-1, 4, 7]));
    assert_eq!(rows(&sources.tables[0].1, &TableInputOptions::new()), i64s(&[2001, 2002, 2003]));
    assert_eq!(sources.count_nodes(&Budget::new(8 << 20)).unwrap(), Some(3));
}

#[test]
fn mag240m_is_read_and_its_other_relations_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let index =
        npy(ElementType::I32, &[2, 2], [0_i32, 1, 2, 0].iter().flat_map(|v| v.to_le_bytes()));
    put(path, "processed/paper___cites___paper/edge_index.npy", &index);
    put(path, "processed/author___writes___paper/edge_index.npy", &index);
    let feature = npy(ElementType::F16, &[3, 2], [0; 12]);
    put(path, "processed/paper/node_feat.npy", &feature);
    let sources = find(path);
    assert_eq!(edges(&sources.edges), [(0, 2), (1, 0)]);
    let input =
        TableInput::open(&[sources.features.unwrap().path], &TableInputOptions::new()).unwrap();
    assert_eq!(input.description().element, Some(ElementType::F16));
    let writes = path.join("processed/author___writes___paper");
    for asked in [writes.clone(), writes.join("edge_index.npy")] {
        let error = EdgeInput::open(&[asked], &EdgeInputOptions::new()).unwrap_err().to_string();
        assert!(error.contains("the relation author___writes___paper"), "{error}");
    }
    let cites: PathBuf = path.join("processed/paper___cites___paper");
    let input = EdgeInput::open(&[cites], &EdgeInputOptions::new()).unwrap();
    assert_eq!(read_edges(&input), [(0, 2), (1, 0)]);
}

#[test]
fn igb_is_read_with_pairs_and_raw_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let index = npy(ElementType::I64, &[2, 2], i64s(&[0, 1, 1, 0]));
    put(path, "processed/paper__cites__paper/edge_index.npy", &index);
    let index = npy(ElementType::I64, &[3, 2], i64s(&[0, 1, 1, 0, 1, 1]));
    put(path, "processed/paper__cites__paper/edge_index.npy", &index);
    put(path, "processed/paper/node_feat.npy", &f32s(&[0.25; 2048]));
    put(path, "processed/paper/node_label_19.npy", &f32s(&[18.0, -1.0]));
    put(
        path,
        "processed/paper/node_label_2K.npy",
        &npy(ElementType::F32, &[2], f32s(&[1999.0, f32::NAN])),
    );
    let sources = find(path);
    assert_eq!(edges(&sources.edges), [(0, 1), (1, 0), (1, 1)]);
    let features = sources.features.unwrap();
    let options = features.table_options(&TableInputOptions::new());
    let input = TableInput::open(std::slice::from_ref(&features.path), &options).unwrap();
    let description = input.description();
    assert_eq!((description.rows, description.columns), (Some(2), 1024));
    assert_eq!(rows(&features, &TableInputOptions::new()), f32s(&[0.25; 2048]));
    assert_eq!(rows(&sources.labels.unwrap(), &labels()), i64s(&[18, -1]));
    assert_eq!(sources.tables[0].0, "label_2K");
    assert_eq!(rows(&sources.tables[0].1, &labels()), i64s(&[1999, -1]));
}
