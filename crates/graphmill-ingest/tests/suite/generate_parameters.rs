//! Parameters at and beyond the edges of what a generator can do, and the simpler kinds' promises.

use graphmill_ingest::generate::{EdgeSource, GenerateError, NodeData, Papers, Rmat, Sbm};

fn edges(source: &dyn EdgeSource) -> Vec<(u64, u64)> {
    let count = source.num_edges() as usize;
    let (mut sources, mut destinations) = (vec![0; count], vec![0; count]);
    source.fill(0, &mut sources, &mut destinations);
    sources.into_iter().zip(destinations).collect()
}

#[test]
fn impossible_numbers_of_nodes_and_edges_are_refused() {
    use GenerateError::{Edges, EdgesPerNode, Nodes, Scale};
    for nodes in [0, (1 << 48) + 1, u64::MAX] {
        assert_eq!(Papers::builder(nodes).edges(1).build().unwrap_err(), Nodes { nodes });
        assert_eq!(Sbm::builder(nodes, 1, 1).build().unwrap_err(), Nodes { nodes });
    }
    for scale in [49, 64, u32::MAX] {
        assert_eq!(Rmat::builder(scale, 1).build().unwrap_err(), Scale { scale, limit: 48 });
    }
    for edges in [(1 << 59) + 1, u64::MAX] {
        assert_eq!(Papers::builder(9).edges(edges).build().unwrap_err(), Edges { edges });
        assert_eq!(Sbm::builder(9, edges, 1).build().unwrap_err(), Edges { edges });
        assert_eq!(Rmat::builder(3, edges).build().unwrap_err(), Edges { edges });
    }
    for degree in [-1.0, -0.1, f64::NAN, f64::INFINITY, 1e18] {
        let error = Papers::builder(9).edges_per_node(degree).build().unwrap_err();
        assert!(matches!(error, EdgesPerNode { nodes: 9, .. }), "{degree}: {error}");
    }
}

#[test]
fn shares_outside_the_unit_interval_are_refused() {
    for share in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let errors = [
            Papers::builder(9).within_share(share).build().unwrap_err(),
            Papers::builder(9).splits(share, 0.0, 0.0).build().unwrap_err(),
            Sbm::builder(9, 9, 2).within_share(share).build().unwrap_err(),
            Sbm::builder(9, 9, 2).splits(0.0, 0.0, share).build().unwrap_err(),
            Rmat::builder(3, 9).quarters(0.1, share, 0.1).build().unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, GenerateError::Share { .. }), "{share}: {error}");
        }
    }
    let sums = [
        Papers::builder(9).splits(0.5, 0.5, 0.1).build().unwrap_err(),
        Rmat::builder(3, 9).quarters(0.5, 0.3, 0.3).build().unwrap_err(),
    ];
    assert!(sums.iter().all(|error| matches!(error, GenerateError::ShareSum { .. })), "{sums:?}");
    assert!(Papers::builder(9).splits(0.7, 0.2, 0.1).build().is_ok());
    assert!(Rmat::builder(3, 9).quarters(0.5, 0.3, 0.2).build().is_ok());
}

#[test]
fn impossible_classes_and_features_are_refused_in_words_that_name_them() {
    let message = |error: GenerateError| error.to_string();
    assert_eq!(
        message(Papers::builder(9).classes(0).build().unwrap_err()),
        "the number of classes is 0: choose at least 1"
    );
    assert_eq!(
        message(Papers::builder(9).communities(0).build().unwrap_err()),
        "the number of communities is 0: choose at least 1"
    );
    assert_eq!(
        message(Sbm::builder(9, 9, 0).build().unwrap_err()),
        "the number of blocks is 0: choose at least 1"
    );
    assert_eq!(
        message(Sbm::builder(9, 9, 1).features(65_537).build().unwrap_err()),
        "65537 features cannot be generated: choose at most 65536"
    );
    for signal in [-1.0, f32::NAN, f32::INFINITY] {
        let error = Papers::builder(9).signal(signal).build().unwrap_err();
        assert!(matches!(error, GenerateError::Signal { .. }), "{error}");
    }
}

#[test]
fn one_node_no_edges_no_features_and_more_classes_than_nodes_all_work() {
    let lone = Sbm::builder(1, 5, 3).build().unwrap();
    assert!(edges(&lone).iter().all(|&pair| pair == (0, 0)));
    assert_eq!((lone.num_classes(), lone.label(0)), (3, 0));
    assert_eq!(edges(&Rmat::builder(0, 5).build().unwrap()), [(0, 0); 5]);

    let empty = Papers::builder(10).edges(0).features(0).classes(1000).build().unwrap();
    assert_eq!(edges(&empty), []);
    empty.features(3, &mut []);
    assert_eq!((empty.num_features(), empty.num_classes()), (0, 1000));
    assert!((0..10).all(|node| empty.label(node) < 1000));
    assert_eq!(empty.num_communities(), 10);
}

#[test]
fn block_model_edges_stay_inside_by_the_share_asked_for_without_self_loops() {
    for (nodes, blocks, share) in [(1000, 4, 0.6), (1003, 7, 0.0), (1003, 7, 1.0), (10, 3, 0.5)] {
        let graph = Sbm::builder(nodes, 50_000, blocks).within_share(share).build().unwrap();
        let edges = edges(&graph);
        assert!(edges.iter().all(|(source, destination)| source != destination));
        let inside = edges.iter().filter(|(s, d)| graph.block(*s) == graph.block(*d)).count();
        assert!((inside as f64 / 5e4 - share).abs() < 0.01, "{inside} inside, {share} asked");
        assert!((0..nodes).all(|node| u64::from(graph.label(node)) == graph.block(node)));
    }
}

#[test]
fn block_model_degrees_are_equal_up_to_chance() {
    // 11 blocks do not divide 100 nodes: blocks of 9 and of 10 must not differ in degree.
    let graph = Sbm::builder(100, 400_000, 11).within_share(0.5).build().unwrap();
    let mut degrees = [[0u32; 100]; 2];
    for (source, destination) in edges(&graph) {
        degrees[0][source as usize] += 1;
        degrees[1][destination as usize] += 1;
    }
    for degree in degrees.as_flattened() {
        assert!(degree.abs_diff(4000) < 350, "degree {degree}, expected about 4000");
    }
}

#[test]
fn rmat_fills_its_quarters_by_the_odds_and_scrambling_only_renames() {
    let plain = Rmat::builder(12, 100_000).scrambled(false);
    let pairs = edges(&plain.clone().build().unwrap());
    let share = |source, destination| {
        let quarter = |&&(s, d): &&(u64, u64)| (s >> 11, d >> 11) == (source, destination);
        pairs.iter().filter(quarter).count() as f64 / 1e5
    };
    for ((source, destination), odds) in
        [((0, 0), 0.57), ((0, 1), 0.19), ((1, 0), 0.19), ((1, 1), 0.05)]
    {
        assert!((share(source, destination) - odds).abs() < 0.01);
    }
    let renamed = edges(&plain.scrambled(true).build().unwrap());
    let mut names = std::collections::HashMap::new();
    for ((source, destination), (new_source, new_destination)) in pairs.into_iter().zip(renamed) {
        assert_eq!(*names.entry(source).or_insert(new_source), new_source);
        assert_eq!(*names.entry(destination).or_insert(new_destination), new_destination);
    }
}
