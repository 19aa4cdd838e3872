//! Pairs that are no edges: their law, their promises, and the end of the search when there are none.

use super::walked_lists::{WalkedLists, assert_follows};
use graphmill_disk::with_threads;
use graphmill_format::Direction;
use graphmill_sample::{
    Error, FirstNodes, NegativeOptions, Result, negative_destinations_over, negative_edges_over,
};
use std::collections::HashMap;

fn pairs(
    lists: &WalkedLists,
    follow: Direction,
    count: usize,
    options: &NegativeOptions,
) -> Result<(Vec<i64>, Vec<i64>)> {
    let (mut sources, mut destinations) = (vec![7; count], vec![7; count]);
    negative_edges_over(lists, follow, options, &mut sources, &mut destinations)?;
    Ok((sources, destinations))
}

/// Edges among six nodes, one of them twice, one a loop; node 5 has no edge out and node 0 none in.
const EDGES: [(u64, u64); 11] =
    [(0, 1), (0, 2), (0, 2), (1, 2), (1, 3), (2, 2), (2, 4), (3, 1), (4, 5), (3, 5), (4, 3)];

fn lists(follow: Direction) -> [WalkedLists; 2] {
    let mut lists = vec![Vec::new(); 6];
    for (source, destination) in EDGES {
        match follow {
            Direction::In => lists[destination as usize].push(source),
            _ => lists[source as usize].push(destination),
        }
    }
    [WalkedLists::new(&lists), WalkedLists::sorted(&lists)]
}

/// How often a pair is drawn, as a share of all, by the words of the options.
fn law(options: &NegativeOptions, source: Option<u64>) -> HashMap<(i64, i64), f64> {
    let weight = |from: u64, to: u64| {
        let is_negative = from != to && !EDGES.contains(&(from, to));
        let degree = EDGES.iter().filter(|edge| edge.1 == to).count() as f64;
        let weight = if options.weighted { degree } else { 1.0 };
        if (options.strict && !is_negative) || source.is_some_and(|source| source != from) {
            0.0
        } else {
            weight
        }
    };
    let all = (0..6).flat_map(|from| (0..6).map(move |to| (from, to)));
    let total: f64 = all.clone().map(|(from, to)| weight(from, to)).sum();
    all.map(|(from, to)| ((from as i64, to as i64), weight(from, to) / total)).collect()
}

fn kinds() -> impl Iterator<Item = NegativeOptions<'static>> {
    [(false, true), (true, true), (false, false), (true, false)]
        .into_iter()
        .map(|(weighted, strict)| NegativeOptions::new().weighted(weighted).strict(strict).seed(11))
}

#[test]
fn pairs_follow_their_law() {
    for follow in [Direction::Out, Direction::In] {
        for lists in lists(follow) {
            for options in kinds() {
                let (sources, destinations) = pairs(&lists, follow, 60_000, &options).unwrap();
                let mut seen: HashMap<(i64, i64), f64> = HashMap::new();
                for pair in sources.into_iter().zip(destinations) {
                    *seen.entry(pair).or_default() += 1.0;
                }
                let law = law(&options, None);
                assert_follows(law, |pair| seen.get(pair).copied().unwrap_or(0.0), 60_000.0);
            }
        }
    }
}

#[test]
fn destinations_of_given_sources_follow_the_law_of_each() {
    for follow in [Direction::Out, Direction::In] {
        for lists in lists(follow) {
            for options in kinds() {
                let sources: Vec<i64> = (0..6000).map(|row| row % 6).collect();
                let mut found = vec![0; sources.len() * 5];
                negative_destinations_over(&lists, follow, &sources, 5, &options, &mut found)
                    .unwrap();
                for source in 0..6 {
                    let mut seen: HashMap<i64, f64> = HashMap::new();
                    for (row, _) in sources.iter().enumerate().filter(|(_, from)| **from == source)
                    {
                        for &destination in &found[row * 5..][..5] {
                            *seen.entry(destination).or_default() += 1.0;
                        }
                    }
                    let law = law(&options, Some(source as u64));
                    let of_source = law.into_iter().filter(|(pair, _)| pair.0 == source);
                    let count = |pair: &(i64, i64)| seen.get(&pair.1).copied().unwrap_or(0.0);
                    assert_follows(of_source, count, 5000.0);
                }
            }
        }
    }
}

#[test]
fn an_undirected_edge_is_none_from_either_end() {
    // A hub and its leaves, in file order: looked up at the shorter end.
    let edges: Vec<(u64, u64)> = (1..40).map(|leaf| (0, leaf)).collect();
    let lists = WalkedLists::new(&WalkedLists::both_ways(40, &edges));
    let lists = WalkedLists { is_symmetric: true, ..lists };
    let (sources, destinations) =
        pairs(&lists, Direction::Out, 5000, &NegativeOptions::new()).unwrap();
    assert!(sources.iter().chain(&destinations).all(|&node| node != 0));
    assert!(sources.iter().zip(&destinations).all(|(source, destination)| source != destination));
}

#[test]
fn complete_graphs_end_in_an_error() {
    let complete: Vec<Vec<u64>> = (0..30).map(|_| (0..30).collect()).collect();
    let alone = vec![Vec::new()];
    for (lists, is_complete) in [(complete, true), (alone, false)] {
        for lists in [WalkedLists::new(&lists), WalkedLists::sorted(&lists)] {
            for options in [NegativeOptions::new(), NegativeOptions::new().weighted(is_complete)] {
                let error = pairs(&lists, Direction::Out, 10, &options).unwrap_err();
                assert!(matches!(error, Error::NoNegatives { .. }), "{error}");
                let mut found = [0; 3];
                let error = negative_destinations_over(
                    &lists,
                    Direction::Out,
                    &[0],
                    3,
                    &options,
                    &mut found,
                );
                assert!(matches!(error, Err(Error::NoNegatives { .. })));
            }
            assert!(
                pairs(&lists, Direction::Out, 10, &NegativeOptions::new().strict(false)).is_ok()
            );
        }
    }
}

#[test]
fn what_is_not_there_is_told() {
    let none = WalkedLists::new(&[]);
    assert!(pairs(&none, Direction::Out, 0, &NegativeOptions::new()).is_ok());
    let error = pairs(&none, Direction::Out, 1, &NegativeOptions::new()).unwrap_err();
    assert!(matches!(error, Error::NotStored { what: "nodes", .. }));
    let bare = WalkedLists::new(&[vec![], vec![]]);
    assert!(pairs(&bare, Direction::Out, 5, &NegativeOptions::new()).is_ok());
    let error =
        pairs(&bare, Direction::Out, 5, &NegativeOptions::new().weighted(true)).unwrap_err();
    assert!(matches!(error, Error::NotStored { what: "edges", .. }));
    let options = NegativeOptions::new();
    for bad in [-1, 2] {
        let error =
            negative_destinations_over(&bare, Direction::Out, &[0, bad], 1, &options, &mut [0; 2]);
        assert!(matches!(error, Err(Error::Seed { position: 1, .. })));
    }
    let error = negative_edges_over(&bare, Direction::Out, &options, &mut [0; 2], &mut [0; 3]);
    assert!(matches!(error, Err(Error::Room { .. })));
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
    for options in kinds() {
        let run = |threads| {
            let pool = with_threads(Some(threads)).unwrap();
            pool.install(|| pairs(&lists, Direction::Out, 40_000, &options).unwrap())
        };
        let one = run(1);
        for threads in [2, 4, 8] {
            assert!(run(threads) == one, "{threads} threads, {options:?}");
        }
    }
}

fn digest(ids: &[i64]) -> u64 {
    ids.iter().flat_map(|id| id.to_le_bytes()).fold(0xCBF2_9CE4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[test]
fn a_seed_gives_the_same_bytes_for_ever() {
    let lists = thousand();
    let digests = [(false, true), (true, true), (false, false)].map(|(weighted, strict)| {
        let options = NegativeOptions::new().weighted(weighted).strict(strict).seed(42);
        let (sources, destinations) = pairs(&lists, Direction::Out, 500, &options).unwrap();
        digest(&[sources, destinations].concat())
    });
    assert_eq!(digests, GOLDEN);
    let starts: Vec<i64> = (0..200).map(|row| row * 37 % 1000).collect();
    let options = NegativeOptions::new().weighted(true).seed(42);
    let mut found = vec![0; 600];
    negative_destinations_over(&lists, Direction::Out, &starts, 3, &options, &mut found).unwrap();
    assert_eq!(digest(&found), 14160150800944549327);
}

/// These and the one above were computed by a second implementation of the rules, in another language.
const GOLDEN: [u64; 3] = [10085739292065421342, 18183188628499113921, 4886838006402555136];

#[test]
fn nodes_are_drawn_alike_among_the_first_of_an_order() {
    // Edges among the first of the order are (3, 5) and none among the first two, so that pairs are left.
    let (order, rows) = ([5, 0, 3, 1, 2, 4], 30_000);
    let counts: Vec<usize> = (0..rows).map(|row| if row % 2 == 0 { 3 } else { 2 }).collect();
    let among = FirstNodes { order: &order, counts: &counts };
    let options = NegativeOptions::new().strict(false).among(Some(among)).seed(4);
    for lists in lists(Direction::In) {
        let (sources, destinations) = pairs(&lists, Direction::In, rows, &options).unwrap();
        for (parity, first) in [(0, 3), (1, 2)] {
            let mut seen: HashMap<(i64, i64), f64> = HashMap::new();
            for row in (parity..rows).step_by(2) {
                *seen.entry((sources[row], destinations[row])).or_default() += 1.0;
            }
            let allowed = &order[..first];
            let both = allowed.iter().flat_map(|&from| allowed.iter().map(move |&to| (from, to)));
            let law = both.map(|pair| (pair, 1.0 / (first * first) as f64));
            let drawn = rows as f64 / 2.0;
            assert_follows(law, |pair| seen.get(pair).copied().unwrap_or(0.0), drawn);
            assert_eq!(seen.values().sum::<f64>(), drawn);
        }
        let others = pairs(&lists, Direction::In, rows, &options.clone().strict(true)).unwrap();
        for (row, pair) in others.0.iter().zip(&others.1).enumerate() {
            assert!(pair.0 != pair.1 && order[..counts[row]].contains(pair.0));
            assert!(order[..counts[row]].contains(pair.1));
            assert!(!EDGES.contains(&(*pair.0 as u64, *pair.1 as u64)));
        }
    }
}
