//! A dataset is whole, checked, and replaced or extended in one step.

use crate::read_back;
use std::path::Path;

use graphmill_disk::Budget;
use graphmill_format::{ElementType, Manifest, TableShape, manifest};
use graphmill_ingest::{DatasetWriter, Directions, Error, GraphOptions, MemoryEdges};

fn with_graph(folder: &Path, overwrite: bool) -> DatasetWriter {
    let mut writer = DatasetWriter::begin(folder, overwrite).unwrap();
    let edges = MemoryEdges::new(&[0_i64, 1, 2], &[1, 2, 0], Some(4)).unwrap();
    writer.graph(&edges, &GraphOptions::new(), &Budget::new(1 << 20)).unwrap();
    writer
}

fn bytes(rows: u64) -> TableShape {
    TableShape::vector(rows, ElementType::U8).unwrap()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn published(folder: &Path) -> Manifest {
    let manifest = Manifest::parse(&std::fs::read(folder.join("dataset.json")).unwrap()).unwrap();
    for file in manifest.files() {
        let bytes = std::fs::read(folder.join(&file.name)).unwrap();
        assert_eq!(bytes.len() as u64, file.bytes);
        assert_eq!(manifest::header_checksum(&bytes), file.header_crc32c);
        read_back::container(&bytes);
    }
    manifest
}

#[test]
fn everything_written_is_in_the_manifest_and_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new/dataset");
    let mut writer = with_graph(&folder, false);
    writer.table("x", bytes(4), |table| table.write_rows(&[1, 2, 3, 4])).unwrap();
    writer.edge_table("x", bytes(3), |table| table.write_rows(&[7, 8, 9])).unwrap();
    writer.split("train", &[3, 0]).unwrap();
    writer.split_chunks("test", [Ok(vec![1]), Ok(vec![]), Ok(vec![2, 1])]).unwrap();
    assert!(!folder.join("dataset.json").exists());
    let manifest = writer.publish().unwrap();

    assert_eq!(published(&folder), manifest);
    let expected = [
        "dataset.json",
        "edge-x.1.gd",
        "graph.1.gl",
        "split-test.1.gd",
        "split-train.1.gd",
        "x.1.gd",
    ];
    assert_eq!(names_in(&folder), expected);
    assert_eq!((manifest.node().count, manifest.edge().count), (4, 3));
    assert_eq!(read_back::table(&folder.join("x.1.gd")).1, [1, 2, 3, 4]);
    assert_eq!(read_back::table(&folder.join("edge-x.1.gd")).1, [7, 8, 9]);
    let test = read_back::table(&folder.join("split-test.1.gd")).1;
    assert_eq!(read_back::integers(&test), [1, 2, 1]);
    assert_eq!(manifest.splits["test"].count, 3);
    assert_eq!(read_back::graph(&folder.join("graph.1.gl")).layout.directions.len(), 2);
}

#[test]
fn undirected_datasets_count_stored_edges_and_source_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::begin(folder.path(), false).unwrap();
    let edges = MemoryEdges::new(&[0_i64, 1], &[1, 1], None).unwrap();
    let options = GraphOptions::new().directions(Directions::Undirected);
    writer.graph(&edges, &options, &Budget::new(1 << 20)).unwrap();
    writer.edge_table("w", bytes(2), |table| table.write_rows(&[1, 2])).unwrap();
    let manifest = writer.publish().unwrap();
    let edge = manifest.edge();
    assert_eq!((edge.count, edge.source_rows, edge.undirected), (4, 2, true));
}

#[test]
fn a_replaced_dataset_stays_valid_until_the_next_generation_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    with_graph(folder, false).publish().unwrap();
    let refused = DatasetWriter::begin(folder, false).err().unwrap();
    assert!(matches!(refused, Error::Disk(graphmill_disk::Error::Exists { .. })));

    let mut writer = with_graph(folder, true);
    writer.split("train", &[0]).unwrap();
    assert_eq!(published(folder).generation, 1);
    drop(writer);
    assert_eq!(names_in(folder), ["dataset.json", "graph.1.gl", "notes.txt"]);

    let manifest = with_graph(folder, true).publish().unwrap();
    assert_eq!(manifest.generation, 2);
    assert_eq!(names_in(folder), ["dataset.json", "graph.2.gl", "notes.txt"]);
    assert_eq!(published(folder), manifest);
}

#[test]
fn leftovers_of_a_crash_are_cleared_and_an_unreadable_manifest_is_only_replaced_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let journal = "graphmill draft 1\ngraph.1.gl\n.dataset.json.0123456789abcdef.partial\n";
    for name in ["graph.1.gl", ".dataset.json.0123456789abcdef.partial"] {
        std::fs::write(folder.join(name), "half of it").unwrap();
    }
    std::fs::write(folder.join(".dataset.json.partial"), journal).unwrap();
    with_graph(folder, false).publish().unwrap();
    published(folder);
    assert_eq!(names_in(folder), ["dataset.json", "graph.1.gl"]);

    std::fs::write(folder.join("dataset.json"), "{").unwrap();
    assert!(DatasetWriter::begin(folder, false).is_err());
    assert!(matches!(DatasetWriter::amend(folder), Err(Error::Format { .. })));
    assert_eq!(with_graph(folder, true).publish().unwrap().generation, 2);
    // What the unreadable manifest named is for its owner to remove.
    assert_eq!(names_in(folder), ["dataset.json", "graph.1.gl", "graph.2.gl"]);
}

#[test]
fn files_that_no_manifest_and_no_journal_names_are_never_touched() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let foreign = ["graph.1.gl", "thesis.3.gd", "x.18446744073709551615.gd"];
    let check = |more: &[&str]| {
        let mut expected = [&foreign, more].concat();
        expected.sort_unstable();
        assert_eq!(names_in(folder), expected);
        for name in foreign {
            assert_eq!(std::fs::read(folder.join(name)).unwrap(), b"years of work");
        }
    };
    foreign.iter().for_each(|name| std::fs::write(folder.join(name), "years of work").unwrap());
    drop(with_graph(folder, false));
    check(&[]);
    with_graph(folder, false).publish().unwrap();
    check(&["dataset.json", "graph.4.gl"]);
    with_graph(folder, true).publish().unwrap();
    check(&["dataset.json", "graph.5.gl"]);
    let mut writer = DatasetWriter::amend(folder).unwrap();
    writer.split("train", &[0]).unwrap();
    writer.publish().unwrap();
    check(&["dataset.json", "graph.5.gl", "split-train.6.gd"]);
}

#[cfg(unix)]
#[test]
fn a_manifest_that_is_no_small_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dataset.json");
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    for overwrite in [false, true] {
        let error = DatasetWriter::begin(folder.path(), overwrite).err().unwrap().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(DatasetWriter::begin(folder.path(), false).is_err());
    assert!(matches!(DatasetWriter::amend(folder.path()), Err(Error::Format { .. })));
    with_graph(folder.path(), true).publish().unwrap();
    published(folder.path());
}

#[test]
fn an_amended_dataset_keeps_its_files_and_gains_new_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(DatasetWriter::amend(folder).is_err());
    let mut writer = with_graph(folder, false);
    writer.table("x", bytes(4), |table| table.write_rows(&[1, 2, 3, 4])).unwrap();
    writer.publish().unwrap();

    let mut writer = DatasetWriter::amend(folder).unwrap();
    assert_eq!(writer.num_nodes(), Some(4));
    let text = writer.table("x", bytes(4), |_| Ok(())).unwrap_err().to_string();
    assert!(text.contains("already"), "{text}");
    let edges = MemoryEdges::new(&[0_i64], &[0], None).unwrap();
    assert!(writer.graph(&edges, &GraphOptions::new(), &Budget::unlimited()).is_err());
    writer.table("year", bytes(4), |table| table.write_rows(&[9; 4])).unwrap();
    writer.split("train", &[0]).unwrap();
    let manifest = writer.publish().unwrap();
    assert_eq!(manifest.generation, 2);
    let expected = ["dataset.json", "graph.1.gl", "split-train.2.gd", "x.1.gd", "year.2.gd"];
    assert_eq!(names_in(folder), expected);
    assert_eq!(published(folder), manifest);
}

#[test]
fn an_origin_lasts_until_a_part_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = with_graph(folder.path(), false);
    writer.table("x", bytes(4), |table| table.write_rows(&[1, 2, 3, 4])).unwrap();
    writer.split("train", &[3, 0]).unwrap();
    assert_eq!(writer.publish().unwrap().origin, None);
    let mut writer = DatasetWriter::amend(folder.path()).unwrap();
    writer.origin("1234").unwrap();
    writer.publish().unwrap();
    let mut writer = DatasetWriter::amend(folder.path()).unwrap();
    writer.split("test", &[1]).unwrap();
    writer.publish().unwrap();
    assert_eq!(published(folder.path()).origin.as_deref(), Some("1234"));
    for part in ["test", "x"] {
        let mut writer = DatasetWriter::amend(folder.path()).unwrap();
        writer.origin("1234").unwrap();
        if part == "x" { writer.remove_table(part) } else { writer.remove_split(part) }.unwrap();
        assert_eq!(writer.publish().unwrap().origin, None);
    }
}

#[test]
fn mistakes_are_refused_and_the_writer_can_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut writer = DatasetWriter::begin(folder, false).unwrap();
    let text = writer.table("x", bytes(4), |_| Ok(())).unwrap_err().to_string();
    assert!(text.contains("no graph yet"), "{text}");
    drop(writer);
    assert!(DatasetWriter::begin(folder, false).unwrap().publish().is_err());

    let mut writer = with_graph(folder, false);
    let mut table = |name: &str, rows: u64, given: &[u8]| {
        let outcome = writer.table(name, bytes(rows), |table| table.write_rows(given));
        outcome.unwrap_err().to_string()
    };
    assert!(table("x", 5, &[0; 5]).contains("found 5 rows, expected 4"));
    assert!(table("x", 4, &[0; 3]).contains("found 3 rows, expected 4"));
    for name in ["../x", "", "a b", "a.b", "split-x", "edge-x", "id-places"] {
        table(name, 4, &[0; 4]);
    }
    assert!(writer.edge_table("x", bytes(4), |_| Ok(())).is_err());
    let text = writer.split("train", &[0, 4]).unwrap_err().to_string();
    assert!(text.contains("position 1: found 4"), "{text}");
    assert!(writer.split("train", &[-1]).is_err());
    writer.split("train", &[0]).unwrap();
    assert!(writer.split("train", &[0]).is_err());
    writer.table("x", bytes(4), |table| table.write_rows(&[0; 4])).unwrap();
    writer.publish().unwrap();
    assert_eq!(names_in(folder), ["dataset.json", "graph.1.gl", "split-train.1.gd", "x.1.gd"]);
    published(folder);
}

/// Four nodes of which number i has the original id `ORIGINALS[i]`.
fn renumbered(folder: &Path) -> DatasetWriter {
    let mut writer = DatasetWriter::begin(folder, true).unwrap();
    let edges = MemoryEdges::new(&[0_i64, 1, 2], &[1, 2, 0], Some(4)).unwrap();
    let options = GraphOptions::new().original_ids(&ORIGINALS);
    writer.graph(&edges, &options, &Budget::new(1 << 20)).unwrap();
    writer
}

const ORIGINALS: [i64; 4] = [3, 0, 2, 1];

#[test]
fn ids_names_and_classes_are_in_the_manifest_and_survive_an_amendment() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut writer = renumbered(folder);
    writer.order("hot").unwrap();
    writer.id_places(&[1, 3, 2, 0]).unwrap();
    writer.id_names(&["", "ab", "b", "\u{e9}"]).unwrap();
    writer.table("y", bytes(4), |table| table.write_rows(&[0, 1, 1, 0])).unwrap();
    writer.classes("y", vec!["cat".to_owned(), "dog".to_owned()]).unwrap();
    let first = writer.publish().unwrap();
    assert_eq!(published(folder), first);
    assert_eq!(first.order, "hot");
    let ids = first.node().ids.as_ref().unwrap();
    let data = |name: &str, length: usize| {
        std::fs::read(folder.join(name)).unwrap()[4096..4096 + length].to_vec()
    };
    let places: Vec<u8> = [1_i32, 3, 2, 0].iter().flat_map(|place| place.to_le_bytes()).collect();
    assert_eq!(data(&ids.places.as_ref().unwrap().name, 16), places);
    let names = ids.names.as_ref().unwrap();
    assert_eq!(data(&names.text.name, 5), "abb\u{e9}".as_bytes());
    let ends: Vec<u8> = [0_i64, 2, 3, 5].iter().flat_map(|end| end.to_le_bytes()).collect();
    assert_eq!(data(&names.ends.name, 32), ends);

    let mut writer = DatasetWriter::amend(folder).unwrap();
    assert_eq!(writer.topology(), Some(&first.edge().graph));
    writer.split("train", &[0]).unwrap();
    let second = writer.publish().unwrap();
    assert_eq!(published(folder), second);
    assert_eq!((&second.order, second.node()), (&first.order, first.node()));
    let expected = [
        "dataset.json",
        "graph.1.gl",
        "id-ends.1.gd",
        "id-names.1.gd",
        "id-places.1.gd",
        "split-train.2.gd",
        "y.1.gd",
    ];
    assert_eq!(names_in(folder), expected);
}

#[test]
fn ids_that_ascend_need_no_places_but_are_known_to_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = renumbered(folder.path()).publish().unwrap();
    assert_eq!(manifest.node().ids, Some(manifest::NodeIds::default()));
    let plain = with_graph(&folder.path().join("plain"), false).publish().unwrap();
    assert_eq!(plain.node().ids, None);
}

#[test]
fn wrong_ids_names_and_classes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::begin(folder.path(), false).unwrap();
    assert!(writer.order("hot").is_err());
    assert!(writer.id_places(&[]).is_err());
    assert!(writer.id_names::<&str>(&[]).is_err());
    drop(writer);
    let mut writer = renumbered(folder.path());
    let text = |outcome: Result<(), Error>| outcome.unwrap_err().to_string();
    assert!(text(writer.id_places(&[0, 1, 2])).contains("3 rows"));
    assert!(text(writer.id_places(&[0, 1, 2, 4])).contains("position 3"));
    assert!(text(writer.id_names(&["a", "b", "c"])).contains("3 rows"));
    assert!(text(writer.id_names(&["a", "b", "b", "c"])).contains("position 2"));
    assert!(text(writer.id_names(&["b", "a", "c", "d"])).contains("position 1"));
    let long = "d".repeat((1 << 16) + 1);
    assert!(text(writer.id_names(&["a", "b", "c", &long])).contains("65537 bytes"));
    assert!(text(writer.classes("y", Vec::new())).contains("no table"));
    // More names than a manifest may hold are refused before anything is replaced.
    writer.table("y", bytes(4), |table| table.write_rows(&[0; 4])).unwrap();
    writer.classes("y", vec!["x".repeat(1 << 10); 17 << 10]).unwrap();
    assert!(text(writer.publish().map(drop)).contains("expected at most"));
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[test]
fn two_writers_of_one_folder_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let _first = with_graph(folder.path(), false);
    let second = DatasetWriter::begin(folder.path(), false).err().unwrap();
    assert!(matches!(second, Error::Disk(graphmill_disk::Error::Busy { .. })), "{second}");
}
