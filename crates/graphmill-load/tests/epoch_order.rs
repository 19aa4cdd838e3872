//! Every seed has its turn once per epoch, in an order that belongs to the seed and the epoch.

use graphmill_load::{EpochOrder, Error};
use proptest::prelude::*;

fn positions(order: &EpochOrder) -> Vec<i64> {
    (0..order.num_batches()).flat_map(|index| order.batch(index).unwrap().positions).collect()
}

proptest! {
    #[test]
    fn an_epoch_visits_every_seed_once(
        count in 0_i64..200, batch_size in 1_usize..50, seed: u64, epoch: u64, shuffle: bool,
    ) {
        let seeds: Vec<i64> = (0..count).map(|position| 1000 - position * 3).collect();
        let order = EpochOrder::new(seeds.clone(), batch_size).unwrap();
        let order = if shuffle { order.shuffled(seed, epoch) } else { order };
        for index in 0..order.num_batches() {
            let batch = order.batch(index).unwrap();
            prop_assert_eq!(batch.ids.len(), order.batch_len(index).unwrap());
            let ids: Vec<i64> = batch.positions.iter().map(|&at| seeds[at as usize]).collect();
            prop_assert_eq!(batch.ids, ids);
        }
        let visited = positions(&order);
        let mut sorted = visited.clone();
        sorted.sort_unstable();
        prop_assert_eq!(&sorted, &(0..count).collect::<Vec<_>>());
        prop_assert!(shuffle || visited == sorted);

        let whole = order.clone().drop_last(true);
        let kept = count as usize / batch_size * batch_size;
        prop_assert_eq!(positions(&whole), &visited[..kept]);
        prop_assert_eq!(whole.num_batches(), (count as usize / batch_size) as u64);
        prop_assert_eq!(order.num_batches(), (count as usize).div_ceil(batch_size) as u64);
    }
}

#[test]
fn an_order_is_the_same_for_ever() {
    let order = EpochOrder::new((0..10).collect::<Vec<i64>>(), 4).unwrap();
    let of = |seed, epoch| positions(&order.clone().shuffled(seed, epoch));
    assert_eq!([of(0, 0), of(0, 1), of(1, 0)], GOLDEN);
}

/// Computed by a second implementation of the rules, in another language.
const GOLDEN: [[i64; 10]; 3] = [
    [3, 5, 2, 7, 8, 9, 0, 4, 6, 1],
    [3, 9, 4, 7, 1, 5, 2, 0, 8, 6],
    [6, 7, 9, 2, 3, 8, 1, 4, 5, 0],
];

#[test]
fn impossible_batches_are_refused() {
    assert!(matches!(EpochOrder::new(vec![1], 0), Err(Error::BatchSize)));
    let order = EpochOrder::new(vec![1, 2, 3], usize::MAX).unwrap();
    assert_eq!(order.batch(0).unwrap().ids, [1, 2, 3]);
    for index in [1, u64::MAX] {
        let error = order.batch(index).unwrap_err();
        assert!(matches!(error, Error::BatchOutOfRange { count: 1, .. }), "{error}");
    }
}
