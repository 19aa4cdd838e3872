//! Sorted edges are the lists that a slow oracle makes of them, for every option and any memory.

use std::path::Path;
use std::sync::Arc;

use crate::read_back::{self, Stored};
use graphmill_disk::{Budget, FileDraft, RealFileSystem};
use graphmill_format::{Direction, ElementType, ListOrder};
use graphmill_ingest::{
    Directions, EdgeChunk, EdgeSortOptions, EdgeSortReport, EdgeSorter, Error, ListsReport,
};
use proptest::prelude::*;

/// Edges with everything they can carry, and what shall be made of them.
#[derive(Clone, Debug)]
struct Case {
    sources: Vec<u64>,
    destinations: Vec<u64>,
    weights: Vec<f32>,
    times: Vec<i64>,
    directions: Directions,
    order: ListOrder,
    edge_ids: bool,
    weighted: bool,
    timed: bool,
    dedup: bool,
    drop_self_loops: bool,
    add_self_loops: bool,
    num_nodes: u64,
    wide: bool,
}

impl Case {
    fn options(&self) -> EdgeSortOptions<'static> {
        let options = EdgeSortOptions::new()
            .directions(self.directions)
            .order(self.order)
            .edge_ids(self.edge_ids)
            .weights(self.weighted)
            .times(self.timed)
            .dedup(self.dedup)
            .drop_self_loops(self.drop_self_loops)
            .add_self_loops(self.add_self_loops)
            .num_nodes(self.num_nodes);
        if self.wide { options.neighbours(ElementType::I64) } else { options }
    }

    fn nodes(&self) -> u64 {
        let ids = self.sources.iter().chain(&self.destinations);
        ids.map(|id| id + 1).max().unwrap_or(0).max(self.num_nodes)
    }

    /// The lists of one direction, and how many edges were left out as duplicates and self loops.
    fn lists(&self, direction: Direction) -> (Vec<Vec<Stored>>, u64, u64) {
        let has_rows = self.edge_ids || self.weighted || self.timed;
        let mut edges = Vec::new();
        let mut loops = 0;
        for row in 0..self.sources.len() {
            let (source, to) = (self.sources[row], self.destinations[row]);
            if self.drop_self_loops && source == to {
                loops += 1;
                continue;
            }
            let (weight, time) = (self.weights[row], self.times[row]);
            match direction {
                Direction::Out => edges.push((source, to, row, weight, time)),
                Direction::In => edges.push((to, source, row, weight, time)),
                Direction::Both => {
                    edges.push((source, to, row, weight, time));
                    edges.push((to, source, row, weight, time));
                }
            }
        }
        if self.add_self_loops {
            for node in 0..self.nodes() {
                edges.push((node, node, self.sources.len() + node as usize, 1.0, 0));
            }
        }
        let all = edges.len();
        if self.dedup {
            let mut seen = std::collections::HashSet::new();
            edges.retain(|&(major, minor, ..)| seen.insert((major, minor)));
        }
        let duplicates = (all - edges.len()) as u64;
        let mut lists = vec![Vec::new(); self.nodes() as usize];
        for (major, minor, row, weight, time) in edges {
            lists[major as usize].push(Stored {
                neighbour: minor,
                row: has_rows.then_some(row as i64),
                weight: self.weighted.then_some(weight),
                time: self.timed.then_some(time),
            });
        }
        for list in &mut lists {
            match self.order {
                ListOrder::Id => list.sort_by_key(|stored| stored.neighbour),
                ListOrder::Time => list.sort_by_key(|stored| stored.time),
                ListOrder::File => {}
            }
        }
        (lists, duplicates, loops)
    }

    /// Pushes the rows in the given order of chunks, from so many threads of the pool.
    fn sort(
        &self,
        path: &Path,
        memory: u64,
        chunk: usize,
        threads: usize,
        backwards: bool,
    ) -> EdgeSortReport {
        let budget = Budget::new(memory);
        let draft = FileDraft::begin(Arc::new(RealFileSystem), path, true).unwrap();
        let report = graphmill_disk::with_threads(Some(threads)).unwrap().install(|| {
            let files = Arc::new(RealFileSystem);
            let sorter = EdgeSorter::new(self.options(), &budget, files, path).unwrap();
            let mut starts: Vec<usize> = (0..self.sources.len()).step_by(chunk).collect();
            if backwards {
                starts.reverse();
            }
            let push = |first: usize| {
                let rows = first..self.sources.len().min(first + chunk);
                let (sources, destinations) =
                    (&self.sources[rows.clone()], &self.destinations[rows.clone()]);
                let ids = |ids: &[u64]| -> Vec<u32> { ids.iter().map(|&id| id as u32).collect() };
                let (narrow_sources, narrow_destinations) = (ids(sources), ids(destinations));
                let mut edges = if first.is_multiple_of(2) {
                    EdgeChunk::new(first as u64, sources, destinations)
                } else {
                    EdgeChunk::narrow(first as u64, &narrow_sources, &narrow_destinations)
                };
                if self.weighted {
                    edges = edges.weights(&self.weights[rows.clone()]);
                }
                if self.timed {
                    edges = edges.times(&self.times[rows]);
                }
                sorter.push(&edges).unwrap();
            };
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let (starts, push) = (&starts, &push);
                    scope.spawn(move || {
                        starts.iter().skip(thread).step_by(threads).for_each(|&first| push(first));
                    });
                }
            });
            sorter.finish(draft.file(), path, None).unwrap().1
        });
        draft.publish().unwrap();
        assert_eq!(budget.used(), 0);
        assert!(budget.peak() <= budget.total());
        report
    }
}

fn case() -> impl Strategy<Value = Case> {
    let edges = (1_u64..400, 0_usize..6000, 0..4_u8).prop_flat_map(|(nodes, count, shape)| {
        let id = 0..nodes;
        let ids = proptest::collection::vec(id, count);
        let times = proptest::collection::vec(-3_i64..4, count);
        (ids.clone(), ids, times).prop_map(move |(mut sources, mut destinations, times)| {
            match shape {
                // A hub with most edges, the same edge over and over, and a sorted source.
                1 => sources.iter_mut().for_each(|id| *id -= *id.min(&mut { nodes * 9 / 10 })),
                2 => {
                    sources.iter_mut().skip(10).for_each(|id| *id = nodes / 2);
                    destinations.iter_mut().skip(10).for_each(|id| *id = nodes / 3);
                }
                3 => sources.sort_unstable(),
                _ => {}
            }
            (sources, destinations, times)
        })
    });
    let flags = (any::<[bool; 7]>(), 0..4_usize, 0..3_usize, 0..500_u64);
    (edges, flags).prop_map(
        |((sources, destinations, times), (flags, directions, order, nodes))| {
            let [edge_ids, weighted, timed, dedup, drop_self_loops, add_self_loops, wide] = flags;
            let all =
                [Directions::Out, Directions::In, Directions::OutAndIn, Directions::Undirected];
            let order = match [ListOrder::Id, ListOrder::Time, ListOrder::File][order] {
                ListOrder::Time if !timed => ListOrder::Id,
                order => order,
            };
            let weights = (0..sources.len()).map(|row| (row % 1000) as f32 / 8.0).collect();
            Case {
                sources,
                destinations,
                weights,
                times,
                directions: all[directions],
                order,
                edge_ids,
                weighted,
                timed,
                dedup,
                drop_self_loops,
                add_self_loops: add_self_loops && !timed,
                num_nodes: nodes,
                wide,
            }
        },
    )
}

fn report_of(direction: Direction, lists: &[Vec<Stored>]) -> ListsReport {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0) as u64;
    let non_empty = lists.iter().filter(|list| !list.is_empty()).count() as u64;
    ListsReport { direction, longest, non_empty }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn files_hold_the_lists_of_the_oracle_for_every_option_memory_thread_and_arrival(
        case in case(),
        chunk in 1_usize..3000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gl");
        let roomy = case.sort(&path, 64 << 20, chunk, 2, false);
        prop_assert_eq!(roomy.spilled, 0);
        let first = std::fs::read(&path).unwrap();
        let graph = read_back::graph(&path);
        prop_assert_eq!(graph.layout.num_nodes, case.nodes());
        prop_assert_eq!(graph.layout.order, case.order);
        prop_assert_eq!(roomy.graph.source_rows, case.sources.len() as u64);
        prop_assert_eq!(roomy.graph.length, first.len() as u64);
        for (direction, lists) in &graph.lists {
            let (expected, duplicates, loops) = case.lists(*direction);
            prop_assert_eq!(lists, &expected);
            prop_assert_eq!(roomy.duplicates_dropped, duplicates);
            prop_assert_eq!(roomy.self_loops_dropped, loops);
            let found = roomy.lists.iter().find(|report| report.direction == *direction);
            prop_assert_eq!(found, Some(&report_of(*direction, lists)));
        }
        prop_assert_eq!(roomy.lists.len(), graph.lists.len());
        for (memory, threads, backwards) in
            [(128 << 10, 1, false), (160 << 10, 8, true), (1 << 20, 4, false)]
        {
            let other = case.sort(&path, memory, chunk / 3 + 1, threads, backwards);
            prop_assert!(std::fs::read(&path).unwrap() == first, "{} {}", memory, threads);
            prop_assert_eq!(&other.graph, &roomy.graph);
            prop_assert_eq!(&other.lists, &roomy.lists);
            prop_assert_eq!(other.duplicates_dropped, roomy.duplicates_dropped);
        }
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// A case without options.
fn plain(sources: Vec<u64>, destinations: Vec<u64>) -> Case {
    let rows = sources.len();
    Case {
        sources,
        destinations,
        weights: vec![0.5; rows],
        times: vec![7; rows],
        directions: Directions::OutAndIn,
        order: ListOrder::Id,
        edge_ids: false,
        weighted: false,
        timed: false,
        dedup: false,
        drop_self_loops: false,
        add_self_loops: false,
        num_nodes: 0,
        wide: false,
    }
}

fn scattered(rows: u64, nodes: u64, salt: u64) -> Vec<u64> {
    (0..rows)
        .map(|row| (row.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt) >> 20)
        .map(|id| id % nodes)
        .collect()
}

#[test]
fn data_a_hundred_times_the_memory_is_cut_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let (rows, nodes) = (600_000, 5_000);
    let random = plain(scattered(rows, nodes, 1), scattered(rows, nodes, 99));
    let mut sorted = random.clone();
    sorted.sources.sort_unstable();
    let hub = plain(vec![17; rows as usize], random.destinations.clone());
    let one_edge = plain(vec![3; rows as usize], vec![4; rows as usize]);
    for case in [random, sorted, hub, one_edge] {
        for (edge_ids, order, dedup) in [
            (false, ListOrder::Id, false),
            (true, ListOrder::Id, true),
            (false, ListOrder::File, true),
        ] {
            let case = Case { edge_ids, order, dedup, ..case.clone() };
            let roomy = case.sort(&path, 256 << 20, 50_000, 2, false);
            let first = std::fs::read(&path).unwrap();
            let tight = case.sort(&path, 128 << 10, 10_000, 3, true);
            assert_eq!(roomy.spilled, 0);
            assert!(tight.spilled > 2 * 8 * rows, "{}", tight.spilled);
            assert!(std::fs::read(&path).unwrap() == first);
            assert_eq!(tight.duplicates_dropped, roomy.duplicates_dropped);
        }
    }
}

#[test]
fn in_lists_made_from_out_lists_by_several_threads_are_those_of_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    let (rows, nodes) = (400_000, 30_000);
    let mut edges = plain(scattered(rows, nodes, 1), scattered(rows, nodes, 99));
    // Lists that no part can hold, and the same edge many times.
    edges.sources.iter_mut().step_by(5).for_each(|id| *id = 777);
    edges.destinations.iter_mut().step_by(7).for_each(|id| *id = 12_345);
    edges.weights = (0..rows).map(|row| (row % 999) as f32).collect();
    for (edge_ids, weighted, dedup, order) in [
        (false, false, false, ListOrder::Id),
        (false, false, true, ListOrder::Id),
        (true, false, false, ListOrder::Id),
        (false, true, true, ListOrder::Id),
        (true, false, false, ListOrder::File),
    ] {
        let case = Case { edge_ids, weighted, dedup, order, ..edges.clone() };
        for (memory, threads) in [(3 << 20, 4), (256 << 20, 3)] {
            let report = case.sort(&path, memory, 7000, threads, threads == 3);
            assert_eq!(report.spilled > 0, memory < 16 << 20, "{report:?}");
            for (direction, lists) in read_back::graph(&path).lists {
                assert!(lists == case.lists(direction).0, "{direction:?} {threads}");
                assert!(report.lists.contains(&report_of(direction, &lists)), "{report:?}");
            }
        }
    }
}

#[test]
fn no_edges_and_no_nodes_and_one_node_are_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gl");
    for (num_nodes, add_self_loops, edges) in [(0, true, 0), (1, true, 1), (70_000, false, 0)] {
        let case = Case { num_nodes, add_self_loops, ..plain(vec![], vec![]) };
        let report = case.sort(&path, 1 << 20, 10, 2, false);
        assert_eq!((report.graph.num_nodes, report.graph.num_edges), (num_nodes, edges));
        let graph = read_back::graph(&path);
        assert!(graph.lists.iter().all(|(direction, lists)| *lists == case.lists(*direction).0));
    }
    let case = plain(vec![0; 5], vec![0; 5]);
    case.sort(&path, 1 << 20, 2, 2, false);
    assert_eq!(read_back::graph(&path).lists[0].1, case.lists(Direction::Out).0);
}

#[test]
fn a_budget_too_small_for_a_few_blocks_is_refused() {
    let budget = Budget::new(60_000);
    let files = Arc::new(RealFileSystem);
    let sorter = EdgeSorter::new(EdgeSortOptions::new(), &budget, files, Path::new("x.gl"));
    let Err(error) = sorter else { panic!("60 kB are not enough") };
    assert!(matches!(error, Error::Disk(graphmill_disk::Error::Budget { .. })), "{error}");
    assert!(error.to_string().contains("sorting the edges"), "{error}");
}

#[test]
fn wrong_chunks_and_wishes_are_refused_with_their_place() {
    let new = |options: EdgeSortOptions<'static>| {
        let budget = Budget::new(1 << 20);
        EdgeSorter::new(options, &budget, Arc::new(RealFileSystem), Path::new("x.gl"))
    };
    let text = |options: EdgeSortOptions<'static>, chunk: EdgeChunk<'_>| {
        new(options).unwrap().push(&chunk).unwrap_err().to_string()
    };
    let options = EdgeSortOptions::new();
    let short = text(options, EdgeChunk::new(40, &[0, 1], &[1]));
    assert!(short.contains("row 40: found 1 destinations, expected 2"), "{short}");
    let negative = text(options, EdgeChunk::new(40, &[0, -3_i64 as u64], &[1, 1]));
    assert!(negative.contains("edge 41, source: found -3"), "{negative}");
    let missing = text(options.weights(true), EdgeChunk::narrow(0, &[0], &[1]));
    assert!(missing.contains("found 0 weights, expected 1"), "{missing}");
    let bad = EdgeChunk::narrow(9, &[0, 1], &[1, 0]).weights(&[1.0, f32::NAN]);
    let bad = text(options.weights(true), bad);
    assert!(bad.contains("weight of edge 10") && bad.contains("NaN"), "{bad}");
    assert!(new(options.order(ListOrder::Time)).is_err());
    assert!(new(options.times(true).add_self_loops(true)).is_err());
}
