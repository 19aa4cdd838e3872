//! Walks, row by row, against a slow and obvious walker that draws from the same streams; and the promises on threads,
//! seeds and bad arguments.

use super::walked_lists::WalkedLists;
use graphmill_disk::{Budget, with_threads};
use graphmill_sample::random::{Key, Purpose, Stream};
use graphmill_sample::{Error, WalkOptions, walk_over};
use proptest::prelude::*;

fn walks(lists: &WalkedLists, starts: &[i64], options: &WalkOptions) -> Vec<i64> {
    let mut walks = vec![7; starts.len() * (options.length + 1)];
    walk_over(lists, starts, options, &Budget::unlimited(), &mut walks).unwrap();
    walks
}

/// A position by weight: the first whose running sum exceeds the draw.
fn draw(lists: &WalkedLists, node: u64, weighted: bool, stream: &mut Stream) -> Option<usize> {
    let list = lists.range(node);
    if !weighted {
        return (!list.is_empty()).then(|| list.start + stream.below(list.len() as u64) as usize);
    }
    let weight = |at: usize| f64::from(lists.weights.as_ref().unwrap()[at]);
    let total: f64 = list.clone().map(weight).fold(0.0, |sum, weight| sum + weight);
    if total == 0.0 {
        return None;
    }
    let (target, mut sum) = (stream.unit() * total, 0.0);
    list.clone().find(|&at| {
        sum += weight(at);
        sum > target
    })
}

/// One walk by the rules as DESIGN.md tells them, without stages and without searching.
fn slow_walk(lists: &WalkedLists, row: u64, start: u64, options: &WalkOptions) -> Vec<i64> {
    let weighted = options.weighted.unwrap_or(lists.weights.is_some());
    let (back, far) = (1.0 / options.p, 1.0 / options.q);
    let high = far.max(1.0);
    let folded = back > 2.0 * high;
    let bound = if folded { high } else { high.max(back) };
    let is_plain = options.p == 1.0 && options.q == 1.0;
    let mut walk = vec![start as i64];
    let (mut node, mut previous) = (start, None);
    for step in 0..options.length as u64 {
        let mut stream = Key::new(options.seed, Purpose::Walk).with(row).with(step).stream();
        if options.restart > 0.0 && stream.unit() < options.restart {
            (node, previous) = (start, None);
            walk.push(node as i64);
            continue;
        }
        let list = lists.range(node);
        let weight =
            |at: usize| if weighted { lists.weights.as_ref().unwrap()[at].into() } else { 1.0 };
        let factor = |next: u64| match previous {
            None => 1.0,
            Some(previous) if previous == next => back,
            Some(previous) if lists.has_edge(previous, next) => 1.0,
            Some(_) => far,
        };
        let mut rejections = 0;
        let next = loop {
            let came_from = previous.filter(|_| !is_plain);
            if let (Some(previous), true) = (came_from, folded) {
                let returns: f64 =
                    list.clone().filter(|&at| lists.neighbours[at] == previous).map(weight).sum();
                if returns > 0.0 {
                    let all: f64 = list.clone().map(weight).sum();
                    let apart = returns * (back - bound);
                    if stream.unit() * (all * bound + apart) < apart {
                        break Some(previous);
                    }
                }
            }
            let Some(position) = draw(lists, node, weighted, &mut stream) else { break None };
            let drawn = lists.neighbours[position];
            let Some(previous) = came_from else { break Some(drawn) };
            if list.len() == 1
                || stream.unit() * bound
                    < factor(drawn).min(if drawn == previous { back } else { bound })
            {
                break Some(drawn);
            }
            rejections += 1;
            if rejections > 32 + (list.len() + lists.range(previous).len()) / 64 {
                let share = |at: usize| factor(lists.neighbours[at]) * weight(at);
                let total: f64 = list.clone().map(share).fold(0.0, |sum, share| sum + share);
                let (target, mut sum) = (stream.unit() * total, 0.0);
                let position = list.clone().find(|&at| {
                    sum += share(at);
                    sum > target
                });
                break position.map(|at| lists.neighbours[at]);
            }
        };
        let Some(next) = next else { break };
        (node, previous) = (next, Some(node));
        walk.push(next as i64);
    }
    let rest = if options.stay { node as i64 } else { -1 };
    walk.resize(options.length + 1, rest);
    walk
}

prop_compose! {
    fn any_lists()(nodes in 1_u64..40)(
        lists in prop::collection::vec(prop::collection::vec(0..nodes, 0..30), nodes as usize),
        is_sorted in any::<bool>(),
        weights in 0..3,
        salt in 0_usize..100,
    ) -> WalkedLists {
        let lists = if is_sorted { WalkedLists::sorted(&lists) } else { WalkedLists::new(&lists) };
        match weights {
            0 => lists,
            // Quarters, so that sums are exact in any order.
            sums => lists.weighted(|at| ((at * 31 + salt) % 7) as f32 * 0.25, sums == 2),
        }
    }
}

proptest! {
    #[test]
    fn every_row_is_the_slow_walkers(
        lists in any_lists(),
        starts in prop::collection::vec(0_u64..1000, 0..150),
        length in 0_usize..12,
        p in prop::sample::select(vec![1.0, 0.3, 5.0, 1e-9, 1e9]),
        q in prop::sample::select(vec![1.0, 0.5, 3.0, 1e-9, 1e9]),
        restart in prop::sample::select(vec![0.0, 0.2]),
        stay: bool,
        seed: u64,
    ) {
        let nodes = lists.offsets.len() as u64 - 1;
        let starts: Vec<i64> = starts.into_iter().map(|start| (start % nodes) as i64).collect();
        let options = WalkOptions::new(length).node2vec(p, q).restart(restart).stay(stay).seed(seed);
        let found = walks(&lists, &starts, &options);
        let rows = starts.iter().enumerate();
        let expected: Vec<i64> =
            rows.flat_map(|(row, &start)| slow_walk(&lists, row as u64, start as u64, &options)).collect();
        prop_assert_eq!(found, expected);
    }
}

/// A thousand nodes, some with long lists, as in the tests of fan-outs.
fn thousand() -> Vec<Vec<u64>> {
    (0..1000_u64)
        .map(|node| (0..node * 7 % 120).map(|edge| (node * 31 + edge * edge * 17) % 1000).collect())
        .collect()
}

fn kinds() -> [WalkOptions; 4] {
    let options = WalkOptions::new(20).seed(42);
    [
        options.clone().weighted(Some(false)),
        options.clone(),
        options.clone().node2vec(1.0, 0.5).weighted(Some(false)),
        options.node2vec(0.25, 4.0).restart(0.125),
    ]
}

#[test]
fn threads_do_not_matter() {
    let lists = WalkedLists::sorted(&thousand()).weighted(|at| (at % 9) as f32 * 0.5, true);
    let starts: Vec<i64> = (0..20_000).map(|row| row * 37 % 1000).collect();
    for options in kinds() {
        let run = |threads| {
            let pool = with_threads(Some(threads)).unwrap();
            pool.install(|| walks(&lists, &starts, &options))
        };
        let one = run(1);
        for threads in [2, 4, 8] {
            assert!(run(threads) == one, "{threads} threads, {options:?}");
        }
        // Nor do the starts after a row, nor how many rows there are.
        assert_eq!(walks(&lists, &starts[..100], &options), one[..2100]);
    }
}

fn digest(ids: &[i64]) -> u64 {
    ids.iter().flat_map(|id| id.to_le_bytes()).fold(0xCBF2_9CE4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[test]
fn a_seed_gives_the_same_bytes_for_ever() {
    let lists = WalkedLists::sorted(&thousand()).weighted(|at| (at % 9) as f32 * 0.5, true);
    let starts: Vec<i64> = (0..200).map(|row| row * 37 % 1000).collect();
    assert_eq!(kinds().map(|options| digest(&walks(&lists, &starts, &options))), GOLDEN);
}

/// Computed by a second implementation of the rules, in another language.
const GOLDEN: [u64; 4] =
    [10129931209569564402, 3450099279640598297, 3509183871686998119, 17416942717731064678];

/// Counts how often it is asked: what is bounded in questions is bounded in time.
struct Counting {
    lists: WalkedLists,
    asked: std::sync::atomic::AtomicU64,
}

impl graphmill_sample::Topology for Counting {
    fn num_nodes(&self) -> u64 {
        self.lists.num_nodes()
    }
    fn list(&self, node: u64) -> graphmill_sample::Result<std::ops::Range<usize>> {
        self.lists.list(node)
    }
    fn neighbour(&self, position: usize) -> graphmill_sample::Result<u64> {
        self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.lists.neighbour(position)
    }
    fn edge_id(&self, position: usize) -> i64 {
        self.lists.edge_id(position)
    }
    fn order(&self) -> graphmill_format::ListOrder {
        self.lists.order
    }
}

#[test]
fn no_bias_makes_a_step_cost_more_than_reading_its_lists() {
    // Two hubs that know each other and 3000 others each, half of them in common, which know both hubs.
    let mut edges: Vec<(u64, u64)> = vec![(0, 1)];
    edges.extend((2..3002).map(|leaf| (0, leaf)).chain((1502..4502).map(|leaf| (1, leaf))));
    let lists = WalkedLists::both_ways(4502, &edges);
    for (p, q) in [(1e-9, 1e9), (1e9, 1e9), (1e9, 1e-9), (1e-9, 1e-9), (1.0, 1e9), (1e-200, 1e200)]
    {
        let lists = WalkedLists::sorted(&lists);
        let counting = Counting { lists, asked: 0.into() };
        let options = WalkOptions::new(40).node2vec(p, q);
        let mut walks = vec![0; 41 * 50];
        walk_over(&counting, &[0; 50], &options, &Budget::unlimited(), &mut walks).unwrap();
        let asked = counting.asked.into_inner() / (40 * 50);
        assert!(asked < 3 * 6001, "{asked} neighbours read per step with p={p} q={q}");
    }
}

#[test]
fn what_means_nothing_is_refused() {
    let lists = WalkedLists::sorted(&[vec![1], vec![0]]);
    let refused = |starts: &[i64], options: WalkOptions, room: usize| {
        let mut walks = vec![0; room];
        walk_over(&lists, starts, &options, &Budget::unlimited(), &mut walks).unwrap_err()
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        for options in
            [WalkOptions::new(2).node2vec(bad, 1.0), WalkOptions::new(2).node2vec(1.0, bad)]
        {
            assert!(matches!(refused(&[0], options, 3), Error::Bias { .. }));
        }
    }
    for bad in [-0.1, 1.1, f64::NAN] {
        let error = refused(&[0], WalkOptions::new(2).restart(bad), 3);
        assert!(matches!(error, Error::Bias { what: "restart", .. }));
    }
    for bad in [-1, 2, i64::MIN, i64::MAX] {
        let error = refused(&[0, bad], WalkOptions::new(2), 6);
        assert!(matches!(error, Error::Start { position: 1, .. }));
    }
    for (length, room) in [(2, 2), (2, 4), (usize::MAX, 3)] {
        assert!(matches!(refused(&[0], WalkOptions::new(length), room), Error::Room { .. }));
    }
    let error = refused(&[0], WalkOptions::new(2).weighted(Some(true)), 3);
    assert!(matches!(error, Error::NotStored { what: "weights", .. }));
    assert_eq!(walks(&lists, &[], &WalkOptions::new(5)), [0_i64; 0]);
    assert_eq!(walks(&lists, &[1, 0], &WalkOptions::new(0)), [1, 0]);
}

#[test]
fn memory_for_unsorted_lists_is_asked_for() {
    let edges: Vec<(u64, u64)> = (2..400).flat_map(|leaf| [(0, leaf), (1, leaf)]).collect();
    let lists = WalkedLists::new(&WalkedLists::both_ways(400, &edges));
    let options = WalkOptions::new(20).node2vec(1e9, 1e9);
    let mut walks = vec![0; 21 * 10];
    let error = walk_over(&lists, &[0; 10], &options, &Budget::new(100), &mut walks).unwrap_err();
    assert!(matches!(error, Error::Memory(_)), "{error}");
    let budget = Budget::new(100_000);
    walk_over(&lists, &[0; 10], &options, &budget, &mut walks).unwrap();
    assert!(budget.used() == 0 && budget.peak() > 0);
}
