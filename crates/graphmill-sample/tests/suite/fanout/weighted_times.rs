//! Weights together with times, against a slow reading of both rules.
//! Weights span all of float32, so that a sum of some of them is often nothing beside a sum of others.

use super::made_lists::MadeLists;
use graphmill_format::{Direction, ListOrder};
use graphmill_rounds::{piece, rounds};
use graphmill_sample::{FanoutOptions, Sample, Scratch, Seeds, sample};

/// Random numbers of the test's own, so that it does not share a mistake with what it tests.
struct Chance(u64);

impl Chance {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }

    fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 1e-40, which float32 rounds, to 1e38; one of six is 0.
    fn weight(&mut self) -> f32 {
        if self.below(6) == 0 { 0.0 } else { 10_f64.powf(self.unit() * 78.0 - 40.0) as f32 }
    }
}

struct Case {
    weights: Vec<f32>,
    times: Vec<i64>,
    lists: MadeLists,
    options: FanoutOptions,
    latest: i64,
    window: Option<u64>,
    replace: bool,
    count: i64,
}

impl Case {
    fn new(chance: &mut Chance) -> Self {
        let edges = 1 + chance.below(12) as usize;
        let mut times: Vec<i64> = (0..edges).map(|_| chance.below(8) as i64).collect();
        let by_time = chance.below(4) > 0;
        if by_time {
            times.sort_unstable();
        }
        // Few magnitudes in one list make shares that are neither 0 nor 1.
        let scales = [chance.weight(), chance.weight()];
        let weights: Vec<f32> = (0..edges)
            .map(|_| match chance.below(4) {
                0 => chance.weight(),
                pick => scales[(pick % 2) as usize] * (1.0 + chance.below(3) as f32),
            })
            .map(|weight| weight.min(f32::MAX))
            .collect();
        let mut neighbours = vec![(1..=edges as u64).collect::<Vec<_>>()];
        neighbours.resize(edges + 1, Vec::new());
        let order = if by_time { ListOrder::Time } else { ListOrder::File };
        let lists =
            MadeLists::new(&neighbours).order(order).weights(weights.clone()).times(times.clone());
        let lists = if chance.below(4) > 0 { lists.with_sums() } else { lists };
        let (latest, count) = (chance.below(9) as i64, chance.below(8) as i64 - 1);
        let window = (chance.below(3) > 0).then(|| chance.below(6));
        let replace = chance.below(2) == 0;
        let options = FanoutOptions::new([count])
            .weighted(true)
            .replace(replace)
            .window(window)
            .seed(chance.word());
        Case { weights, times, lists, options, latest, window, replace, count }
    }

    /// The edges that may be picked, with their weights.
    fn allowed(&self) -> Vec<(i64, f64)> {
        let earliest = self.window.map_or(i64::MIN, |window| self.latest - window as i64);
        let allowed = |edge: &usize| (earliest..=self.latest).contains(&self.times[*edge]);
        let weighed = (0..self.weights.len()).filter(allowed);
        weighed
            .map(|edge| (edge as i64, f64::from(self.weights[edge])))
            .filter(|&(_, weight)| weight > 0.0)
            .collect()
    }

    fn run(&self, scratch: &mut Scratch) -> Sample {
        let latest = [self.latest];
        let seeds = Seeds::new(&[0]).times(&latest);
        sample(&self.lists, seeds, &self.options, Direction::In, scratch).unwrap()
    }
}

/// Where the draws lie among the shares of all that could be drawn is uniform, if and only if each share is right.
#[test]
fn weights_with_times_are_picked_by_exact_shares() {
    let tried = rounds(20_000);
    let mut chance = Chance(piece().wrapping_mul(0xD6E8_FEB8_6659_FD93));
    let mut scratch = Scratch::new();
    let mut ranks = Vec::new();
    for _ in 0..tried {
        let case = Case::new(&mut chance);
        let picked = case.run(&mut scratch).edge_ids;
        let mut left = case.allowed();
        let expected = match case.count {
            _ if left.is_empty() => 0,
            count if count < 0 => left.len(),
            count if case.replace => count as usize,
            count => left.len().min(count as usize),
        };
        assert_eq!(picked.len(), expected, "{:?} {:?}", case.weights, case.options);
        // All that are allowed come in the order of the list, whatever they weigh.
        let all_come = !case.replace && picked.len() == left.len();
        for edge in picked {
            let at = left.iter().position(|one| one.0 == edge);
            let at = at.unwrap_or_else(|| panic!("{edge} of {:?} {:?}", case.weights, case.times));
            let sum = |edges: &[(i64, f64)]| edges.iter().map(|edge| edge.1).sum::<f64>();
            let (before, total) = (sum(&left[..at]), sum(&left));
            if !all_come && case.count >= 0 {
                ranks.push((before + chance.unit() * left[at].1) / total);
            }
            if !case.replace || case.count < 0 {
                left.remove(at);
            }
        }
    }
    ranks.sort_unstable_by(f64::total_cmp);
    let count = ranks.len() as f64;
    assert!(count > tried as f64, "{count} draws tell of too few samples");
    let distance = ranks.iter().enumerate().map(|(at, rank)| {
        (rank - at as f64 / count).abs().max((rank - (at + 1) as f64 / count).abs())
    });
    // Kolmogorov and Smirnov: exceeded by chance once in a million runs.
    let limit = 2.7 / count.sqrt();
    let distance = distance.fold(0.0, f64::max);
    assert!(distance < limit, "{distance} of at most {limit} after {count} draws");
}

/// The sum before the window swallows the weight inside, and the difference of the sums is 0.
#[test]
fn an_edge_between_heavy_ones_is_found() {
    let lists = MadeLists::new(&[vec![1, 2, 3], vec![], vec![], vec![]])
        .order(ListOrder::Time)
        .weights(vec![1e9, 1e-8, 1e9])
        .times(vec![1, 2, 3])
        .with_sums();
    for replace in [false, true] {
        let options =
            FanoutOptions::new([1]).weighted(true).replace(replace).window(Some(0)).seed(1);
        let seeds = Seeds::new(&[0]).times(&[2]);
        let found = sample(&lists, seeds, &options, Direction::In, &mut Scratch::new()).unwrap();
        assert_eq!(found.edge_ids, [1]);
    }
}
