//! Packed files hold what plain files hold, whatever is stored beside the lists, and nothing else is left behind.

use crate::read_back;
use graphmill_disk::{Budget, Error as DiskError};
use graphmill_format::{Encoding, ListOrder};
use graphmill_ingest::build::{BuildOptions, BuildSources, EdgeSource, build};
use graphmill_ingest::generate::Rmat;
use graphmill_ingest::{
    ConvertOptions, Directions, EdgeSortOptions, Error, GraphOptions, MemoryEdges, convert,
    write_graph,
};
use proptest::prelude::*;
use std::path::Path;

fn budget() -> Budget {
    Budget::new(8 << 20)
}

/// Names in a folder, to see what is left.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn packed_files_hold_the_same_lists_and_become_the_same_plain_files(
        pairs in proptest::collection::vec((0_i64..300, 0_i64..300), 0..3000),
        directions in 0_usize..4,
        order in 0_usize..3,
        weighted: bool,
        timed: bool,
        renumbered: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (sources, destinations): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
        let weights: Vec<f32> = (0..pairs.len()).map(|row| row as f32 / 4.0).collect();
        let times: Vec<i64> = (0..pairs.len()).map(|row| row as i64 % 5 - 2).collect();
        let original: Vec<i64> = (0..300).map(|node| node * 3).collect();
        let directions =
            [Directions::Out, Directions::In, Directions::OutAndIn, Directions::Undirected][directions];
        let order = [ListOrder::Id, ListOrder::File, ListOrder::Time][order];
        let mut options = GraphOptions::new().directions(directions).order(order);
        if weighted {
            options = options.weights(&weights);
        }
        if timed || order == ListOrder::Time {
            options = options.times(&times);
        }
        if renumbered {
            options = options.original_ids(&original);
        }
        let edges = MemoryEdges::new(&sources, &destinations, Some(300)).unwrap();
        let path = |name: &str| folder.path().join(name);
        write_graph(&path("plain.gl"), &edges, &options, &budget(), false).unwrap();
        let packed = options.encoding(Encoding::Packed);
        let report = write_graph(&path("packed.gl"), &edges, &packed, &budget(), false).unwrap();
        prop_assert_eq!(report.length, std::fs::metadata(path("packed.gl")).unwrap().len());
        let (plain, packed) = (read_back::graph(&path("plain.gl")), read_back::graph(&path("packed.gl")));
        prop_assert!(packed.layout.is_packed() && !plain.layout.is_packed());
        prop_assert_eq!(&plain.lists, &packed.lists);
        prop_assert_eq!(plain.original_ids, packed.original_ids);

        // A conversion rebuilds lists, so it is held against the same conversion of the plain file; it keeps what it is
        // not told to change.
        let convert_to = |from: &str, to: &str, encoding| {
            let options = ConvertOptions::new().budget(budget()).encoding(encoding);
            convert(&path(from), &path(to), &options).unwrap();
            std::fs::read(path(to)).unwrap()
        };
        let same = convert_to("plain.gl", "same.gl", Encoding::I32);
        prop_assert!(convert_to("packed.gl", "back.gl", Encoding::I32) == same);
        let again = convert_to("plain.gl", "again.gl", Encoding::Packed);
        prop_assert!(convert_to("packed.gl", "kept.gl", Encoding::Auto) == again);
        prop_assert_eq!(names(folder.path()).len(), 6);
    }
}

#[test]
fn many_pieces_on_many_threads_give_the_bytes_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let edges = Rmat::builder(15, 1 << 18).seed(5).build().unwrap();
    let options = GraphOptions::new().encoding(Encoding::Packed);
    let path = |name: &str| folder.path().join(name);
    write_graph(&path("large.gl"), &edges, &options, &Budget::new(256 << 20), false).unwrap();
    // So little memory that one thread has to do.
    write_graph(&path("small.gl"), &edges, &options, &Budget::new(3 << 20), false).unwrap();
    assert!(std::fs::read(path("large.gl")).unwrap() == std::fs::read(path("small.gl")).unwrap());
    let graph = read_back::graph(&path("large.gl"));
    assert_eq!(graph.layout.num_edges, 1 << 18);
}

#[test]
fn a_dataset_is_built_packed_and_keeps_no_plain_file() {
    let folder = tempfile::tempdir().unwrap();
    let edges = folder.path().join("edges.csv");
    let lines: String = (0..5000).map(|row| format!("{},{}\n", row % 97, row * row % 89)).collect();
    std::fs::write(&edges, lines).unwrap();
    let built = |name: &str, encoding: Encoding| {
        let target = folder.path().join(name);
        let topology = EdgeSortOptions::new().encoding(encoding);
        let options = BuildOptions::new().topology(topology).budget(Budget::new(64 << 20));
        let sources = BuildSources::new(EdgeSource::Files(vec![edges.clone()]));
        let report = build(&target, &sources, &options).unwrap();
        assert_eq!(names(&target), ["dataset.json", "graph.1.gl"]);
        let file = target.join("graph.1.gl");
        let length = std::fs::metadata(&file).unwrap().len();
        assert_eq!(
            (report.topology.graph.length, report.manifest.edge().graph.bytes),
            (length, length)
        );
        read_back::graph(&file)
    };
    let (plain, packed) = (built("plain", Encoding::I32), built("packed", Encoding::Packed));
    assert!(packed.layout.is_packed() && plain.lists == packed.lists);
    // A small graph stays plain by itself, so that its arrays can be viewed.
    assert!(!built("auto", Encoding::Auto).layout.is_packed());
}

#[test]
fn packing_asks_the_budget_first() {
    let folder = tempfile::tempdir().unwrap();
    let edges = Rmat::builder(20, 1000).seed(5).build().unwrap();
    let options = GraphOptions::new().encoding(Encoding::Packed);
    let path = folder.path().join("g.gl");
    let refused = write_graph(&path, &edges, &options, &Budget::new(8 << 10), false);
    assert!(matches!(refused, Err(Error::Disk(DiskError::Budget { .. }))), "{refused:?}");
    assert_eq!(names(folder.path()), Vec::<String>::new());
}
