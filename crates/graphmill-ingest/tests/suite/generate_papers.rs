//! What a papers graph promises: its degrees, its communities, and data that agree with them.

use graphmill_ingest::generate::{EdgeSource, NodeData, Papers, Split};

struct Drawn {
    graph: Papers,
    sources: Vec<u64>,
    destinations: Vec<u64>,
}

impl Drawn {
    fn new(graph: Papers) -> Self {
        let count = graph.num_edges() as usize;
        let (mut sources, mut destinations) = (vec![0; count], vec![0; count]);
        graph.fill(0, &mut sources, &mut destinations);
        Self { graph, sources, destinations }
    }

    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.sources.iter().copied().zip(self.destinations.iter().copied())
    }

    fn share(&self, wanted: impl Fn(u64, u64) -> bool) -> f64 {
        let count =
            self.pairs().filter(|&(source, destination)| wanted(source, destination)).count();
        count as f64 / self.sources.len() as f64
    }

    fn degrees(&self, ends: &[u64]) -> Vec<u32> {
        let mut degrees = vec![0; EdgeSource::num_nodes(&self.graph) as usize];
        ends.iter().for_each(|&node| degrees[node as usize] += 1);
        degrees
    }
}

/// The maximum-likelihood exponent of the degrees from `smallest` on, with the usual correction
/// of one half for whole numbers.
fn exponent(degrees: &[u32], smallest: u32) -> f64 {
    let tail = degrees.iter().filter(|&&degree| degree >= smallest);
    let logarithm = |&degree: &u32| (f64::from(degree) / (f64::from(smallest) - 0.5)).ln();
    1.0 + tail.clone().count() as f64 / tail.map(logarithm).sum::<f64>()
}

fn largest(degrees: &[u32], count: usize) -> Vec<usize> {
    let mut nodes: Vec<usize> = (0..degrees.len()).collect();
    nodes.sort_by_key(|&node| std::cmp::Reverse(degrees[node]));
    nodes.truncate(count);
    nodes
}

#[test]
fn degrees_follow_a_power_law_both_ways_with_different_hubs() {
    let drawn = Drawn::new(Papers::builder(200_000).build().unwrap());
    let incoming = drawn.degrees(&drawn.destinations);
    let outgoing = drawn.degrees(&drawn.sources);
    for (direction, degrees) in [("in", &incoming), ("out", &outgoing)] {
        for smallest in [10, 20, 30, 50] {
            let exponent = exponent(degrees, smallest);
            assert!((2.0..2.25).contains(&exponent), "{direction} from {smallest}: {exponent}");
        }
        let hub = f64::from(*degrees.iter().max().unwrap()) / drawn.sources.len() as f64;
        assert!((0.0005..0.005).contains(&hub), "{direction}-hub has {hub} of all edges");
    }
    let in_hubs = largest(&incoming, 2000);
    let both = largest(&outgoing, 2000).iter().filter(|node| in_hubs.contains(node)).count();
    assert!(both < 80, "{both} of 2000 hubs are hubs both ways; chance alone gives 20");
}

#[test]
fn hubs_are_spread_over_the_ids() {
    let drawn = Drawn::new(Papers::builder(50_000).build().unwrap());
    for degrees in [drawn.degrees(&drawn.destinations), drawn.degrees(&drawn.sources)] {
        let low = largest(&degrees, 1000).iter().filter(|&&node| node < 25_000).count();
        assert!(low.abs_diff(500) < 80, "{low} of 1000 hubs in the lower half of the ids");
    }
}

#[test]
fn six_edges_in_ten_stay_in_their_community_and_class() {
    for (nodes, communities) in [(200_000, 16), (400_000, 48), (1_000_000, 112)] {
        let graph = Papers::builder(nodes).edges(1_000_000).seed(5).build().unwrap();
        assert_eq!(graph.num_communities(), communities);
        let drawn = Drawn::new(graph);
        let graph = &drawn.graph;
        let community = drawn.share(|s, d| graph.community(s) == graph.community(d));
        assert!((community - 0.6).abs() < 0.01, "{nodes} nodes: {community} within communities");
        let class = drawn.share(|s, d| graph.label(s) == graph.label(d));
        assert!((community..0.64).contains(&class), "{nodes} nodes: {class} within classes");
    }
}

#[test]
fn the_share_within_communities_can_be_set() {
    for share in [0.1, 0.9, 1.0] {
        let graph = Papers::builder(50_000).within_share(share).build().unwrap();
        let drawn = Drawn::new(graph);
        let found = drawn.share(|s, d| drawn.graph.community(s) == drawn.graph.community(d));
        assert!((found - share).abs() < 0.01, "{found} instead of {share}");
    }
}

#[test]
fn the_number_of_edges_is_the_mean_degree_times_the_nodes_rounded() {
    let count =
        |nodes, degree| Papers::builder(nodes).edges_per_node(degree).build().unwrap().num_edges();
    assert_eq!(Papers::builder(101).build().unwrap().num_edges(), 1465);
    assert_eq!(count(3, 0.5), 2);
    assert_eq!(count(7, 0.0), 0);
    assert_eq!(Papers::builder(9).edges(4).build().unwrap().num_edges(), 4);
}

#[test]
fn there_are_no_self_loops_unless_a_node_is_alone() {
    for nodes in [2, 3, 5, 17, 100, 20_000] {
        for communities in [1, 2, nodes] {
            let graph = Papers::builder(nodes).edges(20_000).communities(communities);
            let drawn = Drawn::new(graph.build().unwrap());
            assert!(drawn.pairs().all(|(s, d)| s != d && s < nodes && d < nodes), "{nodes} nodes");
        }
    }
    let alone = Drawn::new(Papers::builder(1).build().unwrap());
    assert!(alone.sources.len() == 15 && alone.pairs().all(|pair| pair == (0, 0)));
}

#[test]
fn labels_follow_communities_and_classes_have_equal_sizes() {
    let graph = Papers::builder(100_000).communities(48).build().unwrap();
    let mut sizes = [0u32; 16];
    for node in 0..100_000 {
        assert_eq!(u64::from(graph.label(node)), graph.community(node) % 16);
        sizes[graph.label(node) as usize] += 1;
    }
    assert!(sizes.iter().all(|&size| size.abs_diff(6250) <= 3), "{sizes:?}");
}

#[test]
fn splits_take_a_tenth_and_two_twentieths_of_the_nodes_by_default() {
    let graph = Papers::builder(200_000).build().unwrap();
    let share = |wanted| (0..200_000).filter(|&n| graph.split(n) == wanted).count() as f64 / 2e5;
    assert!((share(Some(Split::Train)) - 0.10).abs() < 0.003);
    assert!((share(Some(Split::Valid)) - 0.05).abs() < 0.003);
    assert!((share(Some(Split::Test)) - 0.05).abs() < 0.003);
}

/// The mean of each class's rows, learnt from many nodes, is the best a model can do with features
/// alone; the neighbours' mean tells far more.
#[test]
fn neighbours_tell_the_class_better_than_a_row_does() {
    let (nodes, classes, width) = (20_000usize, 16, 32);
    let graph = Papers::builder(nodes as u64).features(width).build().unwrap();
    let drawn = Drawn::new(graph);
    let mut rows = vec![0.0; nodes * width];
    let mut centres = vec![0.0; classes * width];
    for (node, row) in rows.chunks_mut(width).enumerate() {
        drawn.graph.features(node as u64, row);
        let class = drawn.graph.label(node as u64) as usize;
        let centre = &mut centres[class * width..][..width];
        centre.iter_mut().zip(&*row).for_each(|(sum, value)| *sum += value / 1250.0);
    }
    let mut means = rows.clone();
    let degrees = drawn.degrees(&drawn.destinations);
    for (source, destination) in drawn.pairs() {
        let (source, destination) = (source as usize, destination as usize);
        for column in 0..width {
            means[destination * width + column] +=
                2.0 * rows[source * width + column] / degrees[destination] as f32;
        }
    }
    let accuracy = |rows: &[f32]| {
        let right = rows.chunks(width).enumerate().filter(|(node, row)| {
            let score = |centre: &[f32]| centre.iter().zip(*row).map(|(a, b)| a * b).sum::<f32>();
            let scores: Vec<f32> = centres.chunks(width).map(score).collect();
            let best = (0..classes).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            best == drawn.graph.label(*node as u64) as usize
        });
        right.count() as f64 / nodes as f64
    };
    let (alone, together) = (accuracy(&rows), accuracy(&means));
    assert!((0.3..0.6).contains(&alone), "{alone} from features alone");
    assert!(together > alone + 0.15, "{together} with neighbours, {alone} without");
}
