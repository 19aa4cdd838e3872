//! Links as seeds, edges that are hidden, and induced subgraphs.

use super::made_lists::MadeLists;
use graphmill_format::{Direction, ListOrder};
use graphmill_sample::{
    Error, Exclude, ExcludedEdges, FanoutOptions, Links, Sample, Scratch, Seeds, Subgraph,
    Topology, sample, sample_links,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

fn run(lists: &MadeLists, seeds: Seeds<'_>, options: &FanoutOptions, follow: Direction) -> Sample {
    sample(lists, seeds, options, follow, &mut Scratch::new()).unwrap()
}

fn graphs() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (1_u64..15).prop_flat_map(|nodes| {
        let list = prop::collection::vec(0..nodes, 0..12);
        prop::collection::vec(list, nodes as usize)
    })
}

proptest! {
    #[test]
    fn hidden_edges_are_missing_and_the_others_are_not(
        mut lists in graphs(),
        pairs in prop::collection::vec((0_i64..15, 0_i64..15), 0..12),
        fanout in -1_i64..5,
        sorted: bool, both: bool, inward: bool,
        seed: u64,
    ) {
        let order = if sorted { ListOrder::Id } else { ListOrder::File };
        if sorted {
            lists.iter_mut().for_each(|list| list.sort_unstable());
        }
        let made = MadeLists::new(&lists).order(order);
        let seeds: Vec<i64> = (0..lists.len() as i64).collect();
        let (sources, destinations): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let excluded = ExcludedEdges::new(&sources, &destinations, both).unwrap();
        let follow = if inward { Direction::In } else { Direction::Out };
        let options = FanoutOptions::new([fanout]).seed(seed);
        let found = run(&made, Seeds::new(&seeds).excluded(&excluded), &options, follow);
        let hidden = |expanded: i64, neighbour: i64| {
            let edge = if inward { (neighbour, expanded) } else { (expanded, neighbour) };
            pairs.contains(&edge) || both && pairs.contains(&(edge.1, edge.0))
        };
        let expanded = if inward { &found.col } else { &found.row };
        for node in &seeds {
            let list = made.list(*node as u64).unwrap();
            let visible: BTreeSet<i64> = list
                .filter(|&at| !hidden(*node, made.neighbour(at).unwrap() as i64))
                .map(|at| at as i64)
                .collect();
            let picked = expanded.iter().zip(&found.edge_ids).filter(|one| one.0 == node);
            let picked: Vec<i64> = picked.map(|one| *one.1).collect();
            let distinct: BTreeSet<i64> = picked.iter().copied().collect();
            prop_assert!(distinct.is_subset(&visible));
            let count = if fanout < 0 { visible.len() } else { visible.len().min(fanout as usize) };
            prop_assert_eq!((distinct.len(), picked.len()), (count, count));
        }
    }

    #[test]
    fn an_induced_subgraph_has_every_edge_among_its_nodes(
        lists in graphs(),
        seeds in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        fanouts in prop::collection::vec(0_i64..4, 0..3),
        disjoint: bool, inward: bool,
        seed: u64,
    ) {
        let made = MadeLists::new(&lists);
        let seeds: Vec<i64> = seeds.iter().map(|seed| seed.index(lists.len()) as i64).collect();
        let follow = if inward { Direction::In } else { Direction::Out };
        let options = FanoutOptions::new(fanouts).disjoint(disjoint).seed(seed);
        let followed = run(&made, Seeds::new(&seeds), &options, follow);
        let options = options.subgraph(Subgraph::Induced);
        let induced = run(&made, Seeds::new(&seeds), &options, follow);
        prop_assert_eq!(&induced.nodes, &followed.nodes);
        prop_assert_eq!(&induced.nodes_per_hop, &followed.nodes_per_hop);
        prop_assert_eq!(&induced.edges_per_hop, &vec![induced.row.len() as u64]);
        let tree = |place: usize| induced.batch.get(place).copied().unwrap_or(0);
        let place_of = |tree_wanted: i64, node: i64| {
            (0..induced.nodes.len()).find(|&at| induced.nodes[at] == node && tree(at) == tree_wanted)
        };
        let mut expected = Vec::new();
        for (expanded, &node) in induced.nodes.iter().enumerate() {
            if place_of(tree(expanded), node) != Some(expanded) {
                continue;
            }
            for at in made.list(node as u64).unwrap() {
                if let Some(found) = place_of(tree(expanded), made.neighbour(at).unwrap() as i64) {
                    let (row, col) = if inward { (found, expanded) } else { (expanded, found) };
                    expected.push((row as i64, col as i64, at as i64));
                }
            }
        }
        let edges = induced.row.iter().zip(&induced.col).zip(&induced.edge_ids);
        let edges: Vec<_> = edges.map(|((&row, &col), &edge)| (row, col, edge)).collect();
        prop_assert_eq!(edges, expected);
    }

    #[test]
    fn a_bidirectional_subgraph_has_every_pair_once_and_both_ways(
        lists in graphs(),
        seeds in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        fanouts in prop::collection::vec(0_i64..4, 0..3),
        disjoint: bool, inward: bool, replace: bool,
        seed: u64,
    ) {
        let made = MadeLists::new(&lists);
        let seeds: Vec<i64> = seeds.iter().map(|seed| seed.index(lists.len()) as i64).collect();
        let follow = if inward { Direction::In } else { Direction::Out };
        let options = FanoutOptions::new(fanouts).disjoint(disjoint).replace(replace).seed(seed);
        let followed = run(&made, Seeds::new(&seeds), &options, follow);
        let options = options.subgraph(Subgraph::Bidirectional);
        let both = run(&made, Seeds::new(&seeds), &options, follow);
        prop_assert_eq!(&both.nodes, &followed.nodes);
        prop_assert_eq!(&both.batch, &followed.batch);
        prop_assert_eq!(&both.edges_per_hop, &vec![both.row.len() as u64]);
        let mut expected = BTreeMap::new();
        for edge in 0..followed.row.len() {
            let pair = (followed.col[edge], followed.row[edge]);
            expected.entry(pair).or_insert(followed.edge_ids[edge]);
        }
        for edge in 0..followed.row.len() {
            let pair = (followed.row[edge], followed.col[edge]);
            expected.entry(pair).or_insert(followed.edge_ids[edge]);
        }
        let edges = both.col.iter().zip(&both.row).zip(&both.edge_ids);
        let edges: Vec<_> = edges.map(|((&col, &row), &edge)| ((col, row), edge)).collect();
        prop_assert_eq!(edges, expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn among_visible_edges_every_subset_is_equally_likely() {
    for order in [ListOrder::Id, ListOrder::File] {
        let lists =
            MadeLists::new(&[vec![1, 2, 2, 3, 4, 5], vec![], vec![], vec![], vec![], vec![]]);
        let lists = lists.order(order);
        let excluded = ExcludedEdges::new(&[2, 5], &[0, 0], false).unwrap();
        let mut seen: HashMap<Vec<i64>, f64> = HashMap::new();
        for batch in 0..3000 {
            let options = FanoutOptions::new([2]).seed(1).batch(batch);
            let seeds = Seeds::new(&[0]).excluded(&excluded);
            let mut found = run(&lists, seeds, &options, Direction::In).edge_ids;
            found.sort_unstable();
            *seen.entry(found).or_default() += 1.0;
        }
        assert_eq!(seen.len(), 3); // of edges 0, 3 and 4
        let chi_square: f64 = seen.values().map(|count| (count - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 13.8, "{seen:?}");
    }
}

#[test]
fn hidden_edges_have_no_weight() {
    let lists = MadeLists::new(&[vec![1, 2, 3], vec![], vec![], vec![]]);
    let lists = lists.order(ListOrder::Id).weights(vec![1.0, 1e6, 1.0]).with_sums();
    let excluded = ExcludedEdges::new(&[2], &[0], false).unwrap();
    let mut first = 0;
    for batch in 0..1000 {
        let options = FanoutOptions::new([1]).weighted(true).batch(batch);
        let seeds = Seeds::new(&[0]).excluded(&excluded);
        let found = run(&lists, seeds, &options, Direction::In).edge_ids;
        assert_ne!(found, [1]);
        first += u32::from(found == [0]);
    }
    assert!((400..600).contains(&first), "{first}");
}

#[test]
fn links_name_their_ends_in_the_sample() {
    let lists = MadeLists::new(&vec![vec![0, 1, 2, 3, 4]; 5]).order(ListOrder::Id);
    let links = Links::new(&[4, 1, 4], &[2, 4, 0]);
    let options = FanoutOptions::new([-1]);
    let mut scratch = Scratch::new();
    let run = |links, options: &FanoutOptions, scratch: &mut Scratch| {
        sample_links(&lists, links, options, Direction::In, scratch).unwrap()
    };
    let joint = run(links, &options, &mut scratch);
    assert_eq!(joint.sample.nodes[..4], [0, 1, 2, 4]);
    assert_eq!(joint.link_row, [3, 1, 3]);
    assert_eq!(joint.link_col, [2, 3, 0]);
    let trees = run(links, &options.clone().disjoint(true), &mut scratch);
    assert_eq!(trees.sample.nodes[..6], [4, 1, 4, 2, 4, 0]);
    assert_eq!((trees.link_row, trees.link_col), (vec![0, 1, 2], vec![3, 4, 5]));

    let edges = |sample: &Sample| -> BTreeSet<(i64, i64)> {
        let node = |local: &i64| sample.nodes[*local as usize];
        sample.row.iter().map(node).zip(sample.col.iter().map(node)).collect()
    };
    assert!(edges(&joint.sample).contains(&(4, 2)));
    let hidden = edges(&run(links.exclude(Exclude::Links), &options, &mut scratch).sample);
    assert!(!hidden.contains(&(4, 2)) && hidden.contains(&(2, 4)));
    let hidden = edges(&run(links.exclude(Exclude::Both), &options, &mut scratch).sample);
    assert!(!hidden.contains(&(4, 2)) && !hidden.contains(&(2, 4)) && hidden.contains(&(2, 0)));
}

#[test]
fn links_that_do_not_pair_up_are_refused() {
    let lists = MadeLists::new(&[vec![0]]);
    let fails = |links: Links<'_>| {
        sample_links(&lists, links, &FanoutOptions::new([1]), Direction::In, &mut Scratch::new())
            .unwrap_err()
    };
    assert!(matches!(fails(Links::new(&[0], &[])), Error::Links { .. }));
    assert!(matches!(fails(Links::new(&[0], &[0]).times(&[])), Error::Times { .. }));
    assert!(matches!(fails(Links::new(&[0], &[7])), Error::Seed { position: 0, found: 7, .. }));
}
