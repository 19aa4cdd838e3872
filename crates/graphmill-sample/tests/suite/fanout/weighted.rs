//! The probabilities of weighted fan-outs, against enumerated laws.

use super::made_lists::MadeLists;
use graphmill_format::Direction;
use graphmill_sample::{Error, FanoutOptions, Scratch, sample};
use std::collections::HashMap;

fn star(weights: &[f32]) -> MadeLists {
    let mut lists = vec![(1..=weights.len() as u64).collect::<Vec<_>>()];
    lists.resize(weights.len() + 1, Vec::new());
    MadeLists::new(&lists).weights(weights.to_vec())
}

fn picks(lists: &MadeLists, options: &FanoutOptions, scratch: &mut Scratch) -> Vec<i64> {
    sample(lists, &[0], options, Direction::In, scratch).unwrap().edge_ids
}

/// The chance of drawing exactly these edges in this order.
fn chance(weights: &[f32], picked: &[i64], replace: bool) -> f64 {
    let mut left: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let mut chance = 1.0;
    for &edge in picked {
        let weight = f64::from(weights[edge as usize]);
        chance *= weight / left;
        if !replace {
            left -= weight;
        }
    }
    chance
}

fn sequences(edges: usize, length: usize, replace: bool) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for _ in 0..length {
        let extended = all.iter().flat_map(|one: &Vec<i64>| {
            (0..edges as i64)
                .filter(|edge| replace || !one.contains(edge))
                .map(|edge| [one.as_slice(), &[edge]].concat())
        });
        all = extended.collect();
    }
    all
}

/// Wilson and Hilferty's approximation of the value that chi square exceeds once in a thousand times.
fn limit(freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + 3.09 * part.sqrt()).powi(3)
}

fn assert_law(lists: &MadeLists, weights: &[f32], count: usize, replace: bool) {
    let draws = 40_000;
    let mut seen: HashMap<Vec<i64>, f64> = HashMap::new();
    let mut scratch = Scratch::new();
    for batch in 0..draws {
        let options = FanoutOptions::new([count as i64]).weighted(true).replace(replace);
        let found = picks(lists, &options.seed(5).batch(batch), &mut scratch);
        *seen.entry(found).or_default() += 1.0;
    }
    let (mut chi_square, mut outcomes, mut counted) = (0.0, 0.0, 0.0);
    for sequence in sequences(weights.len(), count, replace) {
        let expected = chance(weights, &sequence, replace) * draws as f64;
        let found = seen.get(&sequence).copied().unwrap_or(0.0);
        if expected == 0.0 {
            assert_eq!(found, 0.0, "{sequence:?}");
            continue;
        }
        counted += found;
        chi_square += (found - expected).powi(2) / expected;
        outcomes += 1.0;
    }
    assert_eq!(counted, draws as f64);
    assert!(chi_square < limit(outcomes - 1.0), "{chi_square} for {outcomes} outcomes");
}

#[test]
fn replaced_picks_are_independent_draws_by_weight() {
    let weights = [1.0, 0.0, 2.5, 0.25, 4.0];
    assert_law(&star(&weights), &weights, 2, true);
    assert_law(&star(&weights).with_sums(), &weights, 2, true);
}

#[test]
fn distinct_picks_are_successive_draws_from_what_is_left() {
    let weights = [1.0, 0.0, 2.5, 0.75, 4.0];
    for lists in [star(&weights), star(&weights).with_sums()] {
        assert_law(&lists, &weights, 2, false);
        assert_law(&lists, &weights, 3, false);
    }
}

/// Nearly all draws hit the one heavy edge again, so that the tree of what is left has to finish the work.
#[test]
fn the_law_holds_when_one_edge_has_nearly_all_the_weight() {
    let weights = [1.0, 2.0, 1e7, 3.0];
    for lists in [star(&weights), star(&weights).with_sums()] {
        let mut seen = [0.0; 4];
        let mut scratch = Scratch::new();
        for batch in 0..6000 {
            let options = FanoutOptions::new([2]).weighted(true).seed(1).batch(batch);
            let found = picks(&lists, &options, &mut scratch);
            assert_eq!((found.len(), found[0]), (2, 2));
            seen[found[1] as usize] += 1.0;
        }
        let expected = [1000.0, 2000.0, 0.0, 3000.0];
        let chi_square: f64 = [0, 1, 3]
            .map(|edge| f64::powi(seen[edge] - expected[edge], 2) / expected[edge])
            .iter()
            .sum();
        assert!(chi_square < 13.8, "{seen:?}");
    }
}

#[test]
fn many_distinct_picks_come_by_weight_too() {
    let weights: Vec<f32> = (0..400).map(|edge| if edge % 2 == 0 { 0.0 } else { 1.0 }).collect();
    let mut seen = vec![0_f64; 400];
    for batch in 0..400 {
        let options = FanoutOptions::new([150]).weighted(true).seed(1).batch(batch);
        let mut found = picks(&star(&weights), &options, &mut Scratch::new());
        assert_eq!(found.len(), 150);
        found.iter().for_each(|&edge| seen[edge as usize] += 1.0);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 150);
    }
    // 200 edges with weight, each picked in 300 of 400 batches, give or take 8.7.
    assert!(seen.iter().skip(1).step_by(2).all(|&count| (count - 300.0).abs() < 40.0));
    assert!(seen.iter().step_by(2).all(|&count| count == 0.0));
}

#[test]
fn edges_without_weight_are_never_picked() {
    let mut scratch = Scratch::new();
    for lists in [star(&[0.0, 1.0, 0.0, 2.0, 0.0]), star(&[0.0, 1.0, 0.0, 2.0, 0.0]).with_sums()] {
        for fanout in [-1, 2, 3, 4, 5, 100] {
            let options = FanoutOptions::new([fanout]).weighted(true);
            let mut found = picks(&lists, &options, &mut scratch);
            found.sort_unstable();
            assert_eq!(found, [1, 3], "fan-out {fanout}");
        }
        let options = FanoutOptions::new([9]).weighted(true).replace(true);
        assert!(picks(&lists, &options, &mut scratch).iter().all(|edge| [1, 3].contains(edge)));
    }
    for replace in [false, true] {
        let options = FanoutOptions::new([2]).weighted(true).replace(replace);
        assert!(picks(&star(&[0.0, 0.0, 0.0]), &options, &mut scratch).is_empty());
        assert!(picks(&star(&[0.0, 0.0, 0.0]).with_sums(), &options, &mut scratch).is_empty());
    }
}

#[test]
fn weights_that_are_none_are_an_error_never_a_hang() {
    for bad in [f32::NAN, -1.0, f32::INFINITY, f32::NEG_INFINITY] {
        for place in 0..4 {
            let mut weights = [1.0, 1.0, 1.0, 1.0];
            weights[place] = bad;
            for fanout in [-1, 2, 3, 4] {
                for replace in [false, true] {
                    let options = FanoutOptions::new([fanout]).weighted(true).replace(replace);
                    let run = |lists: &MadeLists| {
                        sample(lists, &[0], &options, Direction::In, &mut Scratch::new())
                    };
                    let outcome = run(&star(&weights));
                    assert!(
                        matches!(outcome, Err(Error::Weight { position, .. }) if position == place),
                        "{bad} {outcome:?}"
                    );
                    // With sums the bad one may never be looked at; what is found is still in the list.
                    if let Ok(found) = run(&star(&weights).with_sums()) {
                        assert!(found.edge_ids.iter().all(|edge| (0..4).contains(edge)));
                    }
                }
            }
        }
    }
}

#[test]
fn a_graph_without_weights_says_what_to_do() {
    let lists = MadeLists::new(&[vec![0]]);
    let options = FanoutOptions::new([1]).weighted(true);
    let error = sample(&lists, &[0], &options, Direction::In, &mut Scratch::new()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no weights") && text.contains("--weight-column"), "{text}");
}
