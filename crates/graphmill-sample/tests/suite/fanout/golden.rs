//! Every way of picking gives the same bytes for ever.

use super::made_lists::MadeLists;
use graphmill_format::Direction;
use graphmill_sample::{FanoutOptions, Method, Sample, Scratch, Seeds, Strategy, sample};

/// FNV-1a over the little-endian bytes of every list, with their lengths.
fn digest(found: &Sample) -> u64 {
    let counts = |counts: &[u64]| counts.iter().map(|&count| count as i64).collect();
    let lists: [Vec<i64>; 7] = [
        found.nodes.clone(),
        found.row.clone(),
        found.col.clone(),
        found.edge_ids.clone(),
        counts(&found.nodes_per_hop),
        counts(&found.edges_per_hop),
        found.batch.clone(),
    ];
    let words = lists.iter().flat_map(|list| [list.len() as i64].into_iter().chain(list.clone()));
    words.flat_map(i64::to_le_bytes).fold(0xCBF2_9CE4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

/// The digests were computed by a second implementation of the rules, in another language.
#[test]
fn every_way_of_picking_gives_the_same_bytes_for_ever() {
    let lists: Vec<Vec<u64>> = (0..1000_u64)
        .map(|node| (0..node * 7 % 120).map(|edge| (node * 31 + edge * edge * 17) % 1000).collect())
        .collect();
    let lists = MadeLists::new(&lists);
    let edges = lists.num_edges();
    let lists = lists
        .weights((0..edges).map(|edge| (edge % 7) as f32).collect())
        .times((0..edges as i64).map(|edge| edge * 37 % 100).collect());
    let stored_sums = lists.clone().with_sums();
    let seeds = Seeds::new(&[5, 17, 999, 0, 5, 413]);
    let timely = seeds.times(&[50, 90, 20, 99, 10, 70]);
    let options = FanoutOptions::new([15, 60, 5]).seed(42).epoch(3).batch(7);
    let labor = |layer_dependency| options.clone().method(Method::Labor { layer_dependency });
    let weighted = options.clone().weighted(true);
    let last = options.clone().strategy(Strategy::Last);
    let cases = [
        ("disjoint", seeds, options.clone().disjoint(true), 5612773960255603860),
        ("labor", seeds, labor(false), 15998295098170414613),
        ("labor of dependent layers", seeds, labor(true), 2591694026543466819),
        ("weighted", seeds, weighted.clone(), 15676112549540578121),
        ("weighted, replaced", seeds, weighted.replace(true), 3198495221127163074),
        ("temporal", timely, options.clone().window(Some(60)), 3475034214784196091),
        ("last", timely, last, 2284781576709480870),
    ];
    for (name, seeds, options, expected) in cases {
        for lists in [&lists, &stored_sums] {
            let found = sample(lists, seeds, &options, Direction::In, &mut Scratch::new()).unwrap();
            assert_eq!(digest(&found), expected, "{name}");
        }
    }
}
