//! Sampling from real files: directions, edge ids, and files that lie.

use graphmill_disk::Budget;
use graphmill_format::{Direction, Encoding};
use graphmill_ingest::generate::Rmat;
use graphmill_ingest::{Directions, EdgeStream, GraphOptions, MemoryEdges, write_graph};
use graphmill_sample::{
    Error, FanoutOptions, Method, NegativeOptions, Sample, Scratch, Seeds, Subgraph, WalkOptions,
    negative_edges, neighbour_matrix, sample, walk,
};
use graphmill_store::{Announce, Graph};
use std::collections::BTreeSet;

const SOURCES: [i64; 6] = [3, 0, 1, 1, 2, 3];
const DESTINATIONS: [i64; 6] = [0, 1, 2, 0, 2, 0];

struct Stored {
    folder: tempfile::TempDir,
}

impl Stored {
    fn new(options: GraphOptions<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let edges = MemoryEdges::new(&SOURCES, &DESTINATIONS, None).unwrap();
        let budget = Budget::new(1 << 20);
        write_graph(&folder.path().join("graph.gl"), &edges, &options, &budget, false).unwrap();
        Stored { folder }
    }

    fn sample(&self, seeds: &[i64], follow: Direction) -> Result<Sample, Error> {
        let graph = Graph::open(self.folder.path().join("graph.gl"))?;
        let options = FanoutOptions::new([-1, 2]).seed(3);
        sample(&graph.lists(follow)?, seeds, &options, follow, &mut Scratch::new())
    }
}

/// The edges of a sample as (source, destination) of the graph.
fn edges(found: &Sample) -> Vec<(i64, i64)> {
    let node = |local: &i64| found.nodes[*local as usize];
    found.row.iter().map(node).zip(found.col.iter().map(node)).collect()
}

#[test]
fn every_edge_found_is_an_edge_of_the_source_in_its_direction() {
    let stored = Stored::new(GraphOptions::new().edge_ids(true));
    for follow in [Direction::In, Direction::Out] {
        let found = stored.sample(&[0, 2], follow).unwrap();
        assert!(!found.row.is_empty());
        for ((source, destination), row) in edges(&found).into_iter().zip(&found.edge_ids) {
            assert_eq!(
                (source, destination),
                (SOURCES[*row as usize], DESTINATIONS[*row as usize])
            );
        }
        let seeds = if follow == Direction::In { &DESTINATIONS } else { &SOURCES };
        let first_hop: BTreeSet<i64> =
            (0..6).filter(|&row| [0, 2].contains(&seeds[row as usize])).collect();
        let found_first = &found.edge_ids[..found.edges_per_hop[0] as usize];
        assert_eq!(found_first.iter().copied().collect::<BTreeSet<_>>(), first_hop);
    }
}

#[test]
fn without_stored_edge_ids_an_edge_is_called_by_its_position() {
    let found = Stored::new(GraphOptions::new()).sample(&[0], Direction::In).unwrap();
    // The in-lists are 0: 1 3 3, 1: 0, 2: 1 2.
    assert_eq!(found.edge_ids, [0, 1, 2, 3]);
    assert_eq!(edges(&found), [(1, 0), (3, 0), (3, 0), (0, 1)]);
}

#[test]
fn an_undirected_graph_can_be_followed_either_way() {
    let stored = Stored::new(GraphOptions::new().directions(Directions::Undirected));
    let inward = stored.sample(&[1], Direction::In).unwrap();
    let outward = stored.sample(&[1], Direction::Out).unwrap();
    assert_eq!((&inward.row, &inward.col), (&outward.col, &outward.row));
    assert_eq!(inward.nodes, outward.nodes);
}

#[test]
fn a_direction_that_is_not_stored_is_refused() {
    let stored = Stored::new(GraphOptions::new().directions(Directions::Out));
    let outcome = stored.sample(&[0], Direction::In);
    let wanted = graphmill_store::Error::DirectionNotStored {
        path: stored.folder.path().join("graph.gl"),
        wanted: Direction::In,
        stored: Direction::Out,
    };
    assert_eq!(outcome.unwrap_err().to_string(), wanted.to_string());
}

/// The content digests would tell, but opening does not read the content.
#[test]
fn lists_that_lie_are_reported_never_followed() {
    for (section, lie) in [("neighbours", -5_i32), ("neighbours", 4), ("offsets", 77)] {
        let stored = Stored::new(GraphOptions::new());
        let path = stored.folder.path().join("graph.gl");
        let sections = *Graph::open(&path).unwrap().sections(Direction::In).unwrap();
        let at = match section {
            "neighbours" => sections.neighbours.offset,
            _ => sections.offsets.offset + 8,
        };
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[at as usize..at as usize + 4].copy_from_slice(&lie.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        let outcome = stored.sample(&[0], Direction::In);
        assert!(
            matches!(outcome, Err(Error::Store(graphmill_store::Error::Corrupt { .. }))),
            "{section} {lie}: {outcome:?}"
        );
    }
}

const WEIGHTS: [f32; 6] = [0.5, 1.0, 0.1, 0.0, 3.0, 1.5];

#[test]
fn weights_are_stored_with_their_running_sums() {
    for directions in [Directions::OutAndIn, Directions::Undirected] {
        let stored = Stored::new(GraphOptions::new().directions(directions).weights(&WEIGHTS));
        let path = stored.folder.path().join("graph.gl");
        assert!(graphmill_store::verify::verify(&path).unwrap().is_sound());
        let graph = Graph::open(&path).unwrap();
        for follow in [Direction::In, Direction::Out] {
            let lists = graph.lists(follow).unwrap();
            let (weights, sums) = (lists.weights().unwrap(), lists.cumulative_weights().unwrap());
            for node in 0..lists.num_nodes() {
                let mut sum = 0.0;
                for position in lists.range(node).unwrap() {
                    sum += f64::from(weights[position]);
                    assert_eq!(sums[position].to_bits(), f64::to_bits(sum));
                }
            }
        }
    }
}

#[test]
fn stored_weights_decide_what_is_picked() {
    let stored = Stored::new(GraphOptions::new().weights(&WEIGHTS));
    let graph = Graph::open(stored.folder.path().join("graph.gl")).unwrap();
    let lists = graph.lists(Direction::In).unwrap();
    let mut counts = [0_f64; 6];
    for batch in 0..4000 {
        let options = FanoutOptions::new([1]).weighted(true).batch(batch);
        let found = sample(&lists, &[0], &options, Direction::In, &mut Scratch::new()).unwrap();
        counts[found.edge_ids[0] as usize] += 1.0;
    }
    // Node 0 is reached by rows 0, 3 and 5, of weight 0.5, 0 and 1.5.
    assert_eq!(counts[3], 0.0);
    let chi_square = (counts[0] - 1000.0).powi(2) / 1000.0 + (counts[5] - 3000.0).powi(2) / 3000.0;
    assert!(chi_square < 10.8, "{counts:?}");
}

/// Sums of a file that lies lead to other picks or to an error, never out of the list.
#[test]
fn running_sums_that_lie_stay_in_bounds_and_are_found_by_verify() {
    for lie in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300] {
        for entry in 0..6 {
            let stored = Stored::new(GraphOptions::new().weights(&WEIGHTS));
            let path = stored.folder.path().join("graph.gl");
            let sections = *Graph::open(&path).unwrap().sections(Direction::In).unwrap();
            let at = sections.cumulative_weights.unwrap().offset as usize + 8 * entry;
            let mut bytes = std::fs::read(&path).unwrap();
            if bytes[at..at + 8] == lie.to_le_bytes() {
                continue;
            }
            bytes[at..at + 8].copy_from_slice(&lie.to_le_bytes());
            std::fs::write(&path, bytes).unwrap();
            let report = graphmill_store::verify::verify(&path).unwrap();
            assert!(report.faults.iter().any(|fault| fault.problem.contains("running sum")));
            let graph = Graph::open(&path).unwrap();
            let lists = graph.lists(Direction::In).unwrap();
            for replace in [false, true] {
                let options = FanoutOptions::new([2, 2]).weighted(true).replace(replace);
                let outcome = sample(&lists, &[0, 2], &options, Direction::In, &mut Scratch::new());
                match outcome {
                    Ok(found) => assert!(found.edge_ids.iter().all(|row| (0..6).contains(row))),
                    Err(error) => assert!(matches!(error, Error::Weight { .. }), "{error}"),
                }
            }
        }
    }
}

/// Everything that samplers can be asked, of the same edges stored plain and packed.
#[test]
fn packed_lists_are_sampled_and_walked_like_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    let edges = Rmat::builder(12, 1 << 17).seed(9).build().unwrap();
    let (sources, destinations) = {
        let (mut sources, mut destinations) = (vec![0; 1 << 17], vec![0; 1 << 17]);
        edges.read(0, &mut sources, &mut destinations).unwrap();
        let signed = |ids: Vec<u64>| ids.into_iter().map(|id| id as i64).collect::<Vec<i64>>();
        (signed(sources), signed(destinations))
    };
    let edges = MemoryEdges::new(&sources, &destinations, Some(1 << 12)).unwrap();
    let weights: Vec<f32> = (0..1 << 17).map(|row| (row % 13) as f32).collect();
    let times: Vec<i64> = (0..1 << 17).map(|row| row % 1000).collect();
    let plain = GraphOptions::new().weights(&weights).times(&times);
    let graphs = [("plain.gl", plain), ("packed.gl", plain.encoding(Encoding::Packed))].map(
        |(name, options)| {
            let path = folder.path().join(name);
            write_graph(&path, &edges, &options, &Budget::new(64 << 20), false).unwrap();
            Graph::open(path).unwrap()
        },
    );
    assert!(graphs[1].layout().is_packed());
    let seeds: Vec<i64> = (0..500).map(|seed| seed * 8).collect();
    let seed_times: Vec<i64> = (0..500).map(|seed| seed * 2).collect();
    let everything = |graph: &Graph, follow: Direction| {
        let lists = graph.lists(follow).unwrap();
        let mut samples = Vec::new();
        let base = FanoutOptions::new([7, 5]).seed(4);
        let ways = [
            base.clone(),
            base.clone().threads(3),
            base.clone().replace(true),
            base.clone().weighted(true),
            base.clone().disjoint(true),
            base.clone().method(Method::Labor { layer_dependency: true }),
            base.clone().subgraph(Subgraph::Induced),
            FanoutOptions::new([-1]).seed(4),
        ];
        for options in ways {
            let found = sample(&lists, &seeds, &options, follow, &mut Scratch::new()).unwrap();
            samples.push(found);
        }
        let timed = Seeds::from(&seeds[..]).times(&seed_times);
        samples.push(sample(&lists, timed, &base, follow, &mut Scratch::new()).unwrap());
        let mut rows: Vec<Vec<i64>> = Vec::new();
        for (p, q) in [(1.0, 1.0), (0.2, 3.0), (4.0, 0.5)] {
            for weighted in [false, true] {
                let options = WalkOptions::new(12).node2vec(p, q).weighted(Some(weighted)).seed(8);
                let mut walks = vec![0; seeds.len() * 13];
                walk(&lists, &seeds, &options, &Budget::unlimited(), &mut walks).unwrap();
                rows.push(walks);
            }
        }
        let mut matrix = vec![0; seeds.len() * 6];
        neighbour_matrix(&lists, &seeds, 6, -1, 5, &Budget::unlimited(), &mut matrix).unwrap();
        rows.push(matrix);
        for weighted in [false, true] {
            let (mut from, mut to) = (vec![0; 400], vec![0; 400]);
            let options = NegativeOptions::new().weighted(weighted).seed(6);
            negative_edges(&lists, follow, &options, &mut from, &mut to).unwrap();
            rows.extend([from, to]);
        }
        (samples, rows)
    };
    for follow in [Direction::In, Direction::Out] {
        let [plain, packed] = &graphs;
        let expected = everything(plain, follow);
        assert!(expected == everything(packed, follow));
        let cold = packed.clone().announced(Announce::Always);
        assert!(expected == everything(&cold, follow), "announced");
    }
}
