//! Written topologies hold the lists that a slow oracle makes of the same edges.

use std::path::Path;

use crate::read_back::{self, Stored};
use graphmill_disk::Budget;
use graphmill_format::{Direction, ElementType, ListOrder};
use graphmill_ingest::generate::{EdgeSource, Rmat};
use graphmill_ingest::{
    Directions, EdgeStream, Error, GraphOptions, GraphReport, MemoryEdges, Result, write_graph,
};
use proptest::prelude::*;

/// Edges with everything they can carry.
#[derive(Clone, Debug)]
struct Edges {
    num_nodes: u64,
    sources: Vec<i64>,
    destinations: Vec<i64>,
    weights: Option<Vec<f32>>,
    times: Option<Vec<i64>>,
}

impl Edges {
    fn memory(&self) -> MemoryEdges<'_, i64> {
        MemoryEdges::new(&self.sources, &self.destinations, Some(self.num_nodes)).unwrap()
    }

    fn options(&self) -> GraphOptions<'_> {
        let mut options = GraphOptions::new();
        if let Some(weights) = &self.weights {
            options = options.weights(weights);
        }
        if let Some(times) = &self.times {
            options = options.times(times);
        }
        options
    }

    /// The lists of one direction, made edge by edge and sorted stably.
    fn lists(&self, direction: Direction, order: ListOrder, with_rows: bool) -> Vec<Vec<Stored>> {
        let mut lists = vec![Vec::new(); self.num_nodes as usize];
        for (row, (&source, &destination)) in
            self.sources.iter().zip(&self.destinations).enumerate()
        {
            let stored = |neighbour: i64| Stored {
                neighbour: neighbour as u64,
                row: with_rows.then_some(row as i64),
                weight: self.weights.as_ref().map(|weights| weights[row]),
                time: self.times.as_ref().map(|times| times[row]),
            };
            if direction != Direction::In {
                lists[source as usize].push(stored(destination));
            }
            if direction != Direction::Out {
                lists[destination as usize].push(stored(source));
            }
        }
        for list in &mut lists {
            match order {
                ListOrder::Id => list.sort_by_key(|stored| stored.neighbour),
                ListOrder::Time => list.sort_by_key(|stored| stored.time),
                ListOrder::File => {}
            }
        }
        lists
    }
}

fn edges() -> impl Strategy<Value = Edges> {
    (1_u64..60, 0_usize..400, any::<[bool; 2]>(), any::<bool>()).prop_flat_map(
        |(num_nodes, count, [weighted, timed], hub)| {
            let id = 0..num_nodes as i64;
            let ids = proptest::collection::vec(id, count);
            let weights = proptest::collection::vec(0.0_f32..10.0, count);
            let times = proptest::collection::vec(-3_i64..4, count);
            (ids.clone(), ids, weights, times).prop_map(
                move |(mut sources, destinations, weights, times)| {
                    if hub {
                        sources.iter_mut().step_by(2).for_each(|source| *source = 0);
                    }
                    let weights = weighted.then_some(weights);
                    let times = timed.then_some(times);
                    Edges { num_nodes, sources, destinations, weights, times }
                },
            )
        },
    )
}

fn write(path: &Path, edges: &Edges, options: &GraphOptions<'_>, budget: u64) -> GraphReport {
    let budget = Budget::new(budget);
    let report = write_graph(path, &edges.memory(), options, &budget, true).unwrap();
    assert_eq!(budget.used(), 0);
    assert!(budget.peak() <= budget.total());
    report
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn files_hold_the_lists_of_the_oracle_for_every_option_and_budget(
        edges in edges(),
        directions in 0..4_usize,
        order in 0..3_usize,
        wide: bool,
        edge_ids: bool,
        small in 0..3_usize,
    ) {
        let directions =
            [Directions::Out, Directions::In, Directions::OutAndIn, Directions::Undirected][directions];
        let order = match [ListOrder::Id, ListOrder::Time, ListOrder::File][order] {
            ListOrder::Time if edges.times.is_none() => ListOrder::Id,
            order => order,
        };
        let mut options = edges.options().directions(directions).order(order).edge_ids(edge_ids);
        if wide {
            options = options.neighbours(ElementType::I64);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gl");
        let roomy = write(&path, &edges, &options, 1 << 20);
        let first = std::fs::read(&path).unwrap();
        let graph = read_back::graph(&path);

        let has_rows = edge_ids || edges.weights.is_some() || edges.times.is_some();
        prop_assert_eq!(graph.layout.num_nodes, edges.num_nodes);
        prop_assert_eq!(graph.layout.order, order);
        prop_assert_eq!(graph.layout.undirected, directions == Directions::Undirected);
        prop_assert_eq!(graph.layout.num_edges, roomy.num_edges);
        prop_assert_eq!(roomy.source_rows, edges.sources.len() as u64);
        for (direction, lists) in &graph.lists {
            prop_assert_eq!(lists, &edges.lists(*direction, order, has_rows));
        }
        let element = graph.layout.directions[0].neighbours.element;
        prop_assert_eq!(element, if wide { ElementType::I64 } else { ElementType::I32 });

        // A budget that holds little more than the largest lists gives the same bytes.
        let lists = graph.lists.iter().flat_map(|(_, lists)| lists);
        let longest = lists.map(Vec::len).max().unwrap_or(0) as u64;
        let least = 3 * (longest * 32 + 8 * edges.num_nodes) + 512;
        let tight = write(&path, &edges, &options, least << small);
        prop_assert!(std::fs::read(&path).unwrap() == first);
        prop_assert!(tight.passes >= roomy.passes);
    }
}

#[test]
fn a_graph_far_larger_than_its_budget_takes_many_passes_and_stays_within() {
    let folder = tempfile::tempdir().unwrap();
    let graph = Rmat::builder(14, 300_000).build().unwrap();
    let (roomy, tight) = (folder.path().join("roomy.gl"), folder.path().join("tight.gl"));
    for order in [ListOrder::Id, ListOrder::File] {
        let options = GraphOptions::new().order(order).edge_ids(true);
        let budget = Budget::new(64 << 20);
        let report = write_graph(&roomy, &graph, &options, &budget, true).unwrap();
        assert_eq!(report.passes, 2);
        // Two directions of 16 bytes an edge are 9.6 MB.
        let budget = Budget::new(1 << 20);
        let report = write_graph(&tight, &graph, &options, &budget, true).unwrap();
        assert!(report.passes > 10, "{}", report.passes);
        assert!(budget.peak() <= budget.total() && budget.used() == 0);
        assert!(std::fs::read(&roomy).unwrap() == std::fs::read(&tight).unwrap());
    }
}

#[test]
fn a_budget_below_one_bucket_is_refused_with_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let (sources, destinations) = (vec![0_i64; 10_000], vec![1_i64; 10_000]);
    let edges = MemoryEdges::new(&sources, &destinations, None).unwrap();
    let error = write_graph(&path, &edges, &GraphOptions::new(), &Budget::new(30_000), false);
    let error = error.unwrap_err();
    assert!(matches!(error, Error::Disk(graphmill_disk::Error::Budget { .. })), "{error}");
    assert!(error.to_string().contains("the neighbour lists of nodes"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn graphs_without_edges_or_without_nodes_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    for directions in [Directions::OutAndIn, Directions::Undirected] {
        for num_nodes in [0, 1, 70_000] {
            let edges = MemoryEdges::<i32>::new(&[], &[], Some(num_nodes)).unwrap();
            let options = GraphOptions::new().directions(directions).edge_ids(true);
            write_graph(&path, &edges, &options, &Budget::new(100_000), true).unwrap();
            let graph = read_back::graph(&path);
            assert_eq!((graph.layout.num_nodes, graph.layout.num_edges), (num_nodes, 0));
            assert!(graph.lists.iter().all(|(_, lists)| lists.iter().all(Vec::is_empty)));
        }
    }
}

#[test]
fn more_nodes_than_the_ids_need_and_original_ids_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let edges = MemoryEdges::new(&[0_i32, 1], &[1, 0], None).unwrap();
    let original: Vec<i64> = (0..5).map(|node| 100 - node).collect();
    let options = GraphOptions::new().num_nodes(5).original_ids(&original);
    write_graph(&path, &edges, &options, &Budget::new(1 << 16), false).unwrap();
    let graph = read_back::graph(&path);
    assert_eq!(graph.layout.num_nodes, 5);
    assert_eq!(graph.original_ids, Some(original));
}

#[test]
fn wrong_values_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let edges = MemoryEdges::new(&[0_i64, 1], &[1, 0], None).unwrap();
    let text = |options: GraphOptions<'_>| {
        let budget = Budget::new(1 << 16);
        write_graph(&path, &edges, &options, &budget, false).unwrap_err().to_string()
    };
    for bad in [f32::NAN, -0.5, f32::INFINITY] {
        let text = text(GraphOptions::new().weights(&[1.0, bad]));
        assert!(text.contains("weight of edge 1") && text.contains(&bad.to_string()), "{text}");
    }
    let short = text(GraphOptions::new().weights(&[1.0]));
    assert!(short.contains("weights: found 1 values, expected 2"), "{short}");
    assert!(text(GraphOptions::new().times(&[1, 2, 3])).contains("found 3 values"));
    assert!(text(GraphOptions::new().order(ListOrder::Time)).contains("needs the times"));
    let narrow = text(GraphOptions::new().num_nodes(1 << 40).neighbours(ElementType::I32));
    assert!(narrow.contains("int32"), "{narrow}");
    assert!(text(GraphOptions::new().original_ids(&[1])).contains("expected 2"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Breaks its own promises.
struct Liar;

impl EdgeStream for Liar {
    fn node_count(&self) -> u64 {
        3
    }
    fn edge_count(&self) -> u64 {
        1000
    }
    fn read(&self, first: u64, sources: &mut [u64], destinations: &mut [u64]) -> Result<()> {
        sources.fill(0);
        destinations.fill(if first == 0 { 1 } else { u64::MAX });
        Ok(())
    }
}

/// Gives other edges every time.
struct Fickle(std::sync::atomic::AtomicU64);

impl EdgeSource for Fickle {
    fn num_nodes(&self) -> u64 {
        100
    }
    fn num_edges(&self) -> u64 {
        1000
    }
    fn fill(&self, _: u64, sources: &mut [u64], destinations: &mut [u64]) {
        let node = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 100;
        sources.fill(node);
        destinations.fill(99 - node);
    }
}

#[test]
fn a_source_that_lies_or_changes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let write = |source: &dyn EdgeSource| {
        write_graph(&path, source, &GraphOptions::new(), &Budget::new(1 << 20), false)
    };
    let text = write(&Fickle(0.into())).unwrap_err().to_string();
    assert!(text.contains("the same edges in every pass"), "{text}");
    let budget = Budget::new(4096);
    let error = write_graph(&path, &Liar, &GraphOptions::new(), &budget, false).unwrap_err();
    assert!(error.to_string().contains("found -1, expected an id from 0 to 2"), "{error}");
}

#[test]
fn an_observer_sees_every_edge_and_can_stop_the_work_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let graph = Rmat::builder(10, 50_000).build().unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    let watch = |progress: graphmill_ingest::Progress| {
        seen.lock().unwrap().push(progress);
        true
    };
    let options = GraphOptions::new().observer(&watch);
    write_graph(&path, &graph, &options, &Budget::new(1 << 20), false).unwrap();
    let last = *seen.lock().unwrap().last().unwrap();
    assert_eq!(last.done, last.total);
    let steps = seen.lock().unwrap().len();
    for stop in 0..steps {
        let target = folder.path().join("y.gl");
        let count = std::sync::atomic::AtomicUsize::new(0);
        let watch = |_| count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) != stop;
        let options = GraphOptions::new().observer(&watch);
        let outcome = write_graph(&target, &graph, &options, &Budget::new(1 << 20), false);
        assert!(matches!(outcome, Err(Error::Cancelled)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn an_existing_file_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let edges = MemoryEdges::new(&[0_i64], &[1], None).unwrap();
    let write = |overwrite| {
        write_graph(&path, &edges, &GraphOptions::new(), &Budget::new(1 << 16), overwrite)
    };
    write(false).unwrap();
    assert!(matches!(write(false), Err(Error::Disk(graphmill_disk::Error::Exists { .. }))));
    write(true).unwrap();
}
