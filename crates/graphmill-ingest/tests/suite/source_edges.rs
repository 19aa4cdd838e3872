//! Edges as text, plain and compressed, as users bring them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_ingest::source::{
    Column, EdgeChunk, EdgeInput, EdgeInputOptions, OnBadRow, ReadReport,
};
use proptest::prelude::*;

/// An edge with its row, weight and time.
type Row = (u64, u64, u64, Option<f32>, Option<i64>);

fn read_files(
    paths: &[PathBuf],
    options: &EdgeInputOptions,
    threads: usize,
) -> Result<(Vec<Row>, ReadReport), String> {
    let input = EdgeInput::open(paths, options).map_err(|error| error.to_string())?;
    let rows = Mutex::new(Vec::new());
    let budget = Budget::new(64 << 20);
    let consume = |chunk: &mut EdgeChunk| {
        let mut rows = rows.lock().unwrap();
        for at in 0..chunk.len() {
            let value = (
                chunk.first_row + at as u64,
                chunk.sources[at],
                chunk.destinations[at],
                chunk.weights.as_ref().map(|weights| weights[at]),
                chunk.times.as_ref().map(|times| times[at]),
            );
            rows.push(value);
        }
        Ok(())
    };
    let pool = graphmill_disk::with_threads(Some(threads)).unwrap();
    let report = pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
    assert_eq!(budget.used(), 0);
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|row| row.0);
    assert!(rows.iter().enumerate().all(|(at, row)| row.0 == at as u64), "rows are numbered");
    assert_eq!(report.rows, rows.len() as u64);
    Ok((rows, report))
}

fn in_folder<T>(files: &[(&str, &[u8])], run: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    run(folder.path())
}

fn read_with(text: &str, options: &EdgeInputOptions) -> Result<(Vec<Row>, ReadReport), String> {
    in_folder(&[("edges.csv", text.as_bytes())], |folder| {
        read_files(&[folder.join("edges.csv")], options, 2)
    })
}

fn pairs(text: &str) -> Vec<(u64, u64)> {
    let (rows, _) = read_with(text, &EdgeInputOptions::new()).unwrap();
    rows.iter().map(|row| (row.1, row.2)).collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

#[test]
fn all_the_ways_to_write_an_edge_list_are_read() {
    for text in [
        "0,1\n2,3\n",
        "0,1\n2,3",
        "0,1\r\n2,3\r\n",
        "\u{FEFF}0,1\n2,3\n",
        "src,dst\n0,1\n2,3\n",
        "\u{FEFF}src,dst\r\n0,1\r\n2,3\r\n",
        "# SNAP\n# Nodes: 4 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n2\t3\n",
        "% matrix\n0 1\n2 3\n",
        "0;1\n\n   \n2;3\n",
        "0 , 1\n 2,\t3 \n",
        "  0   1\n\t2 \t 3  \n",
        "\"0\",\"1\"\n\"2\", \"3\"\n",
        "0.0,1.0\n2.0,3.000\n",
        "0.000000000000000000e+00 1.000000000000000000e+00\n2e0 3.0e+00\n",
        "0,1,0.5,x\n2,3,0.7\n",
        "a,b,c\n0,1,\"x, y\"\n2,3,\n",
    ] {
        assert_eq!(pairs(text), [(0, 1), (2, 3)], "{text:?}");
    }
    for empty in ["", "\n\n", "# nothing\n", "src,dst\n", "\u{FEFF}"] {
        assert_eq!(pairs(empty), [], "{empty:?}");
    }
}

#[test]
fn headers_and_delimiters_can_be_forced() {
    let forced = EdgeInputOptions::new().header(true);
    assert_eq!(read_with("0,1\n2,3\n", &forced).unwrap().0.len(), 1);
    let error = read_with("a,b\n2,3\n", &EdgeInputOptions::new().header(false)).unwrap_err();
    assert!(error.contains("line 1, column 1: found \"a\""), "{error}");
    let semicolon = EdgeInputOptions::new().delimiter(";".parse().unwrap());
    assert!(read_with("0,1\n", &semicolon).is_err());
    assert_eq!(read_with("1;2\n", &semicolon).unwrap().0.len(), 1);
}

#[test]
fn weights_and_times_are_read_where_they_are_named() {
    let text = "src,dst,Time,weight\n0,1,-5,0.25\n2,3,1e3,2\n";
    let expected = [(0, 0, 1, Some(0.25), Some(-5)), (1, 2, 3, Some(2.0), Some(1000))];
    for (weight, time) in [("weight", "time"), ("3", "2")] {
        let options = EdgeInputOptions::new()
            .weight_column(weight.parse().unwrap())
            .time_column(time.parse().unwrap());
        assert_eq!(read_with(text, &options).unwrap().0, expected);
    }
    let turned = EdgeInputOptions::new()
        .source_column(Column::Name("dst".to_owned()))
        .destination_column(Column::Index(0));
    assert_eq!(read_with(text, &turned).unwrap().0[0], (0, 1, 0, None, None));
    let unknown = EdgeInputOptions::new().weight_column(Column::Name("w".to_owned()));
    let error = read_with(text, &unknown).unwrap_err();
    assert!(error.contains("src, dst, Time, weight"), "{error}");
}

#[test]
fn endpoints_are_found_by_name_or_are_what_nothing_else_is_read_from() {
    let weight = |column: &str| EdgeInputOptions::new().weight_column(column.parse().unwrap());
    let plain = EdgeInputOptions::new();
    for (text, options) in [
        ("weight,src,dst\n0.5,1,2\n", weight("weight")),
        ("weight,a,b\n0.5,1,2\n", weight("Weight")),
        ("0.5,1,2\n", weight("0")),
        ("id,Source,TARGET\n7,1,2\n", plain.clone()),
        ("to_id\ttime\tfrom_id\n2\t9\t1\n", plain.clone()),
        (",src,dst\n0,1,2\n", plain.clone()),
        (
            "x,y,1,2\n",
            plain.clone().source_column(Column::Index(2)).destination_column(Column::Index(3)),
        ),
    ] {
        let (rows, _) = read_with(text, &options).unwrap();
        assert_eq!((rows[0].1, rows[0].2), (1, 2), "{text:?}");
    }
}

#[test]
fn a_first_line_of_too_many_columns_is_refused_within_the_budget() {
    let wide = gzip(&vec![b','; 60_000_000]);
    let named = (0..300_000).map(|at| format!("c{at}")).collect::<Vec<_>>().join(",") + "\n1,2\n";
    in_folder(&[("wide", &wide), ("named", named.as_bytes())], |folder| {
        for (name, parts) in [("wide", "line 1"), ("named", "300000 columns in line 1 of")] {
            let budget = Budget::new(8 << 20);
            let options = EdgeInputOptions::new().budget(&budget);
            let error = EdgeInput::open(&[folder.join(name)], &options).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(parts) && text.contains("raise the memory budget"), "{text}");
            assert!(budget.used() == 0 && budget.peak() <= 8 << 20);
        }
        let budget = Budget::new(64 << 20);
        let options = EdgeInputOptions::new().budget(&budget);
        let error = EdgeInput::open(&[folder.join("wide")], &options).unwrap_err().to_string();
        assert!(error.contains("line 1: found a line of more than"), "{error}");
        assert!(budget.peak() < 64 << 20);
        let input = EdgeInput::open(&[folder.join("named")], &options).unwrap();
        assert!((1..16 << 20).contains(&budget.used()));
        drop(input);
        assert_eq!(budget.used(), 0);
    });
}

#[test]
fn graphzero_takes_a_third_column_for_the_weight() {
    let options = EdgeInputOptions::new().third_column_is_weight(true);
    assert_eq!(read_with("0,1,0.5\n", &options).unwrap().0, [(0, 0, 1, Some(0.5), None)]);
    assert_eq!(read_with("0,1\n", &options).unwrap().0, [(0, 0, 1, None, None)]);
    assert!(read_with("0,1,0.5\n2,3\n", &options).unwrap_err().contains("2 fields"));
    in_folder(&[("a", b"0,1,0.5\n"), ("b", b"0,1\n")], |folder| {
        let error = read_files(&[folder.join("a"), folder.join("b")], &options, 1).unwrap_err();
        assert!(error.contains("no weights, expected weights"), "{error}");
    });
}

#[test]
fn bad_rows_stop_with_file_line_column_and_remedy() {
    for (text, parts) in [
        ("0,1\n2,x\n", "edges.csv`, line 2, column 2: found \"x\", expected a node id"),
        ("0,1\n2\n", "line 2: found 1 field, expected at least 2"),
        ("# c\n\n0,-1\n", "line 3, column 2: found \"-1\""),
        ("0,1.5\n", "column 2: found \"1.5\", expected a node id"),
        ("0,99999999999999999999\n", "found \"99999999999999999999\""),
        ("0,9223372036854775808\n", "from 0 to 2^63 - 1"),
        ("0,1\n\"2,3\n", "line 2, column 1: found a quote that is not closed"),
        ("src,dst\n1,\n", "line 2, column 2: found an empty field"),
        ("1\n", "found 1 field"),
        (",a,b\n0,1,2\n", "index=False"),
        ("id,a,b\n0,1,2\n", "found id, a, b, expected names that say which columns"),
        ("src,source,dst\n0,1,2\n", "found the columns src and source, expected one of them"),
        ("ada,bob\n", "line 1: found \"ada,bob\", which may name columns or be a row"),
    ] {
        let error = read_with(text, &EdgeInputOptions::new()).unwrap_err();
        assert!(error.contains(parts), "{parts:?} is missing in {error:?}");
    }
}

#[test]
fn bad_rows_can_be_left_out_and_are_counted_and_shown() {
    let mut text = String::from("0,1\nx,2\n3,4\n5\n");
    text.push_str(&"oops,1\n".repeat(20));
    text.push_str("6,7");
    let options = EdgeInputOptions::new().on_bad_row(OnBadRow::Skip);
    let (rows, report) = read_with(&text, &options).unwrap();
    assert_eq!(rows.iter().map(|row| row.1).collect::<Vec<_>>(), [0, 3, 6]);
    assert_eq!((report.rows, report.skipped, report.bad_examples.len()), (3, 22, 10));
    assert_eq!(report.bad_examples[1].place, "line 4");
    assert!(report.bad_examples[0].to_string().contains("line 2, column 1: found \"x\""));
    assert_eq!(report.bytes, text.len() as u64);
}

#[test]
fn several_files_are_one_input() {
    let zst = zstd::encode_all(&b"6\t7\n"[..], 3).unwrap();
    let gz = gzip(b"2 3\n4 5\n");
    let files: [(&str, &[u8]); 4] =
        [("p1", b"src,dst\n0,1"), ("p2", &gz), ("p3", b""), ("p4", &zst)];
    in_folder(&files, |folder| {
        let (rows, report) = read_files(&[folder.join("p?")], &EdgeInputOptions::new(), 2).unwrap();
        let sources: Vec<u64> = rows.iter().map(|row| row.1).collect();
        assert_eq!(sources, [0, 2, 4, 6]);
        let total: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        assert_eq!(report.bytes, total as u64);
    });
    in_folder(&[("a", b"0,1\n2,3\n"), ("b", b"4,5\n6,x\n")], |folder| {
        let paths = [folder.join("a"), folder.join("b")];
        let error = read_files(&paths, &EdgeInputOptions::new(), 2).unwrap_err();
        assert!(error.contains("b`, line 2, column 2"), "{error}");
    });
}

/// A text of many blocks, with a header, comments and lines of every length.
fn large_text(lines: u64) -> (String, Vec<(u64, u64)>) {
    let mut text = String::from("# a comment\nsrc,dst\n");
    let mut edges = Vec::new();
    for line in 0..lines {
        let (source, destination) = (line.wrapping_mul(0x9E37_79B9) >> (line % 40), line);
        edges.push((source & 0xFFFF_FFFF, destination));
        text.push_str(&format!("{},{destination}", source & 0xFFFF_FFFF));
        match line % 1000 {
            7 => text.push_str(", more"),
            8 => text.push('\r'),
            9 => text.push_str("\n\n# comment"),
            10 => text.push_str(&format!(",{}", "long ".repeat(2000))),
            _ => {}
        }
        text.push('\n');
    }
    (text, edges)
}

#[test]
fn files_of_many_blocks_are_read_alike_by_any_number_of_threads_and_packing() {
    let (text, edges) = large_text(150_000);
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let gz = [gzip(&text.as_bytes()[..1_000_001]), gzip(&text.as_bytes()[1_000_001..])].concat();
    in_folder(&[("plain", text.as_bytes()), ("gz", &gz), ("zst", &zst)], |folder| {
        for name in ["plain", "gz", "zst"] {
            for threads in [1, 2, 5] {
                let paths = [folder.join(name)];
                let (rows, report) = read_files(&paths, &EdgeInputOptions::new(), threads).unwrap();
                let found: Vec<(u64, u64)> = rows.iter().map(|row| (row.1, row.2)).collect();
                assert!(found == edges, "{name} with {threads} threads");
                assert_eq!(report.bytes, std::fs::metadata(&paths[0]).unwrap().len());
            }
        }
    });
}

#[test]
fn the_first_fault_of_the_file_is_the_one_reported() {
    let (mut text, _) = large_text(100_000);
    let lines = text.lines().count();
    text.push_str("1,2\nfirst,1\n");
    text.push_str(&"2,3\n".repeat(300_000));
    text.push_str("second,1\n");
    for _ in 0..5 {
        let error = read_with(&text, &EdgeInputOptions::new()).unwrap_err();
        assert!(
            error.contains(&format!("line {}, column 1: found \"first\"", lines + 2)),
            "{error}"
        );
    }
}

#[test]
fn an_error_of_the_receiver_or_a_cancelled_observer_ends_the_reading() {
    let (text, _) = large_text(200_000);
    in_folder(&[("edges", text.as_bytes())], |folder| {
        let input = EdgeInput::open(&[folder.join("edges")], &EdgeInputOptions::new()).unwrap();
        let budget = Budget::new(64 << 20);
        let refuse = |_: &mut EdgeChunk| Err(graphmill_ingest::Error::Cancelled);
        assert!(input.read(&budget, &refuse, None).is_err());
        let stop = |_| false;
        let error = input.read(&budget, &|_| Ok(()), Some(&stop)).unwrap_err();
        assert!(matches!(error, graphmill_ingest::Error::Cancelled), "{error}");
        assert_eq!(budget.used(), 0);
    });
}

#[test]
fn a_panic_of_the_receiver_does_not_hang_the_others() {
    let (text, _) = large_text(200_000);
    in_folder(&[("edges", text.as_bytes())], |folder| {
        let input = EdgeInput::open(&[folder.join("edges")], &EdgeInputOptions::new()).unwrap();
        let pool = graphmill_disk::with_threads(Some(3)).unwrap();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.install(|| {
                input.read(&Budget::new(64 << 20), &|_| panic!("the receiver fails"), None)
            })
        }));
        assert!(outcome.is_err());
    });
}

#[test]
fn reading_stays_within_the_budget_or_says_what_it_needs() {
    let (text, edges) = large_text(100_000);
    in_folder(&[("edges", text.as_bytes())], |folder| {
        let input = EdgeInput::open(&[folder.join("edges")], &EdgeInputOptions::new()).unwrap();
        let budget = Budget::new(2 << 20);
        let report = input.read(&budget, &|_| Ok(()), None).unwrap();
        assert_eq!(report.rows, edges.len() as u64);
        assert!(budget.peak() <= 2 << 20);
        let error = input.read(&Budget::new(100 << 10), &|_| Ok(()), None).unwrap_err();
        assert!(error.to_string().contains("raise the memory budget"), "{error}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read_or_refused_without_panic(
        text in "[0-9,;\t \"#%.\r\n-]{0,200}", packed in 0_usize..3,
    ) {
        let bytes = match packed {
            0 => text.into_bytes(),
            1 => gzip(text.as_bytes()),
            _ => zstd::encode_all(text.as_bytes(), 1).unwrap(),
        };
        in_folder(&[("any", &bytes)], |folder| {
            let _ = read_files(&[folder.join("any")], &EdgeInputOptions::new(), 2);
        });
    }
}
