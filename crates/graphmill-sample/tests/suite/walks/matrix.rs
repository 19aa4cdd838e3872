//! One hop as a matrix: the law of a row, what it is made of, and the promises on threads and seeds.

use super::walked_lists::{WalkedLists, assert_follows};
use graphmill_disk::{Budget, with_threads};
use graphmill_sample::{Error, neighbour_matrix_over};
use proptest::prelude::*;
use std::collections::HashMap;

fn matrix(lists: &WalkedLists, nodes: &[i64], count: usize, seed: u64) -> Vec<i64> {
    let mut matrix = vec![7; nodes.len() * count];
    let budget = Budget::unlimited();
    neighbour_matrix_over(lists, nodes, count, -1, seed, &budget, &mut matrix).unwrap();
    matrix
}

#[test]
fn every_subset_is_equally_likely() {
    let lists = WalkedLists::new(&[vec![5, 6, 7, 8, 9, 10], vec![]]);
    let mut seen: HashMap<Vec<i64>, f64> = HashMap::new();
    for row in
        matrix(&WalkedLists { offsets: vec![0, 6, 6], ..lists }, &[0; 40_000], 3, 1).chunks(3)
    {
        let mut row = row.to_vec();
        row.sort_unstable();
        *seen.entry(row).or_default() += 1.0;
    }
    assert_eq!(seen.len(), 20);
    let law: Vec<_> = seen.keys().map(|row| (row.clone(), 0.05)).collect();
    assert_follows(law, |row| seen[row], 40_000.0);
}

proptest! {
    #[test]
    fn a_row_is_distinct_edges_and_then_padding(
        degrees in prop::collection::vec(0_usize..200, 1..20),
        rows in prop::collection::vec(0_usize..1000, 0..200),
        count in 0_usize..130,
        seed: u64,
    ) {
        // Neighbours are numbered through, so that each names its edge; there are as many nodes as edges, then.
        let mut lists = Vec::new();
        let mut edge = 0;
        for degree in &degrees {
            lists.push((edge..edge + *degree as u64).collect::<Vec<u64>>());
            edge += *degree as u64;
        }
        lists.resize(lists.len().max(edge as usize), Vec::new());
        let lists = WalkedLists::new(&lists);
        let nodes: Vec<i64> = rows.iter().map(|row| (row % degrees.len()) as i64).collect();
        let found = matrix(&lists, &nodes, count, seed);
        for (row, &node) in nodes.iter().enumerate() {
            let ids = &found[row * count..][..count];
            let list = lists.range(node as u64);
            let picks = list.len().min(count);
            let mut picked: Vec<i64> = ids[..picks].to_vec();
            if list.len() <= count {
                prop_assert!(picked.iter().copied().eq(list.clone().map(|at| at as i64)));
            }
            picked.sort_unstable();
            picked.dedup();
            prop_assert_eq!(picked.len(), picks);
            prop_assert!(picked.iter().all(|&id| list.contains(&(id as usize))));
            prop_assert!(ids[picks..].iter().all(|&id| id == -1));
        }
    }
}

/// A thousand nodes, some with long lists, as in the tests of fan-outs.
fn thousand() -> WalkedLists {
    let lists: Vec<Vec<u64>> = (0..1000_u64)
        .map(|node| (0..node * 7 % 120).map(|edge| (node * 31 + edge * edge * 17) % 1000).collect())
        .collect();
    WalkedLists::sorted(&lists)
}

#[test]
fn threads_do_not_matter() {
    let lists = thousand();
    let nodes: Vec<i64> = (0..20_000).map(|row| row * 37 % 1000).collect();
    let run =
        |threads| with_threads(Some(threads)).unwrap().install(|| matrix(&lists, &nodes, 10, 3));
    let one = run(1);
    assert!([2, 4, 8].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn a_seed_gives_the_same_bytes_for_ever() {
    let lists = thousand();
    let nodes: Vec<i64> = (0..200).map(|row| row * 37 % 1000).collect();
    let digests = [10, 60].map(|count| {
        let bytes = matrix(&lists, &nodes, count, 42).into_iter().flat_map(i64::to_le_bytes);
        bytes.fold(0xCBF2_9CE4_8422_2325, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
    });
    // Computed by a second implementation of the rules, in another language.
    assert_eq!(digests, [13770241976321132975_u64, 16306237226256039951]);
}

#[test]
fn what_means_nothing_is_refused() {
    let lists = thousand();
    let refused = |nodes: &[i64], count, room| {
        let mut matrix = vec![0; room];
        let budget = Budget::new(100);
        neighbour_matrix_over(&lists, nodes, count, 0, 1, &budget, &mut matrix).unwrap_err()
    };
    assert!(matches!(refused(&[0, 1000], 2, 4), Error::Seed { position: 1, found: 1000, .. }));
    assert!(matches!(refused(&[0], 2, 3), Error::Room { .. }));
    assert!(matches!(refused(&[0, 0], usize::MAX, 3), Error::Room { .. }));
    assert!(matches!(refused(&[17], 100, 100), Error::Memory(_)));
}
