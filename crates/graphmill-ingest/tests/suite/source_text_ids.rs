//! Ids that are words, in text files.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use graphmill_disk::Budget;
use graphmill_format::ElementType;
use graphmill_ingest::source::{
    Column, EdgeChunk, EdgeInput, EdgeInputOptions, OnBadRow, ReadReport, TableChunk, TableInput,
    TableInputOptions,
};
use proptest::prelude::*;

type Edge = (String, String, Option<f32>);

fn with_file<T>(bytes: &[u8], run: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source");
    std::fs::write(&path, bytes).unwrap();
    run(&path)
}

fn edges(text: &[u8], options: &EdgeInputOptions) -> Result<(Vec<Edge>, ReadReport), String> {
    with_file(text, |path| {
        let input = EdgeInput::open(&[path.to_path_buf()], options).map_err(|e| e.to_string())?;
        assert!(input.has_names());
        let found: Mutex<Vec<(u64, Edge)>> = Mutex::default();
        let consume = |chunk: &mut EdgeChunk| {
            assert!(chunk.sources.is_empty() && chunk.destinations.is_empty());
            let mut found = found.lock().unwrap();
            for at in 0..chunk.len() {
                let name =
                    |cells: &graphmill_ingest::source::TextCells| cells.get(at).unwrap().to_owned();
                let weight = chunk.weights.as_ref().map(|weights| weights[at]);
                let edge = (name(&chunk.source_names), name(&chunk.destination_names), weight);
                found.push((chunk.first_row + at as u64, edge));
            }
            Ok(())
        };
        let budget = Budget::new(64 << 20);
        let pool = graphmill_disk::with_threads(Some(3)).unwrap();
        let report =
            pool.install(|| input.read(&budget, &consume, None)).map_err(|e| e.to_string())?;
        assert_eq!(budget.used(), 0);
        let mut found = found.into_inner().unwrap();
        found.sort_by_key(|(row, _)| *row);
        assert!(found.iter().enumerate().all(|(at, (row, _))| *row == at as u64));
        assert_eq!(report.rows, found.len() as u64);
        Ok((found.into_iter().map(|(_, edge)| edge).collect(), report))
    })
}

fn text_ids() -> EdgeInputOptions {
    EdgeInputOptions::new().text_ids(true)
}

fn pairs(text: &str, options: &EdgeInputOptions) -> Vec<(String, String)> {
    let (edges, _) = edges(text.as_bytes(), options).unwrap();
    edges.into_iter().map(|(source, destination, _)| (source, destination)).collect()
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn words_are_unquoted_and_otherwise_kept() {
    let text_ids = || text_ids().header(false);
    for text in [
        "ada,grace hopper\nБорис,7\n",
        "ada,grace hopper\r\nБорис,7\r\n",
        "ada,grace hopper\n \"Борис\" ,\t\"7\"\n",
        "# people\nada;grace hopper\n\nБорис;7",
        "ada\tgrace hopper\t0.5\nБорис\t7\tx\n",
    ] {
        let expected = owned(&[("ada", "grace hopper"), ("Борис", "7")]);
        assert_eq!(pairs(text, &text_ids()), expected, "{text:?}");
    }
    assert_eq!(pairs("\"#tag\",\"a,\"\"b\"\"\"\n", &text_ids()), owned(&[("#tag", "a,\"b\"")]));
    assert_eq!(pairs("007 7\n", &text_ids()), owned(&[("007", "7")]));
    let spaced = " ada ,b\t\n\" 7\", 7\n";
    assert_eq!(pairs(spaced, &text_ids()), owned(&[(" ada ", "b\t"), (" 7", " 7")]));
}

#[test]
fn a_line_that_may_be_a_comment_or_an_edge_is_refused() {
    let text = "# two tags\n%% matrix\na,b\n#\nb,a\n";
    assert_eq!(pairs(text, &text_ids()), owned(&[("a", "b"), ("b", "a")]));
    let error = edges(b"a,b\nb,a\n#rust,java\n", &text_ids()).unwrap_err();
    assert!(error.contains("line 3: found \"#rust,java\", which may be a comment"), "{error}");
    // A remark has not the fields of an edge.
    assert_eq!(pairs("a,b\n#remark\nb,a\n", &text_ids()).len(), 2);
}

#[test]
fn a_first_line_is_a_header_only_under_known_names_or_if_it_is_said_to_be() {
    assert_eq!(pairs("Source,TARGET\na,b\n", &text_ids()), owned(&[("a", "b")]));
    assert_eq!(pairs("ada,bob\nbob,b\n", &text_ids()), owned(&[("ada", "bob"), ("bob", "b")]));
    for text in ["ada,bob\na,b\n", "name,friend\na,b\n", "paper;cites\n", "u s e r\ta\nb\tc"] {
        let error = edges(text.as_bytes(), &text_ids()).unwrap_err();
        assert!(error.contains("line 1: found") && error.contains("be a row"), "{error}");
    }
    assert_eq!(pairs("ada,bob\na,b\n", &text_ids().header(true)), owned(&[("a", "b")]));
    let forced = text_ids().header(false);
    assert_eq!(pairs("src,dst\na,b\n", &forced), owned(&[("src", "dst"), ("a", "b")]));
    let named = text_ids()
        .source_column(Column::Name("citing".into()))
        .destination_column(Column::Name("cited".into()))
        .weight_column(Column::Name("w".into()));
    let (found, _) = edges(b"w,citing,cited\n0.5,a,b\n", &named).unwrap();
    assert_eq!(found, [("a".to_owned(), "b".to_owned(), Some(0.5))]);
}

#[test]
fn rows_without_usable_words_are_named_or_left_out() {
    let text_ids = || text_ids().header(false);
    let long = "x".repeat(65_537);
    let text = format!("a,b\n ,c\nd\n{long},e\nf,g\n");
    for (bytes, part) in [
        (&b"a,b\n , c\n"[..], "line 2, column 1: found no text"),
        (b"a,\"\"\n", "line 1, column 2: found no text"),
        (b"a,b\nc\n", "line 2: found 1 field"),
        (b"a,b\nc,\xFF\xFE\n", "line 2, column 2: found bytes that are no text"),
        (&text.as_bytes()[text.len() - long.len() - 7..], "found a text of 65537 bytes"),
    ] {
        let error = edges(bytes, &text_ids()).unwrap_err();
        assert!(error.contains(part), "{part:?} is missing in {error:?}");
    }
    let (found, report) = edges(text.as_bytes(), &text_ids().on_bad_row(OnBadRow::Skip)).unwrap();
    assert_eq!((found.len(), &*found[1].0, report.skipped), (2, "f", 3));
    assert_eq!(report.bad_examples[2].place, "line 4, column 1");
}

#[test]
fn arrays_hold_no_words() {
    let mut array = graphmill_ingest::npy::NpyHeader::encode(ElementType::I64, &[2, 1]).unwrap();
    array.extend([0; 16]);
    assert!(edges(&array, &text_ids()).unwrap_err().contains("leave out ids as text"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn names_agree_with_the_csv_crate(
        rows in proptest::collection::vec(("[a-z\" ,é]{1,12}", "[a-z0-9]{1,5}"), 1..60),
        repeat in 1_usize..400,
    ) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut expected = Vec::new();
        for (source, destination) in rows.iter().cycle().take(rows.len() * repeat) {
            writer.write_record([source, destination]).unwrap();
            expected.push((source.clone(), destination.clone()));
        }
        prop_assume!(expected.iter().all(|(source, _)| !source.trim().is_empty()));
        let text = writer.into_inner().unwrap();
        let options = text_ids().header(false).delimiter(",".parse().unwrap());
        let (found, _) = edges(&text, &options).unwrap();
        let found: Vec<(String, String)> = found.into_iter().map(|(a, b, _)| (a, b)).collect();
        prop_assert!(found == expected);
    }
}

fn table(text: &str, options: &TableInputOptions) -> Result<(Vec<String>, Vec<f32>), String> {
    with_file(text.as_bytes(), |path| {
        let input = TableInput::open(&[PathBuf::from(path)], options).map_err(|e| e.to_string())?;
        let found: Mutex<(Vec<String>, Vec<f32>)> = Mutex::default();
        let consume = |chunk: &mut TableChunk| {
            assert!(chunk.ids.is_none());
            let mut found = found.lock().unwrap();
            found.0.extend(chunk.id_names.iter().flat_map(|names| names.iter()).map(str::to_owned));
            found.0.extend(chunk.texts.iter().map(str::to_owned));
            let values = chunk.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
            found.1.extend(values);
            Ok(())
        };
        input.read(&Budget::new(16 << 20), &consume, None).map_err(|e| e.to_string())?;
        Ok(found.into_inner().unwrap())
    })
}

#[test]
fn tables_carry_the_words_whose_rows_they_are() {
    let words = TableInputOptions::new().text_ids(true);
    let first = words.clone().first_column_is_id(true);
    let expected = (vec!["ada".to_owned(), "bob".to_owned()], vec![1.0, 2.0, 3.0, 4.0]);
    for (text, options) in [
        ("id,x,y\nada,1,2\nbob,3,4\n", &words),
        ("x,Node_Id,y\n1,ada,2\n3,bob,4\n", &words),
        ("ada,1,2\nbob,3,4\n", &first),
        ("id,x,y\nada,1,2\n\"bob\",3,4\n", &first),
        ("who,x,y\nada,1,2\nbob,3,4\n", &words.clone().id_column(Column::Name("who".into()))),
    ] {
        assert_eq!(table(text, options).unwrap(), expected, "{text:?}");
    }
    let classes = words.clone().text(true);
    let found = table("id,class\nada,cat\n", &classes).unwrap();
    assert_eq!(found.0, ["ada", "cat"]);
    let error = table("id,x\n,1\n", &words).unwrap_err();
    assert!(error.contains("line 2, column 1: found no text"), "{error}");
    // Without ids there is nothing that could be a word.
    assert_eq!(table("1,2\n3,4\n", &words).unwrap(), (vec![], vec![1.0, 2.0, 3.0, 4.0]));
    let skip = words.on_bad_row(OnBadRow::Skip);
    let found = table("id,x\nada,1\nbob,x\n,3\ncy,4\n", &skip).unwrap();
    assert_eq!(found, (vec!["ada".to_owned(), "cy".to_owned()], vec![1.0, 4.0]));
}
