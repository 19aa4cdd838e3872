//! Every seed has its turn once per epoch, in an order that belongs to the seed and the epoch.

use graphmill_load::{EpochOrder, Error};
use proptest::prelude::*;

fn positions(order: &EpochOrder) -> Vec<i64> {
    (0..order.num_batches()).flat_map(|index| order.batch(index).unwrap()).collect()
}

proptest! {
    #[test]
    fn an_epoch_visits_every_seed_once(
        count in 0_i64..200, batch_size in 1_usize..50, seed: u64, epoch: u64, shuffle: bool,
    ) {
        let order = EpochOrder::new(count as usize, batch_size).unwrap();
        let order = if shuffle { order.shuffled(seed, epoch) } else { order };
        for index in 0..order.num_batches() {
            prop_assert_eq!(order.batch(index).unwrap().len(), order.batch_len(index).unwrap());
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

    /// Written as PyTorch's `DistributedSampler` describes it: lengthen or shorten, then take every n-th.
    #[test]
    fn shares_are_those_of_a_list_that_was_made_even(
        count in 0_usize..100, batch_size in 1_usize..20, world_size in 1_u64..12,
        seed: u64, epoch: u64, drop_last: bool,
    ) {
        let order = EpochOrder::new(count, batch_size).unwrap().shuffled(seed, epoch);
        let mut even = positions(&order);
        let world = world_size as usize;
        let length = if drop_last { count / world * world } else { count.div_ceil(world) * world };
        even = even.iter().cycle().take(if count == 0 { 0 } else { length }).copied().collect();
        for rank in 0..world_size {
            let share = order.clone().drop_last(drop_last).share(rank, world_size).unwrap();
            let mut expected: Vec<i64> =
                even.iter().skip(rank as usize).step_by(world).copied().collect();
            prop_assert_eq!(share.len(), expected.len());
            if drop_last {
                expected.truncate(expected.len() / batch_size * batch_size);
            }
            prop_assert_eq!(positions(&share), expected);
        }
    }
}

#[test]
fn an_order_is_the_same_for_ever() {
    let order = EpochOrder::new(10, 4).unwrap();
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
    assert!(matches!(EpochOrder::new(1, 0), Err(Error::BatchSize)));
    let order = EpochOrder::new(3, usize::MAX).unwrap();
    assert_eq!(order.batch(0).unwrap(), [0, 1, 2]);
    for index in [1, u64::MAX] {
        let error = order.batch(index).unwrap_err();
        assert!(matches!(error, Error::BatchOutOfRange { count: 1, .. }), "{error}");
    }
    assert!(order.clone().share(2, 3).is_ok());
    for (rank, world_size) in [(3, 3), (0, 0)] {
        assert!(matches!(order.clone().share(rank, world_size), Err(Error::Rank { .. })));
    }
}
