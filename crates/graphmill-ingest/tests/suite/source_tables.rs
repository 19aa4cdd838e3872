//! Tables as text and arrays, edges in arrays, and archives of arrays.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;
use graphmill_ingest::npy::NpyHeader;
use graphmill_ingest::source::{
    Column, EdgeChunk, EdgeInput, EdgeInputOptions, OnBadRow, ReadReport, TableChunk, TableInput,
    TableInputOptions,
};
use proptest::prelude::*;

#[derive(Debug, Default, PartialEq)]
struct Table {
    ids: Vec<u64>,
    bytes: Vec<u8>,
    texts: Vec<String>,
}

impl Table {
    fn f32(&self) -> Vec<f32> {
        self.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn i64(&self) -> Vec<i64> {
        self.bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
    }
}

fn read(path: &Path, options: &TableInputOptions) -> Result<(Table, ReadReport), String> {
    let input =
        TableInput::open(&[path.to_path_buf()], options).map_err(|error| error.to_string())?;
    let chunks: Mutex<Vec<TableChunk>> = Mutex::default();
    let consume = |chunk: &mut TableChunk| {
        chunks.lock().unwrap().push(std::mem::take(chunk));
        Ok(())
    };
    let pool = graphmill_disk::with_threads(Some(3)).unwrap();
    let budget = Budget::new(64 << 20);
    let report = pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
    let mut chunks = chunks.into_inner().unwrap();
    chunks.sort_by_key(|chunk| chunk.first_row);
    let mut table = Table::default();
    let mut row = 0;
    for chunk in chunks {
        assert_eq!(chunk.first_row, row);
        row += chunk.rows as u64;
        table.ids.extend(chunk.ids.into_iter().flatten());
        table.bytes.extend(chunk.bytes);
        table.texts.extend(chunk.texts.iter().map(str::to_owned));
    }
    assert_eq!(row, report.rows);
    Ok((table, report))
}

fn in_file<T>(bytes: &[u8], run: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, bytes).unwrap();
    run(&path)
}

fn read_text(text: &str, options: &TableInputOptions) -> Result<Table, String> {
    in_file(text.as_bytes(), |path| read(path, options).map(|(table, _)| table))
}

#[test]
fn tables_are_positional_unless_their_header_names_an_id() {
    let plain = TableInputOptions::new();
    let table = read_text("0.5,1\n-2,nan\n", &plain).unwrap();
    assert_eq!((table.ids.len(), &table.f32()[..3]), (0, &[0.5, 1.0, -2.0][..]));
    for text in ["a,ID,b\n1,7,2\n3,5,4\n", "a,node_id,b\r\n1, 7 ,2\r\n3,5.0,4"] {
        let table = read_text(text, &plain).unwrap();
        assert_eq!((&table.ids[..], &table.f32()[..]), (&[7, 5][..], &[1., 2., 3., 4.][..]));
    }
    let table = read_text("id,b\n1,7\n", &plain.clone().positional(true)).unwrap();
    assert_eq!(table.f32(), [1.0, 7.0]);
    let first = plain.clone().first_column_is_id(true);
    let table = read_text("3, 0.5\n1, 2\n", &first).unwrap();
    assert_eq!((&table.ids[..], &table.f32()[..]), (&[3, 1][..], &[0.5, 2.0][..]));
    let table =
        read_text("x\ty\n1\t2\n", &plain.clone().id_column(Column::Name("y".into()))).unwrap();
    assert_eq!((&table.ids[..], &table.f32()[..]), (&[2][..], &[1.0][..]));
    let table =
        read_text("a b c\n1 2 3\n", &plain.columns(vec![Column::Name("c".into())])).unwrap();
    assert_eq!(table.f32(), [3.0]);
}

#[test]
fn a_table_of_comments_has_no_rows() {
    for text in ["", "# nothing\n", "#\n% x\n"] {
        assert_eq!(read_text(text, &TableInputOptions::new()).unwrap(), Table::default());
    }
}

#[test]
fn every_line_of_a_table_by_position_is_a_row_blank_ones_included() {
    let labels = TableInputOptions::new().element(ElementType::I64).missing(-1);
    for (text, expected) in [
        ("1\n\n3\n4\n", &[1, -1, 3, 4][..]),
        ("\n2\n \r\n4", &[-1, 2, -1, 4]),
        ("NA\n2\n", &[-1, 2]),
        ("null\n?\n-\nN/A\nnan\n5\n", &[-1, -1, -1, -1, -1, 5]),
        ("label\n1\n\n", &[1, -1]),
        ("genre\n\n\n4\n", &[-1, -1, 4]),
        ("# from\n# somewhere\n\n1\n", &[-1, 1]),
        ("\u{FEFF}# x\n7\n", &[7]),
        ("\n\n", &[-1, -1]),
        ("1,2\n\n3,4\n", &[1, 2, -1, -1, 3, 4]),
        ("1\t2\n\t\n3\t4\n", &[1, 2, -1, -1, 3, 4]),
        ("#N/A\n4\n", &[-1, 4]),
    ] {
        assert_eq!(read_text(text, &labels).unwrap().i64(), expected, "{text:?}");
    }
    let words = TableInputOptions::new().text(true);
    let table = read_text("cat\n\nNA\ncat\n", &words).unwrap();
    assert_eq!(table.texts, ["cat", "", "", "cat"]);
}

#[test]
fn a_line_in_doubt_of_a_table_by_position_is_named() {
    let plain = TableInputOptions::new();
    let labels = plain.clone().element(ElementType::I64).missing(-1);
    let words = plain.clone().text(true);
    for (text, options, part) in [
        ("0.5\n\n2\n", &plain, "line 2: found a blank line"),
        ("1,2\n3,4\n\n", &plain, "line 3: found a blank line"),
        ("1\n# two\n3\n", &labels, "line 2: found \"# two\", which may be a comment or a row"),
        ("# x\n#rust\n1\n", &labels, "line 2: found \"#rust\", which may be"),
        ("cat\n#rust\ncat\n", &words, "line 2: found \"#rust\""),
        ("genre\na\nb\na\n", &words, "line 1: found \"genre\", which may name columns or be a row"),
        ("1,2\n3,\n", &plain, "fill it: without ids every line is a row"),
    ] {
        let error = read_text(text, options).unwrap_err();
        assert!(error.contains(part), "{part:?} is missing in {error:?}");
    }
    // Rows with ids stay where they are, whatever vanishes between them.
    let table = read_text("id,y\n0,1\n\n# two\n2,3\n", &labels).unwrap();
    assert_eq!((&table.ids[..], table.i64()), (&[0, 2][..], vec![1, 3]));
    let list = labels.list(true);
    assert_eq!(read_text("3\n\n# x\n1\n", &list).unwrap().i64(), [3, 1]);
}

#[test]
fn labels_are_numbers_with_gaps_or_words() {
    let labels = TableInputOptions::new().element(ElementType::I64).missing(-1);
    assert_eq!(read_text("3\n0\n1.0\n", &labels).unwrap().i64(), [3, 0, 1]);
    assert_eq!(read_text("label\n3\n", &labels).unwrap().i64(), [3]);
    let gaps = read_text("id,y\n0,3\n1,\n2,NaN\n", &labels).unwrap();
    assert_eq!((&gaps.ids[..], &gaps.i64()[..]), (&[0, 1, 2][..], &[3, -1, -1][..]));
    let words = TableInputOptions::new().text(true);
    let table = read_text("id,class\n4,cats and dogs\n2,\"a, b\"\n", &words).unwrap();
    assert_eq!(
        (&table.ids[..], &table.texts[..]),
        (&[4, 2][..], &["cats and dogs".to_owned(), "a, b".to_owned()][..])
    );
    let wines = read_text("red wine\nblue\n", &words.clone().header(false)).unwrap();
    assert_eq!(wines.texts, ["red wine", "blue"]);
    in_file(b"id,y\n0,cat\n", |path| {
        let input = TableInput::open(&[path.to_path_buf()], &labels).unwrap();
        assert!(!input.description().looks_numeric);
    });
}

#[test]
fn cells_that_do_not_fit_are_named_with_their_place() {
    let plain = TableInputOptions::new();
    let bytes = plain.clone().element(ElementType::U8);
    for (text, options, part) in [
        ("1,2\n3,x\n", &plain, "line 2, column 2: found \"x\", expected a number that float32"),
        ("1,2\n3,\n", &plain, "line 2, column 2: found an empty field"),
        ("1,2\n3\n", &plain, "line 2: found 1 field, expected 2, as in the first row"),
        ("1,2\n3,4,5\n", &plain, "line 2: found 3 fields, expected 2"),
        ("1,2\n3,1e39\n", &plain, "found \"1e39\""),
        ("1,2\n3,256\n", &bytes, "found \"256\", expected a whole number from 0 to 255"),
        ("1,2\n3,0.5\n", &bytes, "write a whole number"),
        ("id,x\n-1,2\n", &plain, "line 2, column 1: found \"-1\", expected a node id"),
        (",x\n0,2\n", &plain, "index=False"),
    ] {
        let error = read_text(text, options).unwrap_err();
        assert!(error.contains(part), "{part:?} is missing in {error:?}");
    }
    let skip = plain.on_bad_row(OnBadRow::Skip);
    in_file(b"id,x\n0,1\n1,x\n2,3,4\n3,5\n", |path| {
        let (table, report) = read(path, &skip).unwrap();
        assert_eq!((&table.ids[..], table.f32()), (&[0, 3][..], vec![1.0, 5.0]));
        assert_eq!((report.skipped, &*report.bad_examples[1].place), (2, "line 4"));
    });
}

proptest! {
    #[test]
    fn text_of_floats_reads_back_as_the_standard_library_reads_it(
        rows in proptest::collection::vec(proptest::array::uniform3(any::<f32>()), 1..40),
        delimiter in 0_usize..4, precise: bool, ids: bool,
    ) {
        let separator = [",", ", ", "\t", " "][delimiter];
        let mut text = String::new();
        let mut expected = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter()
                .map(|value| if precise { format!("{value:?}") } else { format!("{value:.3}") })
                .collect();
            expected.extend(cells.iter().map(|cell| cell.parse::<f32>().unwrap().to_bits()));
            if ids {
                text.push_str(&format!("{number}{separator}"));
            }
            text.push_str(&(cells.join(separator) + "\n"));
        }
        let options = TableInputOptions::new().first_column_is_id(ids);
        let table = read_text(&text, &options).unwrap();
        let bits: Vec<u32> = table.f32().iter().map(|value| value.to_bits()).collect();
        let same = bits.iter().zip(&expected).all(|(a, b)| {
            a == b || (f32::from_bits(*a).is_nan() && f32::from_bits(*b).is_nan())
        });
        prop_assert!(same && bits.len() == expected.len(), "{}", text);
        prop_assert_eq!(table.ids.len(), if ids { rows.len() } else { 0 });
    }
}

#[test]
fn rows_come_in_order_where_that_is_asked_for() {
    let mut text = String::new();
    for row in 0..200_000 {
        text.push_str(&format!("{row},{}\n", row % 7));
    }
    in_file(text.as_bytes(), |path| {
        let options = TableInputOptions::new().first_column_is_id(true).ordered(true);
        let input = TableInput::open(&[path.to_path_buf()], &options).unwrap();
        let next = Mutex::new(0_u64);
        let consume = |chunk: &mut TableChunk| {
            let mut next = next.lock().unwrap();
            assert_eq!((chunk.first_row, chunk.ids.as_ref().unwrap()[0]), (*next, *next));
            *next += chunk.rows as u64;
            Ok(())
        };
        let pool = graphmill_disk::with_threads(Some(4)).unwrap();
        pool.install(|| input.read(&Budget::new(64 << 20), &consume, None)).unwrap();
        assert_eq!(next.into_inner().unwrap(), 200_000);
    });
}

fn npy(element: ElementType, shape: &[u64], fortran: bool, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = NpyHeader::encode(element, shape).unwrap();
    if fortran {
        let text = String::from_utf8_lossy(&bytes[10..]).replace("False", "True ");
        bytes.splice(10.., text.bytes());
    }
    bytes.extend_from_slice(numbers);
    bytes
}

fn npz(members: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
    let method = match deflated {
        true => zip::CompressionMethod::Deflated,
        false => zip::CompressionMethod::Stored,
    };
    // NumPy writes every member with the sizes of zip64.
    let options =
        zip::write::SimpleFileOptions::default().compression_method(method).large_file(true);
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn edges_of(paths: &[PathBuf], options: &EdgeInputOptions) -> Result<Vec<(u64, u64)>, String> {
    let input = EdgeInput::open(paths, options).map_err(|error| error.to_string())?;
    let edges: Mutex<Vec<(u64, u64, u64)>> = Mutex::default();
    let consume = |chunk: &mut EdgeChunk| {
        let mut edges = edges.lock().unwrap();
        let pairs = chunk.sources.iter().zip(&chunk.destinations).enumerate();
        edges.extend(pairs.map(|(at, (s, d))| (chunk.first_row + at as u64, *s, *d)));
        Ok(())
    };
    let report =
        input.read(&Budget::new(64 << 20), &consume, None).map_err(|error| error.to_string())?;
    let mut edges = edges.into_inner().unwrap();
    edges.sort_unstable();
    assert!(edges.iter().enumerate().all(|(at, edge)| edge.0 == at as u64));
    assert_eq!(report.rows, edges.len() as u64);
    Ok(edges.into_iter().map(|(_, source, destination)| (source, destination)).collect())
}

fn i64s(values: impl IntoIterator<Item = i64>) -> Vec<u8> {
    values.into_iter().flat_map(i64::to_le_bytes).collect()
}

#[test]
fn edges_are_read_from_arrays_of_either_shape_order_and_packing() {
    // More than one chunk of 65536 edges.
    let count = 150_001_i64;
    let (source, destination) = (|i: i64| i * 7 % 1000, |i: i64| i);
    let expected: Vec<(u64, u64)> =
        (0..count).map(|i| (source(i) as u64, destination(i) as u64)).collect();
    let by_end = i64s((0..count).map(source).chain((0..count).map(destination)));
    let pairs = i64s((0..count).flat_map(|i| [source(i), destination(i)]));
    let size = count as u64;
    let arrays = [
        npy(ElementType::I64, &[2, size], false, &by_end),
        npy(ElementType::I64, &[size, 2], false, &pairs),
        npy(ElementType::I64, &[2, size], true, &pairs),
        npy(ElementType::I64, &[size, 2], true, &by_end),
    ];
    for (number, array) in arrays.iter().enumerate() {
        in_file(array, |path| {
            let found = edges_of(&[path.to_path_buf()], &EdgeInputOptions::new()).unwrap();
            assert!(found == expected, "array {number}");
        });
        for deflated in [false, true] {
            let other = npy(ElementType::U8, &[1], false, &[1]);
            let archive = npz(&[("other.npy", &other), ("edge_index.npy", array)], deflated);
            in_file(&archive, |path| {
                let found = edges_of(&[path.to_path_buf()], &EdgeInputOptions::new()).unwrap();
                assert!(found == expected, "member {number}, deflated {deflated}");
                let unknown = EdgeInputOptions::new().member("edges");
                let error = edges_of(&[path.to_path_buf()], &unknown).unwrap_err();
                assert!(error.contains("other, edge_index"), "{error}");
            });
        }
    }
}

#[test]
fn negative_ids_in_arrays_are_named_or_left_out() {
    let array = npy(ElementType::I64, &[3, 2], false, &i64s([0, 1, 2, -3, 4, 5]));
    in_file(&array, |path| {
        let paths = [path.to_path_buf()];
        let error = edges_of(&paths, &EdgeInputOptions::new()).unwrap_err();
        assert!(error.contains("edge 1, destination: found -3"), "{error}");
        let skip = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip);
        assert_eq!(edges_of(&paths, &skip).unwrap(), [(0, 1), (4, 5)]);
    });
    for (element, shape) in [(ElementType::F32, [2, 1]), (ElementType::I32, [3, 3])] {
        let length = (shape[0] * shape[1] * element.width()) as usize;
        in_file(&npy(element, &shape, false, &vec![0; length]), |path| {
            assert!(edges_of(&[path.to_path_buf()], &EdgeInputOptions::new()).is_err());
        });
    }
}

#[test]
fn every_cut_of_an_archive_is_refused() {
    let array = npy(ElementType::I64, &[2, 2], false, &i64s([0, 1, 2, 3]));
    let archive = npz(&[("edge_index.npy", &array)], true);
    for length in 0..archive.len() {
        in_file(&archive[..length], |path| {
            let found = edges_of(&[path.to_path_buf()], &EdgeInputOptions::new());
            // An empty file is a text without edges.
            assert!(found.is_err() || length == 0, "{length}: {found:?}");
        });
    }
}

proptest! {
    #[test]
    fn damaged_archives_never_panic(at in 0_usize..1000, byte: u8, deflated: bool) {
        let array = npy(ElementType::I64, &[2, 2], false, &i64s([0, 1, 2, 3]));
        let mut archive = npz(&[("edge_index.npy", &array), ("x.npy", &array)], deflated);
        let at = at % archive.len();
        archive[at] = byte;
        in_file(&archive, |path| {
            let _ = edges_of(&[path.to_path_buf()], &EdgeInputOptions::new().member("edge_index"));
        });
    }
}

#[test]
fn arrays_become_rows_of_the_type_that_is_wanted() {
    let values = [1.5_f32, -2.0, 3.0, 4.0, 5.0, 6.0];
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let columns: Vec<u8> =
        [1.5_f32, 3.0, 5.0, -2.0, 4.0, 6.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let plain = TableInputOptions::new();
    for array in [
        npy(ElementType::F32, &[3, 2], false, &bytes),
        npy(ElementType::F32, &[3, 2], true, &columns),
    ] {
        for packed in [array.clone(), npz(&[("x.npy", &array)], false)] {
            in_file(&packed, |path| {
                assert_eq!(read(path, &plain).unwrap().0.f32(), values);
                let half = read(path, &plain.clone().element(ElementType::F16)).unwrap().0;
                assert_eq!(half.bytes.len(), 12);
                let error = read(path, &plain.clone().element(ElementType::I64)).unwrap_err();
                assert!(error.contains("row 0, column 0: found 1.5"), "{error}");
            });
        }
    }
    let labels: Vec<u8> = [2.0_f64, f64::NAN, 0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let archive = npz(&[("node_label.npy", &npy(ElementType::F64, &[3, 1], false, &labels))], true);
    in_file(&archive, |path| {
        let options = plain.clone().element(ElementType::I64).missing(-1);
        assert_eq!(read(path, &options).unwrap().0.i64(), [2, -1, 0]);
    });
    in_file(&bytes, |path| {
        assert_eq!(read(path, &plain.clone().raw(ElementType::F32, 2)).unwrap().0.f32(), values);
        assert!(read(path, &plain.clone().raw(ElementType::F32, 4)).is_err());
    });
}
