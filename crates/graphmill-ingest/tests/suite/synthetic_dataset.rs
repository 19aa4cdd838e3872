//! A generated dataset on disk is the generator, row for row.

use crate::read_back;
use graphmill_disk::Budget;
use graphmill_format::{Direction, ElementType};
use graphmill_ingest::generate::{EdgeSource, NodeData, Papers, Rmat, Split};
use graphmill_ingest::{Error, GeneratedOptions, write_generated};
use half::f16;

fn papers() -> Papers {
    Papers::builder(3000).edges(20_000).features(20).seed(3).build().unwrap()
}

#[test]
fn every_edge_row_label_and_split_is_that_of_the_generator() {
    let folder = tempfile::tempdir().unwrap();
    let graph = papers();
    let budget = Budget::new(256 << 10);
    for (generation, element) in [(1, ElementType::F32), (2, ElementType::F16)] {
        let options = GeneratedOptions::new().features(element).overwrite(true);
        let options = options.align_rows(element == ElementType::F16);
        let manifest =
            write_generated(folder.path(), &graph, Some(&graph), &options, &budget).unwrap();
        assert_eq!(manifest.generation, generation);
        let path = |name: &str| folder.path().join(format!("{name}.{generation}.gd"));

        let (shape, x) = read_back::table(&path("x"));
        assert_eq!((shape.rows(), shape.columns(), shape.element()), (3000, 20, element));
        let mut row = vec![0.0; 20];
        for (node, bytes) in x.chunks(shape.row_length() as usize).enumerate() {
            graph.features(node as u64, &mut row);
            let expected: Vec<u8> = match element {
                ElementType::F16 => {
                    row.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect()
                }
                _ => row.iter().flat_map(|value| value.to_le_bytes()).collect(),
            };
            assert_eq!(bytes, expected);
        }
        let labels = read_back::integers(&read_back::table(&path("y")).1);
        assert!((0..3000).all(|node| labels[node] == i64::from(graph.label(node as u64))));
        for (name, split) in
            [("train", Split::Train), ("valid", Split::Valid), ("test", Split::Test)]
        {
            let stored = read_back::table(&path(&format!("split-{name}"))).1;
            let expected: Vec<i64> =
                (0..3000).filter(|&node| graph.split(node as u64) == Some(split)).collect();
            assert_eq!(read_back::integers(&stored), expected);
            assert!(!expected.is_empty());
        }
        let stored = read_back::graph(&folder.path().join(format!("graph.{generation}.gl")));
        let (mut sources, mut destinations) = (vec![0; 20_000], vec![0; 20_000]);
        graph.fill(0, &mut sources, &mut destinations);
        let mut in_lists = vec![Vec::new(); 3000];
        for (&source, &destination) in sources.iter().zip(&destinations) {
            in_lists[destination as usize].push(source);
        }
        in_lists.iter_mut().for_each(|list| list.sort_unstable());
        let (direction, lists) = &stored.lists[1];
        assert_eq!(*direction, Direction::In);
        for (list, expected) in lists.iter().zip(&in_lists) {
            assert!(list.iter().map(|stored| stored.neighbour).eq(expected.iter().copied()));
        }
    }
    assert!(budget.peak() <= budget.total() && budget.used() == 0);
}

#[test]
fn a_graph_without_node_data_is_a_dataset_too() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Rmat::builder(8, 1000).build().unwrap();
    let source: &dyn EdgeSource = &graph;
    let budget = Budget::new(1 << 20);
    let manifest =
        write_generated(folder.path(), source, None, &GeneratedOptions::new(), &budget).unwrap();
    assert!(manifest.splits.is_empty() && manifest.node().tables.is_empty());
    assert_eq!(manifest.edge().count, 1000);
}

#[test]
fn cancelling_at_any_report_leaves_no_folder() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("dataset");
    let graph = papers();
    for stop in 0.. {
        let count = std::sync::atomic::AtomicU32::new(0);
        let watch = |progress: graphmill_ingest::Progress| {
            assert!(progress.done <= progress.total);
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) != stop
        };
        let options = GeneratedOptions::new().observer(&watch);
        let budget = Budget::new(1 << 20);
        match write_generated(&folder, &graph, Some(&graph), &options, &budget) {
            Ok(_) => {
                assert!(stop > 5, "{stop} reports");
                return;
            }
            Err(Error::Cancelled) => assert!(!folder.exists()),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn features_of_integers_are_refused_before_anything_is_written() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("dataset");
    let options = GeneratedOptions::new().features(ElementType::I8);
    let graph = papers();
    let outcome = write_generated(&folder, &graph, Some(&graph), &options, &Budget::new(1 << 20));
    assert!(outcome.is_err() && !folder.exists());
}
