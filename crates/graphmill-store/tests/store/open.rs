//! What an opened store says, and what it refuses.

use crate::sample_files::{graph_with, small_graph, table};
use graphmill_format::{Direction, ListOrder};
use graphmill_ingest::{ConvertOptions, Directions, TargetFormat, convert};
use graphmill_store::{Error, Graph, Origin, Table};
use std::fs;
use std::path::Path;

fn lists(graph: &Graph, direction: Direction) -> Vec<Vec<i64>> {
    let lists = graph.lists(direction).unwrap();
    let list = |node| lists.range(node).unwrap().map(|at| lists.neighbours().get(at)).collect();
    (0..graph.num_nodes()).map(list).collect()
}

#[test]
fn lists_are_those_of_the_edges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    small_graph(&path);
    let graph = Graph::open(&path).unwrap();
    assert_eq!((graph.num_nodes(), graph.num_edges()), (5, 6));
    assert!(graph.has_weights() && graph.has_edge_ids());
    let expected: [&[i64]; 5] = [&[1, 2], &[2], &[0, 0], &[], &[4]];
    assert_eq!(lists(&graph, Direction::Out), expected);
    let expected: [&[i64]; 5] = [&[2, 2], &[0], &[0, 1], &[], &[4]];
    assert_eq!(lists(&graph, Direction::In), expected);
    let out = graph.lists(Direction::Out).unwrap();
    assert_eq!(out.weights().unwrap(), [1.0, 0.5, 2.0, 0.0, 3.0, 4.0]);
    assert_eq!(out.edge_ids().unwrap(), [1, 0, 2, 3, 4, 5]);
    assert_eq!(out.degree(2).unwrap(), 2);
    assert!(matches!(out.degree(5), Err(Error::OutOfRange { index: 5, count: 5, .. })));
}

#[test]
fn an_undirected_graph_serves_both_directions_from_one_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    graph_with(&path, Directions::Undirected, ListOrder::Id);
    let graph = Graph::open(&path).unwrap();
    assert_eq!(graph.num_edges(), 12);
    assert_eq!(lists(&graph, Direction::In), lists(&graph, Direction::Out));
    assert_eq!(lists(&graph, Direction::In)[4], [4, 4]);
}

#[test]
fn a_direction_that_is_not_stored_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gl");
    graph_with(&path, Directions::Out, ListOrder::File);
    let graph = Graph::open(&path).unwrap();
    assert_eq!(lists(&graph, Direction::Out)[0], [2, 1]);
    let text = graph.lists(Direction::In).unwrap_err().to_string();
    assert!(text.contains("stores out-edges only") && text.contains("direction both"), "{text}");
}

#[test]
fn rows_are_those_that_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    table(&path, 7, 3, 0.0);
    let x = Table::open(&path).unwrap();
    let expected: Vec<u8> = [15.0_f32, 16.0, 17.0].into_iter().flat_map(f32::to_le_bytes).collect();
    assert_eq!(x.row(5).unwrap(), expected);
    assert!(matches!(x.row(7), Err(Error::OutOfRange { index: 7, count: 7, .. })));
}

#[test]
fn graphzero_files_open_with_equal_content() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours.gl"), folder.path().join("theirs.gl"));
    small_graph(&ours);
    convert(&ours, &theirs, &ConvertOptions::new().to(TargetFormat::GraphZero)).unwrap();
    let (a, b) = (Graph::open(&ours).unwrap(), Graph::open(&theirs).unwrap());
    assert_eq!((a.origin(), b.origin()), (Origin::Graphmill, Origin::GraphZero));
    assert_eq!(lists(&a, Direction::Out), lists(&b, Direction::Out));
    let weights = |graph: &Graph| graph.lists(Direction::Out).unwrap().weights().unwrap().to_vec();
    assert_eq!(weights(&a), weights(&b));
    assert!(matches!(b.lists(Direction::In), Err(Error::DirectionNotStored { .. })));
}

#[test]
fn a_truncated_file_is_an_error_at_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let (gl, gd) = (folder.path().join("g.gl"), folder.path().join("x.gd"));
    for round in 0..20 {
        small_graph(&gl);
        table(&gd, 2000, 3, 0.0);
        let (graph, x) = (Graph::open(&gl).unwrap(), Table::open(&gd).unwrap());
        for path in [&gl, &gd] {
            fs::OpenOptions::new().write(true).open(path).unwrap().set_len(100 * round).unwrap();
        }
        assert!(matches!(graph.lists(Direction::Out), Err(Error::Disk(_))));
        assert!(matches!(x.row(1999), Err(Error::Disk(_))));
        for path in [&gl, &gd] {
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn every_truncation_and_growth_is_refused_when_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gd");
    table(&path, 2, 3, 0.0);
    let bytes = fs::read(&path).unwrap();
    let other = folder.path().join("y.gd");
    for length in (0..bytes.len()).step_by(61).chain([4095, 4096, 4097, bytes.len() - 1]) {
        fs::write(&other, &bytes[..length]).unwrap();
        let text = Table::open(&other).unwrap_err().to_string();
        assert!(text.contains("y.gd"), "{text}");
    }
    for more in (1..4097).step_by(97).chain([4096]) {
        fs::write(&other, [&bytes[..], &vec![0; more]].concat()).unwrap();
        assert!(Table::open(&other).is_err(), "{more} bytes more");
    }
}

#[test]
fn what_is_not_a_store_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "src,dst\n0,1\n").unwrap();
    let text = Graph::open(&path).unwrap_err().to_string();
    assert!(text.contains("notes.txt") && text.contains("src,dst"), "{text}");
    let text = Graph::open(folder.path()).unwrap_err().to_string();
    assert!(text.contains("not a regular file"), "{text}");
    let text = Table::open(Path::new("/nowhere/x.gd")).unwrap_err().to_string();
    assert!(text.contains("/nowhere/x.gd"), "{text}");
    let gl = folder.path().join("g.gl");
    small_graph(&gl);
    let text = Table::open(&gl).unwrap_err().to_string();
    assert!(text.contains("a graphmill table (.gd)"), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn opening_and_failing_to_open_leak_nothing() {
    let count = |what: &str| fs::read_dir(what).map(Iterator::count).unwrap_or(0);
    let maps = || {
        fs::read_to_string("/proc/self/maps").unwrap().lines().filter(|l| l.contains(".g")).count()
    };
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (folder.path().join("leak.gl"), folder.path().join("leak.gd"));
    small_graph(&good);
    fs::write(&bad, vec![7; 9000]).unwrap();
    let before = (count("/proc/self/fd"), maps());
    for _ in 0..100 {
        drop(Graph::open(&good).unwrap());
        assert!(Table::open(&bad).is_err());
        assert!(Table::open(&good).is_err());
    }
    // Other tests of this process open files too; what leaked would be a hundred.
    let after = (count("/proc/self/fd"), maps());
    assert!(after.0 < before.0 + 50 && after.1 < before.1 + 50, "{before:?} {after:?}");
}
