//! LABOR: inclusion probabilities, and fewer nodes than picking every list by itself.

use super::made_lists::MadeLists;
use graphmill_format::Direction;
use graphmill_sample::{FanoutOptions, Method, Scratch, sample};
use std::collections::BTreeSet;

const LABOR: Method = Method::Labor { layer_dependency: false };

fn edges(lists: &MadeLists, seeds: &[i64], options: FanoutOptions) -> Vec<i64> {
    sample(lists, seeds, &options, Direction::In, &mut Scratch::new()).unwrap().edge_ids
}

#[test]
fn every_edge_is_kept_with_probability_fanout_over_degree() {
    // Three neighbours of node 0, all of which node 1 has too, and seven more of node 1.
    let mut lists = vec![vec![2, 3, 4], (2..12).collect()];
    lists.resize(12, Vec::new());
    let lists = MadeLists::new(&lists);
    let draws = 20_000;
    let mut kept = [0_f64; 13];
    let mut only_second = 0;
    for batch in 0..draws {
        let options = FanoutOptions::new([2]).method(LABOR).seed(1).batch(batch);
        let found = edges(&lists, &[0, 1], options);
        found.iter().for_each(|&edge| kept[edge as usize] += 1.0);
        // Node 2 is edge 0 of the first list and edge 3 of the second, which keeps it more rarely.
        only_second += u32::from(found.contains(&3) && !found.contains(&0));
    }
    for (edge, &count) in kept.iter().enumerate() {
        let chance = if edge < 3 { 2.0 / 3.0 } else { 0.2 };
        let expected = f64::from(draws as u32) * chance;
        let deviation = (expected * (1.0 - chance)).sqrt();
        assert!((count - expected).abs() < 4.0 * deviation, "edge {edge}: {count}, not {expected}");
    }
    assert_eq!(only_second, 0, "one number per neighbour decides for both lists");
}

#[test]
fn short_lists_are_taken_whole() {
    let lists = MadeLists::new(&[vec![1, 1, 2], vec![], vec![]]);
    for fanout in [3, 4, -1] {
        let options = FanoutOptions::new([fanout]).method(LABOR);
        assert_eq!(edges(&lists, &[0], options), [0, 1, 2]);
    }
    assert!(edges(&lists, &[0], FanoutOptions::new([0]).method(LABOR)).is_empty());
}

#[test]
fn hops_share_their_numbers_only_if_they_should() {
    // A ring of hubs: every node lists the same 40 nodes, so both hops decide about the same neighbours.
    let lists = MadeLists::new(&vec![(0..40).collect::<Vec<_>>(); 40]);
    let distinct = |layer_dependency| -> usize {
        let of = |seed| {
            let method = Method::Labor { layer_dependency };
            let options = FanoutOptions::new([8, 8]).method(method).seed(seed);
            sample(&lists, &[0, 1], &options, Direction::In, &mut Scratch::new()).unwrap()
        };
        (0..50).map(|seed| of(seed).nodes.len()).sum()
    };
    let (dependent, independent) = (distinct(true), distinct(false));
    assert!(dependent < independent, "{dependent} and {independent} nodes");
}

#[test]
fn shared_neighbours_make_fewer_nodes_than_uniform_sampling() {
    let lists: Vec<Vec<u64>> = (0..2000_u64)
        .map(|node| (0..60).map(|edge| (node / 100 * 100 + edge * 7) % 2000).collect())
        .collect();
    let lists = MadeLists::new(&lists);
    let seeds: Vec<i64> = (0..200).collect();
    let (mut labor, mut uniform, mut labor_edges, mut uniform_edges) = (0, 0, 0, 0);
    for seed in 0..20 {
        let options = FanoutOptions::new([10]).seed(seed);
        let run = |options: &FanoutOptions| {
            sample(&lists, &seeds, options, Direction::In, &mut Scratch::new()).unwrap()
        };
        let found = run(&options);
        (uniform, uniform_edges) = (uniform + found.nodes.len(), uniform_edges + found.row.len());
        let found = run(&options.method(LABOR));
        (labor, labor_edges) = (labor + found.nodes.len(), labor_edges + found.row.len());
        let all: BTreeSet<_> = found.edge_ids.iter().collect();
        assert_eq!(all.len(), found.edge_ids.len());
    }
    assert!((labor_edges as f64 / uniform_edges as f64 - 1.0).abs() < 0.1);
    assert!(labor * 10 < uniform * 9, "{labor} nodes, uniform {uniform}");
}

#[test]
fn what_labor_cannot_do_is_refused() {
    let lists = MadeLists::new(&[vec![0]]);
    for options in [FanoutOptions::new([1]).replace(true), FanoutOptions::new([1]).weighted(true)] {
        let options = options.method(LABOR);
        let error = sample(&lists, &[0], &options, Direction::In, &mut Scratch::new()).unwrap_err();
        assert!(error.to_string().contains("LABOR"), "{error}");
    }
}
