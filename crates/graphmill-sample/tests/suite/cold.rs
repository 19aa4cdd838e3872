//! Where lists come from (memory, a disk, a copy) and whether they are announced changes no result.

use graphmill_disk::{Budget, ReadAt, drop_page_cache, machine_memory};
use graphmill_format::{Direction, ListOrder};
use graphmill_ingest::{GraphOptions, MemoryEdges, write_graph};
use graphmill_sample::random::{Key, Purpose};
use graphmill_sample::{
    FanoutOptions, Method, NegativeOptions, Scratch, Seeds, Subgraph, WalkOptions, WholeLists,
    negative_edges, neighbour_matrix, sample, walk,
};
use graphmill_store::{Announce, Graph, Placement};
use std::path::{Path, PathBuf};

const NODES: u64 = 30_000;
/// Enough that one direction is worth a copy.
const EDGES: usize = 300_000;

/// A graph with everything, some megabytes of it, and hubs; written out, so that pages can be dropped.
fn stored(folder: &Path, order: ListOrder) -> PathBuf {
    let mut stream = Key::new(1, Purpose::Shuffle).stream();
    let mut nodes = || -> Vec<i64> {
        (0..EDGES).map(|_| (stream.below(NODES) * stream.below(NODES) / NODES) as i64).collect()
    };
    let (sources, destinations) = (nodes(), nodes());
    let weights: Vec<f32> = (0..EDGES).map(|edge| (edge % 7) as f32).collect();
    let times: Vec<i64> = (0..EDGES as i64).map(|edge| edge * 7919 % 1000).collect();
    let edges = MemoryEdges::new(&sources, &destinations, Some(NODES)).unwrap();
    let options = GraphOptions::new().edge_ids(true).order(order).weights(&weights).times(&times);
    let path = folder.join(format!("{}.gl", order.name()));
    write_graph(&path, &edges, &options, &Budget::new(1 << 30), false).unwrap();
    path
}

/// The same file in memory, on the disk in all ways, and copied.
fn opened(path: &Path) -> Vec<(&'static str, Graph)> {
    let open = || Graph::open(path).unwrap();
    let announced = |when| open().announced(when);
    vec![
        ("never", announced(Announce::Never)),
        ("always", announced(Announce::Always)),
        ("auto", announced(Announce::Auto)),
        ("ram", open().placed(Placement::Ram, &Budget::new(1 << 30)).unwrap()),
    ]
}

/// Holds that something is the same however the graph is read; it starts with as little in memory as can be had.
fn same_everywhere<V: PartialEq>(path: &Path, made: impl Fn(&Graph) -> V) {
    let mut expected = None;
    for (how, graph) in opened(path) {
        let file = graph.mapped().file();
        drop_page_cache(file, 0..graph.mapped().len()).unwrap();
        for round in 0..2 {
            let found = made(&graph);
            assert!(*expected.get_or_insert(made(&graph)) == found, "{how}, round {round}");
        }
    }
}

#[test]
fn fan_outs_are_the_same_bytes_cold_and_warm() {
    let folder = tempfile::tempdir().unwrap();
    let path = stored(folder.path(), ListOrder::Id);
    let seeds: Vec<i64> = (0..3000).map(|seed| seed * 7 % NODES as i64).collect();
    let times: Vec<i64> = seeds.iter().map(|seed| seed % 1000).collect();
    let options = FanoutOptions::new([5, 4, 3]).seed(7);
    let ways = [
        options.clone(),
        options.clone().replace(true),
        options.clone().weighted(true),
        options.clone().disjoint(true),
        options.clone().method(Method::Labor { layer_dependency: false }),
        options.clone().subgraph(Subgraph::Induced),
        FanoutOptions::new([-1, 2]),
    ];
    for options in ways {
        for start in [Seeds::new(&seeds), Seeds::new(&seeds[..300]).times(&times[..300])] {
            for threads in [1, 2] {
                let options = options.clone().threads(threads);
                same_everywhere(&path, |graph| {
                    let lists = graph.lists(Direction::In).unwrap();
                    sample(&lists, start, &options, Direction::In, &mut Scratch::new()).unwrap()
                });
            }
        }
    }
}

#[test]
fn walks_and_rows_are_the_same_bytes_cold_and_warm() {
    let folder = tempfile::tempdir().unwrap();
    let starts: Vec<i64> = (0..9000).map(|start| start * 11 % NODES as i64).collect();
    let budget = Budget::unlimited();
    for order in [ListOrder::Id, ListOrder::File] {
        let path = stored(folder.path(), order);
        let options = WalkOptions::new(6).seed(5);
        let ways = [
            options.clone(),
            options.clone().weighted(Some(false)).restart(0.2),
            options.clone().node2vec(0.5, 2.0),
            options.clone().node2vec(0.01, 1.0).weighted(Some(false)).stay(true),
        ];
        for options in ways {
            same_everywhere(&path, |graph| {
                let mut walks = vec![0; starts.len() * 7];
                let lists = graph.lists(Direction::Out).unwrap();
                walk(&lists, &starts, &options, &budget, &mut walks).unwrap();
                walks
            });
        }
        for options in [NegativeOptions::new(), NegativeOptions::new().weighted(true)] {
            same_everywhere(&path, |graph| {
                let (mut sources, mut destinations) = (vec![0; 9000], vec![0; 9000]);
                let lists = graph.lists(Direction::Out).unwrap();
                let (follow, pairs) = (Direction::Out, (&mut sources, &mut destinations));
                negative_edges(&lists, follow, &options, pairs.0, pairs.1).unwrap();
                (sources, destinations)
            });
        }
        same_everywhere(&path, |graph| {
            let lists = graph.lists(Direction::In).unwrap();
            let found = WholeLists::of(&lists, &starts).unwrap();
            let mut ids = vec![0; found.num_ids()];
            found.read(&lists, &mut ids).unwrap();
            (found.into_offsets(), ids)
        });
        for count in [1, 10, 300] {
            same_everywhere(&path, |graph| {
                let mut rows = vec![0; 3000 * count];
                let lists = graph.lists(Direction::Out).unwrap();
                neighbour_matrix(&lists, &starts[..3000], count, -1, 3, &budget, &mut rows)
                    .unwrap();
                rows
            });
        }
    }
}

#[test]
fn work_on_a_cold_graph_stays_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = stored(folder.path(), ListOrder::Id);
    let graph = Graph::open(&path).unwrap().announced(Announce::Always);
    let lists = graph.lists(Direction::In).unwrap();
    let seeds: Vec<i64> = (0..3000).collect();
    let options = FanoutOptions::new([10, 10]);
    for (bytes, fits) in [(64 << 20, true), (1 << 16, false)] {
        let budget = Budget::new(bytes);
        let mut scratch = Scratch::within(&budget).unwrap();
        let mut memory = budget.reserve(0, "a test").unwrap();
        let made = graphmill_sample::sample_within(
            &lists,
            &seeds,
            &options,
            Direction::In,
            &mut scratch,
            &mut memory,
        );
        assert_eq!(made.is_ok(), fits);
        assert_eq!(budget.used(), scratch.bytes() + memory.bytes());
    }
}

#[test]
fn a_copy_is_paid_for_and_refused_where_it_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = stored(folder.path(), ListOrder::Id);
    let graph = Graph::open(&path).unwrap();
    assert_eq!((graph.placement(), graph.copied_bytes()), (Placement::Mapped, 0));
    let budget = Budget::new(1 << 30);
    let copied = graph.clone().placed(Placement::Ram, &budget).unwrap();
    assert_eq!(copied.placement(), Placement::Ram);
    assert!(copied.copied_bytes() > 2 * 28 * EDGES as u64);
    assert_eq!(budget.used(), copied.copied_bytes());
    let again = copied.clone().placed(Placement::Ram, &budget).unwrap();
    assert_eq!(budget.used(), again.copied_bytes());
    drop((again, copied));
    assert_eq!(budget.used(), 0);
    let small = Budget::new(1 << 20);
    assert!(graph.placed(Placement::Ram, &small).is_err());
    assert_eq!(small.used(), 0);
}

#[test]
fn a_direction_that_is_read_much_is_copied_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = stored(folder.path(), ListOrder::Id);
    let seeds: Vec<i64> = (0..NODES as i64).collect();
    let read = |graph: &Graph, share: u64| {
        let lists = graph.lists(Direction::In).unwrap();
        let seeds = &seeds[..(NODES / share) as usize];
        let options = FanoutOptions::new([-1]);
        sample(&lists, seeds, &options, Direction::In, &mut Scratch::new()).unwrap()
    };
    let expected = read(&Graph::open(&path).unwrap(), 1);
    let budget = Budget::new(1 << 30);
    let graph = Graph::open(&path).unwrap().placed(Placement::Auto, &budget).unwrap();
    assert_eq!(graph.asked_placement(), Placement::Auto);
    read(&graph, 1000);
    read(&graph, 1000);
    assert_eq!((graph.placement(), budget.used()), (Placement::Mapped, 0));
    assert_eq!(read(&graph, 1), expected);
    assert_eq!(read(&graph, 1), expected);
    assert_eq!(graph.placement(), Placement::Ram);
    let one_direction = 8 * (NODES + 1) + (4 + 8 + 4 + 8 + 8) * EDGES as u64;
    assert_eq!((graph.copied_bytes(), budget.used()), (one_direction, one_direction));

    let mapped = Graph::open(&path).unwrap().placed(Placement::Mapped, &budget).unwrap();
    let small = Budget::new(4 * one_direction - 4);
    let small = Graph::open(&path).unwrap().placed(Placement::Auto, &small).unwrap();
    for graph in [mapped, small] {
        for _ in 0..3 {
            assert_eq!(read(&graph, 1), expected);
        }
        assert_eq!((graph.placement(), graph.copied_bytes()), (Placement::Mapped, 0));
    }
}

#[test]
fn a_direction_that_the_page_cache_cannot_keep_is_copied_before_rows_take_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = stored(folder.path(), ListOrder::Id);
    let copied = |asked: Placement, memory: u64| {
        let budget = Budget::new(memory);
        let graph = Graph::open(&path).unwrap().placed(asked, &budget).unwrap();
        graph.settle(Direction::In).unwrap();
        assert_eq!(graph.copied_bytes(), budget.used());
        graph.copied_bytes()
    };
    let one_direction = 8 * (NODES + 1) + (4 + 8 + 4 + 8 + 8) * EDGES as u64;
    let machine = machine_memory();
    // A budget that leaves the page cache less than the lists take, and one that leaves it enough.
    assert_eq!(copied(Placement::Auto, machine - one_direction + 1), one_direction);
    assert_eq!(copied(Placement::Auto, machine - one_direction), 0);
    assert_eq!(copied(Placement::Auto, machine), one_direction);
    assert_eq!(copied(Placement::Mapped, machine), 0);
    // One that promises more than there is says nothing about the page cache.
    assert_eq!(copied(Placement::Auto, machine + 1), 0);
}
