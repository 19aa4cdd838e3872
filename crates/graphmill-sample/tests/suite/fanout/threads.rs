//! However the work is divided, the bytes are the same.

use super::made_lists::MadeLists;
use graphmill_disk::Budget;
use graphmill_format::Direction;
use graphmill_sample::{
    Batches, Error, FanoutOptions, Method, Sample, Scratch, Seeds, Subgraph, sample, sample_batches,
};

fn lists() -> MadeLists {
    let lists: Vec<Vec<u64>> = (0..20_000_u64)
        .map(|node| (0..node % 40).map(|edge| (node * 31 + edge * edge * 17) % 20_000).collect())
        .collect();
    let made = MadeLists::new(&lists);
    let edges = made.num_edges();
    let weights = (0..edges).map(|edge| (edge % 7) as f32).collect();
    made.weights(weights).with_sums().times((0..edges as i64).map(|edge| edge % 100).collect())
}

fn ways() -> Vec<FanoutOptions> {
    let options = FanoutOptions::new([6, 4, 3]).seed(7);
    vec![
        options.clone(),
        options.clone().replace(true),
        options.clone().weighted(true),
        options.clone().disjoint(true),
        options.clone().method(Method::Labor { layer_dependency: true }),
        options.clone().subgraph(Subgraph::Induced),
        options.clone().subgraph(Subgraph::Bidirectional),
        FanoutOptions::new([-1, 2]),
    ]
}

#[test]
fn one_large_call_gives_the_same_bytes_for_any_number_of_threads() {
    let lists = lists();
    let seeds: Vec<i64> = (0..5000).map(|seed| seed * 3).collect();
    let times: Vec<i64> = seeds.iter().map(|seed| seed % 100).collect();
    for options in ways() {
        for start in [Seeds::new(&seeds), Seeds::new(&seeds).times(&times)] {
            let run = |threads| {
                let options = options.clone().threads(threads);
                sample(&lists, start, &options, Direction::In, &mut Scratch::new()).unwrap()
            };
            let alone = run(1);
            assert!(!alone.row.is_empty());
            for threads in [2, 4, 8] {
                assert!(run(threads) == alone, "{threads} threads, {options:?}");
            }
        }
    }
}

#[test]
fn a_stream_of_batches_comes_in_order_whoever_makes_them() {
    let lists = lists();
    let seeds: Vec<i64> = (0..3000).map(|seed| seed * 5).collect();
    for options in ways() {
        let options = options.batch(100);
        let run = |threads| -> Vec<(u64, Sample)> {
            let mut all = Vec::new();
            let budget = Budget::new(1 << 30);
            let batches = Batches::new(&seeds, 128).threads(threads).budget(&budget);
            let deliver = |batch, found| -> Result<(), Error> {
                all.push((batch, found));
                Ok(())
            };
            sample_batches(&lists, &batches, &options, Direction::Out, deliver).unwrap();
            assert!(budget.peak() > 0 && budget.used() == 0);
            all
        };
        let alone = run(1);
        assert!(alone.iter().map(|one| one.0).eq(100..124));
        let batch = options.clone().batch(103);
        let single =
            sample(&lists, &seeds[3 * 128..4 * 128], &batch, Direction::Out, &mut Scratch::new());
        assert_eq!(alone[3].1, single.unwrap());
        for threads in [2, 4, 8] {
            assert!(run(threads) == alone, "{threads} threads, {options:?}");
        }
    }
}

#[test]
fn a_stream_inside_its_own_pool_does_not_wait_for_itself() {
    let lists = lists();
    let seeds: Vec<i64> = (0..2000).collect();
    let count = graphmill_disk::with_threads(Some(2)).unwrap().install(|| {
        let mut count = 0;
        let options = FanoutOptions::new([3]);
        let batches = Batches::new(&seeds, 10).threads(2);
        let deliver = |_, _| -> Result<(), Error> {
            count += 1;
            Ok(())
        };
        sample_batches(&lists, &batches, &options, Direction::In, deliver).unwrap();
        count
    });
    assert_eq!(count, 200);
}

#[test]
fn a_stream_ends_with_the_first_error() {
    let lists = lists();
    let mut seeds: Vec<i64> = (0..100).collect();
    seeds[55] = -1;
    for threads in [1, 4] {
        let mut delivered = 0;
        let batches = Batches::new(&seeds, 10).threads(threads);
        let options = FanoutOptions::new([2]);
        let outcome: Result<(), Error> =
            sample_batches(&lists, &batches, &options, Direction::In, |_, _| {
                delivered += 1;
                Ok(())
            });
        assert!(matches!(outcome, Err(Error::Seed { position: 5, found: -1, .. })));
        assert_eq!(delivered, 5);
    }
}

#[test]
fn a_stream_goes_on_alone_where_memory_has_room_for_few() {
    let lists = lists();
    let seeds: Vec<i64> = (0..3000).map(|seed| seed * 5).collect();
    let run = |threads, memory| -> Result<(Vec<Sample>, u64), Error> {
        let mut all = Vec::new();
        let budget = Budget::new(memory);
        let batches = Batches::new(&seeds, 128).threads(threads).budget(&budget);
        let options = FanoutOptions::new([6, 4, 3]);
        sample_batches(&lists, &batches, &options, Direction::Out, |_, found| {
            all.push(found);
            Ok::<(), Error>(())
        })?;
        Ok((all, budget.peak()))
    };
    let (alone, peak) = run(1, u64::MAX).unwrap();
    // Room for one that is divided among threads, and not for eight.
    let tight = 2 * peak;
    for threads in [2, 4, 8] {
        let (made, held) = run(threads, tight).unwrap();
        assert!(made == alone && held <= tight, "{threads} threads");
    }
    assert!(matches!(run(8, peak / 4), Err(Error::Memory(_))));
}
