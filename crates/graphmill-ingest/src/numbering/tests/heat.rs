//! Nodes in the order of their heat, or of how often sampling is expected to meet them.

use super::*;

/// Logs edges and numbers their nodes in an order.
fn ordered(
    bench: &Bench,
    edges: &Edges,
    columns: LogColumns,
    order: Order,
    log_memory: u64,
) -> (Numbering, EdgeLog) {
    let writer = EdgeLogWriter::new(&bench.workspace, columns, log_memory).unwrap();
    push_all(edges, 3000, columns, |chunk| writer.push(chunk)).unwrap();
    let log = writer.finish().unwrap();
    Numbering::plain(&bench.workspace).unwrap().ordered(log, order, None).unwrap()
}

/// Compares everything that a numbering answers with the obvious numbers.
fn check(
    bench: &Bench,
    edges: &Edges,
    columns: LogColumns,
    numbering: &Numbering,
    log: &EdgeLog,
    order: Order,
) {
    let limit = log.id_limit();
    assert_eq!(numbering.count(), limit);
    let numbers = numbers_by_count(&edges.counts(limit, order));
    let again = replayed(columns, log.rows(), |stage, take| numbering.replay(log, stage, take));
    assert_eq!(again.unwrap(), edges.renumbered(&numbers));
    // So many more nodes without edges that whole pieces of places have nothing but these.
    let nodes = limit + 10_000;
    let number = |id: u64| numbers.get(&id).copied().unwrap_or(id);
    let mut asked: Vec<u64> = (0..nodes).rev().collect();
    assert_eq!(numbering.of_ids(&mut asked).unwrap(), Ok(()));
    assert!(asked.iter().copied().eq((0..nodes).rev().map(number)));
    let places = places(bench, numbering, nodes).unwrap();
    assert!(places.iter().copied().eq((0..nodes).map(number)));
    let originals = originals(numbering, nodes).unwrap();
    for (id, &number) in places.iter().enumerate() {
        assert_eq!(originals[number as usize], id as i64);
    }
    assert!(numbering.original_ids(limit.saturating_sub(1)).is_err() || limit == 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_is_that_of_a_sort_by_count_and_id(
        rows in 0_u64..40_000,
        nodes in prop_oneof![1_u64..50, 1000_u64..120_000, 100_000_u64..300_000],
        columns in any_columns(),
        order in any_sort(),
        (memory, log) in prop_oneof![
            Just((896_u64 << 10, 0_u64)),
            Just((2 << 20, 0)),
            Just((2 << 20, 640 << 10)),
            Just((64 << 20, 8 << 20)),
        ],
        threads in 1_usize..5,
    ) {
        // A few hubs at the ends where edges start, others where they end.
        let skewed = |row: u64, salt: u64| {
            let at = mixed(row + salt) % nodes;
            if mixed(row * 3 + salt).is_multiple_of(3) { (salt + at % 5) % nodes } else { at }
        };
        let edges = Edges::new((0..rows).map(|row| (skewed(row, 11), skewed(row, 77_777))));
        on_threads(threads, || {
            let bench = Bench::new(memory);
            let (numbering, log) = ordered(&bench, &edges, columns, order, log);
            check(&bench, &edges, columns, &numbering, &log, order);
            drop((numbering, log));
            bench.close(&["places.gd"]);
        });
    }
}

#[test]
fn a_tiny_budget_counts_in_windows_and_looks_up_in_the_file() {
    let bench = Bench::new(896 << 10);
    let nodes = 200_000;
    let edges = Edges::new((0..50_000).map(|row| (mixed(row) % nodes, nodes - 1 - row % 9)));
    let columns = LogColumns::default();
    for order in [Order::Heat(Heat::at(End::Source)), Order::Visits(Heat::at(End::Source))] {
        let (numbering, log) = ordered(&bench, &edges, columns, order, 0);
        assert!(numbering.batches.is_some());
        check(&bench, &edges, columns, &numbering, &log, order);
    }
    bench.close(&["places.gd"]);
}

#[test]
fn out_degrees_and_in_degrees_give_different_orders() {
    // Node 3 is the source of most edges, node 1 their end; 2 has a loop.
    let edges = Edges::new([(3, 1), (3, 1), (3, 0), (2, 2), (0, 1)]);
    let order = |heat: Heat| {
        let bench = Bench::new(4 << 20);
        let (numbering, _log) =
            ordered(&bench, &edges, LogColumns::default(), Order::Heat(heat), 0);
        originals(&numbering, 4).unwrap()
    };
    assert_eq!(order(Heat::at(End::Source)), [3, 0, 2, 1]);
    assert_eq!(order(Heat::at(End::Destination)), [1, 0, 2, 3]);
    assert_eq!(order(Heat::at(End::Both)), [1, 3, 0, 2]);
    let without = Heat { end: End::Destination, skip_self_loops: true };
    assert_eq!(order(without), [1, 0, 2, 3]);
    assert_eq!(order(Heat { end: End::Both, skip_self_loops: true }), [1, 3, 0, 2]);
}

#[test]
fn who_is_met_by_those_who_are_met_comes_before_who_occurs_more_often() {
    // Node 1 stands in three lists that nobody looks at, node 2 in the two of nodes that stand in many.
    let fans = (10..30).flat_map(|fan| [(3, fan), (4, fan)]);
    let edges = Edges::new(fans.chain([(1, 50), (1, 51), (1, 52), (2, 3), (2, 4)]));
    let first = |order: Order| {
        let bench = Bench::new(4 << 20);
        let (numbering, _log) = ordered(&bench, &edges, LogColumns::default(), order, 0);
        originals(&numbering, 53).unwrap()[..4].to_vec()
    };
    assert_eq!(first(Order::Heat(Heat::at(End::Source))), [3, 4, 1, 2]);
    assert_eq!(first(Order::Visits(Heat::at(End::Source))), [2, 3, 4, 1]);
}

#[test]
fn visits_do_not_depend_on_whether_both_halves_of_an_edge_are_written_down() {
    // A build of an undirected graph reads each edge once, reordering reads it both ways.
    let halves =
        (0..3000_u64).map(|row| (mixed(row) % 400, mixed(row + 7000) % 400 % (1 + row % 40)));
    let halves: Vec<_> = halves.collect();
    let both = halves.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
    let order = |edges: &Edges, end: End| {
        let bench = Bench::new(4 << 20);
        let order = Order::Visits(Heat::at(end));
        let (numbering, _log) = ordered(&bench, edges, LogColumns::default(), order, 0);
        originals(&numbering, 400).unwrap()
    };
    let once = order(&Edges::new(halves.iter().copied()), End::Both);
    assert_eq!(order(&Edges::new(both), End::Source), once);
}

#[test]
fn hubs_beyond_the_histogram_are_ordered_too() {
    // Counts of more than 2^14, two of them equal.
    let counts = [(4_u64, 40_000), (9, 20_000), (2, 20_000), (7, 17_000), (1, 3)];
    let edges = Edges::new(counts.iter().flat_map(|&(id, count)| (0..count).map(move |_| (id, 5))));
    let bench = Bench::new(8 << 20);
    let columns = LogColumns::default();
    let order = Order::Heat(Heat::at(End::Source));
    let (numbering, log) = ordered(&bench, &edges, columns, order, 0);
    assert_eq!(originals(&numbering, 10).unwrap()[..5], [4, 2, 9, 7, 1]);
    check(&bench, &edges, columns, &numbering, &log, order);
}

#[test]
fn scattered_ids_are_refused_before_files_grow_by_them() {
    let bench = Bench::new(8 << 20);
    let writer = EdgeLogWriter::new(&bench.workspace, LogColumns::default(), 0).unwrap();
    writer.push(&EdgeChunk::new(0, &[1 << 60], &[5])).unwrap();
    let log = writer.finish().unwrap();
    let plain = Numbering::plain(&bench.workspace).unwrap();
    let error = plain.ordered(log, Order::Heat(Heat::at(End::Both)), None).unwrap_err().to_string();
    assert!(error.contains("--map-ids"), "{error}");
}

#[test]
fn a_budget_below_the_minimum_is_refused_by_name() {
    let edges = Edges::new((0..100).map(|row| (row, row)));
    let orders = [Order::Heat(Heat::at(End::Both)), Order::Visits(Heat::at(End::Both))];
    let budgets = (260..900_u64).step_by(20);
    let mut refused = 0;
    for (memory, order) in budgets.flat_map(|memory| orders.map(|order| (memory, order))) {
        let bench = Bench::new(memory << 10);
        let log = EdgeLogWriter::new(&bench.workspace, LogColumns::default(), 0).and_then(|log| {
            push_all(&edges, 100, LogColumns::default(), |chunk| log.push(chunk))?;
            log.finish()
        });
        let numbering =
            log.and_then(|log| Numbering::plain(&bench.workspace)?.ordered(log, order, None));
        match numbering {
            Ok(_) => {}
            Err(Error::Disk(graphmill_disk::Error::Budget { .. })) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!((2..64).contains(&refused), "{refused}");
}

/// The window of numbers was once half of what is free, and more than the other half was needed beside it: 264 KiB were too
/// little where 196 KiB were enough.
#[test]
fn nodes_are_put_in_order_within_any_memory_from_the_least_on() {
    let (bench, count) = (Bench::new(1 << 20), 60_000);
    let least = 132 << 10;
    let empty = bench.budget.reserve(0, "test").unwrap();
    let numbers = NumberTable::Narrow { values: (0..count).rev().collect(), _reserved: empty };
    for free in (least..2 * least).step_by(2 << 10) {
        let _taken = bench.budget.reserve(bench.budget.free() - free, "test").unwrap();
        let ordered = hot_order::invert(&bench.workspace, &numbers, None, None).unwrap();
        let mut ids = vec![0; count as usize];
        ordered.read(0, &mut ids).unwrap();
        assert!(ids.iter().copied().eq((0..u64::from(count)).rev()), "{free}");
    }
}
