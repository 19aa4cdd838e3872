//! The probabilities of walks, against the enumerated law of whole walks.

use super::walked_lists::{WalkedLists, assert_follows};
use graphmill_disk::Budget;
use graphmill_sample::{Error, WalkOptions, walk_over};
use std::collections::HashMap;

fn walks(lists: &WalkedLists, starts: &[i64], options: &WalkOptions) -> Vec<i64> {
    let mut walks = vec![7; starts.len() * (options.length + 1)];
    walk_over(lists, starts, options, &Budget::unlimited(), &mut walks).unwrap();
    walks
}

/// All walks that can happen from a start and their probabilities, by the words of the options alone.
fn law(lists: &WalkedLists, start: u64, options: &WalkOptions) -> HashMap<Vec<i64>, f64> {
    let mut law = HashMap::new();
    let mut open = vec![(vec![start as i64], None, 1.0)];
    while let Some((path, previous, probability)) = open.pop() {
        if path.len() > options.length {
            *law.entry(path).or_insert(0.0) += probability;
            continue;
        }
        let node = path[path.len() - 1] as u64;
        let extend = |next: u64| {
            let mut path = path.clone();
            path.push(next as i64);
            path
        };
        if options.restart > 0.0 {
            open.push((extend(start), None, probability * options.restart));
        }
        let share = |position: usize| {
            let next = lists.neighbours[position];
            let weight = match (&lists.weights, options.weighted) {
                (Some(weights), None | Some(true)) => weights[position].into(),
                _ => 1.0,
            };
            weight
                * match previous {
                    None => 1.0,
                    Some(previous) if previous == next => 1.0 / options.p,
                    Some(previous) if lists.has_edge(previous, next) => 1.0,
                    Some(_) => 1.0 / options.q,
                }
        };
        let total: f64 = lists.range(node).map(share).sum();
        let going_on = probability * (1.0 - options.restart);
        if total == 0.0 {
            let mut path = path.clone();
            path.resize(options.length + 1, if options.stay { node as i64 } else { -1 });
            *law.entry(path).or_insert(0.0) += going_on;
            continue;
        }
        for position in lists.range(node) {
            let next = extend(lists.neighbours[position]);
            open.push((next, Some(node), going_on * share(position) / total));
        }
    }
    law
}

/// Walks often from one start and compares whole walks with their law.
fn assert_law(lists: &WalkedLists, start: u64, options: &WalkOptions) {
    let draws = 60_000;
    let mut seen: HashMap<Vec<i64>, f64> = HashMap::new();
    for row in walks(lists, &vec![start as i64; draws], options).chunks(options.length + 1) {
        *seen.entry(row.to_vec()).or_default() += 1.0;
    }
    let law = law(lists, start, options);
    assert_follows(law, |walk| seen.get(walk).copied().unwrap_or(0.0), draws as f64);
}

/// Triangles, a loop, a double edge, an edge without its reverse, a leaf, and a dead end (6).
fn directed() -> Vec<Vec<u64>> {
    vec![
        vec![3, 1, 2, 2],
        vec![2, 0, 3],
        vec![0, 4, 1, 3, 2],
        vec![5, 0, 4],
        vec![0, 2],
        vec![3, 6],
        vec![],
    ]
}

fn undirected() -> Vec<Vec<u64>> {
    let edges = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 3), (3, 4), (4, 4), (1, 4), (3, 5)];
    WalkedLists::both_ways(6, &edges)
}

/// In all orders and with and without stored sums where it has weights.
fn variants(lists: &[Vec<u64>], is_symmetric: bool, weighted: bool) -> Vec<WalkedLists> {
    let orders = [WalkedLists::new(lists), WalkedLists::sorted(lists)];
    let orders = orders.map(|lists| WalkedLists { is_symmetric, ..lists });
    if !weighted {
        return orders.into();
    }
    // An undirected edge has one weight: it follows from both ends. Some edges have none.
    let weigh = |lists: WalkedLists, with_sums| {
        let owner = |at: usize| lists.offsets.partition_point(|&offset| offset <= at) as u64 - 1;
        let ends: Vec<u64> =
            (0..lists.neighbours.len()).map(|at| owner(at) + lists.neighbours[at]).collect();
        lists.weighted(|at| [0.5, 3.0, 1.25, 0.0, 2.0][ends[at] as usize % 5], with_sums)
    };
    let [file, id] = orders;
    vec![weigh(file.clone(), false), weigh(file, true), weigh(id.clone(), false), weigh(id, true)]
}

#[test]
fn uniform_walks_follow_their_law() {
    for lists in variants(&directed(), false, false) {
        assert_law(&lists, 0, &WalkOptions::new(4).seed(1));
    }
}

#[test]
fn weights_count_unless_they_shall_not() {
    for lists in variants(&directed(), false, true) {
        assert_law(&lists, 0, &WalkOptions::new(3).seed(2));
        assert_law(&lists, 0, &WalkOptions::new(3).weighted(Some(true)).seed(3));
        assert_law(&lists, 0, &WalkOptions::new(3).weighted(Some(false)).seed(4));
    }
}

#[test]
fn restarts_lead_to_the_start_and_forget_the_way() {
    for lists in variants(&directed(), false, true) {
        assert_law(&lists, 5, &WalkOptions::new(4).restart(0.3).seed(5));
        assert_law(&lists, 5, &WalkOptions::new(4).restart(0.2).node2vec(0.2, 3.0).seed(6));
    }
    let ring = WalkedLists::sorted(&[vec![1], vec![2], vec![0]]);
    let always = WalkOptions::new(2).restart(1.0);
    assert_eq!(walks(&ring, &[1, 2], &always), [1, 1, 1, 2, 2, 2]);
}

#[test]
fn node2vec_follows_its_law() {
    for (lists, is_symmetric) in [(directed(), false), (undirected(), true)] {
        for weighted in [false, true] {
            for lists in variants(&lists, is_symmetric, weighted) {
                for (p, q) in [(1.0, 0.5), (0.25, 4.0), (4.0, 0.25), (0.6, 1.0), (2.0, 3.0)] {
                    assert_law(&lists, 2, &WalkOptions::new(3).node2vec(p, q).seed(7));
                }
            }
        }
    }
}

#[test]
fn node2vec_follows_its_law_where_nearly_all_is_rejected() {
    for (lists, is_symmetric) in [(directed(), false), (undirected(), true)] {
        for weighted in [false, true] {
            for lists in variants(&lists, is_symmetric, weighted) {
                for (p, q) in [(1e-9, 1e9), (1e9, 1e9), (1e9, 1e-9), (1e-9, 1e-9), (300.0, 200.0)] {
                    assert_law(&lists, 2, &WalkOptions::new(3).node2vec(p, q).seed(8));
                }
            }
        }
    }
}

#[test]
fn equal_starts_walk_independently() {
    // Two rows of one call: all pairs of walks are as likely as the product of both.
    let lists = WalkedLists::sorted(&directed());
    let options = WalkOptions::new(2);
    let mut seen: HashMap<Vec<i64>, f64> = HashMap::new();
    for seed in 0..60_000 {
        *seen.entry(walks(&lists, &[1, 1], &options.clone().seed(seed))).or_default() += 1.0;
    }
    let one = law(&lists, 1, &options);
    let pairs = one.iter().flat_map(|(first, chance)| {
        one.iter()
            .map(move |(second, other)| ([first.clone(), second.clone()].concat(), chance * other))
    });
    assert_follows(pairs, |walk| seen.get(walk).copied().unwrap_or(0.0), 60_000.0);
}

#[test]
fn dead_ends_end_or_stay() {
    let lists = WalkedLists::sorted(&[vec![1], vec![], vec![0]]);
    let options = WalkOptions::new(4);
    let ended = [2, 0, 1, -1, -1, 1, -1, -1, -1, -1];
    let stayed = [2, 0, 1, 1, 1, 1, 1, 1, 1, 1];
    for (p, q) in [(1.0, 1.0), (0.1, 2.0)] {
        let options = options.clone().node2vec(p, q);
        assert_eq!(walks(&lists, &[2, 1], &options), ended);
        assert_eq!(walks(&lists, &[2, 1], &options.stay(true)), stayed);
    }
    let weightless = lists.weighted(|_| 0.0, false);
    assert_eq!(walks(&weightless, &[2], &WalkOptions::new(2)), [2, -1, -1]);
    assert_eq!(walks(&weightless, &[2], &WalkOptions::new(2).node2vec(0.1, 9.0)), [2, -1, -1]);
}

#[test]
fn bad_weights_are_errors_and_no_hang() {
    for bad in [f32::NAN, -1.0, f32::INFINITY] {
        for with_sums in [false, true] {
            for (p, q) in [(1.0, 1.0), (1e-9, 1e9), (1e9, 1e9)] {
                let lists = WalkedLists::sorted(&[vec![1, 2], vec![0, 2], vec![0, 1]]);
                let lists = lists.weighted(|at| if at == 1 { bad } else { 1.0 }, with_sums);
                let options = WalkOptions::new(50).node2vec(p, q);
                let walked =
                    walk_over(&lists, &[0; 100], &options, &Budget::unlimited(), &mut [0; 5100]);
                // A negative weight in the middle may lie between sums that look fine.
                if !(with_sums && bad < 0.0) {
                    let error = walked.unwrap_err();
                    assert!(matches!(error, Error::Weight { .. }), "{error}");
                }
            }
        }
    }
}
