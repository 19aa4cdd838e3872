//! Which nodes and edges a fan-out returns, and in which order, against a slow reading of the rules.

use super::made_lists::MadeLists;
use graphmill_disk::Budget;
use graphmill_format::Direction;
use graphmill_sample::{Error, FanoutOptions, Sample, Scratch, Topology, sample, sample_within};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};

fn run(lists: &MadeLists, seeds: &[i64], options: &FanoutOptions) -> Sample {
    sample(lists, seeds, options, Direction::In, &mut Scratch::new()).unwrap()
}

/// How many edges the rules give to a node with `degree` neighbours.
fn expected_picks(degree: usize, fanout: i64, replace: bool) -> usize {
    match fanout {
        -1 => degree,
        _ if replace && degree > 0 => fanout as usize,
        _ => degree.min(fanout as usize),
    }
}

/// Follows the picked positions with plain maps and scans; everything but the choice of positions is recomputed.
fn relabelled(
    lists: &MadeLists,
    seeds: &[i64],
    options: &FanoutOptions,
    follow: Direction,
    picked: &[i64],
) -> Sample {
    let mut expected = Sample { nodes: seeds.to_vec(), ..Sample::default() };
    expected.nodes_per_hop.push(seeds.len() as u64);
    let mut positions = picked.iter();
    let mut frontier = 0..seeds.len();
    for &fanout in &options.fanouts {
        let edges_before = expected.edge_ids.len();
        for expanded in frontier.clone() {
            let list = lists.list(expected.nodes[expanded] as u64).unwrap();
            for _ in 0..expected_picks(list.len(), fanout, options.replace) {
                let position = *positions.next().expect("an edge is missing");
                assert!(list.contains(&(position as usize)), "edge {position} of another node");
                let found = lists.neighbour(position as usize).unwrap() as i64;
                let known = expected.nodes.iter().position(|&node| node == found);
                let found = known.unwrap_or_else(|| {
                    expected.nodes.push(found);
                    expected.nodes.len() - 1
                });
                let (source, destination) =
                    if follow == Direction::In { (found, expanded) } else { (expanded, found) };
                expected.row.push(source as i64);
                expected.col.push(destination as i64);
                expected.edge_ids.push(position);
            }
        }
        expected.edges_per_hop.push((expected.edge_ids.len() - edges_before) as u64);
        frontier = frontier.end..expected.nodes.len();
        expected.nodes_per_hop.push(frontier.len() as u64);
    }
    expected
}

fn graphs() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (1_u64..25).prop_flat_map(|nodes| {
        let list = prop::collection::vec(0..nodes, 0..12);
        prop::collection::vec(list, nodes as usize)
    })
}

proptest! {
    #[test]
    fn edges_labels_and_hops_follow_the_rules(
        lists in graphs(),
        seeds in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        fanouts in prop::collection::vec(-1_i64..6, 0..4),
        replace: bool,
        inward: bool,
        seed: u64,
    ) {
        let made = MadeLists::new(&lists);
        let seeds: Vec<i64> = seeds.iter().map(|seed| seed.index(lists.len()) as i64).collect();
        let options = FanoutOptions::new(fanouts).replace(replace).seed(seed);
        let follow = if inward { Direction::In } else { Direction::Out };
        let found = sample(&made, &seeds, &options, follow, &mut Scratch::new()).unwrap();
        prop_assert_eq!(&found, &relabelled(&made, &seeds, &options, follow, &found.edge_ids));

        let later = &found.nodes[seeds.len()..];
        let all: BTreeSet<_> = found.nodes.iter().collect();
        let given: BTreeSet<_> = seeds.iter().collect();
        prop_assert_eq!(all.len(), given.len() + later.len());
        if !replace {
            // An edge comes once for each time that its node is expanded.
            let mut times = HashMap::new();
            for edge in &found.edge_ids {
                *times.entry(edge).or_insert(0) += 1;
            }
            let expanded = if inward { &found.col } else { &found.row };
            for (edge, &local) in found.edge_ids.iter().zip(expanded) {
                let node = found.nodes[local as usize];
                prop_assert_eq!(times[edge], seeds.iter().filter(|&&s| s == node).count().max(1));
            }
        }
    }

    #[test]
    fn a_used_scratch_changes_nothing(
        lists in graphs(), fanouts in prop::collection::vec(-1_i64..4, 1..4), seed: u64,
    ) {
        let made = MadeLists::new(&lists);
        let seeds: Vec<i64> = (0..lists.len() as i64).collect();
        let mut used = Scratch::new();
        for batch in 0..4 {
            let options = FanoutOptions::new(fanouts.clone()).seed(seed).batch(batch);
            let some = &seeds[..seeds.len() >> batch];
            let again = sample(&made, some, &options, Direction::In, &mut used).unwrap();
            prop_assert_eq!(again, run(&made, some, &options));
        }
    }
}

/// 0 <- 1, 2, 3; 1 <- 0, 2; 2 <- nothing; 3 <- 3 (a loop, twice).
fn small() -> MadeLists {
    MadeLists::new(&[vec![1, 2, 3], vec![0, 2], vec![], vec![3, 3]])
}

#[test]
fn a_known_neighbourhood_is_returned_as_pyg_would() {
    let found = run(&small(), &[1, 0], &FanoutOptions::new([-1, -1]));
    assert_eq!(found.nodes, [1, 0, 2, 3]);
    assert_eq!(found.row, [1, 2, 0, 2, 3, 3, 3]);
    assert_eq!(found.col, [0, 0, 1, 1, 1, 3, 3]);
    assert_eq!(found.edge_ids, [3, 4, 0, 1, 2, 5, 6]);
    assert_eq!((found.nodes_per_hop, found.edges_per_hop), (vec![2, 2, 0], vec![5, 2]));
}

#[test]
fn no_seeds_no_hops_and_empty_hops_give_empty_results() {
    let none = run(&small(), &[], &FanoutOptions::new([2, 2]));
    assert_eq!((none.nodes.len(), none.nodes_per_hop), (0, vec![0, 0, 0]));
    let no_hops = run(&small(), &[0, 2], &FanoutOptions::new([]));
    assert_eq!((no_hops.nodes, no_hops.nodes_per_hop), (vec![0, 2], vec![2]));
    let nothing = run(&small(), &[0], &FanoutOptions::new([0, 5]));
    assert_eq!((nothing.nodes, nothing.nodes_per_hop), (vec![0], vec![1, 0, 0]));
    let isolated = run(&small(), &[2], &FanoutOptions::new([3]).replace(true));
    assert_eq!((isolated.nodes, isolated.edges_per_hop), (vec![2], vec![0]));
}

#[test]
fn a_seed_given_twice_is_expanded_twice_and_found_at_its_first_place() {
    let found = run(&small(), &[1, 1, 0], &FanoutOptions::new([-1]));
    assert_eq!(found.nodes, [1, 1, 0, 2, 3]);
    assert_eq!(found.row, [2, 3, 2, 3, 0, 3, 4]);
    assert_eq!(found.col, [0, 0, 1, 1, 2, 2, 2]);
    assert_eq!(found.nodes_per_hop, [3, 2]);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let lists = small();
    let fails = |seeds: &[i64], options: FanoutOptions, follow| {
        sample(&lists, seeds, &options, follow, &mut Scratch::new()).unwrap_err().to_string()
    };
    let text = fails(&[0, 3, -2], FanoutOptions::new([1]), Direction::In);
    assert!(text.contains("seed -2 at position 2") && text.contains("0 to 3"), "{text}");
    assert!(fails(&[4], FanoutOptions::new([1]), Direction::In).contains("seed 4 at position 0"));
    let text = fails(&[0], FanoutOptions::new([1, -3]), Direction::In);
    assert!(text.contains("fan-out -3 of hop 1"), "{text}");
    let text = fails(&[0], FanoutOptions::new([1]), Direction::Both);
    assert!(text.contains("both-edges"), "{text}");
}

#[test]
fn an_absurd_fan_out_is_an_error_not_a_crash() {
    let mut scratch = Scratch::new();
    for fanout in [i64::MAX, 1 << 60, 1 << 50] {
        let options = FanoutOptions::new([fanout]).replace(true);
        let outcome = sample(&small(), &[0, 1, 3], &options, Direction::In, &mut scratch);
        assert!(matches!(outcome, Err(Error::TooLarge { hop: 0, .. })), "{fanout}: {outcome:?}");
        let options = FanoutOptions::new([fanout]);
        let all = sample(&small(), &[0, 1, 3], &options, Direction::In, &mut scratch).unwrap();
        assert_eq!(all.edges_per_hop, [7]);
    }
}

#[test]
fn the_budget_covers_the_lists_and_refuses_what_does_not_fit() {
    let lists: Vec<Vec<u64>> =
        (0..2000).map(|node| (0..200).map(|j| (node + j * 7) % 2000).collect()).collect();
    let lists = MadeLists::new(&lists);
    let options = FanoutOptions::new([100, 3]);
    let attempt = |total: u64| {
        let budget = Budget::new(total);
        let mut scratch = Scratch::within(&budget).unwrap();
        let mut memory = budget.reserve(0, "the lists").unwrap();
        let outcome =
            sample_within(&lists, &[0, 5, 9], &options, Direction::In, &mut scratch, &mut memory);
        assert_eq!(budget.used(), memory.bytes() + scratch.bytes());
        (outcome, memory.bytes(), budget.peak())
    };
    let (outcome, held, peak) = attempt(1 << 30);
    let found = outcome.unwrap();
    assert_eq!(held, found.bytes());
    assert!(held >= 8 * (found.nodes.len() + 3 * found.row.len()) as u64);
    assert_eq!(attempt(peak).0.unwrap(), found);
    for total in (0..peak).step_by(997) {
        match attempt(total) {
            (Err(Error::Memory(graphmill_disk::Error::Budget { .. })), 0, _) => {}
            other => panic!("a budget of {total} gave {other:?}"),
        }
    }
}
