//! The probabilities of a fan-out, and the promise that a seed gives the same bytes for ever.

use super::made_lists::MadeLists;
use graphmill_format::Direction;
use graphmill_sample::{FanoutOptions, Sample, Scratch, sample};
use std::collections::HashMap;

/// Counts outcomes of 1000 draws per possible outcome and compares them with equal chances.
fn assert_uniform(outcomes: usize, limit: f64, draw: impl Fn(u64) -> Vec<i64>) {
    let mut seen: HashMap<Vec<i64>, f64> = HashMap::new();
    for number in 0..1000 * outcomes as u64 {
        *seen.entry(draw(number)).or_default() += 1.0;
    }
    assert_eq!(seen.len(), outcomes);
    let chi_square: f64 = seen.values().map(|count| (count - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi_square < limit, "chi square {chi_square} for {outcomes} outcomes");
}

fn edges(lists: &MadeLists, seeds: &[i64], options: FanoutOptions) -> Vec<i64> {
    sample(lists, seeds, &options, Direction::In, &mut Scratch::new()).unwrap().edge_ids
}

// The limits below are exceeded by one seed in a thousand, with one degree of freedom less than there are outcomes.

#[test]
fn distinct_edges_are_every_subset_equally_often() {
    let star = MadeLists::new(&[vec![0, 1, 1, 2, 0, 2], vec![], vec![]]);
    assert_uniform(20, 43.8, |batch| {
        let mut picked = edges(&star, &[0], FanoutOptions::new([3]).seed(1).batch(batch));
        picked.sort_unstable();
        picked
    });
}

#[test]
fn replaced_edges_are_every_sequence_equally_often() {
    let star = MadeLists::new(&[vec![0, 1, 1, 2], vec![], vec![]]);
    assert_uniform(16, 37.7, |epoch| {
        edges(&star, &[0], FanoutOptions::new([2]).replace(true).seed(2).epoch(epoch))
    });
}

#[test]
fn picks_of_nodes_and_hops_are_independent() {
    // 0 and 1 have three in-neighbours each; 2, the only node behind both, has three of its own.
    let lists = MadeLists::new(&[vec![2, 2, 2], vec![2, 2, 2], vec![0, 1, 2]]);
    assert_uniform(27, 54.1, |seed| edges(&lists, &[0, 1], FanoutOptions::new([1, 1]).seed(seed)));
}

#[test]
fn epochs_and_batches_of_one_seed_are_independent() {
    let star = MadeLists::new(&[vec![0, 0, 0]]);
    assert_uniform(27, 54.1, |seed| {
        let options = FanoutOptions::new([1]).seed(seed);
        let draws = [options.clone(), options.clone().epoch(1), options.batch(1)];
        draws.into_iter().flat_map(|options| edges(&star, &[0], options)).collect()
    });
}

/// FNV-1a over the little-endian bytes of every list, with their lengths.
fn digest(found: &Sample) -> u64 {
    let counts = |counts: &Vec<u64>| counts.iter().map(|&count| count as i64).collect();
    let lists: [Vec<i64>; 6] = [
        found.nodes.clone(),
        found.row.clone(),
        found.col.clone(),
        found.edge_ids.clone(),
        counts(&found.nodes_per_hop),
        counts(&found.edges_per_hop),
    ];
    let words = lists.iter().flat_map(|list| [list.len() as i64].into_iter().chain(list.clone()));
    words.flat_map(i64::to_le_bytes).fold(0xCBF2_9CE4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[test]
fn a_seed_gives_the_same_bytes_for_ever() {
    let lists: Vec<Vec<u64>> = (0..1000_u64)
        .map(|node| (0..node * 7 % 120).map(|edge| (node * 31 + edge * edge * 17) % 1000).collect())
        .collect();
    let lists = MadeLists::new(&lists);
    let seeds = [5, 17, 999, 0, 5, 413];
    let options = FanoutOptions::new([15, 60, 5]).seed(42).epoch(3).batch(7);
    let outward = sample(&lists, &seeds, &options, Direction::Out, &mut Scratch::new()).unwrap();
    let replaced = options.clone().replace(true);
    let replaced = sample(&lists, &seeds, &replaced, Direction::In, &mut Scratch::new()).unwrap();
    let inward = sample(&lists, &seeds, &options, Direction::In, &mut Scratch::new()).unwrap();
    assert_eq!([digest(&inward), digest(&outward), digest(&replaced)], GOLDEN);
}

/// Computed by a second implementation of the rules, in another language.
const GOLDEN: [u64; 3] = [1910444546578370813, 4073476514596730685, 4647966048309361785];
