//! Disjoint trees and times, against slow readings of the rules.

use super::made_lists::MadeLists;
use graphmill_format::{Direction, ListOrder};
use graphmill_sample::{
    Error, FanoutOptions, Method, Sample, Scratch, Seeds, Strategy as Latest, Topology, sample,
};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};

fn run(lists: &MadeLists, seeds: Seeds<'_>, options: &FanoutOptions) -> Sample {
    sample(lists, seeds, options, Direction::In, &mut Scratch::new()).unwrap()
}

fn graphs() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (1_u64..20).prop_flat_map(|nodes| {
        let list = prop::collection::vec(0..nodes, 0..12);
        prop::collection::vec(list, nodes as usize)
    })
}

/// Checks labels, trees and hops of a disjoint sample against its picked edges.
fn assert_disjoint(lists: &MadeLists, seeds: &[i64], found: &Sample) {
    assert_eq!(found.batch.len(), found.nodes.len());
    assert_eq!(&found.nodes[..seeds.len()], seeds);
    let pairs: BTreeSet<_> = found.batch.iter().zip(&found.nodes).collect();
    assert_eq!(pairs.len(), found.nodes.len(), "a node occurs twice in one tree");
    let mut expected: Vec<(i64, i64)> = (0..).zip(seeds.iter().copied()).collect();
    let (mut edge, mut frontier) = (0, 0..seeds.len());
    for &count in &found.edges_per_hop {
        let mut last = frontier.start;
        for _ in 0..count {
            let expanded = found.col[edge] as usize;
            assert!(frontier.contains(&expanded) && expanded >= last);
            last = expanded;
            let position = found.edge_ids[edge] as usize;
            let (tree, node) = expected[expanded];
            assert!(lists.list(node as u64).unwrap().contains(&position));
            let neighbour = (tree, lists.neighbour(position).unwrap() as i64);
            let known = expected.iter().position(|&one| one == neighbour);
            let label = known.unwrap_or_else(|| {
                expected.push(neighbour);
                expected.len() - 1
            });
            assert_eq!(found.row[edge], label as i64);
            edge += 1;
        }
        frontier = frontier.end..expected.len();
    }
    let trees: Vec<i64> = expected.iter().map(|one| one.0).collect();
    let nodes: Vec<i64> = expected.iter().map(|one| one.1).collect();
    assert_eq!((&found.batch, &found.nodes), (&trees, &nodes));
}

proptest! {
    #[test]
    fn trees_never_share_a_node(
        lists in graphs(),
        seeds in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        fanouts in prop::collection::vec(-1_i64..5, 0..4),
        replace: bool,
        seed: u64,
    ) {
        let seeds: Vec<i64> = seeds.iter().map(|seed| seed.index(lists.len()) as i64).collect();
        let made = MadeLists::new(&lists);
        let options = FanoutOptions::new(fanouts).replace(replace).disjoint(true).seed(seed);
        let found = run(&made, Seeds::new(&seeds), &options);
        assert_disjoint(&made, &seeds, &found);
    }

    /// Whether edges or nodes have times, and however lists are ordered.
    #[test]
    fn no_edge_comes_from_outside_the_time_of_its_seed(
        lists in graphs(),
        seeds in prop::collection::vec((any::<prop::sample::Index>(), -3_i64..12), 1..6),
        fanouts in prop::collection::vec(-1_i64..4, 1..4),
        times in prop::collection::vec(0_i64..10, 400),
        window in prop::option::of(0_u64..8),
        by_node: bool, last: bool, sorted: bool, labor: bool,
        seed: u64,
    ) {
        let ids: Vec<i64> = seeds.iter().map(|seed| seed.0.index(lists.len()) as i64).collect();
        let seed_times: Vec<i64> = seeds.iter().map(|seed| seed.1).collect();
        let mut made = MadeLists::new(&lists);
        let mut edge_times = times[..made.num_edges()].to_vec();
        if sorted {
            for node in 0..lists.len() as u64 {
                edge_times[made.list(node).unwrap()].sort_unstable();
            }
            made = made.order(ListOrder::Time);
        }
        let made = made.times(edge_times.clone());
        let node_times = &times[..lists.len()];
        let time = |position: usize| match by_node {
            true => node_times[made.neighbour(position).unwrap() as usize],
            false => edge_times[position],
        };
        let mut options = FanoutOptions::new(fanouts.clone()).window(window).seed(seed);
        if last {
            options = options.strategy(Latest::Last);
        } else if labor {
            options = options.method(Method::Labor { layer_dependency: false });
        }
        let mut start = Seeds::new(&ids).times(&seed_times);
        if by_node {
            start = start.node_times(node_times);
        }
        let found = run(&made, start, &options);
        assert_disjoint(&made, &ids, &found);
        let passes = |tree: i64, position: usize| {
            let latest = seed_times[tree as usize];
            let earliest = window.map_or(i64::MIN, |window| latest - window as i64);
            (earliest..=latest).contains(&time(position))
        };
        let mut picked: HashMap<i64, Vec<usize>> = HashMap::new();
        for (&expanded, &edge) in found.col.iter().zip(&found.edge_ids) {
            prop_assert!(passes(found.batch[expanded as usize], edge as usize));
            picked.entry(expanded).or_default().push(edge as usize);
        }
        let mut frontier = 0..ids.len();
        for (hop, &fanout) in fanouts.iter().enumerate() {
            for expanded in frontier.clone() {
                let tree = found.batch[expanded];
                let list = made.list(found.nodes[expanded] as u64).unwrap();
                let mut possible: Vec<usize> = list.filter(|&at| passes(tree, at)).collect();
                let count = if fanout < 0 { possible.len() } else { possible.len().min(fanout as usize) };
                let got = picked.remove(&(expanded as i64)).unwrap_or_default();
                if last {
                    possible.sort_by_key(|&at| (time(at), at));
                    let mut latest = possible.split_off(possible.len() - count);
                    latest.sort_unstable();
                    prop_assert_eq!(got, latest);
                } else if !labor || count == possible.len() {
                    prop_assert_eq!(got.len(), count);
                }
            }
            frontier = frontier.end..frontier.end + found.nodes_per_hop[hop + 1] as usize;
        }
    }
}

#[test]
fn edges_in_time_are_every_subset_equally_often() {
    let times = vec![4, 9, 1, 3, 2, 8, 0];
    let lists = MadeLists::new(&[vec![0; 7]]);
    let mut sorted_times = times.clone();
    sorted_times.sort_unstable();
    for lists in [lists.clone().times(times), lists.order(ListOrder::Time).times(sorted_times)] {
        let mut seen: HashMap<Vec<i64>, f64> = HashMap::new();
        for batch in 0..6000 {
            let options = FanoutOptions::new([2]).window(Some(3)).seed(3).batch(batch);
            let mut found = run(&lists, Seeds::new(&[0]).times(&[4]), &options).edge_ids;
            found.sort_unstable();
            *seen.entry(found).or_default() += 1.0;
        }
        assert_eq!(seen.len(), 6); // of the times 1 to 4
        let chi_square: f64 = seen.values().map(|count| (count - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi_square < 20.5, "{seen:?}");
    }
}

#[test]
fn equal_seeds_grow_different_trees() {
    let lists = MadeLists::new(&[(0..1000).map(|_| 0).collect()]);
    let options = FanoutOptions::new([3]).disjoint(true).seed(1);
    let found = run(&lists, Seeds::new(&[0, 0]), &options);
    assert_ne!(found.edge_ids[..3], found.edge_ids[3..]);
    assert_eq!((found.nodes, found.batch), (vec![0, 0], vec![0, 1]));
}

#[test]
fn times_that_do_not_fit_are_named() {
    let lists = MadeLists::new(&[vec![0], vec![0]]);
    let fails = |seeds: Seeds<'_>, options: FanoutOptions| {
        sample(&lists, seeds, &options, Direction::In, &mut Scratch::new()).unwrap_err()
    };
    let hop = FanoutOptions::new([1]);
    let missing = fails(Seeds::new(&[0]).times(&[1]), hop.clone());
    assert!(missing.to_string().contains("--time-column"), "{missing}");
    let short = fails(Seeds::new(&[0, 1]).times(&[1]).node_times(&[1, 2]), hop.clone());
    assert!(matches!(short, Error::Times { what: "seed times", found: 1, expected: 2 }));
    let short = fails(Seeds::new(&[0]).times(&[1]).node_times(&[1]), hop.clone());
    assert!(matches!(short, Error::Times { what: "node times", found: 1, expected: 2 }));
    for options in [hop.clone().window(Some(1)), hop.clone().strategy(Latest::Last)] {
        assert!(matches!(fails(Seeds::new(&[0]), options), Error::NoSeedTimes));
    }
    assert!(matches!(fails(Seeds::new(&[0]).node_times(&[1, 2]), hop), Error::NoSeedTimes));
}

#[test]
fn the_ends_of_time_are_times() {
    let lists = MadeLists::new(&[vec![0, 0, 0]]).times(vec![i64::MIN, 0, i64::MAX]);
    let options = FanoutOptions::new([-1]);
    let seeds = [0, 0, 0];
    let times = [i64::MIN, 0, i64::MAX];
    let found = run(&lists, Seeds::new(&seeds).times(&times), &options);
    assert_eq!(found.edge_ids, [0, 0, 1, 0, 1, 2]);
    let found = run(&lists, Seeds::new(&seeds).times(&times), &options.window(Some(u64::MAX)));
    assert_eq!(found.edge_ids, [0, 0, 1, 0, 1, 2]);
}
